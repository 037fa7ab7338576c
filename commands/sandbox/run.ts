// `flemma sandbox run`: runs a person's command, confined as a tool of the document would be.

import type { Settings } from "../../config/settings.generated.ts";
import { type ExitStatus, fileChangeSentence, type RunSandbox, toolEnvironment } from "../../sandbox/mod.ts";
import type { PreparedCommand } from "../../sandbox/types.ts";
import { thrownText } from "../../base/problem.ts";
import { sandboxOf } from "../../agent/sandbox.ts";
import { authorityIn } from "../../agent/trust/agreement.ts";
import { assessTrust } from "../../agent/trust/untrusted.ts";
import { readSubject, settingsFor } from "../document/read.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { refuse } from "../io/refuse.ts";
import { exitOfThrown, explainUnstartable } from "./startable.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { messages } = invocation;
  const { positionals, rest } = invocation.arguments;
  const subject = await readSubject(invocation, positionals[0]);
  if ("exit" in subject) return subject.exit;
  const evaluated = await settingsFor(invocation, subject);
  if (!evaluated.ok) return refuse(invocation, evaluated.problem);
  const { settings, diagnostics, environment, awaitedFolder } = evaluated.value;
  const blocker = diagnostics.find(({ severity }) => severity === "error");
  if (blocker !== undefined) {
    messages.problem(blocker);
    return Exit.diagnostics;
  }
  const sandbox = sandboxOf(environment, subject, evaluated.value);
  // The person wants the command to be confined, so an untrusted document must not weaken the sandbox.
  const untrustedDocument = await assessTrust({
    environment,
    path: subject.path,
    authority: await authorityIn(evaluated.value, subject.frontmatter),
    person: evaluated.value.loaded.settings,
    document: settings,
    awaitedFolder,
    sandbox,
  });
  if (untrustedDocument !== null && !untrustedDocument.onlyItsOwn) {
    return refuse(invocation, {
      code: "document-not-trusted",
      message: `${rest[0]} was not run. ${untrustedDocument.sentence}`,
      next: "To use only your own settings, leave out the document: flemma sandbox run -- COMMAND",
    });
  }
  const prepared = await sandbox.prepare(rest);
  const reported = sandbox.notices();
  for (const notice of reported) {
    // The reason that prevents the command is reported once, below.
    if (prepared.ok || notice.message !== prepared.problem.message) messages.notice(notice);
  }
  if (!prepared.ok) return refuse(invocation, prepared.problem);
  try {
    return await confined(invocation, { sandbox, settings, prepared: prepared.value });
  } catch (thrown) {
    messages.say(`flemma: ${rest[0]} cannot be run: ${thrownText(thrown)}.`);
    return exitOfThrown(thrown) ?? Exit.failure;
  } finally {
    await prepared.value.dispose();
    for (const change of sandbox.fileChanges()) messages.say(`flemma: ${fileChangeSentence(change)}`);
    for (const notice of sandbox.notices().slice(reported.length)) {
      // This problem is already reported above.
      if (notice.code !== "sandbox-setup-failed") messages.notice(notice);
    }
  }
}

/** Runs the prepared command and returns its exit code. */
async function confined(
  invocation: Invocation,
  { sandbox, settings, prepared }: {
    readonly sandbox: RunSandbox;
    readonly settings: Settings;
    readonly prepared: PreparedCommand;
  },
): Promise<number> {
  const { environment, messages, arguments: { rest: [program = ""] } } = invocation;
  const env = toolEnvironment(environment.variables, settings.tools.env, {
    sandboxed: prepared.wrapped,
    kept: sandbox.socketVariables(),
    added: sandbox.addedVariables(),
  });
  // A program that is missing outside the sandbox is missing inside too. It is reported here, because inside the
  // sandbox the error would be about the backend, not about the program.
  const hindered = explainUnstartable(program, environment.cwd, env.PATH);
  if (hindered !== null) {
    messages.problem(hindered.problem);
    return hindered.exit;
  }
  let running: Deno.ChildProcess | null = null;
  // The backend's process takes everything inside the sandbox with it.
  const handedOut = prepared.handOut(() => running?.kill("SIGKILL"));
  if (!handedOut.ok) return refuse(invocation, handedOut.problem);
  const attempt = () =>
    attend(prepared.argv, { env, cwd: environment.cwd }, (child) => {
      running = child;
    });
  let { code, signal } = await attempt();
  while (signal === null && prepared.mayRunAgain?.()) {
    messages.say("flemma: a socket vanished while the sandbox was set up, so nothing ran. Trying again.");
    ({ code, signal } = await attempt());
  }
  // The backend's output went to the person's terminal, so it is not available here.
  const failed = await prepared.setupFailure("", signal);
  if (failed === null) return code;
  messages.problem({
    code: failed.code,
    message: `The sandbox could not start ${program}. Its error is printed above.`,
    next: "To test the sandbox alone: flemma sandbox status",
  });
  return code || Exit.failure;
}

/**
 * Runs a command with the person's own streams. Interrupts go to the command; this process ignores them until it ends,
 * because a signal from just before the command's end would otherwise still end this process.
 */
async function attend(
  [program = "", ...args]: readonly string[],
  options: { readonly env: Record<string, string>; readonly cwd: string },
  started: (child: Deno.ChildProcess) => void,
): Promise<ExitStatus> {
  const child = new Deno.Command(program, {
    args,
    ...options,
    clearEnv: true,
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  started(child);
  const terminate = () => child.kill("SIGTERM");
  Deno.addSignalListener("SIGINT", () => {});
  Deno.addSignalListener("SIGTERM", terminate);
  try {
    // After a signal, the code is already 128 plus the number of the signal.
    return await child.status;
  } finally {
    Deno.removeSignalListener("SIGTERM", terminate);
  }
}
