// Whole processes: the time before a command prints anything.

import { startReplay } from "../providers/replay/server.ts";
import { bundleProgram } from "../scripts/build/bundle.ts";
import { type Bench, type Figure, interleaved } from "./harness.ts";
import { compare, type Costs, PAIRS } from "./pairs.ts";

const ROUNDS = 15;
const BRIEF_ROUNDS = 5;
const PLAIN = "status, 50 KB";
/** Maximum ratio to the empty program. */
const GOALS: Readonly<Record<string, number>> = {
  "--version": 1.05,
  "status, 2 KB": 1.5,
  [PLAIN]: 1.9,
  "check, 50 KB": 2.2,
  "approve, 2 KB": 2.2,
  "execute, one sandboxed true": 3.5,
  "advance, two requests and a sandboxed true": 4.3,
};
/** Maximum additional milliseconds for frontmatter, or for one template tag, in a process that reads a document. */
const ADDED_MS = 60;
/** A call that waits for a person, after a conversation. */
const WAITING = "Run it.\n\n@Assistant:\n**Tool Use:** `bash` (`open_1`)\n\n```json\n" +
  '{ "command": "true" }\n```\n\n@You:\n\n**Tool Result:** `open_1` (pending)\n\n```\n```\n';
const FIRST_BLOCK = '```lua\nflemma.opt.thinking = "low"\nreader = "the team"\n```\n\n';

const bench: Bench = {
  name: "startup",
  about: `whole processes from the bundle, compared with an empty program: median of ${ROUNDS} runs`,
  async run(brief = false): Promise<readonly Figure[]> {
    const folder = await Deno.makeTempDir({ prefix: "flemma-bench-" });
    try {
      const program = `${folder}/flemma.js`;
      await bundleProgram(program);
      await documents(folder);
      const count = brief ? BRIEF_ROUNDS : ROUNDS;
      // The server gets the replies for one additional round, and each round takes two replies.
      await using replay = await startReplay({ replies: Array.from({ length: count + 1 }, replies).flat() });
      const variables = { FLEMMA_ANTHROPIC_BASE_URL: replay.url, ANTHROPIC_API_KEY: "replay" };
      const start = (args: readonly string[]) => () => startProgram(folder, args);
      /** For a document that the command changes. */
      const change = (document: string, ...args: readonly string[]) => async () => {
        await Deno.copyFile(`${folder}/${document}`, `${folder}/changed.chat`);
        await startProgram(folder, [program, ...args], variables);
      };
      const times = await interleaved({
        "empty program": start([`${folder}/empty.js`]),
        "--version": start([program, "--version"]),
        "--help": start([program, "--help"]),
        "status, 2 KB": start([program, "status", "small.chat"]),
        [PLAIN]: start([program, "status", "large.chat"]),
        "status, 50 KB and Lua frontmatter": start([program, "status", "lua.chat"]),
        "check, 50 KB": start([program, "check", "large.chat"]),
        "check, 50 KB and a template tag": start([program, "check", "template.chat"]),
        "approve, 2 KB": change("waiting.chat", "approve", "changed.chat", "open_1"),
        "execute, one sandboxed true": change("waiting.chat", "execute", "changed.chat", "open_1"),
        "advance, two requests and a sandboxed true": change("small.chat", "advance", "changed.chat"),
      }, count);
      const processes = Object.entries(times).map(([name, value]) => ({
        case: name,
        value,
        unit: "ms",
        ...(name === "empty program" ? {} : { against: "empty program" }),
        ...(GOALS[name] === undefined ? {} : { goal: GOALS[name] }),
      }));
      const added = (name: string, plain: string) => ({
        case: `added by ${name.slice(plain.length + " and ".length)}`,
        value: times[name]! - times[plain]!,
        unit: "ms",
        goal: ADDED_MS,
      });
      return [
        ...processes,
        added("status, 50 KB and Lua frontmatter", PLAIN),
        added("check, 50 KB and a template tag", "check, 50 KB"),
      ];
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
  async against(other): Promise<readonly Figure[]> {
    const folder = await Deno.makeTempDir({ prefix: "flemma-bench-" });
    try {
      await documents(folder);
      // One round goes first, and each takes two replies of each side.
      await using replay = await startReplay({
        replies: Array.from({ length: 2 * (PAIRS + 1) }, replies).flat(),
      });
      const variables = { FLEMMA_ANTHROPIC_BASE_URL: replay.url, ANTHROPIC_API_KEY: "replay" };
      const theirBuild: { bundleProgram: typeof bundleProgram } = await import(
        `${other}/scripts/build/bundle.ts`
      );
      await bundleProgram(`${folder}/ours.js`);
      await theirBuild.bundleProgram(`${folder}/theirs.js`);
      const pair = (...args: string[]) => ({
        ours: () => timeProgram(folder, [`${folder}/ours.js`, ...args]),
        theirs: () => timeProgram(folder, [`${folder}/theirs.js`, ...args]),
      });
      /** Of a document that the command changes. */
      const change = (document: string, ...args: string[]) => {
        const timed = (program: string) => async () => {
          await Deno.copyFile(`${folder}/${document}`, `${folder}/changed.chat`);
          return await timeProgram(folder, [program, ...args], variables);
        };
        return { ours: timed(`${folder}/ours.js`), theirs: timed(`${folder}/theirs.js`) };
      };
      return await compare({
        "--version": pair("--version"),
        "status, 2 KB": pair("status", "small.chat"),
        [PLAIN]: pair("status", "large.chat"),
        "status, 50 KB and Lua frontmatter": pair("status", "lua.chat"),
        "check, 50 KB": pair("check", "large.chat"),
        "approve, 2 KB": change("waiting.chat", "approve", "changed.chat", "open_1"),
        "execute, one sandboxed true": change("waiting.chat", "execute", "changed.chat", "open_1"),
        "advance, two requests and a sandboxed true": change("small.chat", "advance", "changed.chat"),
      });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};

export default bench;

async function documents(folder: string): Promise<void> {
  await Deno.writeTextFile(`${folder}/empty.js`, "");
  await Deno.writeTextFile(`${folder}/small.chat`, conversation(2_000));
  await Deno.writeTextFile(`${folder}/waiting.chat`, conversation(2_000) + WAITING);
  await Deno.writeTextFile(`${folder}/large.chat`, conversation(50_000));
  await Deno.writeTextFile(`${folder}/lua.chat`, FIRST_BLOCK + conversation(50_000));
  await Deno.writeTextFile(`${folder}/template.chat`, conversation(50_000) + "That makes {{ 6 * 7 }}.\n");
}

/** The model's answer to one question, in two replies. */
function replies(_: unknown, turn: number) {
  const call = { id: `bash_${turn}`, name: "bash", input: { command: "true" } };
  return [{ reply: [{ tool_use: call }] }, { reply: [{ text: "It ran." }] }];
}

async function startProgram(
  folder: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", ...args],
    cwd: folder,
    env: { HOME: folder, NO_COLOR: "1", ...variables },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
  if (!success) throw new Error(`failed: deno run ${args.join(" ")}`);
}

/** Wall-clock and processor time of one start, measured by bash: the runtime cannot report those of a child. */
async function timeProgram(
  folder: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<Costs> {
  const { success, stderr } = await new Deno.Command("bash", {
    args: [
      "-c",
      'TIMEFORMAT="%3R %3U %3S"; time "$@" >/dev/null 2>&1',
      "bash",
      Deno.execPath(),
      "run",
      "-A",
      ...args,
    ],
    cwd: folder,
    env: { HOME: folder, NO_COLOR: "1", LC_ALL: "C", ...variables },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`failed: deno run ${args.join(" ")}`);
  const [wall = NaN, user = NaN, system = NaN] = new TextDecoder().decode(stderr).trim().split(" ").map(
    Number,
  );
  return { wall, processor: user + system };
}

/** A document of about `bytes` bytes: questions, answers, finished calls. */
function conversation(bytes: number): string {
  let text = "";
  for (let turn = 1; text.length < bytes; turn++) {
    text += `@You:\n\nQuestion ${turn}: what is in file ${turn}?\n\n@Assistant:\nI will look at it.\n\n` +
      `**Tool Use:** \`read\` (\`call_${turn}\`)\n\n\`\`\`json\n{"path":"file${turn}.txt"}\n\`\`\`\n\n` +
      `@You:\n\n**Tool Result:** \`call_${turn}\`\n\n\`\`\`\n${
        "some content of a line\n".repeat(12)
      }\`\`\`\n\n` +
      `@Assistant:\nIt holds twelve lines that all say the same.\n\n`;
  }
  return `${text}@You:\nThank you.\n`;
}
