// Finds out which functions the usual commands call, by running them.

import { startReplay } from "../../providers/replay/server.ts";
import type { Called } from "./nodes.ts";

/** A document with a finished call, and one that waits. */
const TALK = `@You:
What is in a.txt?

@Assistant:
I will look.

**Tool Use:** \`bash\` (\`done_1\`)

\`\`\`json
{ "command": "cat a.txt" }
\`\`\`

@You:

**Tool Result:** \`done_1\`

\`\`\`
some text
\`\`\`

@Assistant:
It says "some text".
`;
const QUESTION = `${TALK}
@You:
Thank you.
`;
const WAITING = `${TALK}
@You:
Run it.

@Assistant:
**Tool Use:** \`bash\` (\`open_1\`)

\`\`\`json
{ "command": "true" }
\`\`\`

@You:

**Tool Result:** \`open_1\` (pending)

\`\`\`
\`\`\`
`;

/** Settings of the kinds that most people write. */
const SETTINGS = `model: claude-sonnet-5-5
thinking: low
tools:
  auto_approve: ["$standard"]
  rules:
    - approve: bash
      command: "git status*"
parameters:
  max_tokens: 8192
`;

interface Run {
  readonly words: readonly string[];
  readonly text: string;
  /** The user's settings file. @default none */
  readonly settings?: string;
  /** Whether the model first calls a tool. @default false */
  readonly calls?: boolean;
}

/** Commands that people and editors run frequently, each with its document. */
const RUNS: readonly Run[] = [
  { words: ["status", "a.chat"], text: QUESTION },
  { words: ["status", "a.chat"], text: WAITING },
  { words: ["check", "a.chat"], text: QUESTION },
  { words: ["approve", "a.chat", "open_1"], text: WAITING },
  { words: ["reject", "a.chat", "open_1"], text: WAITING },
  { words: ["execute", "a.chat", "open_1"], text: WAITING.replace("(pending)", "(approved)") },
  { words: ["advance", "a.chat"], text: WAITING.replace("(pending)", "(approved)") },
  { words: ["advance", "a.chat"], text: QUESTION, calls: true },
  { words: ["status", "a.chat"], text: WAITING, settings: SETTINGS },
];

/**
 * Runs the usual commands with the program at `program` and returns, for each of its files, which functions they
 * called. If this machine cannot do something (it may have no sandbox), those functions are not called and are
 * compiled later. The later compilation has no other effect.
 * @param files paths of the files of the program
 */
export async function calledFunctions(
  program: string,
  files: readonly string[],
): Promise<ReadonlyMap<string, Called>> {
  const called = new Map(files.map((file) => [file, new Map<number, Set<number>>()]));
  for await (const log of logsOfUsualRuns(program)) note(log, called);
  return called;
}

/** Runs the usual commands with the program at `program`, and yields the engine's log of each run. */
export async function* logsOfUsualRuns(program: string): AsyncGenerator<string, void, void> {
  const folder = await Deno.makeTempDir({ prefix: "flemma-build-" });
  try {
    for (const { words, text, settings, calls = false } of RUNS) {
      await Deno.writeTextFile(`${folder}/a.chat`, text);
      if (settings === undefined) yield await logOf(program, words, { folder, calls });
      else {
        const config = `${folder}/.config/flemma`;
        await Deno.mkdir(config, { recursive: true });
        await Deno.writeTextFile(`${config}/config.yaml`, settings);
        yield await logOf(program, words, { folder, calls });
        await Deno.remove(config, { recursive: true });
      }
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Returns the engine's log of one run. */
async function logOf(
  program: string,
  words: readonly string[],
  { folder, calls }: { readonly folder: string; readonly calls: boolean },
): Promise<string> {
  const log = `${folder}/functions.log`;
  const call = { tool_use: { id: "call_1", name: "bash", input: { command: "true", timeout: null } } };
  await using replay = await startReplay({
    replies: [...calls ? [{ reply: [call] }] : [], { reply: [{ text: "Done." }] }],
  });
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      `--v8-flags=--log-function-events,--logfile=${log},--no-logfile-per-isolate`,
      program,
      ...words,
    ],
    cwd: folder,
    clearEnv: true,
    env: {
      PATH: Deno.env.get("PATH") ?? "",
      HOME: folder,
      // The cache is empty, because functions that are already compiled are not reported.
      DENO_DIR: `${folder}/cache-${words[0]}`,
      FLEMMA_ANTHROPIC_BASE_URL: replay.url,
      ANTHROPIC_API_KEY: "replay",
    },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (code > 5) throw new Error(`flemma ${words.join(" ")} failed: ${new TextDecoder().decode(stderr)}`);
  return await Deno.readTextFile(log);
}

/** Adds the functions of one log: lines `script-details,ID,ADDRESS` and `function,EVENT,ID,START,END,…`. */
function note(log: string, called: ReadonlyMap<string, Map<number, Set<number>>>): void {
  const byId = new Map<string, Map<number, Set<number>>>();
  const lines = log.split("\n").map((line) => line.split(","));
  for (const [kind, id, address] of lines) {
    if (kind !== "script-details" || address === undefined || !address.startsWith("file:")) continue;
    const ends = called.get(decodeURIComponent(new URL(address).pathname));
    if (ends !== undefined) byId.set(id!, ends);
  }
  for (const [kind, event, id, start, end] of lines) {
    if (kind !== "function" || !COMPILED.has(event!)) continue;
    const ends = byId.get(id!);
    if (ends === undefined) continue;
    const starts = ends.get(Number(end)) ?? new Set();
    ends.set(Number(end), starts.add(Number(start)));
  }
}

/** Events that the engine logs when it compiles a function. */
const COMPILED: ReadonlySet<string> = new Set(["interpreter", "interpreter-lazy", "parse-function"]);
