// Replayed conversations: the three in examples/conversations, and what a replay must never do.

import assert from "node:assert/strict";
import { PNG } from "../pictures.ts";
import { type Scene, testWithScene as test, withScene } from "./harness.ts";

const EXAMPLES = new URL("../../examples/conversations", import.meta.url).pathname;
const FILES = ["total/total.chat", "mend/mend.chat", "report/report.chat"];

async function withExamples(body: (place: Scene) => Promise<void>): Promise<void> {
  await withScene(async (place) => {
    const { success } = await new Deno.Command("cp", { args: ["-r", `${EXAMPLES}/.`, place.path("")] })
      .output();
    assert.ok(success);
    await body(place);
  });
}

/** Everything in the place, by name. */
function tree(folder: string, prefix = ""): Record<string, string> {
  return Object.fromEntries(
    [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
      isDirectory
        ? Object.entries(tree(`${folder}/${name}`, `${prefix}${name}/`))
        : [[`${prefix}${name}`, Deno.readTextFileSync(`${folder}/${name}`)]]
    ),
  );
}

Deno.test("the example conversations replay with the same results and leave no files behind", () =>
  withExamples(async (place) => {
    const before = tree(place.path(""));
    const { stderr } = await place.exits(0, ["replay", "run", ...FILES]);
    assert.match(stderr, /^total\/total\.chat: 3 as recorded$/m);
    assert.deepEqual(tree(place.path("")), before);
    assert.deepEqual(
      [...Deno.readDirSync(`${place.folder}/tmp`)].filter(({ name }) => name.startsWith("flemma")),
      [],
    );
    assert.equal(place.exists("../state/flemma/journal"), false);
  }));

Deno.test("if the program under test changes, the replay reports exactly the result that depends on it", () =>
  withExamples(async (place) => {
    const test = place.read("mend/test.sh");
    place.write("mend/test.sh", test.replace("1 passed", "1 passed, 0 failed"));
    const { stdout } = await place.exits(1, ["replay", "run", ...FILES, "--tap", "--junit", "out.xml"]);
    const points = stdout.split("\n").filter((line) => /^(not )?ok /.test(line));
    assert.deepEqual(points.filter((line) => line.startsWith("not ok")), [
      "not ok 6 - mend/mend.chat: bash call_again, line 47",
    ]);
    assert.equal(points.length, 8);
    assert.match(stdout, /^ {4}- 1 passed\n {4}\+ 1 passed, 0 failed$/m);
    assert.match(
      place.read("out.xml"),
      /<testsuite name="mend\/mend\.chat" tests="3" failures="1" errors="0"/,
    );
    // What is right now becomes what is expected, and nothing else is touched.
    const document = place.read("mend/mend.chat");
    await place.exits(0, ["replay", "run", "mend/mend.chat", "--update"]);
    assert.equal(place.read("mend/mend.chat"), document.replace("\n1 passed\n", "\n1 passed, 0 failed\n"));
  }));

Deno.test("a replay without a sandbox runs calls only with the person's consent, even if the document switched the sandbox off", () =>
  withExamples(async (place) => {
    const document = `\`\`\`yaml\nflemma:\n  sandbox: false\n\`\`\`\n\n${place.read("total/total.chat")}`;
    place.write("total/total.chat", document.replace("sh total.sh prices.txt", "touch ../../ran"));
    const refused = await place.exits(1, ["replay", "run", "total/total.chat"]);
    assert.match(refused.stderr, /The sandbox is off.*\n.*--no-sandbox/);
    place.write("total/total.chat", document);
    await place.exits(0, ["replay", "run", "--no-sandbox", "total/total.chat"]);
  }));

Deno.test("replay --lenient accepts a conversation with a retired model", () =>
  withExamples(async (place) => {
    const document = place.read("total/total.chat");
    place.write(
      "total/total.chat",
      `\`\`\`yaml\nflemma:\n  model: claude-opus-4-1-20250805\n\`\`\`\n\n${document}`,
    );
    const strict = await place.exits(1, ["replay", "run", "total/total.chat"]);
    assert.match(strict.stderr, /model: claude-opus-4-1-20250805/);
    await place.exits(0, ["replay", "run", "--lenient", "total/total.chat"]);
  }));

Deno.test("a document that widens the sandbox is replayed only after the person trusts it", () =>
  withExamples(async (place) => {
    const beside = `${place.folder}/beside`;
    Deno.mkdirSync(beside);
    const block =
      `\`\`\`yaml\nflemma:\n  sandbox:\n    policy:\n      rw_paths: ["urn:flemma:cwd", "${beside}"]\n\`\`\`\n\n`;
    const command = `sh total.sh prices.txt; touch ${beside}/made`;
    place.write(
      "total/total.chat",
      block + place.read("total/total.chat").replace("sh total.sh prices.txt", command),
    );
    const run = () => place.run(["replay", "run", "total/total.chat"]);
    const refused = await run();
    assert.equal(refused.code, 1, refused.stderr);
    assert.match(
      refused.stderr,
      /Nothing was replayed\. This document makes .*beside writable.* flemma trust /,
    );
    assert.equal(place.exists("../beside/made"), false);
    await place.exits(0, ["trust", "total/total.chat"]);
    const agreed = await run();
    assert.match(agreed.stderr, /3 as recorded/);
    assert.equal(place.exists("../beside/made"), true);
  }));

Deno.test("a replay does not run a call that policy denies, whatever the document contains", () =>
  withExamples(async (place) => {
    place.write("deny.yaml", 'tools:\n  rules:\n    - { deny: bash, command: ["sh total.sh **"] }\n');
    const { stderr } = await place.exits(1, ["replay", "run", "total/total.chat", "--config", "deny.yaml"]);
    assert.match(stderr, /is denied, so it did not run: .*deny\.yaml:3/);
  }));

test("replay --update keeps the images that a tool returns, under the names of the first run", async (place) => {
  const shot = (text: string) => {
    Deno.mkdirSync(`${place.folder}/config/flemma/tools`, { recursive: true });
    const source = { type: "base64", media_type: "image/png", data: PNG.toBase64() };
    Deno.writeTextFileSync(
      `${place.folder}/config/flemma/tools/shot.ts`,
      `const contentBlocks = [{ type: "image", source: ${JSON.stringify(source)} }];
export default { input_schema: { type: "object" }, execute: () => ({ content: "${text}", contentBlocks }) };\n`,
    );
  };
  const document = (text: string) =>
    "@You:\nGo.\n\n@Assistant:\n**Tool Use:** `shot` (`c1`)\n\n```json\n{}\n```\n\n@You:\n\n" + text;
  place.write("a.chat", document(""));
  shot("one");
  await place.exits(0, ["execute", "a.chat", "c1"]);
  const recorded = place.read("a.chat");
  assert.match(recorded, /\(attachments=[0-9a-f]{64}\)\n\n```\none\n/);
  place.write("a.chat", `${recorded}\n@Assistant:\nThere.\n\n@You:\n`);
  Deno.removeSync(`${place.folder}/state`, { recursive: true });
  shot("two");
  await place.exits(0, ["replay", "run", "--update", "a.chat"]);
  assert.equal(place.read("a.chat"), `${recorded.replace("one\n", "two\n")}\n@Assistant:\nThere.\n\n@You:\n`);
  const checked = await place.run(["check", "a.chat"]);
  assert.doesNotMatch(checked.stdout, /attachment/);
});

test("a replay does not run a refused call and continues the conversation", async (place) => {
  const call = (id: string, command: string) =>
    `**Tool Use:** \`bash\` (\`${id}\`)\n\n\`\`\`json\n${JSON.stringify({ command })}\n\`\`\`\n\n`;
  place.write(
    "a.chat",
    `@You:\nGo.\n\n@Assistant:\n${call("c1", "echo x > made")}@You:\n\n**Tool Result:** \`c1\` (error)\n\n` +
      "```\nNot now.\n```\n\n@Assistant:\n" + call("c2", "ls") +
      "@You:\n\n**Tool Result:** `c2`\n\n```\na.chat\n```\n\n@Assistant:\nGood.\n\n@You:\n",
  );
  const { stderr } = await place.exits(0, ["replay", "run", "a.chat"]);
  assert.match(stderr, /^a\.chat: 1 as recorded, 1 skipped$/m);
  const gone = await place.exits(1, ["replay", "run", "gone.chat"]);
  assert.match(gone.stderr, /There is no file gone\.chat/);
});

Deno.test("a script recorded from a conversation replays the same conversation, but without its secrets", () =>
  withExamples(async (place) => {
    const document = place.read("total/total.chat");
    place.write(
      "total/total.chat",
      document.replace("I will look", "With sk-ant-api03-abcdefghijklmnop I will look"),
    );
    const { stdout, stderr } = await place.exits(0, ["replay", "record", "total/total.chat"]);
    assert.match(stderr, /Removed, because they look like secrets: Anthropic key\./);
    assert.match(stdout, /With \S+ I will look/);
    assert.doesNotMatch(stdout, /sk-ant/);
    const { parseReplayScript } = await import("../../providers/replay/server.ts");
    const script = await parseReplayScript(stdout);
    assert.ok(script.ok, script.ok ? "" : script.problem.message);
    assert.equal(script.value.replies.length, 4);
    place.write("new.chat", "@You:\nHi\n");
    const none = await place.exits(1, ["replay", "record", "new.chat"]);
    assert.match(none.stderr, /no reply yet/);
  }));
