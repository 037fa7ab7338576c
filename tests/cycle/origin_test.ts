// Thinking that another key signed: it is omitted before a provider can refuse it, block by block, and only for that key.

import assert from "node:assert/strict";
import { refusedThinking, type SentThinking } from "../../cycle/send/thinking/refused.ts";
import { accountOf, evaluateOrigin, OriginLog } from "../../cycle/send/thinking/origin.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { quickHash } from "../../base/hash.ts";
import type { Prompt } from "../../prompt/types.ts";
import { getProvider } from "../../providers/registry.ts";
import { readSealed } from "../../providers/replay/sealed.ts";
import type { ScriptedReply } from "../../providers/replay/server.ts";
import type { ThinkingPart } from "../../providers/types.ts";
import { called, type Conversation, converse, thought } from "./conversation.ts";

/** The providers that refuse foreign signatures. */
const MODELS = [["openai", "gpt-6.2-sol"], ["gemini", "gemini-3.8-flash"], [
  "vertex",
  "gemini-4-argon",
]] as const;

const TOOL = { name: "bash", description: "Runs.", input_schema: { type: "object" } };

/** Uses another account: a key, or at Vertex AI a project. */
function changeAccount(talk: Conversation, name: string): void {
  if (talk.settings.provider === "vertex") {
    talk.project = name;
    talk.ask("vertex", talk.settings.model!);
  } else talk.key = name;
}

/** The signed thinking of the last request, by the name that the server gave it. */
function sentNames(talk: Conversation): readonly string[] {
  const text = JSON.stringify(talk.body);
  return [...text.matchAll(/"(?:encrypted_content|thoughtSignature)":"([^"]*)"/g)]
    .map(([, value]) => readSealed(value)?.name ?? "stand-in");
}

for (const [provider, model] of MODELS) {
  /** Three replies with a call each; names of their signatures. */
  const replies: readonly ScriptedReply[] = [
    called("a", "c1"),
    thought("b"),
    called("c", "c2"),
    thought("d"),
    called("e", "c3"),
    thought("f"),
    thought("g"),
  ];
  const isOpenai = provider === "openai";
  const names = (...numbers: readonly number[]) =>
    numbers.map((number) => isOpenai ? `${number}_0` : `${number}`);
  const ask = async (talk: Conversation, id: string, question: string, ...reported: readonly RegExp[]) => {
    talk.say(question);
    await talk.sent(...reported);
    talk.answer(id, "out");
    await talk.sent();
  };

  Deno.test(`${provider}: after a change of the account, thinking of the other account is omitted before it is refused, and used again with its own`, async () => {
    await converse({ replies, text: "@System:\nBe brief.\n" }, async (talk) => {
      talk.tools = [TOOL];
      talk.ask(provider, model);
      await ask(talk, "c1", "One?");
      changeAccount(talk, "other");
      await ask(
        talk,
        "c2",
        "Two?",
        /accepts \d blocks? of earlier thinking \(first at line \d+\) only with the key or project/,
      );
      assert.deepEqual(sentNames(talk), names(3));
      talk.say("Three?");
      await talk.sent();
      // What was received with this key is sent with it; Gemini signs only calls.
      assert.deepEqual(sentNames(talk), isOpenai ? names(3, 4) : names(3));
      changeAccount(talk, isOpenai || provider === "gemini" ? "key" : "demo");
      talk.answer("c3", "out");
      await talk.sent(/accepts \d blocks?/);
      const gemini = [...names(1), "stand-in"];
      assert.deepEqual(sentNames(talk), isOpenai ? names(1, 2) : gemini);
      assert.deepEqual(talk.replay.problems, [], "nothing was refused");
    });
  });

  Deno.test(`${provider}: a document of another machine is refused once; the blocks of then are omitted from then on, and later ones are sent`, async () => {
    await converse({ replies, text: "@System:\nBe brief.\n" }, async (talk) => {
      talk.tools = [TOOL];
      talk.ask(provider, model);
      await ask(talk, "c1", "One?");
      talk.document = `${talk.folder}/elsewhere.chat`;
      changeAccount(talk, "other");
      await ask(
        talk,
        "c2",
        "Two?",
        /refused the request .* repeats it without the thinking of earlier replies, which later/,
      );
      assert.deepEqual(sentNames(talk), names(3));
      talk.say("Three?");
      await talk.sent();
      assert.deepEqual(sentNames(talk), isOpenai ? names(3, 4) : names(3));
      assert.equal(talk.replay.problems.length, 1);
    });
  });

  Deno.test(`${provider}: fresh thinking of an open loop stays when older thinking is refused`, async () => {
    await converse({ replies, text: "@System:\nBe brief.\n" }, async (talk) => {
      talk.tools = [TOOL];
      talk.ask(provider, model);
      await ask(talk, "c1", "One?");
      const foreign = talk.text.slice(talk.text.indexOf("@Assistant:"), talk.text.lastIndexOf("@You:"));
      talk.document = `${talk.folder}/elsewhere.chat`;
      talk.text = "@System:\nBe brief.\n";
      changeAccount(talk, "other");
      talk.say("Two?");
      await talk.sent();
      // The turn of the other account is pasted in front of the open loop.
      talk.edit("@You:\nTwo?", `@You:\nOne?\n\n${foreign}@You:\nTwo?`);
      talk.edit("(`c2`)", "(`c9`)");
      talk.answer("c9", "out");
      await talk.sent(
        isOpenai
          ? /repeats it without 2 blocks of earlier thinking \(first at line \d+\), which later/
          : /repeats it without 1 block of earlier thinking \(first at line \d+\), which later/,
      );
      assert.deepEqual(sentNames(talk), names(3));
      assert.equal(talk.replay.problems.length, 1);
    });
  });
}

Deno.test("OpenAI: reasoning that the provider removed is reported once, with the line of the block", async () => {
  const replies = [thought("a"), thought("b"), thought("c"), thought("d")];
  await converse({ replies }, async (talk) => {
    talk.ask("openai", "gpt-5.4");
    await talk.sent();
    talk.ask("openai", "gpt-6.2-sol");
    talk.say("Two?");
    await talk.sent(
      /gpt-6\.2-sol cannot read 1 block of earlier thinking \(first at line 5\); this thinking stays in the file/,
    );
    assert.ok(JSON.stringify(talk.body).includes("rs_1_0"));
    talk.say("Three?");
    await talk.sent();
    talk.ask("openai", "gpt-5.4");
    talk.say("Four?");
    const line = talk.text.split("\n").findIndex((line, at) => line.startsWith("<thinking ") && at > 5) + 1;
    await talk.sent(RegExp(`gpt-5\\.4 cannot read 2 blocks of earlier thinking \\(first at line ${line}\\)`));
    assert.deepEqual(talk.replay.problems, []);
  });
});

const part = (value: string, provider = "openai"): ThinkingPart => ({
  kind: "thinking",
  content: "hm",
  redacted: false,
  signature: { provider, value },
});

Deno.test("a selection of thinking to leave out is as small as the refusal allows", () => {
  const [a, b, c] = ["a", "b", "c"].map((value) => part(value)) as [ThinkingPart, ThinkingPart, ThinkingPart];
  const sent = (loop: SentThinking["loop"], own: readonly ThinkingPart[] = []): SentThinking => ({
    all: [a, b, c],
    named: new Map([["messages.1.content.0", a], ["messages.3.content.0", b], ["messages.31.content.0", c]]),
    loop,
    isOwn: (each) => own.includes(each),
  });
  const rows: readonly (readonly [string, SentThinking, readonly (readonly ThinkingPart[])[]])[] = [
    // Bound to what comes before: everything from the named block on.
    ["messages.3.content.0: Invalid `signature`", sent([]), [[b, c], [a, b, c]]],
    ["messages.31.content.0: Invalid `signature`", sent([]), [[c], [a, b, c]]],
    ["messages.1.content.0: Invalid `signature`", sent([]), [[a, b, c]]],
    // An open loop goes as a whole.
    ["messages.31.content.0: Invalid `signature`", sent([b, c]), [[b, c], [a, b, c]]],
    ["messages: blocks in the latest assistant message cannot be modified", sent([c]), [[c], [a, b, c]]],
    ["messages: blocks in the latest assistant message cannot be modified", sent([]), [[a, b, c]]],
    ["no thinking please", sent([c]), [[a, b, c]]],
    // Free: what is named, or what this key did not make.
    ["messages.3.content.0 has no item after it", sent(null, [a, b]), [[b], [b, c], [a, b, c]]],
    ["messages.3.content.0: encrypted content", sent(null, [a, b]), [[b, c], [a, b, c]]],
    ["Corrupted signature", sent(null, [c]), [[a, b], [a, b, c]]],
    ["Corrupted signature", sent(null, []), [[a, b, c]]],
    ["Corrupted signature", sent(null, [a, b, c]), [[a, b, c]]],
  ];
  for (const [message, thinking, expected] of rows) {
    assert.deepEqual(refusedThinking({ message }, thinking), expected, message);
  }
  assert.deepEqual(refusedThinking({ message: "signature" }, { ...sent(null), all: [] }), []);
});

Deno.test("the account is a digest of a lasting key or of the project, and unknown for keys that expire", async () => {
  const settings = {
    ...DEFAULT_SETTINGS,
    parameters: { ...DEFAULT_SETTINGS.parameters, vertex: { project_id: "p" } },
  };
  const plain = { secret: "sk-1", source: "OPENAI_API_KEY" };
  const one = await accountOf({}, settings, plain);
  assert.match(one ?? "", /^[0-9a-f]{16}$/);
  assert.equal(await accountOf({}, settings, { ...plain, source: "keyring" }), one);
  assert.notEqual(await accountOf({}, settings, { ...plain, secret: "sk-2" }), one);
  assert.equal(await accountOf({}, settings, { ...plain, lifetime: 3600 }), null);
  assert.equal(await accountOf({}, settings, { secret: "", source: null }), null);
  assert.equal(
    await accountOf({}, settings, { ...plain, secret: "eyJhbGciOi.eyJzdWIi.c2ln" }),
    null,
    "a token",
  );
  assert.notEqual(await accountOf({}, settings, { ...plain, secret: "eyJhbGciOi.eyJzdWIi" }), null);
  const vertex = await getProvider("vertex");
  assert.ok(vertex.ok);
  const project = await accountOf(vertex.value, settings, { ...plain, lifetime: 3600 });
  assert.equal(await accountOf(vertex.value, settings, { ...plain, secret: "other" }), project);
  assert.equal(await accountOf(vertex.value, DEFAULT_SETTINGS, plain), null);
});

Deno.test("thinking is omitted only if its account is known and differs, or if it was refused to this account", () => {
  const notes = new Map<string, string>();
  const recall = (about: string) => notes.get(quickHash(about)) ?? null;
  const prompt = {
    history: [{ role: "assistant", parts: [part("a"), part("b"), part("x", "gemini"), part("")] }],
  } as unknown as Prompt;
  const outcome = (account: string | null) => {
    const { signed, leftOut, news } = evaluateOrigin(prompt, "openai", account, recall);
    const values = (parts: Iterable<ThinkingPart>) => [...parts].map(({ signature }) => signature!.value);
    return [values(signed), values(leftOut), values(news)];
  };
  assert.deepEqual(outcome("A"), [["a", "b"], [], []]);
  const log = (account: string | null, omitted: readonly ThinkingPart[], ...received: readonly string[]) => {
    const made = new OriginLog({ provider: "openai", model: "m", account, omitted, sent: new Map() });
    for (const value of received) {
      made.note({ kind: "thinking", content: "", signature: { provider: "openai", value } });
    }
    return made.finish(
      {
        thinking: { records: new Map(), stale: new Set(), unread: new Set(), sent: [], notes },
        recordThinking(entries: readonly { kind: string; key: string; value: string }[]) {
          for (const { key, value } of entries) notes.set(key, value);
          return Promise.resolve();
        },
      } as unknown as Parameters<OriginLog["finish"]>[0],
    );
  };
  return (async () => {
    await log("A", [], "a");
    assert.deepEqual(outcome("A"), [["a", "b"], [], []]);
    assert.deepEqual(outcome("B"), [["a", "b"], ["a"], ["a"]]);
    assert.deepEqual(outcome(null), [["a", "b"], [], []]);
    await log("B", [part("a"), part("b")]);
    assert.deepEqual(outcome("B"), [["a", "b"], ["a", "b"], []]);
    assert.deepEqual(outcome("A"), [["a", "b"], [], []]);
    await log(null, [part("b")]);
    assert.deepEqual(outcome(null), [["a", "b"], ["b"], []]);
  })();
});

Deno.test("a reasoning item of a copied turn is sent without its id", async () => {
  const replies = [thought("a"), thought("b")];
  await converse({ replies }, async (talk) => {
    talk.ask("openai", "gpt-6.2-sol");
    await talk.sent();
    const turn = talk.text.slice(talk.text.indexOf("@Assistant:"), talk.text.lastIndexOf("@You:"));
    talk.say(`Two?\n\n${turn}@You:\nThree?`);
    await talk.sent();
    assert.equal(JSON.stringify(talk.body).split('"rs_1_0"').length, 2);
    assert.deepEqual(talk.replay.problems, []);
  });
});
