// The recipes of docs/reference/recipes.md, with the real programs they use.

import assert from "node:assert/strict";
import { testWithScene as test } from "./harness.ts";
import { textReply, withServer } from "./replies.ts";

/** How many documents; the recipe was tried with fifty (FLEMMA_DOCUMENTS=50). */
const DOCUMENTS = Number(Deno.env.get("FLEMMA_DOCUMENTS") ?? 4);

const page = () => Deno.readTextFileSync(new URL("../../docs/reference/recipes.md", import.meta.url));

/** The first block of a language on the page. */
function recipe(language: string): string {
  return new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page())?.[1] ?? "";
}

test("GNU parallel advances each document once, and a second run sends nothing", (place) =>
  withServer(Array.from({ length: DOCUMENTS }, () => textReply("Yes.")), async ({ env, requests }) => {
    const files = Array.from({ length: DOCUMENTS }, (_, at) => `q${at}.chat`);
    for (const file of files) place.write(file, `@You:\nIs it ${file}?\n`);
    const words = ["parallel", "-j", "4", ...place.program, "advance", "--quiet", ":::", ...files];
    const parallel = () => place.spawn(words, { env: { ANTHROPIC_API_KEY: "test-key", ...env } }).finished;
    const first = await parallel();
    assert.deepEqual([first.code, requests.length], [0, DOCUMENTS], first.stderr);
    const texts = files.map((file) => place.read(file));
    for (const text of texts) assert.match(text, /@Assistant:\nYes\./);
    const second = await parallel();
    assert.deepEqual([second.code, requests.length], [0, DOCUMENTS], second.stderr);
    assert.deepEqual(files.map((file) => place.read(file)), texts);
  }));

test("the make recipe advances documents without a reply and does not touch the others", (place) =>
  withServer([textReply("Yes."), textReply("Yes.")], async ({ env, requests }) => {
    place.write("Makefile", recipe("make").replace("flemma", place.program.join(" ")));
    for (const name of ["a", "b"]) place.write(`${name}.chat`, "@You:\nWell?\n");
    const options = { env: { ANTHROPIC_API_KEY: "test-key", ...env } };
    const first = await place.spawn(["make", "-k", "-j", "2"], options).finished;
    assert.deepEqual([first.code, requests.length], [0, 2], first.stderr);
    const second = await place.spawn(["make", "-k", "-j", "2"], options).finished;
    assert.deepEqual([second.code, requests.length], [0, 2], second.stderr);
  }));

/** What a stranger's documents may be called: an option, and commands that parallel, make or a shell could run. */
const HOSTILE = [
  "--config=x.chat",
  "a;>ran;.chat",
  "$(>ran).chat",
  "$(shell>ran).chat",
  "`>ran`.chat",
  "';>ran;'.chat",
];

test("the make recipe runs no command from a document's name, and still advances the other documents", (place) =>
  withServer([textReply("Yes.")], async ({ env, requests }) => {
    place.write("Makefile", recipe("make").replace("flemma", place.program.join(" ")));
    for (const name of ["a.chat", ...HOSTILE]) place.write(name, "@You:\nWell?\n");
    const { code, stderr } = await place.spawn(["make", "-k"], {
      env: { ANTHROPIC_API_KEY: "test-key", ...env },
    }).finished;
    assert.deepEqual([code, requests.length, place.exists("ran")], [0, 1, false], stderr);
  }));

test("the recipes for cron, systemd and parallel advance documents with any name and run no command from the name", (place) =>
  withServer(HOSTILE.map(() => textReply("Yes.")), async ({ env, requests }) => {
    const cron = /&& (flemma advance .*\*\.chat)/.exec(page())?.[1] ?? "";
    const systemd = /exec (flemma advance .*\*\.chat)'/.exec(page())?.[1] ?? "";
    const parallel = /^(parallel .* :::) reviews/m.exec(page())?.[1] ?? "";
    const options = { env: { ANTHROPIC_API_KEY: "test-key", ...env } };
    for (const name of HOSTILE) place.write(name, "@You:\nWell?\n");
    for (const line of [cron, systemd, `${parallel} ./*.chat`]) {
      const { code, stderr } = await place.shell(line.replace("flemma", place.program.join(" ")), options);
      assert.deepEqual([code, requests.length, place.exists("ran")], [0, HOSTILE.length, false], stderr);
    }
  }));

Deno.test("each recipe script can be parsed by the shell that it is written for", async () => {
  const scripts = [...page().matchAll(/```sh\n([^]*?)```/g)].map(([, script = ""]) => script);
  assert.ok(scripts.length >= 3);
  for (const script of scripts) {
    const child = new Deno.Command("bash", { args: ["-n", "-c", script], stderr: "piped" });
    const { success, stderr } = await child.output();
    assert.ok(success, new TextDecoder().decode(stderr));
  }
});
