// Serves a replay script on loopback, for one command or until it is interrupted (docs/reference/replay.md).
//
//   scripts/deno run -A scripts/replay.ts SCRIPT [--port N] [--lenient] [-- COMMAND ARGUMENT…]

import { parseArgs } from "node:util";
import { print } from "./gate/root.ts";
import { KNOWN_PROVIDERS } from "../providers/known.ts";
import { parseReplayScript, type Replay, startReplay } from "../providers/replay/server.ts";

const USAGE = "usage: replay.ts SCRIPT [--port N] [--lenient] [-- COMMAND ARGUMENT…]";

async function main(args: readonly string[]): Promise<number> {
  const split = args.indexOf("--");
  const own = split < 0 ? args : args.slice(0, split);
  const command = split < 0 ? [] : args.slice(split + 1);
  const given = optionsOf(own);
  if (given === null) {
    say(USAGE);
    return 2;
  }
  const { file, ...options } = given;
  let text: string;
  try {
    text = await Deno.readTextFile(file);
  } catch (thrown) {
    say(`${file} cannot be read: ${thrown instanceof Error ? thrown.message : thrown}`);
    return 1;
  }
  const script = await parseReplayScript(text);
  if (!script.ok) {
    say(`${file}: ${script.problem.message} ${script.problem.next ?? ""}`.trim());
    return 2;
  }
  const replay = await startReplay(script.value, options);
  return command.length > 0 ? await runCommand(replay, command) : await serve(replay);
}

/** Returns the script and the server options; null for invalid arguments. */
function optionsOf(args: readonly string[]): { file: string; port: number; lenient: boolean } | null {
  try {
    const { values: { port, lenient }, positionals: [file, ...more] } = parseArgs({
      args: [...args],
      options: { port: { type: "string", default: "0" }, lenient: { type: "boolean", default: false } },
      allowPositionals: true,
    });
    const isUnderstood = more.length === 0 && Number(port) >= 0;
    return file === undefined || !isUnderstood ? null : { file, port: Number(port), lenient };
  } catch {
    // The options contain an unknown one.
    return null;
  }
}

/** Returns variables that direct every provider to the server: its URL, and a dummy key. */
function variablesFor({ url }: Replay): readonly (readonly [string, string])[] {
  return Object.values(KNOWN_PROVIDERS).flatMap(({ name, keyVariables: [key] }) => [
    [`FLEMMA_${name.toUpperCase()}_BASE_URL`, url] as const,
    [key, "replay"] as const,
  ]);
}

/** Runs a command. Returns its exit code, or 1 if it succeeded although the server had to refuse a request. */
async function runCommand(replay: Replay, [program, ...args]: readonly string[]): Promise<number> {
  const env = Object.fromEntries(variablesFor(replay));
  let code: number;
  try {
    ({ code } = await new Deno.Command(program!, { args, env }).spawn().status);
  } catch (thrown) {
    say(`${program} cannot be run: ${thrown instanceof Error ? thrown.message : thrown}`);
    code = 127;
  }
  await replay.close();
  for (const problem of replay.problems) say(problem);
  return code === 0 && replay.problems.length > 0 ? 1 : code;
}

function say(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
}

async function serve(replay: Replay): Promise<number> {
  print(`export ${variablesFor(replay).map(([name, value]) => `${name}=${value}`).join(" ")}`);
  await new Promise<void>((resolve) => Deno.addSignalListener("SIGINT", resolve));
  await replay.close();
  for (const problem of replay.problems) say(problem);
  return replay.problems.length > 0 ? 1 : 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
