// `flemma batch`: requests of many documents, their replies, and what goes wrong between the two.

import assert from "node:assert/strict";
import { type Scene, testWithScene as test } from "../cli/harness.ts";
import {
  type Answer,
  type Asked,
  type BatchServer,
  type ServerOptions,
  type Shape,
  withBatchServer,
} from "./servers.ts";

const SHAPES: readonly Shape[] = ["anthropic", "openai", "gemini", "vendor"];

const PLACEHOLDER =
  /\n\*\*Reply:\*\* `batch [0-9a-f]{10}`\n\n```flemma:reply status=batched item=[0-9a-f]{32}\n```\n$/;

function questions(place: Scene, count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    place.write(`q${at}.chat`, `@You:\nQuestion ${at}?\n`);
    return `q${at}.chat`;
  });
}

function answers({ question }: Asked): Answer {
  return { text: `The answer to ${question}.` };
}

/** Runs a test with a server of a shape, whose settings are those of the program. */
function withServer(
  place: Scene,
  shape: Shape,
  options: Partial<ServerOptions>,
  body: (server: BatchServer) => Promise<void>,
): Promise<void> {
  return withBatchServer(shape, { answer: answers, ...options }, async (server) => {
    place.settings(server.settings);
    await body(server);
  });
}

for (const shape of SHAPES) {
  test(`${shape}: a document says that it is out, nothing else is sent for it, and its reply takes the placeholder's place`, (place) =>
    withServer(place, shape, { looks: 1 }, async ({ env, paid, batches }) => {
      const files = questions(place, 3);
      const sent = await place.exits(0, ["batch", "send", ...files], { env });
      assert.match(sent.stderr, /stores the contents of batches for up to 30 days/);
      assert.match(sent.stderr, /^3 documents, about [\d,]+ tokens in, .*the replies come on top\.$/m);
      assert.equal(batches.length, 1);
      assert.equal(paid.length, 3);
      for (const file of files) assert.match(place.read(file), PLACEHOLDER);
      const advanced = await place.exits(3, ["advance", files[0]!], { env });
      assert.match(advanced.stderr, /The request is in the batch/);
      assert.equal(paid.length, 3);
      await place.exits(3, ["batch", "fetch"], { env });
      const fetched = await place.exits(0, ["batch", "fetch"], { env });
      assert.match(fetched.stderr, /3 replies written, 0 out\./);
      for (const [at, file] of files.entries()) {
        const text = `@You:\nQuestion ${at}?\n\n@Assistant:\nThe answer to Question ${at}.\n\n@You:\n\n`;
        assert.equal(place.read(file), text);
      }
      const again = await place.exits(0, ["batch", "fetch"], { env });
      assert.match(again.stderr, /No batch is out\./);
    }));
}

test("batch status prints the batches that are out as JSON", (place) =>
  withServer(place, "openai", {
    looks: 1,
    creation: (number) => number === 2 ? "lost" : "made",
  }, async ({ env }) => {
    const report = async (code: number) => {
      const { stdout } = await place.exits(code, ["batch", "status", "--json"], { env });
      return JSON.parse(stdout).batches;
    };
    assert.deepEqual(await report(0), []);
    const [first, second] = questions(place, 2);
    await place.exits(0, ["batch", "send", first!], { env });
    const [working] = await report(3);
    const { id, model, sent, answered, ...rest } = working;
    assert.match(id, /^[0-9a-f]{10}$/);
    assert.ok(model.length > 0 && !Number.isNaN(Date.parse(sent)));
    assert.ok(answered === null || answered === 0);
    assert.deepEqual(rest, {
      provider: "openai",
      state: "working",
      documents: [place.path(first!)],
      problem: null,
    });
    assert.deepEqual((await report(3)).map(({ state }: { state: string }) => state), ["ready"]);
    await place.exits(3, ["batch", "send", second!], { env });
    const states = (await report(3)).map(({ state, problem }: { state: string; problem: unknown }) => [
      state,
      problem,
    ]);
    assert.deepEqual(states, [["ready", null], ["unknown", null]]);
  }));

for (const shape of SHAPES) {
  test(`${shape}: calls run after the usual approval, and the next request goes into the next batch`, (place) =>
    withServer(place, shape, {
      answer: ({ question, results }) =>
        results < 2
          ? { tool: "read", input: { path: `note${results}.txt` } }
          : { text: `The answer to ${question}.` },
    }, async ({ env, paid, batches }) => {
      for (const at of [0, 1]) place.write(`note${at}.txt`, `A note ${at}.\n`);
      const files = questions(place, 3);
      await place.exits(0, ["batch", "send", ...files], { env });
      // Each fetch sends one further batch.
      await place.exits(3, ["batch", "fetch"], { env });
      assert.match(place.read("q0.chat"), PLACEHOLDER);
      assert.match(place.read("q0.chat"), /A note 0\./);
      await place.exits(3, ["batch", "fetch"], { env });
      await place.exits(0, ["batch", "fetch"], { env });
      for (const [at, file] of files.entries()) {
        assert.match(place.read(file), new RegExp(`The answer to Question ${at}\\.\n\n@You:\n\n$`));
      }
      assert.deepEqual([paid.length, batches.length], [9, 3]);
      const usage = await place.exits(0, ["usage", "q0.chat", "--json"], { env });
      assert.equal(JSON.parse(usage.stdout).requests.length, 3);
    }));

  test(`${shape}: a long whole number in the input of a call keeps its digits`, (place) => {
    const { rawJSON } = JSON as unknown as { rawJSON(text: string): number };
    const offset = rawJSON("12345678901234567890");
    return withServer(place, shape, {
      answer: () => ({ tool: "read", input: { path: "note.txt", offset, limit: 9007199254740991 } }),
    }, async ({ env }) => {
      const [file] = questions(place, 1);
      await place.exits(0, ["batch", "send", file!], { env });
      await place.exits(3, ["batch", "fetch", "--rounds", "0"], { env });
      assert.match(place.read(file!), /12345678901234567890\b[^]*\b9007199254740991\b/);
    });
  });

  test(`${shape}: an answer to the creation that is lost is looked up, and nothing is sent twice`, (place) =>
    withServer(
      place,
      shape,
      { creation: (number) => number === 1 ? "lost" : "made" },
      async ({ env, paid }) => {
        const files = questions(place, 2);
        const sent = await place.exits(3, ["batch", "send", ...files], { env });
        assert.match(sent.stderr, /Whether the provider took it is not known/);
        await place.exits(0, ["batch", "send", ...files], { env });
        assert.equal(paid.length, 2);
        // At Anthropic and a vendor without metadata, results prove a batch, for which it must have ended.
        for (let left = 3; left > 0 && place.read("q0.chat").includes("flemma:reply"); left--) {
          await place.run(["batch", "fetch"], { env });
        }
        assert.match(place.read("q1.chat"), /The answer to Question 1\./);
        assert.equal(paid.length, 2);
      },
    ));

  test(`${shape}: a refused creation frees the documents, which are then as they were`, (place) =>
    withServer(place, shape, { creation: () => "refused" }, async ({ env, paid }) => {
      const files = questions(place, 2);
      place.write("open.chat", "@You:\nQuestion 7?\n\n```\nNo line end");
      const sent = await place.exits(1, ["batch", "send", ...files, "open.chat"], { env });
      assert.match(sent.stderr, /was refused, and its documents are free again: .*the batch queue is full/);
      assert.equal(place.read("q0.chat"), "@You:\nQuestion 0?\n");
      assert.equal(place.read("open.chat"), "@You:\nQuestion 7?\n\n```\nNo line end");
      assert.equal(paid.length, 0);
      const status = await place.exits(0, ["batch", "status"], { env });
      assert.equal(status.stdout, "No batch is out.\n");
    }));

  test(`${shape}: an expired request frees its document, and the others get their replies`, (place) =>
    withServer(place, shape, {
      answer: (asked) => asked.question === "Question 1" ? { expired: true } : answers(asked),
    }, async ({ env }) => {
      await place.exits(0, ["batch", "send", ...questions(place, 3)], { env });
      const fetched = await place.exits(3, ["batch", "fetch"], { env });
      assert.match(fetched.stderr, /q1\.chat: no reply\. The request expired .*flemma batch send q1\.chat/);
      assert.equal(place.read("q1.chat"), "@You:\nQuestion 1?\n");
      assert.match(place.read("q2.chat"), /The answer to Question 2\./);
      await place.exits(0, ["batch", "fetch"], { env });
    }));

  test(`${shape}: a refused request frees its document with the provider's words`, (place) =>
    withServer(place, shape, {
      answer: (asked) =>
        asked.question === "Question 1" ? { error: "this input is not allowed" } : answers(asked),
    }, async ({ env }) => {
      await place.exits(0, ["batch", "send", ...questions(place, 2)], { env });
      const fetched = await place.exits(3, ["batch", "fetch"], { env });
      assert.match(fetched.stderr, /q1\.chat: no reply\. .*this input is not allowed/);
      assert.equal(place.read("q1.chat"), "@You:\nQuestion 1?\n");
    }));

  test(`${shape}: a request without a line in the results stays out until the next fetch`, (place) =>
    withServer(place, shape, { forgets: true }, async ({ env }) => {
      await place.exits(0, ["batch", "send", ...questions(place, 2)], { env });
      await place.exits(3, ["batch", "fetch"], { env });
      assert.match(place.read("q0.chat"), PLACEHOLDER);
      await place.exits(0, ["batch", "fetch"], { env });
      assert.match(place.read("q0.chat"), /The answer to Question 0\./);
    }));
}

test("looks that fail are repeated", (place) =>
  withServer(place, "anthropic", {}, async (server) => {
    await place.exits(0, ["batch", "send", ...questions(place, 1)], server);
    assert.match(place.read("q0.chat"), PLACEHOLDER);
    server.failing(2);
    await place.exits(0, ["batch", "fetch"], server);
    assert.match(place.read("q0.chat"), /The answer/);
  }));

test("a fallback mends a refused request, which goes out again in the next batch", (place) =>
  withServer(place, "anthropic", {
    answer: (asked) =>
      "output_config" in asked.body ? { error: "output_config: not accepted" } : answers(asked),
  }, async ({ env, paid, settings }) => {
    place.settings(`${settings}parameters: { thinking: high }\n`);
    await place.exits(0, ["batch", "send", ...questions(place, 1)], { env });
    const first = await place.exits(3, ["batch", "fetch"], { env });
    assert.match(first.stderr, /sent again in a reduced form/);
    assert.match(place.read("q0.chat"), PLACEHOLDER);
    await place.exits(0, ["batch", "fetch"], { env });
    assert.match(
      place.read("q0.chat"),
      /^@You:\nQuestion 0\?\n\n@Assistant:\nThe answer to Question 0\.\n\n@You:\n\n$/,
    );
    assert.equal(paid.length, 2);
  }));

test("a reply whose text was changed is kept, and the person's lines stay", (place) =>
  withServer(place, "openai", {}, async ({ env }) => {
    await place.exits(0, ["batch", "send", ...questions(place, 4)], { env });
    const out = (at: number) => place.read(`q${at}.chat`);
    place.write("q0.chat", out(0).replace("Question", "Another question"));
    place.write("q1.chat", "@You:\nQuestion 1?\n");
    place.write("q2.chat", `${out(2)}\nWhat else?\n`);
    place.write("q3.chat", `${out(3)}\n@You:\nWhat else?\n`);
    const fetched = await place.exits(3, ["batch", "fetch"], { env });
    assert.equal(out(0), "@You:\nAnother question 0?\n\n");
    assert.equal(out(1), "@You:\nQuestion 1?\n");
    const ids = [
      ...fetched.stderr.matchAll(
        /q\d\.chat: the document was changed, so its reply is kept: flemma recover (\S+)/g,
      ),
    ]
      .map(([, id]) => id!);
    assert.equal(ids.length, 2);
    for (const id of ids) {
      const kept = await place.exits(0, ["recover", id]);
      assert.match(kept.stdout, /^@Assistant:\nThe answer to Question [01]\./);
    }
    // Text below the placeholder stays below the reply.
    assert.equal(
      out(2),
      "@You:\nQuestion 2?\n\n@Assistant:\nThe answer to Question 2.\n\n@You:\n\n\nWhat else?\n",
    );
    assert.equal(
      out(3),
      "@You:\nQuestion 3?\n\n@Assistant:\nThe answer to Question 3.\n\n\n@You:\nWhat else?\n",
    );
    // Kept replies are paid for too.
    const usage = await place.exits(0, ["usage", "q0.chat", "--json"], { env });
    assert.equal(JSON.parse(usage.stdout).requests.length, 1);
  }));

test("a moved document is found by its name, and for a copy the place of the reply is named", (place) =>
  withServer(place, "gemini", {}, async ({ env }) => {
    await place.exits(0, ["batch", "send", ...questions(place, 2)], { env });
    place.write("copy.chat", place.read("q0.chat"));
    Deno.renameSync(place.path("q1.chat"), place.path("moved.chat"));
    const first = await place.exits(3, ["batch", "fetch"], { env });
    assert.match(first.stderr, /q1\.chat: not at .*flemma batch fetch FILE/);
    await place.exits(0, ["batch", "fetch", "moved.chat"], { env });
    assert.match(place.read("moved.chat"), /The answer to Question 1\./);
    const copy = await place.exits(3, ["batch", "fetch", "copy.chat"], { env });
    assert.match(copy.stderr, /copy\.chat: the reply of this request went to .*q0\.chat/);
    assert.match(place.read("copy.chat"), PLACEHOLDER);
  }));

test("a placeholder that this machine does not know brings nothing", (place) =>
  withServer(place, "anthropic", {}, async ({ env, log }) => {
    const fence = `\`\`\`flemma:reply status=batched item=${"a".repeat(32)}\n\`\`\`\n`;
    place.write("a.chat", `@You:\nHello\n\n**Reply:** \`batch other\`\n\n${fence}`);
    const fetched = await place.exits(1, ["batch", "fetch", "a.chat"], { env });
    assert.match(fetched.stderr, /a\.chat: Its placeholder is of another machine or was written by hand\./);
    assert.deepEqual(log, []);
  }));

test("what is left out is listed with its reason, and the others go on", (place) =>
  withServer(place, "anthropic", {}, async ({ env, paid }) => {
    const [one = ""] = questions(place, 1);
    place.write("asked.chat", "@You:\nHello\n\n@Assistant:\nHi.\n\n@You:\n\n");
    place.write(
      "waits.chat",
      '@You:\nGo.\n\n@Assistant:\n**Tool Use:** `bash` (`c1`)\n\n```json\n{"command": "true"}\n```\n\n@You:\n**Tool Result:** `c1`\n\n' +
        "```flemma:tool status=pending\n```\n",
    );
    place.write("broken.chat", "@You:\nHello\n\n**Reply:** `batch b1`\n\nwords\n");
    place.write("bytes.chat", new Uint8Array([0x40, 0xff, 0xfe, 0]));
    const files = [one, `./${one}`, "gone.chat", "asked.chat", "waits.chat", "broken.chat", "bytes.chat"];
    const sent = await place.exits(1, ["batch", "send", ...files], { env });
    const lines = sent.stderr.split("\n").filter((line) => line.includes("not sent"));
    assert.deepEqual(lines.map((line) => line.split(":")[0]), files.slice(2));
    assert.match(sent.stderr, /gone\.chat: not sent\. There is no file gone\.chat\./);
    assert.match(sent.stderr, /asked\.chat: not sent\. It asks nothing\./);
    assert.match(sent.stderr, /waits\.chat: not sent\. 1 call waits for you\./);
    assert.match(sent.stderr, /broken\.chat: not sent\. .*placeholder of a reply from a batch/);
    assert.equal(paid.length, 1);
    const again = await place.exits(0, ["batch", "send", one], { env });
    assert.match(again.stderr, /It is in the batch [0-9a-f]+ already\./);
  }));

test("lists come from a file and from standard input, by lines or zero bytes", (place) =>
  withServer(place, "anthropic", {}, async ({ env, paid }) => {
    questions(place, 6);
    place.write("list", "q0.chat\nq1.chat\r\n\nq0.chat\n");
    await place.exits(0, ["batch", "send", "--from", "list"], { env });
    assert.equal(paid.length, 2);
    await place.exits(0, ["batch", "send", "-0", "-"], { env, stdin: "q2.chat\0q3.chat\0" });
    assert.equal(paid.length, 4);
    place.write("bad", new Uint8Array([0xff, 0x0a]));
    for (
      const [args, words] of [
        [["--from", "none"], /The list none cannot be read/],
        [["--from", "bad"], /not UTF-8 text/],
        [["-0", "q4.chat"], /-0 needs a list/],
        [[], /No document is named/],
      ] as const
    ) {
      const failed = await place.run(["batch", "send", ...args], { env });
      assert.match(failed.stderr, words);
      assert.ok(failed.code > 0);
    }
    const zero = await place.run(["batch", "send", "-"], { env, stdin: "q4.chat\0q5.chat\0" });
    assert.match(zero.stderr, /has zero bytes\.\n.*-0/);
    assert.equal(paid.length, 4);
  }));

test("a limit in dollars holds for all requests of a send together", (place) =>
  withServer(place, "anthropic", {}, async ({ env, paid }) => {
    for (const at of [0, 1, 2]) {
      place.write(`q${at}.chat`, `@You:\nQuestion ${at}?\n${"word ".repeat(40_000)}\n`);
    }
    const files = ["q0.chat", "q1.chat", "q2.chat"];
    const sent = await place.exits(3, ["batch", "send", "--max-cost", "0.11", ...files], { env });
    assert.match(
      sent.stderr,
      /q2\.chat: not sent\. The batch would cost more than \$0\.11 \(run\.max_cost\)/,
    );
    assert.equal(paid.length, 2);
  }));

test("a vendor without batches is left out, unless the settings name it", (place) =>
  withServer(place, "vendor", {}, async ({ env, paid }) => {
    place.write("q.chat", "```yaml\nflemma: { provider: groq, model: some }\n```\n\n@You:\nQuestion 1?\n");
    const sent = await place.exits(1, ["batch", "send", "q.chat"], { env: { ...env, GROQ_API_KEY: "x" } });
    assert.match(sent.stderr, /q\.chat: not sent\. groq takes no batches, as far as flemma knows/);
    assert.equal(paid.length, 0);
  }));

test("cancel ends a batch, and frees the documents that got no reply", (place) =>
  withServer(place, "openai", { looks: 1 }, async ({ env, batches }) => {
    await place.exits(0, ["batch", "send", ...questions(place, 4)], { env });
    const canceled = await place.exits(0, ["batch", "cancel", "q2.chat"], { env });
    assert.match(canceled.stderr, /canceled\. Replies that were finished still come/);
    assert.equal(batches[0]?.canceled, true);
    await place.run(["batch", "fetch"], { env });
    await place.run(["batch", "fetch"], { env });
    const texts = [0, 1, 2, 3].map((at) => place.read(`q${at}.chat`));
    assert.equal(texts.filter((text) => text.includes("The answer")).length, 2);
    assert.equal(texts.filter((text) => /^@You:\nQuestion \d\?\n$/.test(text)).length, 2);
    const none = await place.exits(1, ["batch", "cancel", "other.chat"], { env });
    assert.match(none.stderr, /neither a batch that is out nor a document in one/);
  }));

test("rounds 0 only writes, and finish-live goes on at once", (place) =>
  withServer(place, "anthropic", {
    answer: ({ results }) => results === 0 ? { tool: "read", input: { path: "q0.chat" } } : { text: "Done." },
  }, async ({ env, paid }) => {
    await place.exits(0, ["batch", "send", ...questions(place, 1)], { env });
    const fetched = await place.exits(3, ["batch", "fetch", "--rounds", "0"], { env });
    assert.match(fetched.stderr, /Its calls did not run: flemma advance q0\.chat/);
    assert.equal(paid.length, 1);
    await place.exits(0, ["batch", "send", "q0.chat"], { env });
    assert.equal(paid.length, 2);
  }));

test("a byte of CR LF stays, and the words of a person that look like a placeholder are text", (place) =>
  withServer(place, "anthropic", {}, async ({ env }) => {
    const quoted =
      "@You:\r\nQuestion 3?\r\n\r\n````\r\n**Reply:** `batch x`\r\n\r\n```flemma:reply status=batched item=aaaaaaaa\r\n```\r\n````\r\n";
    place.write("a.chat", quoted);
    await place.exits(0, ["batch", "send", "a.chat"], { env });
    assert.ok(place.read("a.chat").startsWith(quoted));
    assert.doesNotMatch(place.read("a.chat"), /[^\r]\n/);
    await place.exits(0, ["batch", "fetch"], { env });
    assert.equal(
      place.read("a.chat"),
      `${quoted}\r\n@Assistant:\r\nThe answer to Question 3.\r\n\r\n@You:\r\n\r\n`,
    );
  }));

test("thinking of a batched reply goes back to the provider, unless a file of its request was changed meanwhile", (place) =>
  withServer(place, "anthropic", {
    answer: ({ results, question }) =>
      results === 0
        ? { thinking: `About ${question}.`, tool: "calculator", input: { expression: "1+1" } }
        : { text: "Two." },
  }, async ({ env, paid, settings }) => {
    place.settings(`${settings}parameters: { thinking: high }\n`);
    place.write("note.txt", "One.\n");
    for (const at of [0, 1]) {
      place.write(`q${at}.chat`, `@You:\nQuestion ${at}? ${at === 0 ? "" : "@./note.txt"}\n`);
    }
    await place.exits(0, ["batch", "send", "q0.chat", "q1.chat"], { env });
    place.write("note.txt", "Another one.\n");
    await place.exits(3, ["batch", "fetch"], { env });
    await place.exits(0, ["batch", "fetch"], { env });
    for (const at of [0, 1]) {
      assert.match(place.read(`q${at}.chat`), /<thinking anthropic:signature=[^]*Two\./);
    }
    const second = paid.filter(({ results }) => results === 1);
    const hasThinking = (question: string) =>
      /"type":"thinking"/.test(
        JSON.stringify(second.find((asked) => asked.question === question)?.body.messages),
      );
    assert.deepEqual([hasThinking("Question 0"), hasThinking("Question 1")], [true, false]);
  }));

test("two sends of the same documents at the same time send each of them once", (place) =>
  withServer(place, "openai", {}, async ({ env, paid }) => {
    const files = questions(place, 6);
    await Promise.all([1, 2, 3].map(() => place.run(["batch", "send", ...files], { env })));
    assert.equal(paid.length, 6);
    for (const file of files) assert.match(place.read(file), PLACEHOLDER);
    await Promise.all([1, 2, 3].map(() => place.run(["batch", "fetch"], { env })));
    await place.exits(0, ["batch", "fetch"], { env });
    for (const [at, file] of files.entries()) {
      assert.equal(
        place.read(file),
        `@You:\nQuestion ${at}?\n\n@Assistant:\nThe answer to Question ${at}.\n\n@You:\n\n`,
      );
    }
  }));

test("status and check say that a document is out, and execute, send and --dry-run leave it alone", (place) =>
  withServer(place, "anthropic", {}, async ({ env, paid }) => {
    await place.exits(0, ["batch", "send", ...questions(place, 1)], { env });
    const status = await place.exits(0, ["status", "q0.chat"], { env });
    assert.match(status.stdout, /next: flemma batch fetch writes the reply when it is there/);
    const check = await place.run(["check", "q0.chat"], { env });
    assert.match(check.stdout + check.stderr, /q0\.chat:4.*The request is in the batch [0-9a-f]+/);
    for (const args of [["advance"], ["send"], ["advance", "--no-tools"], ["ask", "--last", "--file"]]) {
      const run = await place.run([...args, "q0.chat"], { env });
      assert.ok(run.code !== 0, args.join(" "));
    }
    const dry = await place.run(["send", "q0.chat", "--dry-run"], { env });
    assert.doesNotMatch(dry.stdout, /flemma:reply/);
    assert.equal(paid.length, 1);
    place.write("broken.chat", place.read("q0.chat").replace(/ item=\w+/, ""));
    const broken = await place.exits(4, ["advance", "broken.chat"], { env });
    assert.match(broken.stderr, /broken\.chat:4:1: error placeholder_broken/);
  }));

test("calls that wait for a person keep their document out of the next batch", (place) =>
  withServer(place, "gemini", {
    answer: ({ question, results }) =>
      results > 0
        ? { text: "Done." }
        : question === "Question 0"
        ? { tool: "bash", input: { label: "l", command: "echo no", timeout: null } }
        : { tool: "calculator", input: { expression: "1+1" } },
  }, async ({ env, paid, settings }) => {
    place.settings(`${settings}tools: { auto_approve_sandboxed: false, auto_approve: [calculator] }\n`);
    await place.exits(0, ["batch", "send", ...questions(place, 2)], { env });
    const first = await place.exits(3, ["batch", "fetch"], { env });
    assert.match(first.stderr, /q0\.chat: reply written\. 1 call waits for you: flemma review q0\.chat/);
    assert.equal(paid.length, 3);
    await place.exits(0, ["reject", "q0.chat", "--all"], { env });
    await place.exits(0, ["batch", "send", "q0.chat"], { env });
    await place.exits(0, ["batch", "fetch"], { env });
    for (const file of ["q0.chat", "q1.chat"]) assert.match(place.read(file), /Done\.\n\n@You:\n\n$/);
  }));

test("finish-live goes on at full price once the rounds are used up", (place) =>
  withServer(place, "anthropic", {
    answer: ({ results }) =>
      results === 0 ? { tool: "calculator", input: { expression: "1+1" } } : { text: "Two." },
  }, async ({ env, paid, log }) => {
    await place.exits(0, ["batch", "send", ...questions(place, 1)], { env });
    await place.run(["batch", "fetch", "--rounds", "0", "--finish-live"], { env });
    assert.equal(paid.length, 1);
    // The strict server knows only batches; what matters is that the request left.
    assert.ok(log.includes("POST /v1/messages"), log.join("\n"));
  }));

test("without a journal nothing is sent", (place) =>
  withServer(place, "anthropic", {}, async ({ env, log }) => {
    questions(place, 1);
    place.write("file", "");
    const around = { env: { ...env, XDG_STATE_HOME: place.path("file") } };
    for (const args of [["send", "q0.chat"], ["fetch"]]) {
      const failed = await place.exits(1, ["batch", ...args], around);
      assert.match(failed.stderr, /^flemma: .*state folder .* cannot be written/m);
      assert.doesNotMatch(failed.stderr, /Internal error/);
    }
    assert.deepEqual(log, []);
  }));

test("a provider that cannot be reached is named, and the documents stay out", (place) =>
  withServer(place, "openai", {}, async (server) => {
    const { env } = server;
    await place.exits(0, ["batch", "send", ...questions(place, 1)], { env });
    // Another address: the key does not go there.
    place.settings(server.settings.replace("127.0.0.1", "127.0.0.2"));
    const failed = await place.exits(1, ["batch", "fetch"], { env });
    assert.match(failed.stderr, /is at http:\/\/127\.0\.0\.1:\d+, but openai is now http:\/\/127\.0\.0\.2/);
    assert.match(place.read("q0.chat"), PLACEHOLDER);
  }));

test("a hook sees a message once, although its reply comes later", (place) =>
  withServer(place, "anthropic", {}, async ({ env, settings }) => {
    const hook = '{ type: command, command: "mktemp seen.XXXXXX >/dev/null" }';
    place.settings(`${settings}hooks: { UserPromptSubmit: [{ hooks: [${hook}] }] }\n`);
    await place.exits(0, ["batch", "send", ...questions(place, 1)], { env });
    const seen = () =>
      [...Deno.readDirSync(place.path(""))].filter(({ name }) => name.startsWith("seen.")).length;
    assert.equal(seen(), 1);
    await place.exits(0, ["batch", "fetch"], { env });
    assert.match(place.read("q0.chat"), /The answer to Question 0\./);
    assert.equal(seen(), 1);
  }));
