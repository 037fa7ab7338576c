// Stream errors with every provider as the command line reports them: exit code, message and file.
// tests/providers/stream_faults_test.ts tests the document itself.

import assert from "node:assert/strict";
import { run } from "../../commands/run/send.ts";
import { Messages } from "../../commands/io/messages.ts";
import { StandardInput } from "../../commands/io/streams.ts";
import { readArguments } from "../../commands/line/arguments.ts";
import { freshFolder, removeFolder } from "../folder.ts";
import { serve } from "../providers/loopback.ts";
import { BEFORE, type Ending, FAULTS } from "../providers/stream_faults.ts";
import { DIALECTS, type StreamDialect } from "../providers/same_stream.ts";
import { withScene } from "./harness.ts";

const ABORTED = "<!-- flemma:aborted: ";

/** The words and variables that make a voice the provider. Silence is given a second, everything else all the time it needs. */
function asked(
  dialect: StreamDialect,
  { url, seconds = 300 }: { readonly url: string; readonly seconds?: number },
): { readonly words: readonly string[]; readonly env: Record<string, string> } {
  return {
    words: [
      "--provider",
      dialect.provider,
      "--model",
      dialect.model,
      "--param",
      `timeout=${seconds}`,
      "--no-retry",
    ],
    env: { [dialect.keyVariable]: "k", [`FLEMMA_${dialect.provider.toUpperCase()}_BASE_URL`]: url },
  };
}

/** One `flemma send FILE` in this process, in a place of its own. */
async function send(dialect: StreamDialect, server: Parameters<typeof asked>[1], folder: string) {
  const file = `${folder}/a.chat`;
  await Deno.writeTextFile(file, BEFORE);
  const { words, env } = asked(dialect, server);
  const read = readArguments(["send", file, ...words, "--messages", `${folder}/told`], () => true);
  assert.ok(read.kind === "run");
  const variables = { HOME: folder, XDG_STATE_HOME: `${folder}/state`, ...env };
  const environment = { cwd: folder, home: folder, variables };
  const messages = new Messages(environment, {
    filter: false,
    quiet: false,
    place: { file: `${folder}/told` },
  });
  const code = await run({ arguments: read.arguments, environment, messages, input: new StandardInput() });
  assert.equal(messages.close(code), null);
  const reported = await Deno.readTextFile(`${folder}/told`);
  return { code, reported, after: await Deno.readTextFile(file) };
}

/** That the exit code, the sentence and the document say the same of how it ended. */
function check(ending: Ending, { code, reported, after }: Awaited<ReturnType<typeof send>>): void {
  const complete =
    /The reply is complete|The reply has ended|waits? for you|no result yet|Continue with: flemma advance/;
  if (ending.is !== "failed") {
    assert.equal(code, 0, reported);
    assert.ok(!after.includes(ABORTED));
    if (ending.is === "cut") {
      assert.match(reported, /The reply is incomplete\. Continue it with: flemma advance/);
    } else assert.match(reported, complete);
    if (ending.is === "whole" && ending.warns === true) assert.match(reported, /^flemma: .+$/m);
    return;
  }
  assert.equal(code, 1, reported);
  assert.doesNotMatch(reported, /reply is complete/i);
  assert.match(reported, /^flemma: \S/);
  if (ending.says !== undefined) assert.match(reported, ending.says);
  if (ending.text === null) assert.equal(after, BEFORE);
  else assert.ok(after.includes(ABORTED), "the text says that it is incomplete");
}

for (const dialect of DIALECTS) {
  Deno.test(`for ${dialect.provider}, exit code and message say how each of ${Object.keys(FAULTS).length} streams ended`, async () => {
    for (const [what, { answer, ending }] of Object.entries(FAULTS)) {
      const folder = await freshFolder("flemma-faults-");
      const { url, close } = serve(() => answer(dialect));
      try {
        const ended = await send(dialect, { url, seconds: answer(dialect).hang ? 1 : undefined }, folder);
        const { code, reported, after } = ended;
        try {
          check(typeof ending === "function" ? ending(dialect) : ending, ended);
        } catch (cause) {
          throw new Error(`${what}: exit ${code}\n${reported}\n${after.slice(0, 400)}`, { cause });
        }
      } finally {
        await close();
        await removeFolder(folder);
      }
    }
  });
}

Deno.test("a filter prints the part of a reply that arrived; a mark or the exit code says that it is incomplete", () =>
  withScene(async (place) => {
    const dialect = DIALECTS[0]!;
    const rows = [["an error in the middle", 0, 1], ["401", 1, 1], ["no deviation at all", 0, 0]] as const;
    for (const [what, plain, strict] of rows) {
      const server = serve(() => FAULTS[what]!.answer(dialect));
      try {
        const { words, env } = asked(dialect, server);
        const run = (...more: string[]) => place.run(["send", ...words, ...more], { stdin: BEFORE, env });
        const [one, two] = await Promise.all([run(), run("--exit-code")]);
        assert.deepEqual([one.code, two.code], [plain, strict], `${what}: ${one.stderr}`);
        assert.equal(one.stdout === BEFORE, what === "401");
        assert.equal(one.stdout.includes(ABORTED), what === "an error in the middle");
      } finally {
        await server.close();
      }
    }
  }));
