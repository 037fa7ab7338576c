// API keys in the keyring, entered by a person or a script; no output ever shows a key.

import assert from "node:assert/strict";
import { SECRET_TOOL } from "../providers/key_helpers.ts";
import { type Scene, testWithScene as test } from "./harness.ts";
import { textReply, withServer } from "./replies.ts";
import { writeProgram } from "../folder.ts";

/** Puts a `secret-tool` before all others; without one, a folder in which there is none. */
function withRing(place: Scene, present = true): Record<string, string> {
  const bin = `${place.folder}/bin`;
  const ring = `${place.folder}/ring`;
  for (const folder of [bin, ring]) Deno.mkdirSync(folder);
  if (present) writeProgram(`${bin}/secret-tool`, SECRET_TOOL);
  const deno = Deno.execPath();
  Deno.symlinkSync(deno, `${bin}/deno`);
  // An older Deno locks files by flock; the launcher of the package follows links by readlink.
  for (const name of ["sh", "cat", "rm", "flock", "readlink"]) {
    Deno.symlinkSync(`/bin/${name}`, `${bin}/${name}`);
  }
  return { PATH: bin, RING: ring };
}

test("a piped key is used by the next run and can be removed, and flemma never shows more than its name", (place) =>
  withServer([textReply("Hello!")], async ({ env }) => {
    const ring = { ...withRing(place), ...env };
    const stated: string[] = [];
    const run = async (args: readonly string[], stdin?: string) => {
      const finished = await place.run(args, { env: ring, ...(stdin === undefined ? {} : { stdin }) });
      stated.push(finished.stdout, finished.stderr);
      return finished;
    };
    const set = await run(["auth", "set", "anthropic"], "sk-very-secret\n");
    assert.deepEqual([set.code, set.stdout], [0, ""]);
    assert.match(set.stderr, /^flemma: the keyring \(secret-tool\) now stores the key of Anthropic\.$/m);
    place.write("a.chat", "@You:\nHi\n");
    assert.equal((await run(["advance", "a.chat"])).code, 0);
    assert.match(place.read("a.chat"), /Hello!/);
    const shown = await run(["auth", "show", "anthropic", "--json"]);
    assert.deepEqual(JSON.parse(shown.stdout), {
      anthropic: { found: true, detail: "the keyring (secret-tool)" },
    });
    assert.equal((await run(["auth", "remove", "anthropic"])).code, 0);
    const gone = await run(["auth", "show", "anthropic"]);
    assert.equal(gone.code, 1);
    assert.match(
      gone.stdout,
      /^anthropic {2}No key for Anthropic was found \(environment: ANTHROPIC_API_KEY is not set; keyring: it does not contain the key\)/,
    );
    assert.equal((await run(["auth", "remove", "anthropic"])).code, 1);
    assert.doesNotMatch(stated.join("") + place.read("a.chat"), /very-secret/);
  }));

test("auth refuses a key given as an argument, an empty key, a key with spaces and an unknown provider, and says what to do", async (place) => {
  const env = withRing(place);
  const rows = [
    [["auth", "set", "anthropic", "sk-secret"], "", /history/],
    [["auth", "set", "anthropic"], "", /No key was given.*\n.*printf/],
    [["auth", "set", "anthropic"], "two words", /contains spaces/],
    [["auth", "set", "antropic"], "k", /no provider.*\n.*anthropic/],
  ] as const;
  for (const [args, stdin, words] of rows) {
    const { code, stderr } = await place.run(args, { stdin, env });
    assert.deepEqual([code, words.test(stderr)], [2, true], stderr);
    assert.doesNotMatch(stderr, /sk-secret/);
  }
});

test("if no keyring is available, auth names the two alternatives", async (place) => {
  const { stderr } = await place.exits(1, ["auth", "set", "anthropic"], {
    stdin: "k",
    env: withRing(place, false),
  });
  assert.match(
    stderr,
    /No keyring is available.*secret-tool[^]*ANTHROPIC_API_KEY[^]*providers\.anthropic\.key_command/,
  );
});

test("a key typed at a terminal is not shown", async (place) => {
  const env = withRing(place);
  const words = [...place.program, "auth", "set", "anthropic"].map((word) => `'${word}'`).join(" ");
  // A terminal of its own, which echoes what is typed unless somebody says otherwise.
  const child = new Deno.Command("/usr/bin/script", {
    args: ["-qec", words, "/dev/null"],
    cwd: place.path(""),
    clearEnv: true,
    env: { ...place.env, ...env, SHELL: "/bin/sh" },
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const keyboard = child.stdin.getWriter();
  let screen = "";
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    const asked = screen.includes("(not shown): ");
    screen += piece;
    if (asked || !screen.includes("(not shown): ")) continue;
    await keyboard.write(new TextEncoder().encode("sk-wrong\x15sk-typex\x7fd\r"));
  }
  await keyboard.close().catch(() => {});
  assert.equal((await child.status).code, 0, screen);
  assert.doesNotMatch(screen, /sk-/);
  assert.equal(Deno.readTextFileSync(`${place.folder}/ring/anthropic.api_key`), "sk-typed");
});
