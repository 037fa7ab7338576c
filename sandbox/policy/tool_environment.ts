// The variables a tool's child processes see: the caller's, without secrets and without prompts that wait (S7).

import type { ToolSettings } from "../../config/settings.ts";
import { OTHER_CREDENTIALS, PROVIDER_CREDENTIALS } from "./credentials.ts";
import { SOCKET_VARIABLES } from "./sockets.ts";

/** Keeps programs from opening a pager, an editor or a question, where nobody could answer, and from colours. */
const UNATTENDED: Readonly<Record<string, string>> = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: "true",
  NO_COLOR: "1",
};

/**
 * Filters `variables` for tools. Credentials of model providers are dropped, and inside the sandbox the addresses
 * of sockets that act with the person's authority (12.4); `kept` names those whose sockets the policy keeps. `pass`
 * brings variables back, `block` drops more and is stronger; both hold names, in which `*` stands for anything. The
 * unattended variables are always set.
 */
export function toolEnvironment(
  variables: Readonly<Record<string, string>>,
  settings: ToolSettings["env"],
  { sandboxed, kept = [] }: { sandboxed: boolean; kept?: readonly string[] },
): Record<string, string> {
  const withheld = new Set([
    ...Object.values(PROVIDER_CREDENTIALS).flat(),
    ...OTHER_CREDENTIALS,
    ...(sandboxed ? SOCKET_VARIABLES.filter((name) => !kept.includes(name)) : []),
  ]);
  const blocked = settings.block.map(namePattern);
  const passed = settings.pass.map(namePattern);
  const matches = (patterns: readonly RegExp[], name: string) => patterns.some((each) => each.test(name));
  const left = Object.entries(variables).filter(([name]) =>
    !matches(blocked, name) && (!withheld.has(name) || matches(passed, name))
  );
  return { ...Object.fromEntries(left), ...UNATTENDED };
}

function namePattern(pattern: string): RegExp {
  const literal = pattern.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${literal.join(".*")}$`, "s");
}
