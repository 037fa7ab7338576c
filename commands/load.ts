// The module of each command, loaded when it is the one that was asked for.

import type { Invocation } from "./invocation.ts";

export interface CommandModule {
  /** Runs the command and answers with the exit code. */
  run(invocation: Invocation): Promise<number>;
}

const config = () => import("./settings/config.ts");
const session = () => import("./settings/session.ts");
const sandbox = () => import("./sandbox/switch.ts");

const tools = () => import("./catalogue/tools.ts");
const auth = () => import("./provider/auth.ts");

const PROVIDER_MODULES: Readonly<Record<string, () => Promise<CommandModule>>> = {
  "import": () => import("./conversation/import.ts"),
  "auth set": auth,
  "auth show": auth,
  "auth remove": auth,
  "usage": () => import("./provider/usage.ts"),
  "estimate": () => import("./provider/estimate.ts"),
};

const SERVING_MODULES: Readonly<Record<string, () => Promise<CommandModule>>> = {
  "watch": () => import("./serve/watch.ts"),
  "lsp": () => import("./serve/lsp.ts"),
  "acp": () => import("./serve/acp.ts"),
  "completions": () => import("./setup/completions.ts"),
  "complete": () => import("./setup/complete.ts"),
};

const skills = () => import("./catalogue/skills.ts");

const EXTENSION_MODULES: Readonly<Record<string, () => Promise<CommandModule>>> = {
  "skills list": skills,
  "skills show": skills,
  "skills check": () => import("./catalogue/check_skills.ts"),
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
  "status": () => import("./conversation/many/status.ts"),
  "check": () => import("./document/check.ts"),
  "parse": () => import("./document/parse.ts"),
  "approve": () => import("./document/approve.ts"),
  "reject": () => import("./document/reject.ts"),
  "advance": () => import("./conversation/many/advance.ts"),
  "execute": () => import("./document/execute.ts"),
  "send": () => import("./document/send.ts"),
  "migrate": () => import("./conversation/migrate.ts"),
  "cancel": () => import("./conversation/cancel.ts"),
  "git setup": () => import("./conversation/git/setup.ts"),
  "git merge-driver": () => import("./conversation/git/merge_driver.ts"),
  "replay record": () => import("./conversation/replay/record.ts"),
  "replay run": () => import("./conversation/replay/run.ts"),
  "undo": () => import("./conversation/undo.ts"),
  "show": () => import("./conversation/show/show.ts"),
  "recover": () => import("./document/recover.ts"),
  "new": () => import("./conversation/new.ts"),
  "compact": () => import("./conversation/compact.ts"),
  "fork": () => import("./conversation/fork.ts"),
  "ask": () => import("./conversation/ask/ask.ts"),
  "models list": () => import("./catalogue/models.ts"),
  "tools list": tools,
  "tools show": tools,
  "demo": () => import("./setup/demo.ts"),
  "editor": () => import("./setup/editor.ts"),
  "doctor": () => import("./setup/doctor.ts"),
  "sandbox status": () => import("./sandbox/status.ts"),
  "sandbox run": () => import("./sandbox/run.ts"),
  ...EXTENSION_MODULES,
  ...PROVIDER_MODULES,
  ...SETTINGS_MODULES,
  ...SERVING_MODULES,
};
