// What holds from one batch of a conversation to the next: options of the send, thinking, and replies that are cut off.

import assert from "node:assert/strict";
import { withGivenConfig } from "../../batch/client_of.ts";
import { type Scene, testWithScene as test } from "../cli/harness.ts";
import { type Asked, withBatchServer } from "./servers.ts";

const CALL = { tool: "calculator", input: { expression: "1+1" } };

/** The thinking blocks of a request. */
function thinkingIn({ body }: Asked): readonly unknown[] {
  const blocks: unknown[] = [];
  JSON.stringify(body.messages, (_, value) => {
    if (value?.type === "thinking") blocks.push(value);
    return value;
  });
  return blocks;
}

function question(place: Scene, settings: string): void {
  place.settings(`${settings}parameters: { thinking: high }\n`);
  place.write("q0.chat", "@You:\nQuestion 0?\n");
}

test("parameters and preset of the send hold in later batches", (place) =>
  withBatchServer("anthropic", {
    answer: ({ results }) => results < 2 ? CALL : { text: "Two." },
  }, async ({ env, paid, settings }) => {
    place.settings(`${settings}presets: { $short: anthropic claude-sonnet-5-5 max_tokens=4321 }\n`);
    for (const file of ["q0.chat", "q1.chat"]) place.write(file, "@You:\nQuestion 0?\n");
    await place.exits(0, ["batch", "send", "--param", "max_tokens=1234", "q0.chat"], { env });
    await place.exits(0, ["batch", "send", "--preset", "short", "q1.chat"], { env });
    await place.run(["batch", "fetch"], { env });
    await place.run(["batch", "fetch", "--rounds", "0"], { env });
    assert.deepEqual(paid.map(({ results, body }) => [results, body.max_tokens]), [
      [0, 1234],
      [0, 4321],
      [1, 1234],
      [1, 4321],
    ]);
    // The live end keeps them too. The server knows only batches, so that request fails.
    await place.run(["batch", "fetch", "--finish-live"], { env });
    const log = await place.exits(0, ["usage", "q0.chat", "--json"], { env });
    assert.equal(JSON.parse(log.stdout).requests.length, 2);
  }));

test("the settings files of the send hold in later batches, unless the fetch names others", (place) =>
  withBatchServer("anthropic", {
    answer: ({ results }) => results < 2 ? CALL : { text: "Two." },
  }, async ({ env, paid, settings }) => {
    // Only the named file knows the server.
    place.write("own.yaml", `${settings}parameters: { max_tokens: 1111 }\n`);
    place.write("other.yaml", `${settings}parameters: { max_tokens: 2222 }\n`);
    place.write("q0.chat", "@You:\nQuestion 0?\n");
    await place.exits(0, ["batch", "send", "--config", "own.yaml", "q0.chat"], { env });
    await place.exits(3, ["batch", "fetch"], { env });
    await place.exits(3, ["batch", "fetch", "--config", "other.yaml"], { env });
    await place.exits(0, ["batch", "fetch"], { env });
    assert.deepEqual(paid.map(({ body }) => body.max_tokens), [1111, 1111, 2222]);
  }));

Deno.test("a named settings file of a fetch, or none, comes before that of the send", () => {
  const rows = [
    [{}, {}, {}],
    [{}, { config: "/a" }, { configPath: "/a" }],
    [{}, { noConfig: true }, { noConfig: true }],
    [{ configPath: "b" }, { config: "/a" }, { configPath: "b" }],
    [{ configPath: "b" }, { noConfig: true }, { configPath: "b" }],
    [{ noConfig: true }, { config: "/a" }, { noConfig: true }],
  ] as const;
  for (const [settings, given, expected] of rows) {
    const { configPath, noConfig = false } = withGivenConfig(settings, { given });
    const wanted = { configPath: undefined, noConfig: false, ...expected };
    assert.deepEqual({ configPath, noConfig }, wanted, JSON.stringify([settings, given]));
  }
});

for (const end of [{ expired: true } as const, { error: "overloaded, try later" } as const]) {
  test(`after a request that ${"expired" in end ? "expired" : "was refused"}, thinking goes back byte for byte`, (place) => {
    let isFirst = true;
    return withBatchServer("anthropic", {
      answer: ({ results }) => {
        if (results === 0) return { ...CALL, thinking: '  About it.\n\n"Quoted" – and  more. ' };
        if (!isFirst) return { text: "Two." };
        isFirst = false;
        return end;
      },
    }, async ({ env, paid, settings }) => {
      question(place, settings);
      await place.exits(0, ["batch", "send", "q0.chat"], { env });
      await place.exits(3, ["batch", "fetch"], { env });
      const before = place.read("q0.chat");
      await place.exits(3, ["batch", "fetch"], { env });
      await place.exits(0, ["batch", "send", "q0.chat"], { env });
      assert.equal(
        place.read("q0.chat").replace(/\*\*Reply.*\n/, "").replace(/item=.*/, ""),
        before.replace(/\*\*Reply.*\n/, "").replace(/item=.*/, ""),
      );
      await place.exits(0, ["batch", "fetch"], { env });
      const [, second, third] = paid;
      assert.equal(thinkingIn(second!).length, 1);
      assert.deepEqual(third!.body, second!.body);
      assert.match(place.read("q0.chat"), /Two\.\n\n@You:\n\n$/);
    });
  });
}

test("a request refused for its thinking goes into the next batch without it, and other documents keep theirs", (place) =>
  withBatchServer("anthropic", {
    answer: (asked) => {
      if (asked.results === 0) return { ...CALL, thinking: `About ${asked.question}.` };
      const isRefused = asked.question === "Question 0" && thinkingIn(asked).length > 0;
      return isRefused
        ? { error: "messages.1.content.0: Invalid `signature` in `thinking` block" }
        : { text: "Two." };
    },
  }, async ({ env, paid, settings }) => {
    question(place, settings);
    place.write("q1.chat", "@You:\nQuestion 1?\n");
    await place.exits(0, ["batch", "send", "q0.chat", "q1.chat"], { env });
    await place.exits(3, ["batch", "fetch"], { env });
    const refused = await place.exits(3, ["batch", "fetch"], { env });
    assert.match(
      refused.stderr,
      /q0\.chat: The provider refused the request, which is sent again in a reduced form/,
    );
    await place.exits(0, ["batch", "fetch"], { env });
    for (const at of [0, 1]) assert.match(place.read(`q${at}.chat`), /Two\.\n\n@You:\n\n$/);
    const later = paid.filter(({ results }) => results === 1)
      .map((asked) => [asked.question, thinkingIn(asked).length]);
    assert.deepEqual(later.toSorted(), [["Question 0", 0], ["Question 0", 1], ["Question 1", 1]]);
  }));

test("a reply that the provider paused is written, with how to continue it", (place) =>
  withBatchServer("anthropic", {
    answer: () => ({ text: "A first part.", isPaused: true }),
  }, async ({ env, settings }) => {
    question(place, settings);
    place.write("q1.chat", "@You:\nQuestion 1?\n");
    await place.exits(0, ["batch", "send", "q0.chat", "q1.chat"], { env });
    const fetched = await place.exits(0, ["batch", "fetch"], { env });
    // What holds for several documents is said once.
    const sentence = "cut off: the provider paused it, and only a live run can continue it.";
    assert.equal(fetched.stderr.split(sentence).length, 2, fetched.stderr);
    assert.equal(fetched.stderr.split("reply written, but it was cut off").length, 3);
    assert.match(
      fetched.stderr,
      /q0\.chat: reply written, but it was cut off\. Continue it: flemma advance --continue q0\.chat/,
    );
    assert.match(place.read("q0.chat"), /A first part\.\n\n@You:\n\n$/);
  }));

test("send and fetch print what became of each document as JSON", (place) =>
  withBatchServer("openai", {
    answer: ({ question }) => question === "Question 1" ? { expired: true } : { text: "Yes." },
  }, async ({ env, settings }) => {
    place.settings(settings);
    for (const at of [0, 1]) place.write(`q${at}.chat`, `@You:\nQuestion ${at}?\n`);
    place.write("asked.chat", "@You:\n\n");
    const files = ["q0.chat", "q1.chat", "asked.chat"];
    const sent = await place.run(["batch", "send", "--json", ...files], { env });
    const { documents, ...rest } = JSON.parse(sent.stdout);
    assert.deepEqual(rest, { problems: [], out: 2 });
    assert.deepEqual(
      documents.map(({ name, outcome }: Record<string, string>) => [name, outcome]),
      [["asked.chat", "left"], ["q0.chat", "sent"], ["q1.chat", "sent"]],
    );
    const fetched = await place.exits(3, ["batch", "fetch", "--json"], { env });
    const report = JSON.parse(fetched.stdout);
    const byName = report.documents.toSorted((a: { name: string }, b: { name: string }) =>
      a.name < b.name ? -1 : 1
    );
    assert.deepEqual({ ...report, documents: byName }, {
      documents: [
        { name: "q0.chat", outcome: "written" },
        {
          name: "q1.chat",
          outcome: "freed",
          detail: "The request expired before the provider came to it.",
        },
      ],
      problems: [],
      out: 0,
    });
  }));
