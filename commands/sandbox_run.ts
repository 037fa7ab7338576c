// `flemma sandbox run`: a command of the person's, confined as a tool of this document would be.

import { createSandbox, toolEnvironment } from "../sandbox/mod.ts";
import { thrownText } from "../config/problem.ts";
import { protectedPaths } from "../cycle/session/paths.ts";
import { documentPath } from "./document.ts";
import { refuse } from "./drive.ts";
import { Exit } from "./exit.ts";
import type { Invocation } from "./invocation.ts";
import { settingsOf } from "./settings.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { environment, messages } = invocation;
  const { positionals, rest } = invocation.arguments;
  const document = documentPath(environment, positionals[0]);
  if (!document.ok) return refuse(invocation, document.problem);
  const loaded = await settingsOf(invocation.arguments, environment, document.value);
  if (!loaded.ok) return refuse(invocation, loaded.problem);
  const { settings, files } = loaded.value;
  const sandbox = createSandbox({
    settings: settings.sandbox,
    environment,
    document: document.value,
    protect: protectedPaths({ environment, document: document.value, configFiles: files }),
  });
  const prepared = await sandbox.prepare(rest);
  for (const notice of sandbox.notices()) messages.notice(notice);
  if (!prepared.ok) return refuse(invocation, prepared.problem);
  try {
    return await attend(prepared.value.argv, {
      env: toolEnvironment(environment.variables, settings.tools.env, { sandboxed: prepared.value.wrapped }),
      cwd: environment.cwd,
    });
  } catch (thrown) {
    messages.say(`flemma: ${rest[0]} cannot be run: ${thrownText(thrown)}.`);
    return thrown instanceof Deno.errors.NotFound ? 127 : Exit.failure;
  } finally {
    await prepared.value.dispose();
  }
}

/** Runs a command with the person's own streams; interrupts are the command's business, not ours. */
async function attend(
  [program = "", ...args]: readonly string[],
  options: { readonly env: Record<string, string>; readonly cwd: string },
): Promise<number> {
  const child = new Deno.Command(program, {
    args,
    ...options,
    clearEnv: true,
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  const ignore = () => {};
  const terminate = () => child.kill("SIGTERM");
  Deno.addSignalListener("SIGINT", ignore);
  Deno.addSignalListener("SIGTERM", terminate);
  try {
    // A command that a signal ended has 128 and the signal's number as its code already.
    return (await child.status).code;
  } finally {
    Deno.removeSignalListener("SIGINT", ignore);
    Deno.removeSignalListener("SIGTERM", terminate);
  }
}
