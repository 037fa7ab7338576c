// What a refused request advises: the advice works when followed, and each refusal is reported once.

import assert from "node:assert/strict";
import { callsDocument, type Scene, testWithScene as test } from "./harness.ts";

const LONG = "a line of a long result\n".repeat(400);
const turn = (at: number, result = "short\n") =>
  callsDocument([{ id: `c${at}`, command: "ls" }]) +
  `@You:\n\n**Tool Result:** \`c${at}\`\n\n\`\`\`\n${result}\`\`\`\n\n@Assistant:\nDone.\n\n`;

/** What is advised, as the words behind the name of an option. */
async function advised(place: Scene, args: readonly string[]): Promise<string> {
  const { stderr } = await place.exits(1, args);
  return stderr;
}

test("flemma advises keeping fewer messages only if the rest could then be summarized or shortened", async (place) => {
  place.write("one.chat", `${turn(1)}@You:\n`);
  place.write("last.chat", `${turn(1)}${turn(2, LONG)}@You:\n`);
  place.write("asked.chat", "@You:\nHello\n");
  const rows: readonly (readonly [args: readonly string[], advice: RegExp])[] = [
    [["compact", "asked.chat"], /\n {2}Continue in the document itself\.\n$/],
    [["compact", "asked.chat", "--results-only"], /\n {2}Continue in the document itself\.\n$/],
    [["compact", "one.chat", "--results-only"], /\n {2}Continue in the document itself\.\n$/],
    [
      ["compact", "one.chat", "--results-only", "--keep", "0"],
      /\n {2}Let a model summarize: leave out --results-only\.\n$/,
    ],
    [
      ["compact", "last.chat", "--results-only"],
      /\n {2}Keep fewer messages: --keep 0 Or: Let a model summarize/,
    ],
  ];
  for (const [args, advice] of rows) assert.match(await advised(place, args), advice, args.join(" "));
  await place.exits(0, ["compact", "last.chat", "--results-only", "--keep", "0"]);
  assert.match(place.read("last.2.chat"), /shortened\. Complete result:/);
  place.write("two.chat", "@You:\nA?\n\n@Assistant:\nA.\n\n@You:\nB?\n\n@Assistant:\nB.\n\n@You:\nC?\n");
  const [, keep = ""] = /--keep (\d+)/.exec(await advised(place, ["compact", "two.chat", "--keep", "9"])) ??
    [];
  await place.exits(0, ["compact", "two.chat", "--keep", keep, "--dry-run"]);
});

test("a refused request is reported only once, whichever component notices it first", async (place) => {
  place.write(
    "a.chat",
    callsDocument([{ id: "c1", command: "ls" }]).replace("`bash`", "`bashh`") + "@You:\n",
  );
  for (
    const args of [["execute", "a.chat", "c1"], ["execute", "a.chat", "c1", "-q"], [
      "replay",
      "run",
      "gone.chat",
    ]]
  ) {
    const { stderr } = await place.exits(1, args);
    assert.equal(stderr.match(/There is no/g)?.length, 1, stderr);
  }
});

test("flemma advises starting a new document only if a command can create one", async (place) => {
  for (const args of [["advance", "gone.chat"], ["send", "gone.chat"]]) {
    assert.match((await place.run(args)).stderr, /no file gone\.chat[\s\S]*flemma new/, args.join(" "));
  }
  for (
    const args of [["execute", "gone.chat", "c1"], ["compact", "gone.chat"], ["undo", "gone.chat"], [
      "replay",
      "run",
      "gone.chat",
    ]]
  ) {
    const { stderr } = await place.run(args);
    assert.match(stderr, /no file gone\.chat/i, args.join(" "));
    assert.doesNotMatch(stderr, /flemma new/, args.join(" "));
  }
});

test("advised commands can be pasted into a shell, whatever the names of folder and document", async (place) => {
  const folder = "it's $(touch ran) ; a b";
  Deno.mkdirSync(place.path(`${folder}/.flemma`), { recursive: true });
  place.write(`${folder}/.flemma/config.yaml`, "tools: { bash: { cwd: /tmp } }\n");
  place.write(`${folder}/a b.chat`, "@You:\nHello\n");
  const asked = await place.run(["status", `${folder}/a b.chat`]);
  const set = await place.run(["session", "set", "model=claude-sonnet-4-5", `${folder}/a b.chat`]);
  for (const [words, { stderr }] of Object.entries({ trust: asked, "session reset": set })) {
    const line = new RegExp(`flemma ${words} (.*)$`, "m").exec(stderr);
    assert.ok(line, `${words} is advised: ${stderr}`);
    const { code, stderr: stated } = await place.shell(line[0]);
    assert.equal(code, 0, `${line[0]}\n${stated}`);
  }
  assert.ok(!place.exists("ran"), "nothing of a name was run");
});
