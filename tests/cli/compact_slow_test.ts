// Compacting long conversations into smaller documents, and forking them, as a person does it.

import assert from "node:assert/strict";
import { type ScriptedReply, startReplay } from "../../providers/replay/server.ts";
import { type Scene, withScene } from "./harness.ts";

const KEY = { ANTHROPIC_API_KEY: "test-key" };
const ASKED = "summarize this conversation";

/** A model with a tokenizer: what it says it read is a quarter of the request. Requests for summaries have replies of their own. */
async function withModel(
  { replies, summaries }: {
    readonly replies: readonly ScriptedReply[];
    readonly summaries: readonly ScriptedReply[];
  },
  body: (
    model: { readonly env: Record<string, string>; readonly bodies: readonly string[] },
  ) => Promise<void>,
): Promise<void> {
  const bodies: string[] = [];
  await using main = await startReplay({ replies });
  await using other = await startReplay({ replies: summaries });
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const text = await request.text();
    bodies.push(text);
    const { url } = text.includes(ASKED) ? other : main;
    const answer = await fetch(url + new URL(request.url).pathname, {
      method: "POST",
      headers: request.headers,
      body: text,
    });
    const tokens = Math.ceil(text.length / 4);
    const stated = (await answer.text()).replace('"input_tokens":7', `"input_tokens":${tokens}`);
    return new Response(stated, { status: answer.status, headers: { "content-type": "text/event-stream" } });
  });
  try {
    await body({
      env: { ...KEY, FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.addr.port}` },
      bodies,
    });
    assert.deepEqual([main.problems, main.remaining, other.problems, other.remaining], [[], 0, [], 0]);
  } finally {
    await server.shutdown();
  }
}

const usage = { input_tokens: 7, output_tokens: 40 };
const say = (text: string): ScriptedReply => ({ reply: [{ text }], usage });

Deno.test("in a window of 20,000 tokens, a run of sixty turns warns, stops, is compacted twice, and finishes", () =>
  withScene(async (place) => {
    const calls = Array.from({ length: 60 }, (_, at): ScriptedReply => ({
      reply: [{ text: `Step ${at}.` }, {
        tool_use: {
          id: `call_${at}`,
          name: "bash",
          input: {
            label: `step ${at}`,
            command: `echo step-${at}; head -c 2400 /dev/zero | tr '\\0' ${"abc"[at % 3]}`,
            timeout: null,
          },
        },
      }],
      usage,
    }));
    const summaries = ["Steps up to here went well; {{ no tag }}, @./no-file.", "More steps went well."].map(
      say,
    );
    place.settings(
      "providers:\n  anthropic:\n    models:\n      claude-sonnet-5-5: { context: 20000 }\nrun: { max_tokens: 100000000 }\n",
    );
    place.write("a.chat", "@System:\nWork.\n\n@You:\nTake sixty steps.\n");
    await withModel({ replies: [...calls, say("All done.")], summaries }, async ({ env, bodies }) => {
      const run = ["--approve", "bash", "--no-sandbox", "--model", "claude-sonnet-5-5"];
      const files = ["a.chat", "a.2.chat", "a.3.chat"];
      for (const [at, file] of files.entries()) {
        const advanced = await place.run(["advance", file, ...run], { env });
        const last = at === files.length - 1;
        assert.equal(advanced.code, last ? 0 : 3, advanced.stderr);
        assert.equal((await place.run(["check", file])).stdout, "", file);
        if (last) break;
        assert.match(advanced.stderr, /fills 8\d % of the context window/);
        assert.match(advanced.stderr, new RegExp(`flemma compact ${file.replaceAll(".", "\\.")}$`, "m"));
        const old = place.read(file);
        const compacted = await place.run(["compact", file, "--model", "claude-sonnet-5-5"], { env });
        assert.equal(compacted.code, 0, compacted.stderr);
        assert.equal(place.read(file), old, "the old document is not touched");
        const next = files[at + 1]!;
        assert.match(
          compacted.stderr,
          new RegExp(`${next.replaceAll(".", "\\.")} contains a summary of .*Continue with: flemma advance`),
        );
        const made = place.read(next);
        const kept = old.slice(old.lastIndexOf("@Assistant:", old.lastIndexOf("@Assistant:") - 1));
        assert.ok(made.endsWith(kept), "the kept turns are unchanged byte for byte");
        assert.ok(made.includes("Take sixty steps."), "and the message they are about");
        assert.equal((await place.run(["check", next])).code, 0);
        // The request for the summary begins as the one before it did: the provider has it at hand.
        const asking = bodies.at(-1)!;
        assert.ok(asking.includes(ASKED) && asking.includes("Take sixty steps."));
        const dry = await place.run(["send", next, "--dry-run", "--model", "claude-sonnet-5-5"]);
        const { messages } = JSON.parse(dry.stdout);
        const texts = JSON.stringify(messages);
        assert.ok(
          texts.includes(
            at === 0 ? "Steps up to here went well; {{ no tag }}, @./no-file." : "More steps went well.",
          ),
        );
        const id = /`(call_\d+)`\n\n```\nstep/.exec(kept)![1]!;
        const sent = messages.flatMap((
          { content }: { content: { tool_use_id?: string; content?: unknown }[] },
        ) => content)
          .find(({ tool_use_id }: { tool_use_id?: string }) => tool_use_id === id);
        const body = /```\n(step-\d+\n[abc]+)\n```/.exec(kept)![1]!;
        assert.ok(JSON.stringify(sent).includes(JSON.stringify(body).slice(1, -1)), "results byte for byte");
      }
      assert.match(place.read("a.3.chat"), /@Assistant:\nAll done\.\n/);
    });
  }));

/** A conversation of four short exchanges. */
const TALK = [1, 2, 3, 4].map((at) => `@You:\nQuestion ${at}?\n\n@Assistant:\nAnswer ${at}.\n\n`).join("") +
  "@You:\n\n";

/** Runs compact while the server holds the summary back; `meanwhile` happens before it comes. */
async function whileAsking(
  place: Scene,
  meanwhile: (started: { kill(signal: Deno.Signal): void; pid: number }) => Promise<void> | void,
): Promise<{ readonly code: number; readonly stderr: string }> {
  let release = () => {};
  let reached = () => {};
  const arrived = new Promise<void>((done) => reached = done);
  const retained = new Promise<void>((done) => release = done);
  await using replay = await startReplay({ replies: [say("The summary.")] });
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const body = await request.text();
    reached();
    await retained;
    return await fetch(replay.url + new URL(request.url).pathname, {
      method: "POST",
      headers: request.headers,
      body,
    });
  });
  const env = { ...KEY, FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.addr.port}` };
  const started = place.start(["compact", "a.chat"], { env });
  try {
    await Promise.race([arrived, started.finished.then(({ stderr }) => assert.fail(stderr))]);
    await meanwhile(started);
    release();
    return await started.finished;
  } finally {
    release();
    await server.shutdown();
  }
}

const names = (place: Scene) => [...Deno.readDirSync(place.path(""))].map(({ name }) => name).sort();

Deno.test("if compact is killed while the model summarizes, no files remain and it can be repeated", () =>
  withScene(async (place) => {
    place.write("a.chat", TALK);
    await whileAsking(place, (started) => started.kill("SIGKILL"));
    assert.deepEqual([names(place), place.read("a.chat")], [["a.chat"], TALK]);
    const stopped = await whileAsking(place, (started) => started.kill("SIGINT"));
    assert.deepEqual([names(place), place.read("a.chat")], [["a.chat"], TALK], stopped.stderr);
    assert.notEqual(stopped.code, 0);
    const done = await whileAsking(place, () => {});
    assert.equal(done.code, 0, done.stderr);
    assert.deepEqual(names(place), ["a.2.chat", "a.chat"]);
    assert.match(
      place.read("a.2.chat"),
      /^@You:\nThis conversation continues a\.chat\. Here is a summary of its first 4 messages/,
    );
  }));

Deno.test("while compact works, no other run starts, and text that another program writes is kept", () =>
  withScene(async (place) => {
    place.write("a.chat", TALK);
    const typed = await whileAsking(place, async () => {
      const advance = await place.run(["advance", "a.chat"], { env: KEY });
      assert.equal(advance.code, 5, advance.stderr);
      place.write("a.chat", `${TALK.trimEnd()}\nTyped meanwhile.\n`);
    });
    assert.equal(typed.code, 0, typed.stderr);
    assert.ok(place.read("a.2.chat").endsWith("@You:\nTyped meanwhile.\n"));
    const changed = await whileAsking(
      place,
      () => place.write("a.chat", TALK.replace("Question 1?", "Another?")),
    );
    assert.equal(changed.code, 5, changed.stderr);
    assert.match(changed.stderr, /was not compacted, because it changed in the meantime/);
    assert.deepEqual(names(place), ["a.2.chat", "a.chat"]);
    const taken = await whileAsking(place, () => place.write("a.3.chat", "mine"));
    assert.equal(taken.code, 2, taken.stderr);
    assert.equal(place.read("a.3.chat"), "mine");
  }));

Deno.test("an empty, truncated or missing summary is reported, and no files remain", () =>
  withScene(async (place) => {
    place.write("a.chat", TALK);
    const tool_use = { id: "c1", name: "bash", input: { label: "x", command: "ls", timeout: null } };
    for (
      const [reply, words] of [
        [{ reply: [] }, /the summary is empty/],
        [{ reply: [{ text: "Half a" }], stop_reason: "max_tokens" }, /the summary was cut off/],
        [{ reply: [{ text: "Let me see." }, { tool_use }] }, /the summary contains tool calls/],
        [{ fault: { status: 400, body: "no" } }, /./],
      ] as const
    ) {
      await withModel({ replies: [], summaries: [reply as ScriptedReply] }, async ({ env }) => {
        const { code, stderr } = await place.run(["compact", "a.chat"], { env });
        assert.equal(code, 1, stderr);
        assert.match(stderr, words);
      });
      assert.deepEqual([names(place), place.read("a.chat")], [["a.chat"], TALK]);
    }
  }));

Deno.test("the person chooses the model, the instructions, the number of kept messages and the file name for compact", () =>
  withScene(async (place) => {
    place.write("a.chat", TALK);
    // Whoever is told how runs end is not told of this one: the document does not go on.
    const hook = `touch '${place.folder}/told'`;
    place.settings(
      `context:\n  compact_model: claude-haiku-4-5\nhooks:\n  on_done: ${JSON.stringify(hook)}\n`,
    );
    await withModel({ replies: [], summaries: [say("S."), say("S.")] }, async ({ env, bodies }) => {
      const args = [
        "compact",
        "a.chat",
        "--keep",
        "1",
        "--to",
        "b.chat",
        "--instructions",
        "In German.",
        "--json",
      ];
      const { code, stdout, stderr } = await place.run(args, { env });
      assert.equal(code, 0, stderr);
      const reported = JSON.parse(stdout);
      assert.deepEqual([reported.made, reported.summed, reported.kept], [place.path("b.chat"), {
        messages: 6,
        lines: [1, 18],
      }, 3]);
      const body = JSON.parse(bodies[0]!);
      assert.equal(body.model, "claude-haiku-4-5");
      assert.match(JSON.stringify(body.messages.at(-1)), /In German\./);
      assert.ok(body.tools.length > 0, "the same tools, so that the cache is used");
      await place.run(["compact", "b.chat", "--keep", "0", "--model", "claude-sonnet-5-5"], { env });
      assert.equal(JSON.parse(bodies[1]!).model, "claude-sonnet-5-5");
      assert.ok(place.read("b.2.chat").endsWith("```\n\n@You:\n\n"));
      assert.throws(() => Deno.statSync(`${place.folder}/told`));
    });
  }));

Deno.test("compact without a model shortens long results to their beginning and end and saves the full text in files", () =>
  withScene(async (place) => {
    const long = Array.from({ length: 2000 }, (_, at) => `line ${at}`).join("\n");
    const text =
      `@You:\nLook.\n\n@Assistant:\n**Tool Use:** \`bash\` (\`c1\`)\n\n\`\`\`json\n{"command":"x"}\n\`\`\`\n\n` +
      `@You:\n**Tool Result:** \`c1\`\n\n\`\`\`\n${long}\n\`\`\`\n\n@Assistant:\nSeen.\n\n${TALK}`;
    place.write("a.chat", text);
    const dry = await place.run(["compact", "a.chat", "--results-only", "--dry-run"]);
    assert.match(dry.stderr, /a\.2\.chat would contain a summary of \d+ messages/);
    const { code, stderr } = await place.run(["compact", "a.chat", "--results-only"]);
    assert.equal(code, 0, stderr);
    const made = place.read("a.2.chat");
    const [, file] = /\[… shortened\. Complete result: (.*)\]/.exec(made) ?? assert.fail(made);
    assert.equal(Deno.readTextFileSync(file!), long);
    assert.ok(made.length < 1500 && made.endsWith(TALK));
    assert.equal((await place.run(["check", "a.2.chat"])).stdout, "");
    const again = await place.run(["compact", "a.2.chat", "--results-only"]);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /No result before the kept messages is longer than 4,096 bytes/);
  }));

Deno.test("compact refuses a document with waiting calls or with nothing to summarize", () =>
  withScene(async (place) => {
    const wait = '@Assistant:\n**Tool Use:** `bash` (`c1`)\n\n```json\n{"command":"x"}\n```\n\n@You:\n' +
      "**Tool Result:** `c1`\n\n```flemma:tool status=pending\n```\n";
    place.write("waits.chat", TALK.replace(/@You:\n\n$/, `@You:\nDo.\n\n${wait}`));
    place.write("short.chat", "@You:\nHi\n");
    for (
      const [args, exit, words] of [
        [["compact", "waits.chat"], 3, /waits\.chat has calls without a result.*flemma approve waits\.chat/],
        [["compact", "short.chat"], 1, /All messages are kept/],
        [["compact", "-"], 2, /a piped document has no folder/],
        [["compact", "none.chat"], 1, /no file none\.chat/],
        [
          ["compact", "short.chat", "--results-only", "--instructions", "x"],
          2,
          /--instructions has no effect/,
        ],
        [["fork", "none.chat"], 1, /no file none\.chat/],
        [["fork", "short.chat", "--line", "1", "--turn", "1"], 2, /cannot be combined/],
        [["fork", "short.chat", "1"], 2, /flemma fork short\.chat --turn 1\. /],
        [["fork", "short.chat", "--turn", "7"], 1, /You have no message 7/],
        [["fork", "short.chat", "waits.chat"], 2, /waits\.chat already exists/],
        [["fork", "short.chat", "no folder/a.chat"], 1, /Create it: mkdir -p/],
      ] as const
    ) {
      const { code, stderr } = await place.run(args);
      assert.equal(code, exit, `${args.join(" ")}: ${stderr}`);
      assert.match(stderr, words);
    }
    assert.deepEqual(names(place), ["short.chat", "waits.chat"]);
  }));

Deno.test("a fork is a separate document whose references still lead to the same files", () =>
  withScene(async (place) => {
    place.write("notes.txt", "the notes");
    place.write(
      "a.chat",
      TALK.replace("Question 1?", "See @./notes.txt and {% raw %}@./raw.txt{% endraw %}."),
    );
    const first = await place.run(["fork", "a.chat"]);
    assert.equal(first.code, 0, first.stderr);
    assert.equal(place.read("a.fork-1.chat"), place.read("a.chat"));
    assert.equal((await place.run(["fork", "a.fork-1.chat", "--turn", "2"])).code, 0);
    assert.ok(place.read("a.fork-2.chat").endsWith("@You:\nQuestion 2?\n\n"));
    Deno.mkdirSync(place.path("sub"));
    const moved = await place.run(["fork", "a.chat", "sub/b.chat", "--turn", "1", "--json"]);
    assert.equal(JSON.parse(moved.stdout).made, place.path("sub/b.chat"));
    const body = (await place.run(["send", "sub/b.chat", "--dry-run"])).stdout;
    assert.match(body, /the notes/);
    assert.match(body, /@\.\/raw\.txt/);
  }));

Deno.test("a compacted document is trusted exactly if the original was", () =>
  withScene(async (place) => {
    const block = '```json\n{ "flemma": { "sandbox": { "enabled": false } } }\n```\n\n';
    place.write("mine.chat", block + TALK);
    place.write("theirs.chat", block + TALK);
    assert.equal((await place.run(["trust", "mine.chat"])).code, 0);
    for (const [name, doubts] of [["mine", 0], ["theirs", 1]] as const) {
      assert.equal((await place.run(["fork", `${name}.chat`])).code, 0);
      const status = JSON.parse((await place.run(["status", `${name}.fork-1.chat`, "--json"])).stdout);
      assert.equal(status.doubts.length, doubts, name);
    }
  }));

Deno.test("only runs that nobody watches compact: advance does, and neither send nor a filter", () =>
  withScene(async (place) => {
    place.settings(
      "providers: { anthropic: { models: { claude-sonnet-5-5: { context: 6000 } } } }\n" +
        "parameters: { max_tokens: 400 }\ncontext: { on_full: compact, max_compactions: 5 }\n",
    );
    const long = Array.from({ length: 20 }, (_, at) =>
      `@You:\nQuestion ${at}?\n\n@Assistant:\nAnswer ${at}. ${"word ".repeat(200)}\n\n`).join("") +
      "@You:\nAnd now?\n";
    const run = ["--model", "claude-sonnet-5-5"];
    const replies = [1, 2, 3].map(() =>
      say("Yes.")
    );
    await withModel({ replies, summaries: [say("It was short.")] }, async ({ env, bodies }) => {
      const asked = () =>
        bodies.filter((body) => body.includes(ASKED)).length;
      place.write("sent.chat", long);
      await place.exits(0, ["send", "sent.chat", ...run], { env });
      assert.ok(place.read("sent.chat").startsWith(long));
      const filtered = await place.exits(0, ["advance", ...run], { env, stdin: long });
      assert.ok(filtered.stdout.startsWith(long));
      assert.equal(asked(), 0);
      place.write("run.chat", long);
      await place.exits(0, ["advance", "run.chat", ...run], { env });
      assert.equal(asked(), 1);
      assert.ok(place.exists("run.chat.before-1"));
    });
  }));
