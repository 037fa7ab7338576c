// Batches whose documents, journals, keys or results are not what they were when the batch was sent.

import assert from "node:assert/strict";
import { type Scene, testWithScene as test } from "../cli/harness.ts";
import { type Answer, type Asked, type BatchServer, type Shape, withBatchServer } from "./servers.ts";
import type { ServerOptions } from "./servers.ts";

const PLACEHOLDER = /\n\*\*Reply:\*\* `batch [0-9a-f]{10}`\n/;

function answers({ question }: Asked): Answer {
  return { text: `The answer to ${question}.` };
}

/** Sends documents to a server, and runs a test with what is then out. */
function withSent(
  place: Scene,
  shape: Shape,
  { count = 2, ...options }: Partial<ServerOptions> & { readonly count?: number },
  body: (server: BatchServer) => Promise<void>,
): Promise<void> {
  return withBatchServer(shape, { answer: answers, ...options }, async (server) => {
    place.settings(server.settings);
    const files = Array.from({ length: count }, (_, at) => `q${at}.chat`);
    for (const [at, file] of files.entries()) place.write(file, `@You:\nQuestion ${at}?\n`);
    await place.exits(0, ["batch", "send", ...files], server);
    await body(server);
  });
}

/** Paths in the folder of the journals whose names end so. */
function journals(place: Scene, ending: string): string[] {
  const folder = `${place.folder}/state/flemma/batches`;
  return [...Deno.readDirSync(folder)].map(({ name }) => `${folder}/${name}`)
    .filter((path) => path.endsWith(ending));
}

test("a moved document gets its reply, although another file has its name now", (place) =>
  withSent(place, "openai", {}, async ({ env }) => {
    Deno.renameSync(place.path("q0.chat"), place.path("moved.chat"));
    place.write("q0.chat", "@You:\nSomething else?\n");
    await place.exits(3, ["batch", "fetch", "moved.chat"], { env });
    assert.match(place.read("moved.chat"), /The answer to Question 0\./);
    assert.equal(place.read("q0.chat"), "@You:\nSomething else?\n");
  }));

test("if a file with another text takes the place of a moved document, its reply is kept, and the moved one names it", (place) =>
  withSent(place, "gemini", {}, async ({ env }) => {
    Deno.renameSync(place.path("q0.chat"), place.path("moved.chat"));
    place.write("q0.chat", "@You:\nSomething else?\n");
    const fetched = await place.exits(3, ["batch", "fetch"], { env });
    const [, id = ""] = /q0\.chat: the document was changed, so its reply is kept: flemma recover (\S+)/
      .exec(fetched.stderr) ?? [];
    const moved = await place.exits(3, ["batch", "fetch", "moved.chat"], { env });
    assert.ok(
      moved.stderr.includes(`moved.chat: the reply of this request is kept: flemma recover ${id}\n`),
      moved.stderr,
    );
  }));

for (const shape of ["anthropic", "openai", "gemini", "vendor"] as const) {
  test(`${shape}: the reply of a deleted document waits, and cancel keeps it`, (place) =>
    withSent(place, shape, {}, async ({ env, paid }) => {
      Deno.removeSync(place.path("q0.chat"));
      const fetched = await place.exits(3, ["batch", "fetch"], { env });
      const [, id = ""] = /q0\.chat: not at .* any more\. .*flemma batch cancel ([0-9a-f]+)/.exec(
        fetched.stderr,
      ) ?? [];
      assert.match(place.read("q1.chat"), /The answer to Question 1\./);
      const canceled = await place.exits(3, ["batch", "cancel", id], { env });
      const [, kept = ""] = /q0\.chat: the document is missing, so its reply is kept: flemma recover (\S+)/
        .exec(canceled.stderr) ?? [];
      assert.match(canceled.stderr, /it had ended already, and nothing of it is out any more/);
      assert.match((await place.exits(0, ["recover", kept])).stdout, /The answer to Question 0\./);
      const status = await place.exits(0, ["batch", "status"], { env });
      assert.equal(status.stdout, "No batch is out.\n");
      assert.equal(paid.length, 2);
    }));

  test(`${shape}: cancel of a batch that has ended writes its replies, and frees a document without one`, (place) =>
    withSent(place, shape, { forgets: true }, async ({ env }) => {
      await place.exits(3, ["batch", "cancel"], { env });
      const texts = [0, 1].map((at) => place.read(`q${at}.chat`));
      assert.equal(texts.filter((text) => text.includes("The answer")).length, 1);
      assert.equal(texts.filter((text) => /^@You:\nQuestion \d\?\n$/.test(text)).length, 1);
      await place.exits(0, ["batch", "status"], { env });
    }));

  test(`${shape}: a batch that the provider does not know stays out until the person gives it up`, (place) =>
    withSent(place, shape, {}, async (server) => {
      server.isForgetful = true;
      const fetched = await place.exits(1, ["batch", "fetch"], server);
      assert.match(
        fetched.stderr,
        /does not know the batch .*at least not with this key: .*\n?.*flemma batch cancel/,
      );
      assert.match(place.read("q0.chat"), PLACEHOLDER);
      const canceled = await place.exits(0, ["batch", "cancel"], server);
      assert.match(canceled.stderr, /given up, and its documents are free again/);
      assert.equal(place.read("q0.chat"), "@You:\nQuestion 0?\n");
    }));

  test(`${shape}: with another key, a batch stays out`, (place) =>
    withSent(place, shape, {}, async ({ env }) => {
      const others = Object.fromEntries(Object.keys(env).map((name) => [name, "another"]));
      const fetched = await place.exits(1, ["batch", "fetch"], { env: others });
      assert.match(fetched.stderr, /invalid key/);
      assert.match(place.read("q0.chat"), PLACEHOLDER);
      await place.exits(0, ["batch", "fetch"], { env });
      assert.match(place.read("q0.chat"), /The answer to Question 0\./);
    }));
}

for (const shape of ["anthropic", "openai", "vendor"] as const) {
  test(`${shape}: results whose connection breaks off are read again by the next fetch`, (place) =>
    withSent(place, shape, {}, async (server) => {
      server.results = "cut";
      const cut = await place.exits(1, ["batch", "fetch"], server);
      assert.match(cut.stderr, /The results broke off/);
      for (const at of [0, 1]) assert.match(place.read(`q${at}.chat`), PLACEHOLDER);
      server.results = "whole";
      await place.exits(0, ["batch", "fetch"], server);
      for (const at of [0, 1]) assert.match(place.read(`q${at}.chat`), /The answer/);
    }));

  test(`${shape}: documents whose results the provider has deleted are free again`, (place) =>
    withSent(place, shape, {}, async (server) => {
      server.results = "deleted";
      const fetched = await place.exits(3, ["batch", "fetch"], server);
      assert.match(fetched.stderr, /q0\.chat: no reply\. The provider has deleted its reply/);
      assert.equal(place.read("q0.chat"), "@You:\nQuestion 0?\n");
      await place.exits(0, ["batch", "status"], server);
    }));
}

test("a batch that the provider does not list is adopted by its name there, and nothing is sent again", (place) =>
  withBatchServer("openai", { answer: answers, creation: () => "lost", isListed: false }, async (server) => {
    const { env, paid, batches } = server;
    place.settings(server.settings);
    for (const file of ["q0.chat", "q1.chat"]) place.write(file, "@You:\nQuestion 0?\n");
    await place.exits(3, ["batch", "send", "q0.chat", "q1.chat"], { env });
    const undecided = await place.exits(3, ["batch", "fetch"], { env });
    const [, id = ""] = /flemma batch adopt ([0-9a-f]+) NAME/.exec(undecided.stderr) ?? [];
    for (
      const [words, said] of [
        [["none", "batch_x"], /No batch none is out\./],
        [[id, "batch_x"], /does not know the batch batch_x/],
      ] as const
    ) assert.match((await place.exits(1, ["batch", "adopt", ...words], { env })).stderr, said);
    const remote = batches[0]!.id;
    await place.exits(0, ["batch", "adopt", id, remote], { env });
    const again = await place.exits(1, ["batch", "adopt", id, remote], { env });
    assert.ok(again.stderr.includes(`The batch ${id} is ${remote} at its provider.`), again.stderr);
    await place.exits(0, ["batch", "fetch"], { env });
    for (const file of ["q0.chat", "q1.chat"]) assert.match(place.read(file), /The answer to Question 0\./);
    assert.equal(paid.length, 2);
    place.write("q2.chat", "@You:\nQuestion 2?\n");
    await place.exits(3, ["batch", "send", "q2.chat"], { env });
    const [, second = ""] = /`batch ([0-9a-f]+)`/.exec(place.read("q2.chat")) ?? [];
    const taken = await place.exits(1, ["batch", "adopt", second, remote], { env });
    assert.ok(taken.stderr.includes(`${remote} is the batch ${id} already.`), taken.stderr);
  }));

for (const [shape, exit] of [["openai", 1], ["vendor", 3]] as const) {
  test(`${shape}: a list without the batch ${exit === 1 ? "frees" : "does not free"} its documents after a while`, (place) =>
    withBatchServer(shape, { answer: answers, creation: () => "lost", isListed: false }, async (server) => {
      const { env, paid } = server;
      place.settings(server.settings);
      place.write("q0.chat", "@You:\nQuestion 0?\n");
      await place.exits(3, ["batch", "send", "q0.chat"], { env });
      const [path = ""] = journals(place, ".jsonl");
      const old = new Date(Date.now() - 3_600_000).toISOString();
      const text = Deno.readTextFileSync(path);
      const aged = text.replace(/("kind":"posting","time":")[^"]*/, `$1${old}`);
      assert.notEqual(aged, text);
      Deno.writeTextFileSync(path, aged);
      const fetched = await place.exits(exit, ["batch", "fetch"], { env });
      if (shape === "openai") {
        assert.match(fetched.stderr, /documents are free again: the provider does not know it/);
        assert.equal(place.read("q0.chat"), "@You:\nQuestion 0?\n");
        return;
      }
      // Only the person frees the documents, so a second send pays nothing twice.
      assert.match(fetched.stderr, /it is not known yet whether .* took it\. .*flemma batch cancel/);
      const again = await place.exits(0, ["batch", "send", "q0.chat"], { env });
      assert.match(again.stderr, /not sent\. It is in the batch/);
      assert.equal(paid.length, 1);
      await place.exits(0, ["batch", "cancel"], { env });
      assert.equal(place.read("q0.chat"), "@You:\nQuestion 0?\n");
    }));
}

test("gemini: results in a file are read like those in the response", (place) =>
  withSent(place, "gemini", { file: true }, async ({ env }) => {
    await place.exits(0, ["batch", "fetch"], { env });
    for (const at of [0, 1]) {
      assert.match(place.read(`q${at}.chat`), new RegExp(`The answer to Question ${at}`));
    }
  }));

test("a batch that fails for one request names its document, and all are free again", (place) =>
  withSent(place, "openai", { count: 3, faulty: 2 }, async ({ env }) => {
    const fetched = await place.exits(1, ["batch", "fetch"], { env });
    assert.match(fetched.stderr, /documents are free again: Bad line \(q1\.chat\)/);
    for (const at of [0, 1, 2]) assert.equal(place.read(`q${at}.chat`), `@You:\nQuestion ${at}?\n`);
  }));

test("a journal that a person damaged is named, and other batches go on", (place) =>
  withSent(place, "anthropic", {}, async ({ env }) => {
    const [path = ""] = journals(place, ".jsonl");
    const text = Deno.readTextFileSync(path);
    place.write("other.chat", "@You:\nQuestion 7?\n");
    await place.exits(0, ["batch", "send", "other.chat"], { env });
    Deno.writeTextFileSync(path, text.slice(20));
    const fetched = await place.exits(1, ["batch", "fetch"], { env });
    assert.ok(fetched.stderr.includes(`The journal ${path} is damaged`), fetched.stderr);
    assert.match(place.read("other.chat"), /The answer to Question 7\./);
    const status = await place.exits(1, ["batch", "status"], { env });
    assert.ok(status.stderr.includes(`The journal ${path} is damaged`), status.stderr);
    Deno.writeTextFileSync(path, text);
    await place.exits(0, ["batch", "fetch"], { env });
    assert.match(place.read("q0.chat"), /The answer to Question 0\./);
  }));

for (
  const [name, change] of [
    ["no item", (text: string) => text.replace(/\{"kind":"item".*\n/, '{"kind":"item"}\n')],
    [
      "an item that is text",
      (text: string) => text.replace(/\{"kind":"item".*\n/, '{"kind":"item","item":"x"}\n'),
    ],
    ["an item without its length", (text: string) => text.replace(/"bytes":\d+,/, "")],
    ["a line that is not JSON", (text: string) => text.replace(/\{"kind":"item"/, "{kind:")],
    [
      "lines of another kind",
      (text: string) => text.replace(/\{"kind":"item".*\n/, '{"kind":"wish"}\n[]\nnull\n7\n'),
    ],
  ] as const
) {
  test(`a journal in which ${name} stands for a document fetches the other documents`, (place) =>
    withSent(place, "openai", {}, async ({ env }) => {
      const [path = ""] = journals(place, ".jsonl");
      Deno.writeTextFileSync(path, change(Deno.readTextFileSync(path)));
      await place.exits(0, ["batch", "fetch"], { env });
      assert.match(place.read("q0.chat"), PLACEHOLDER);
      assert.match(place.read("q1.chat"), /The answer to Question 1\./);
      const foreign = await place.exits(1, ["batch", "fetch", "q0.chat"], { env });
      assert.match(foreign.stderr, /q0\.chat: Its placeholder is of another machine or was written by hand/);
    }));
}

for (
  const [name, change] of [
    ["its end", (text: string) => text.slice(0, text.indexOf('{"kind":"created"') + 9)],
    ["its creation", (text: string) => text.replace(/\{"kind":"created".*\n/, "")],
  ] as const
) {
  test(`a journal without ${name} is completed by the provider's list, and nothing is paid twice`, (place) =>
    withSent(place, "openai", {}, async ({ env, paid }) => {
      const [path = ""] = journals(place, ".jsonl");
      Deno.writeTextFileSync(path, change(Deno.readTextFileSync(path)));
      await place.exits(0, ["batch", "fetch"], { env });
      for (const at of [0, 1]) assert.match(place.read(`q${at}.chat`), /The answer/);
      assert.equal(paid.length, 2);
    }));
}

test("a fetch whose state folder is full says so, and the next one writes the replies", (place) =>
  withSent(place, "anthropic", {}, async ({ env }) => {
    const [path = ""] = journals(place, ".jsonl");
    const results = path.replace(/\.jsonl$/, ".results");
    Deno.symlinkSync("/dev/full", results);
    const full = await place.exits(1, ["batch", "fetch"], { env });
    assert.match(full.stderr, /^flemma: .*state folder .* cannot be written: .*No space left/m);
    assert.doesNotMatch(full.stderr, /Internal error/);
    assert.match(place.read("q0.chat"), PLACEHOLDER);
    Deno.removeSync(results);
    await place.exits(0, ["batch", "fetch"], { env });
    assert.match(place.read("q0.chat"), /The answer to Question 0\./);
  }));

test("a document that cannot be written keeps its placeholder until a later fetch", (place) =>
  withSent(place, "anthropic", {}, async ({ env }) => {
    const text = place.read("q0.chat");
    Deno.removeSync(place.path("q0.chat"));
    Deno.mkdirSync(place.path("q0.chat"));
    const fetched = await place.exits(3, ["batch", "fetch"], { env });
    assert.match(fetched.stderr, /q0\.chat: .*Its reply waits for the next fetch/);
    Deno.removeSync(place.path("q0.chat"));
    place.write("q0.chat", text);
    await place.exits(0, ["batch", "fetch"], { env });
    assert.match(place.read("q0.chat"), /The answer to Question 0\./);
  }));
