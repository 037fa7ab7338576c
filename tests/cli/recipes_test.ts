// The recipes of docs/recipes.md, with the real programs they are about.

import assert from "node:assert/strict";
import { withScene } from "./harness.ts";
import { textReply, withServer } from "./replies.ts";

/** How many documents; the recipe was tried with fifty (FLEMMA_DOCUMENTS=50). */
const DOCUMENTS = Number(Deno.env.get("FLEMMA_DOCUMENTS") ?? 4);

Deno.test("GNU parallel advances each document once, and nothing is sent the second time", () =>
  withScene((place) =>
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
    })
  ));

Deno.test("make advances what has no answer yet, and leaves alone what has one", () =>
  withScene((place) =>
    withServer([textReply("Yes."), textReply("Yes.")], async ({ env, requests }) => {
      const page = Deno.readTextFileSync(new URL("../../docs/recipes.md", import.meta.url));
      const [, makefile = ""] = /```make\n([^]*?)```/.exec(page) ?? [];
      place.write("Makefile", makefile.replace("flemma", place.program.join(" ")));
      for (const name of ["a", "b"]) place.write(`${name}.chat`, "@You:\nWell?\n");
      const options = { env: { ANTHROPIC_API_KEY: "test-key", ...env } };
      const first = await place.spawn(["make", "-k", "-j", "2"], options).finished;
      assert.deepEqual([first.code, requests.length], [0, 2], first.stderr);
      const second = await place.spawn(["make", "-k", "-j", "2"], options).finished;
      assert.deepEqual([second.code, requests.length], [0, 2], second.stderr);
    })
  ));

Deno.test("the scripts of the recipes are read by the shell they are for", async () => {
  const page = Deno.readTextFileSync(new URL("../../docs/recipes.md", import.meta.url));
  const scripts = [...page.matchAll(/```sh\n([^]*?)```/g)].map(([, script = ""]) => script);
  assert.ok(scripts.length >= 3);
  for (const script of scripts) {
    const child = new Deno.Command("bash", { args: ["-n", "-c", script], stderr: "piped" });
    const { success, stderr } = await child.output();
    assert.ok(success, new TextDecoder().decode(stderr));
  }
});
