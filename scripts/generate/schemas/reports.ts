// The JSON output of each command: the calls of `safeJson` that print reports.

/** A place where a value is printed as JSON. */
export interface Report {
  readonly module: string;
  /**
   * Index of the report among the module's calls of `safeJson`, from the top; 0 unless the module has several calls.
   */
  readonly call?: number;
}

/** Reports by command. */
export const REPORTS: Readonly<Record<string, Report>> = {
  "approval explain": { module: "commands/approval/explain.ts" },
  "approval show": { module: "commands/approval/show.ts" },
  "approval test": { module: "commands/approval/test.ts" },
  "ask": { module: "commands/run/ask/ask.ts" },
  "auth show": { module: "commands/settings/auth.ts" },
  "batch fetch": { module: "commands/run/batch/report.ts" },
  "batch send": { module: "commands/run/batch/report.ts" },
  "batch status": { module: "commands/run/batch/status.ts" },
  "cancel": { module: "commands/run/cancel.ts" },
  "cancel --list": { module: "commands/run/cancel.ts", call: 1 },
  "check": { module: "commands/read/check.ts" },
  "compact": { module: "commands/write/compact.ts", call: 1 },
  "compact --dry-run": { module: "commands/write/compact.ts" },
  "config get": { module: "commands/settings/config.ts", call: 1 },
  "config show": { module: "commands/settings/config.ts" },
  "doctor": { module: "commands/setup/doctor.ts" },
  "editor": { module: "commands/setup/editor.ts" },
  "estimate": { module: "commands/read/estimate.ts" },
  "fork": { module: "commands/write/fork.ts" },
  "git setup": { module: "commands/write/git/setup.ts" },
  "hooks list": { module: "commands/catalog/hooks.ts" },
  "hooks test": { module: "commands/approval/test_hooks.ts" },
  "import": { module: "commands/write/import/import.ts" },
  "list": { module: "commands/read/list.ts" },
  "migrate --dry-run": { module: "commands/write/migrate.ts" },
  "models list": { module: "commands/catalog/models.ts" },
  "parse": { module: "commands/read/parse.ts" },
  "recover --list": { module: "commands/read/recover.ts" },
  "replay run": { module: "commands/run/replay/run.ts" },
  "sandbox compare": { module: "commands/sandbox/compare.ts" },
  "sandbox status": { module: "commands/sandbox/status.ts" },
  "skills check": { module: "commands/catalog/check_skills.ts" },
  "skills list": { module: "commands/catalog/skills.ts" },
  "skills show": { module: "commands/catalog/skills.ts", call: 1 },
  "status": { module: "commands/read/status/json.ts" },
  "status --pending": { module: "commands/read/status/many.ts" },
  "subagents clean": { module: "commands/catalog/subagents.ts", call: 1 },
  "subagents list": { module: "commands/catalog/subagents.ts" },
  "tools list": { module: "commands/catalog/tools.ts" },
  "tools show": { module: "commands/catalog/tools.ts", call: 1 },
  "undo": { module: "commands/write/undo.ts" },
  "undo --list": { module: "commands/write/undo.ts", call: 1 },
  "usage": { module: "commands/read/usage.ts" },
  "usage FILE": { module: "commands/read/usage.ts", call: 1 },
};

/** The type of the lines of an event stream, by module. */
export const EVENTS = { module: "agent/views/run_event.ts", type: "RunEvent" };
