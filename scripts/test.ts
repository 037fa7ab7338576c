// Runs the tests: says first what is missing on this machine, and ends with the line `N passed, N failed`.

import { print, ROOT } from "./gate/root.ts";

const missing = await missingBubblewrap();
if (missing !== null) {
  print(`The tests need bubblewrap (the program bwrap), because they run real commands in a real sandbox.`);
  print(`${missing}`);
  print(
    `Install it with your package manager, for instance: apt-get update && apt-get install -y bubblewrap`,
  );
  print("0 passed, 1 failed");
  Deno.exit(1);
}

const child = new Deno.Command(Deno.execPath(), {
  args: ["test", "-A", "--parallel", ...Deno.args],
  cwd: ROOT,
  env: { NO_COLOR: "1", DENO_JOBS: Deno.env.get("DENO_JOBS") ?? "2" },
  stdin: "null",
  stdout: "piped",
  stderr: "inherit",
}).spawn();

// The summary is read from the very stream that is shown, so that the last line cannot say something else.
let tail = "";
const decoder = new TextDecoder();
for await (const chunk of child.stdout) {
  await Deno.stdout.write(chunk);
  tail = (tail + decoder.decode(chunk, { stream: true })).slice(-4000);
}
const { code } = await child.status;
const summary = [...tail.matchAll(/^(?:ok|FAILED) \| (\d+) passed.*?\| (\d+) failed/gm)].at(-1);
const passed = Number(summary?.[1] ?? 0);
const failed = Number(summary?.[2] ?? 0);
print(`${passed} passed, ${code !== 0 && failed === 0 ? 1 : failed} failed`);
Deno.exit(code);

async function missingBubblewrap(): Promise<string | null> {
  try {
    const { success } = await new Deno.Command("bwrap", {
      args: ["--version"],
      stdout: "null",
      stderr: "null",
    })
      .output();
    return success ? null : "A program bwrap is there, but `bwrap --version` fails.";
  } catch (error) {
    return error instanceof Deno.errors.NotFound ? "There is no bwrap on the PATH." : String(error);
  }
}
