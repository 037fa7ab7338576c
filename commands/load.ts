// Maps each command to its module, loaded only when that command runs.

import type { Invocation } from "./invocation.ts";

export interface CommandModule {
  /** Runs the command and returns the exit code. */
  run(invocation: Invocation): Promise<number>;
}

const config = () => import("./settings/config.ts");
const session = () => import("./settings/session.ts");
const sandbox = () => import("./sandbox/switch.ts");

const tools = () => import("./catalog/tools.ts");
const auth = () => import("./settings/auth.ts");

const PROVIDER_MODULES: Readonly<Record<string, () => Promise<CommandModule>>> = {
  "import": () => import("./write/import/import.ts"),
  "auth set": auth,
  "auth mcp": () => import("./settings/auth_mcp.ts"),
  "auth show": auth,
  "auth remove": auth,
  "list": () => import("./read/list.ts"),
  "usage": () => import("./read/usage.ts"),
  "estimate": () => import("./read/estimate.ts"),
};

const SERVING_MODULES: Readonly<Record<string, () => Promise<CommandModule>>> = {
  "watch": () => import("./serve/watch.ts"),
  "lsp": () => import("./serve/lsp.ts"),
  "acp": () => import("./serve/acp.ts"),
  "completions": () => import("./setup/completions.ts"),
  "complete": () => import("./setup/complete.ts"),
};

const subagents = () => import("./catalog/subagents.ts");
const skills = () => import("./catalog/skills.ts");

const EXTENSION_MODULES: Readonly<Record<string, () => Promise<CommandModule>>> = {
  "hooks list": () => import("./catalog/hooks.ts"),
  "hooks test": () => import("./approval/test_hooks.ts"),
  "subagents list": subagents,
  "subagents clean": subagents,
  "mcp prompt": () => import("./catalog/mcp.ts"),
  "mcp read": () => import("./catalog/mcp.ts"),
  "skills list": skills,
  "skills show": skills,
  "skills check": () => import("./catalog/check_skills.ts"),
};

const SETTINGS_MODULES: Readonly<Record<string, () => Promise<CommandModule>>> = {
  "config show": config,
  "config check": () => import("./settings/check.ts"),
  "config path": config,
  "config get": config,
  "trust": () => import("./settings/trust.ts"),
  "review": () => import("./approval/review.ts"),
  "approval explain": () => import("./approval/explain.ts"),
  "approval show": () => import("./approval/show.ts"),
  "approval test": () => import("./approval/test.ts"),
  "session set": session,
  "session switch": session,
  "session show": session,
  "session reset": session,
  "sandbox enable": sandbox,
  "sandbox disable": sandbox,
  "sandbox reset": sandbox,
};

export const MODULES: Readonly<Record<string, () => Promise<CommandModule>>> = {
  "status": () => import("./read/status/many.ts"),
  "check": () => import("./read/check.ts"),
  "parse": () => import("./read/parse.ts"),
  "approve": () => import("./write/approve.ts"),
  "reject": () => import("./write/reject.ts"),
  "advance": () => import("./run/many/advance.ts"),
  "execute": () => import("./run/execute.ts"),
  "send": () => import("./run/send.ts"),
  "migrate": () => import("./write/migrate.ts"),
  "cancel": () => import("./run/cancel.ts"),
  "git setup": () => import("./write/git/setup.ts"),
  "git merge-driver": () => import("./write/git/merge_driver.ts"),
  "batch send": () => import("./run/batch/send.ts"),
  "batch status": () => import("./run/batch/status.ts"),
  "batch fetch": () => import("./run/batch/fetch.ts"),
  "batch adopt": () => import("./run/batch/adopt.ts"),
  "batch cancel": () => import("./run/batch/cancel.ts"),
  "replay record": () => import("./run/replay/record.ts"),
  "replay run": () => import("./run/replay/run.ts"),
  "undo": () => import("./write/undo.ts"),
  "show": () => import("./read/show/show.ts"),
  "recover": () => import("./read/recover.ts"),
  "new": () => import("./write/new.ts"),
  "compact": () => import("./write/compact.ts"),
  "fork": () => import("./write/fork.ts"),
  "ask": () => import("./run/ask/ask.ts"),
  "models list": () => import("./catalog/models.ts"),
  "tools list": tools,
  "tools show": tools,
  "demo": () => import("./setup/demo.ts"),
  "editor": () => import("./setup/editor.ts"),
  "doctor": () => import("./setup/doctor.ts"),
  "sandbox status": () => import("./sandbox/status.ts"),
  "sandbox run": () => import("./sandbox/run.ts"),
  "sandbox compare": () => import("./sandbox/compare.ts"),
  "sandbox use": () => import("./sandbox/use.ts"),
  ...EXTENSION_MODULES,
  ...PROVIDER_MODULES,
  ...SETTINGS_MODULES,
  ...SERVING_MODULES,
};
