import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import { createSend } from "../../cycle/send/send.ts";
import type { CycleEvent, SendOutcome } from "../../cycle/types.ts";
import { anthropic } from "../../providers/anthropic/provider.ts";
import {
  parseReplayScript,
  type Replay,
  type ScriptedReply,
  startReplay,
} from "../../providers/replay/server.ts";
import { inFolder } from "../folder.ts";

const BEFORE = "@System:\nBe brief.\n\n@You:\nfix the test\n";
const TOOLS = [{ name: "bash", description: "Runs.", input_schema: { type: "object" } }];

async function withReplay<T>(
  replies: readonly ScriptedReply[],
  use: (replay: Replay) => Promise<T>,
): Promise<T> {
  const replay = await startReplay({ replies });
  try {
    return await use(replay);
  } finally {
    await replay.close();
  }
}

interface Sent {
  readonly outcome: SendOutcome;
  readonly after: string;
  readonly events: readonly CycleEvent[];
}

async function send(url: string, before = BEFORE): Promise<Sent> {
  const store = new MemoryStore(new TextEncoder().encode(before), null);
  const events: CycleEvent[] = [];
  const outcome = await createSend({
    store,
    settings: { ...DEFAULT_SETTINGS, providers: { anthropic: { base_url: url } } },
    environment: { cwd: "/", home: "/", variables: { ANTHROPIC_API_KEY: "replay" } },
    provider: anthropic,
    tools: () => TOOLS,
    emit: (event) => events.push(event),
    retry: false,
  })(new AbortController().signal);
  return { outcome, after: new TextDecoder().decode(store.chat.bytes), events };
}

Deno.test("the replay server streams every kind of block, however the bytes are divided", async () => {
  const reply = [
    { thinking: "The sum is off by one.", signature: "c2ln" },
    { redacted: "b3BhcXVl" },
    { text: "I will look at 😀." },
    { tool_use: { id: "call_1", name: "bash", input: { command: "ls", n: [1] } } },
  ];
  const usage = { input_tokens: 20, output_tokens: 9, cache_read_input_tokens: 4 };
  for (const chunk of [undefined, 1, 7]) {
    await withReplay([{ reply, usage, chunk }], async (replay) => {
      const { outcome, after } = await send(replay.url);
      assert.ok(outcome.kind === "completed");
      assert.deepEqual(outcome.usage, { input: 20, output: 9, thoughts: 0, cache_read: 4, cache_write: 0 });
      assert.equal(
        after,
        `${BEFORE}
@Assistant:
<thinking anthropic:signature="c2ln">
The sum is off by one.
</thinking>
<thinking redacted>
b3BhcXVl
</thinking>

I will look at 😀.

**Tool Use:** \`bash\` (\`call_1\`)

\`\`\`json
{"command":"ls","n":[1]}
\`\`\`

@You:

`,
      );
      assert.equal(replay.remaining, 0);
      assert.deepEqual(replay.problems, []);
    });
  }
});

Deno.test("a request that does not meet the script's expectations is refused with every reason, and the reply remains for the next request", async () => {
  const expect = {
    user: { contains: ["fix", "the moon"] },
    system: { equals: "Be verbose." },
    tools: ["bash", "edit"],
    results: { call_1: { contains: "1 failed" } },
  };
  await withReplay([{ expect, reply: [{ text: "never" }] }], async (replay) => {
    const { outcome, after } = await send(replay.url);
    assert.ok(outcome.kind === "failed");
    for (
      const part of [
        /"the moon"/,
        /is not "Be verbose\."/,
        /tool edit is not offered \(offered: bash\)/,
        /the call call_1 has no result/,
      ]
    ) {
      assert.match(outcome.problem.message, part);
    }
    assert.doesNotMatch(outcome.problem.message, /"fix" /);
    assert.equal(after, BEFORE);
    assert.equal(replay.remaining, 1);
    assert.equal(replay.problems.length, 1);
    assert.equal(replay.requests.length, 1);
  });
});

Deno.test("the replay server checks results by their text and their error flag", async () => {
  const before =
    "@Assistant:\n**Tool Use:** `bash` (`a`)\n\n```json\n{}\n```\n\n@You:\n**Tool Result:** `a` (error)\n\n```\nno\n```\n";
  await withReplay([
    { expect: { results: { a: { is_error: false } } } },
  ], async (replay) => {
    const { outcome } = await send(replay.url, before);
    assert.ok(outcome.kind === "failed");
    assert.match(outcome.problem.message, /the result of a is an error: "no"/);
  });
  await withReplay([
    { expect: { results: { a: { is_error: true, equals: "no" } } }, reply: [{ text: "ok" }] },
  ], async (replay) => {
    assert.equal((await send(replay.url, before)).outcome.kind, "completed");
  });
});

Deno.test("the replay server refuses a request after the end of the script or to another path", async () => {
  await withReplay([], async (replay) => {
    const { outcome } = await send(replay.url);
    assert.ok(outcome.kind === "failed");
    assert.match(outcome.problem.message, /only 0 replies/);
    const other = await fetch(`${replay.url}/v1/models`);
    assert.equal(other.status, 404);
    assert.equal((await other.json()).type, "error");
  });
});

Deno.test("with order: any, each request gets the first reply whose expectations it meets, and a reply can be used any number of times", async () => {
  const script = await parseReplayScript(`
order: any
replies:
  - { expect: { user: { contains: moon } }, reply: [{ text: Far. }] }
  - { expect: { user: { contains: test } }, reply: [{ text: Fixed. }] }
`);
  assert.ok(script.ok);
  await using replay = await startReplay(script.value);
  for (
    const [question, answer] of [["fix the test", "Fixed."], ["to the moon", "Far."], ["a test", "Fixed."]]
  ) {
    assert.match((await send(replay.url, `@You:\n${question}\n`)).after, new RegExp(`\n${answer}\n`));
  }
  assert.equal(replay.remaining, 0);
  const { outcome } = await send(replay.url, "@You:\nhello\n");
  assert.ok(outcome.kind === "failed");
  assert.match(outcome.problem.message, /no reply of the script is for this request/);
  const wrong = await parseReplayScript("{ order: all, replies: [] }");
  assert.ok(!wrong.ok);
  assert.match(wrong.problem.message, /order: `any` is the only value/);
});

Deno.test("the replay server estimates the tokens of a request without using up a reply", async () => {
  await withReplay([{ reply: [{ text: "hi" }] }], async (replay) => {
    const answer = await fetch(`${replay.url}/v1/messages/count_tokens`, {
      method: "POST",
      body: "x".repeat(401),
    });
    assert.deepEqual(await answer.json(), { input_tokens: 101 });
    assert.equal(replay.remaining, 1);
    assert.deepEqual(replay.problems, []);
  });
});

Deno.test("a lenient replay accepts requests that the APIs refuse, but still checks the script's expectations", async () => {
  const expect = { user: { contains: "the moon" } };
  const replies = [...Array(4).fill({ reply: [{ thinking: "Hm." }, { text: "Yes." }] }), {
    expect,
    reply: [],
  }];
  const paths = [
    ["/v1/messages", { model: "claude-2", messages: [] }],
    ["/v1/responses", { model: "gpt-4", input: [] }],
    ["/v1/chat/completions", { model: "gpt-4", messages: [] }],
    ["/v1beta/models/gemini-1.5-pro:streamGenerateContent", { contents: [] }],
    ["/v1/messages", { model: "claude-2", messages: [] }],
  ] as const;
  for (const lenient of [false, true]) {
    await using replay = await startReplay({ replies }, { lenient });
    const answers = [];
    for (const [path, body] of paths) {
      const answer = await fetch(`${replay.url}${path}`, { method: "POST", body: JSON.stringify(body) });
      await answer.body?.cancel();
      answers.push(answer.status);
    }
    assert.deepEqual(answers, lenient ? [200, 200, 200, 200, 400] : [404, 400, 400, 400, 404]);
    assert.equal(replay.problems.length, lenient ? 1 : 5);
  }
});

Deno.test("the replay server sends the errors in the script: a status, an error event, a broken connection", async () => {
  const reply = [{ text: "Half a sentence and more." }];
  await withReplay([
    {
      fault: {
        status: 429,
        headers: { "retry-after": "9" },
        body: { error: { type: "rate_limit_error", message: "Slow" } },
      },
    },
    { fault: { status: 503, body: "<html>down</html>" } },
    { reply, fault: { error: { type: "overloaded_error", message: "Overloaded" } } },
    { reply, fault: { cut: 520 } },
    {
      reply: [{ tool_use: { id: "x", name: "bash", input_text: '{"command":' } }],
      stop_reason: "max_tokens",
    },
  ], async (replay) => {
    const limited = await send(replay.url);
    assert.ok(limited.outcome.kind === "failed" && limited.outcome.problem.code === "provider-rate-limit");
    const finished = limited.events.at(-1);
    assert.ok(finished?.event === "request:finished");
    assert.deepEqual(finished.error?.details, ["retry-after: 9"]);
    const page = await send(replay.url);
    assert.ok(page.outcome.kind === "failed");
    assert.match(page.outcome.problem.message, /HTTP 503: Unexpected API response: <html>down<\/html>/);
    assert.match(
      (await send(replay.url)).after,
      /Half a sentence and more\.\n\n<!-- flemma:aborted: overloaded_error — Overloaded -->\n$/,
    );
    const cut = await send(replay.url);
    assert.ok(cut.outcome.kind === "failed" && cut.outcome.problem.code === "provider-network");
    assert.match(cut.after, /@Assistant:\nHalf a .*\n\n<!-- flemma:aborted: /);
    const half = await send(replay.url);
    assert.equal(half.outcome.kind, "failed");
    assert.equal(half.after, BEFORE);
    assert.deepEqual(replay.problems, []);
  });
});

Deno.test("a replay script is read from YAML or JSON, and every mistake in the script is reported with its location", async () => {
  const yaml = await parseReplayScript("- reply:\n    - text: hi\n");
  assert.deepEqual(yaml, { ok: true, value: { replies: [{ reply: [{ text: "hi" }] }] } });
  const json = await parseReplayScript('{"replies": []}');
  assert.deepEqual(json, { ok: true, value: { replies: [] } });
  for (
    const [text, place] of [
      ["- rely: []", /replies\[0\]\.rely: no such member; did you mean reply\?/],
      [
        "- reply:\n    - txt: hi",
        /replies\[0\]\.reply\[0\]: must have one of text, web_search, web_fetch, thinking/,
      ],
      ["- reply:\n    - tool_use: { id: a }", /tool_use: name is missing/],
      ["- chunk: -1", /chunk: must be a whole number/],
      ["- expect: { results: { a: { is_error: maybe } } }", /results\.a\.is_error: must be true or false/],
      ["hello", /is a list of replies/],
      ["- [", /neither YAML nor JSON/],
    ] as const
  ) {
    const answer = await parseReplayScript(text);
    assert.ok(!answer.ok);
    assert.match(answer.problem.message, place);
  }
});

Deno.test("the example in docs/reference/replay.md runs as its script expects", async () => {
  const root = new URL("../../", import.meta.url).pathname;
  await inFolder(async (folder) => {
    for (const name of ["talk.chat", "poem.txt"]) {
      await Deno.copyFile(`${root}examples/replay/${name}`, `${folder}/${name}`);
    }
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        `${root}scripts/replay.ts`,
        `${root}examples/replay/count-words.yaml`,
        "--",
        Deno.execPath(),
        "run",
        "-A",
        `${root}cli.ts`,
        "advance",
        `${folder}/talk.chat`,
      ],
      env: {
        HOME: folder,
        XDG_STATE_HOME: `${folder}/state`,
        XDG_CONFIG_HOME: `${folder}/config`,
        DENO_DIR: denoDir(),
      },
      stdout: "piped",
      stderr: "piped",
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    const after = await Deno.readTextFile(`${folder}/talk.chat`);
    assert.match(after, /\*\*Tool Result:\*\* `call_read`\n\n```\nWhose woods these are/);
    assert.match(after, /\nThe first line has eight words\.\n\n@You:\n\n$/);
  });
});

/** The cache of this process, which a child with another HOME would not find. */
function denoDir(): string {
  return Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
}
