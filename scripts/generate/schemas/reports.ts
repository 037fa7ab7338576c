// Which command prints what: the calls of `safeJson` by which reports leave the program.

/** A place where a value is printed as JSON. */
export interface Report {
  readonly module: string;
  /** Which of the module's calls of `safeJson`, from the top; 0 unless it has several. */
  readonly call?: number;
}

/** Reports by the words of their commands. */
export const REPORTS: Readonly<Record<string, Report>> = {
  "approval explain": { module: "commands/approval/explain.ts" },
  "approval show": { module: "commands/approval/show.ts" },
  "approval test": { module: "commands/approval/test.ts" },
  "ask": { module: "commands/conversation/ask/ask.ts" },
  "auth show": { module: "commands/provider/auth.ts" },
  "cancel": { module: "commands/conversation/cancel.ts" },
  "cancel --list": { module: "commands/conversation/cancel.ts", call: 1 },
  "check": { module: "commands/document/check.ts" },
  "compact": { module: "commands/conversation/compact.ts", call: 1 },
  "compact --dry-run": { module: "commands/conversation/compact.ts" },
  "config get": { module: "commands/settings/config.ts", call: 1 },
  "config show": { module: "commands/settings/config.ts" },
  "doctor": { module: "commands/setup/doctor.ts" },
  "editor": { module: "commands/setup/editor.ts" },
  "estimate": { module: "commands/provider/estimate.ts" },
  "fork": { module: "commands/conversation/fork.ts" },
  "git setup": { module: "commands/conversation/git/setup.ts" },
  "import": { module: "commands/conversation/import.ts" },
  "migrate --dry-run": { module: "commands/conversation/migrate.ts" },
  "models list": { module: "commands/catalogue/models.ts" },
  "parse": { module: "commands/document/parse.ts" },
  "recover --list": { module: "commands/document/recover.ts" },
  "replay run": { module: "commands/conversation/replay/run.ts" },
  "sandbox status": { module: "commands/sandbox/status.ts" },
  "skills check": { module: "commands/catalogue/check_skills.ts" },
  "skills list": { module: "commands/catalogue/skills.ts" },
  "skills show": { module: "commands/catalogue/skills.ts", call: 1 },
  "status": { module: "commands/document/status/json.ts" },
  "status --pending": { module: "commands/conversation/many/status.ts" },
  "tools list": { module: "commands/catalogue/tools.ts" },
  "tools show": { module: "commands/catalogue/tools.ts", call: 1 },
  "undo": { module: "commands/conversation/undo.ts" },
  "undo --list": { module: "commands/conversation/undo.ts", call: 1 },
  "usage": { module: "commands/provider/usage.ts" },
  "usage FILE": { module: "commands/provider/usage.ts", call: 1 },
};

/** What the lines of an event stream are: a type, by its module. */
export const EVENTS = { module: "agent/views/run_event.ts", type: "RunEvent" };
