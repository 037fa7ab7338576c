// Commands with two names give the same output under both, byte for byte.

import assert from "node:assert/strict";
import { readArguments } from "../../commands/line/arguments.ts";
import { callsDocument, type Finished, type Scene, testWithScene as test, withScene } from "./harness.ts";
import { textReply, withServer } from "./replies.ts";

const DOCUMENT = callsDocument([
  { id: "call_one", command: "echo one", status: "pending" },
  { id: "call_two", command: "exit 3", status: "rejected" },
]);
const ANSWERED = "@You:\nHi\n";
const KEY = { ANTHROPIC_API_KEY: "k" };

interface Run {
  readonly args: readonly string[];
  readonly stdin?: string;
}

/** What a run of the command prints and leaves, in a place of its own; times are taken out. */
async function outcomeOf({ args, stdin }: Run, document: string): Promise<unknown> {
  let outcome: unknown;
  const steady = (text: string, place: Scene) =>
    text.replaceAll(place.folder, "/place").replace(/\b\d+(\.\d+)?s\b/g, "0s")
      .replace(/"(time|seconds|elapsed|duration\w*|started\w*|at)":[^,}]+/g, '"$1":0')
      .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:0");
  await withServer([textReply("Hello.")], async ({ env }) => {
    await withScene(async (place) => {
      place.write("a.chat", document);
      const { code, stdout, stderr }: Finished = await place.run([...args], {
        stdin,
        env: { ...env, ...KEY },
      });
      outcome = {
        code,
        stdout: steady(stdout, place),
        stderr: steady(stderr, place),
        file: place.read("a.chat"),
      };
    });
  });
  return outcome;
}

async function assertSame(first: Run, second: Run, document: string, code: number): Promise<void> {
  const [one, two] = [await outcomeOf(first, document), await outcomeOf(second, document)];
  const title = `${first.args.join(" ")} | ${second.args.join(" ")}`;
  assert.deepEqual(one, two, title);
  assert.equal((one as Finished).code, code, `${title}: ${JSON.stringify(one)}`);
}

Deno.test("advance --only gives the same output as execute, byte for byte", async () => {
  const rows: readonly (readonly [readonly string[], readonly string[], number])[] = [
    [["execute", "a.chat", "call_one"], ["advance", "a.chat", "--only", "call_one"], 0],
    [["execute", "a.chat", "call_two"], ["a.chat", "--only=call_two"], 0],
    [["execute", "a.chat", "#1", "--no-sandbox"], ["advance", "--only", "#1", "a.chat", "--no-sandbox"], 0],
    [["execute", "a.chat", "--line", "9"], ["advance", "a.chat", "--line", "9"], 0],
    [["execute", "a.chat", "nothing"], ["advance", "a.chat", "--only", "nothing"], 1],
    [["execute", "none.chat", "call_one"], ["advance", "none.chat", "--only", "call_one"], 1],
    [["execute", "a.chat", "call_one", "--json"], ["advance", "a.chat", "--only", "call_one", "--json"], 0],
  ];
  for (const [first, second, code] of rows) {
    await assertSame({ args: first }, { args: second }, DOCUMENT, code);
  }
  await assertSame(
    { args: ["execute", "call_one"], stdin: DOCUMENT },
    { args: ["advance", "--only", "call_one"], stdin: DOCUMENT },
    DOCUMENT,
    0,
  );
});

Deno.test("advance --no-tools gives the same output as send, byte for byte", async () => {
  const rows: readonly (readonly [readonly string[], string, number])[] = [
    [["a.chat"], ANSWERED, 0],
    [["a.chat", "--json"], ANSWERED, 0],
    [["a.chat", "--dry-run"], ANSWERED, 0],
    [["a.chat", "--dry-run", "--headers"], ANSWERED, 0],
    [["a.chat"], DOCUMENT, 3],
    [["a.chat"], "@You:\n\n", 3],
    [["none.chat"], ANSWERED, 1],
  ];
  for (const [words, document, code] of rows) {
    await assertSame(
      { args: ["send", ...words] },
      { args: ["advance", "--no-tools", ...words] },
      document,
      code,
    );
  }
  await assertSame(
    { args: ["send"], stdin: ANSWERED },
    { args: ["advance", "--no-tools"], stdin: ANSWERED },
    ANSWERED,
    0,
  );
});

test("wrong uses of --only and --no-tools are refused, and a filter still prints its document", async (place) => {
  const rows: readonly (readonly [readonly string[], string])[] = [
    [["--only"], "--only needs a value (TARGET)."],
    [["--only", "c1", "--no-tools"], "--only cannot be combined with --no-tools."],
    [["--only", "c1", "--line", "3"], "--only cannot be combined with --line."],
    [["--only", "c1", "--continue"], "--only cannot be combined with --continue."],
    [["--no-tools", "--jobs", "2"], "--no-tools cannot be combined with --jobs."],
    [["--dry-run"], "--dry-run needs --no-tools."],
    [["--no-tools", "--headers"], "--headers needs --dry-run."],
  ];
  for (const [words, message] of rows) {
    const { code, stdout, stderr } = await place.run(["advance", ...words], { stdin: DOCUMENT });
    assert.deepEqual([code, stdout], [2, DOCUMENT], words.join(" "));
    assert.equal(stderr, `flemma: ${message}\n  Help: flemma advance --help\n`);
  }
  const several = await place.run(["advance", "a.chat", "b.chat", "--only", "c1"]);
  assert.equal(several.code, 2);
  assert.match(several.stderr, /--only takes one FILE, not also b\.chat\./);
});

Deno.test("sandbox enable, disable and reset do the same as the session commands", async () => {
  for (const file of [[], ["a.chat"]]) {
    for (
      const [alias, form] of [
        [["sandbox", "enable"], ["session", "set", "sandbox.enabled=true"]],
        [["sandbox", "disable"], ["session", "set", "sandbox.enabled=false"]],
        [["sandbox", "reset"], ["session", "reset", "--key", "sandbox.enabled"]],
      ] as const
    ) {
      const left = async (words: readonly string[]) => {
        let found: unknown;
        await withScene(async (place) => {
          place.write("a.chat", ANSWERED);
          await place.exits(0, ["session", "set", "model=x", "sandbox.enabled=false", ...file]);
          const { code, stdout, stderr } = await place.run([...words, ...file]);
          const { stdout: shown } = await place.run(["session", "show", ...file]);
          found = [code, stdout, stderr, shown].map((text) =>
            String(text).replaceAll(place.folder, "/place").replace(/[0-9a-f]{32}\.json/, "ID.json").replace(
              /\d{4}-\d\d-\d\dT[\d:.]+Z/g,
              "",
            )
          );
        });
        return found;
      };
      assert.deepEqual(await left(alias), await left(form), form.join(" "));
    }
  }
});

test("session set refuses to turn on a sandbox that does not work, as sandbox enable does", async (place) => {
  place.settings("sandbox: { backend: seatbelt }\n");
  const set = await place.run(["session", "set", "sandbox.enabled=true"]);
  const enable = await place.run(["sandbox", "enable"]);
  assert.deepEqual(set, enable);
  assert.notEqual(set.code, 0);
  assert.equal((await place.run(["session", "show"])).stdout, "");
});

test("a group name without a command runs its list or show command", async (place) => {
  place.write("a.chat", ANSWERED);
  for (const name of ["tools list", "skills list", "models list", "config show", "session show"]) {
    const [group = "", verb = ""] = name.split(" ");
    const more = name === "session show" ? [[]] : [[], ["--json"]];
    for (const words of [...more, ...(group === "models" ? [["openai"]] : [["a.chat"]])]) {
      const short = await place.run([group, ...words]);
      assert.deepEqual(short, await place.run([group, verb, ...words]), `${group} ${words.join(" ")}`);
      assert.equal(short.code, 0, short.stderr);
    }
  }
  for (const [line, message] of [["tools nope", "tools nope"], ["config nope", "config nope"]] as const) {
    const { code, stderr } = await place.run(line.split(" "));
    assert.equal(code, 2);
    assert.ok(stderr.startsWith(`flemma: There is no command ${message}.`), stderr);
    assert.ok(stderr.endsWith(`\n  Help: flemma ${message.split(" ")[0]} --help\n`), stderr);
  }
  assert.equal(readArguments(["tools", "--help"], () => false).kind, "help");
});
