// Texts for people contain no words of the operating system or the code, and one name for each thing.

import assert from "node:assert/strict";
import { ROOT } from "../../scripts/gate/root.ts";
import { collectMessages } from "../../scripts/generate/messages.ts";
import { git } from "../../scripts/release/packages/run.ts";

const messages = await collectMessages();
const sentences = messages.flatMap(({ text, next }) => next === null ? [text] : [text, next]);

Deno.test("messages are collected from the source: with an error code, without one, and with their next steps", () => {
  assert.ok(sentences.length > 1500, `only ${sentences.length} were found`);
  assert.ok(messages.filter(({ codes }) => codes.length > 0).length > 300);
  assert.ok(messages.filter(({ next }) => next !== null).length > 100);
});

Deno.test("no message contains an error name of the operating system or an identifier of the source code", () => {
  const bad = /\bos error\b|\breadfile\b|\bENOENT\b|\bundefined\b|\[object |stack trace/;
  assert.deepEqual(sentences.filter((line) => bad.test(line)), []);
});

Deno.test("no message begins with the name of the program, which is printed before each message", () => {
  const twice = /^flemma (?:is|was|needs|has|cannot|could|did)\b/;
  assert.deepEqual(messages.map(({ text }) => text).filter((line) => twice.test(line)), []);
});

Deno.test("messages use only one name for each of these: frontmatter, settings file and session", () => {
  const other =
    /\bsettings block\b|\bfront matter\b|\bconfig file\b|\bconfiguration file\b|\bsession override/i;
  assert.deepEqual(sentences.filter((line) => other.test(line)), []);
});

Deno.test("no file contains the host name of a package registry, because npm's configuration defines the registry", async () => {
  const host = /https?:\/\/(?:registry|pkgs?|packages|index|npm)\.(?!example\b)[a-z0-9-]+\.[a-z]/;
  const named: string[] = [];
  const files = (await git(ROOT, "ls-files", "-z")).split("\0").filter((path) => path !== "");
  assert.ok(files.length > 1000);
  for (const path of files) {
    const text = await Deno.readTextFile(`${ROOT}/${path}`).catch((error) => {
      // Removed and not yet committed.
      if (error instanceof Deno.errors.NotFound) return "";
      throw error;
    });
    if (host.test(text)) named.push(path);
  }
  assert.deepEqual(named, []);
});

Deno.test("no test of the whole program uses a folder in which every sandbox may write", async () => {
  const found: string[] = [];
  for await (const { name } of Deno.readDir(`${ROOT}/tests/cli`)) {
    if (!name.endsWith(".ts")) continue;
    const text = await Deno.readTextFile(`${ROOT}/tests/cli/${name}`);
    if (/makeTempDir(?:Sync)?\(\s*(?:\)|\{\s*prefix)/.test(text)) found.push(name);
  }
  assert.deepEqual(found, []);
});
