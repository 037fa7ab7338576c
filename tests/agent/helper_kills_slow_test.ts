// Runs with helpers that are killed with -9 at any moment: no question is written twice, and no result is lost.

import assert from "node:assert/strict";
import { type Scene, withScene } from "../cli/harness.ts";
import { frames, SSE, stop } from "../cycle/sending.ts";
import { gitIn, start } from "./worktrees.ts";

/** How many runs are killed. */
const KILLS = Number(Deno.env.get("HELPER_KILLS") ?? 12);

const NAMES = ["one", "two", "three"];
const SETTINGS = "tools: { $append: [ask_document], auto_approve: [ask_document, calculator] }\n" +
  "presets: { $tree: { worktree: true } }\n";

/** A model that answers slowly, so that kills hit every state. */
function serve(preset: string | null) {
  const pause = () => new Promise((done) => setTimeout(done, 8));
  return Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const { messages } = await request.json();
    const first = JSON.stringify(messages[0].content);
    const last = JSON.stringify(messages.at(-1).content);
    const name = NAMES.find((each) => first.includes(`Question ${each}.`));
    const hasResult = last.includes("tool_result");
    // A kill may have cut the last reply, which is then continued.
    const isEnd = JSON.stringify(messages).includes("tool_result");
    const events = name === undefined
      ? isEnd
        ? texts("All ", "done.")
        : calls(NAMES.map((each) => asking(each, /round \d+/.exec(first)![0], preset)))
      : hasResult
      ? texts(`Answer `, `${name}.`)
      : calls([[`c-${name}`, "calculator", { expression: "1 + 1" }]]);
    return new Response(
      ReadableStream.from((async function* () {
        for (const event of events) {
          await pause();
          yield new TextEncoder().encode(frames(event));
        }
      })()),
      { headers: SSE },
    );
  });
}

const BEGIN = { type: "message_start", message: { usage: { input_tokens: 10 } } };
const END = { type: "message_stop" };

function texts(...pieces: readonly string[]): readonly object[] {
  return [
    BEGIN,
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...pieces.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
    { type: "content_block_stop", index: 0 },
    stop("end_turn"),
    END,
  ];
}

type Calling = readonly [id: string, name: string, input: object];

function calls(all: readonly Calling[]): readonly object[] {
  return [
    BEGIN,
    ...all.flatMap(([id, name, input], index) => [
      { type: "content_block_start", index, content_block: { type: "tool_use", id, name, input: {} } },
      {
        type: "content_block_delta",
        index,
        delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
      },
      { type: "content_block_stop", index },
    ]),
    stop("tool_use"),
    END,
  ];
}

/** The rounds differ, because a call that has run in one document does not run in a copy of it. */
function asking(name: string, round: string, preset: string | null): Calling {
  const question = `Question ${name}. This is ${round}.`;
  return [`ask-${name}`, "ask_document", { question, document: null, name, preset, files: null }];
}

Deno.test(`after ${KILLS} kills at any moment, every question is asked once and every result is there`, () =>
  withScene(async (place) => {
    await killRuns(place, null);
  }));

Deno.test(`after ${KILLS} kills, every helper in a worktree has exactly one`, () =>
  withScene(async (place) => {
    const folder = place.path(".");
    start(folder);
    const asked = await killRuns(place, "$tree");
    const branches = gitIn(folder, "for-each-ref", "--format=%(refname)", "refs/heads/flemma").split("\n");
    assert.equal(branches.length, asked, branches.join("\n"));
    const worktrees = gitIn(folder, "worktree", "list", "--porcelain");
    assert.equal(worktrees.split("\n\n").length, asked + 1, worktrees);
    assert.doesNotMatch(worktrees, /^(?:locked|prunable)/m);
    assert.equal(gitIn(folder, "status", "--porcelain", "--", ":(exclude)*.chat*"), "");
  }));

/** Kills runs in several rounds. Returns the number of helpers that were asked. */
async function killRuns(place: Scene, preset: string | null): Promise<number> {
  await using server = serve(preset);
  const env = {
    FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.addr.port}`,
    ANTHROPIC_API_KEY: "replay",
  };
  place.settings(SETTINGS);
  let killed = 0;
  let longest = 0;
  let helpers = 0;
  for (let round = 0; killed < KILLS; round++) {
    const file = `talk-${round}.chat`;
    place.write(file, `@You:\nAsk them all in round ${round}.\n`);
    let said = "";
    for (let run = 0;; run++) {
      assert.ok(
        run < 30,
        `${place.read(file)}${
          NAMES.map((name) =>
            place.exists(`${file}.d/${name}.chat`) ? place.read(`${file}.d/${name}.chat`) : ""
          ).join("\n=====\n")
        }${said}`,
      );
      const began = performance.now();
      const started = place.start(["advance", "--continue", file], { env });
      const over = started.finished.then((finished) => ({ finished }));
      // The first run of all shows how long one takes.
      const after = longest === 0 || run > 5 ? Infinity : Math.random() * longest;
      const timer = Promise.withResolvers<null>();
      const id = after === Infinity ? undefined : setTimeout(() => timer.resolve(null), after);
      const ended = await Promise.race([over, timer.promise]);
      clearTimeout(id);
      if (ended === null && isKilled(started)) {
        killed++;
        await over;
        continue;
      }
      longest = Math.max(longest, performance.now() - began);
      const { code, stderr } = (await over).finished;
      said = stderr;
      const text = place.read(file);
      if (code === 0 && text.includes("All done.")) break;
      // The reply with the calls was cut by a kill, so the person decides about its calls.
      assert.equal(code, 3, `${stderr}\n${text}`);
      await place.run(["approve", file, "--all"], { env });
      // A call can wait in a helper for the same reason.
      for (const name of NAMES) await place.run(["approve", file, `${name}/c-${name}`], { env });
    }
    helpers += check(place.read(file), (name) => place.read(`${file}.d/${name}.chat`), [
      ...Deno.readDirSync(place.path(`${file}.d`)),
    ]);
  }
  return helpers;
}

/** Kills a process; false if it ended by itself meanwhile. */
function isKilled(started: { kill(signal: Deno.Signal): void }): boolean {
  try {
    started.kill("SIGKILL");
    return true;
  } catch (thrown) {
    if (thrown instanceof TypeError) return false;
    throw thrown;
  }
}

function check(text: string, helper: (name: string) => string, files: readonly Deno.DirEntry[]): number {
  // A kill may have cut the reply with the calls; then the model asked fewer helpers.
  const asked = NAMES.filter((name) => text.includes(`(\`ask-${name}\`)`));
  assert.deepEqual(files.map(({ name }) => name).sort(), asked.map((name) => `${name}.chat`).sort(), text);
  for (const name of asked) {
    const result = new RegExp(
      `\`ask-${name}\`\n\n\`\`\`\nAnswer ${name}\\.\n\n(?:Branch: flemma/${name}(?:-\\d+)?\n)?Helper: ${name} `,
    );
    assert.match(text, result);
    const own = helper(name);
    assert.equal(own.split(`Question ${name}.`).length, 2, own);
    assert.equal(own.split(`**Tool Result:** \`c-${name}\``).length, 2, own);
    assert.equal(own.split(`Answer ${name}.`).length, 2, own);
  }
  return asked.length;
}
