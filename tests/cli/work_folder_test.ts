// A document may name the folder in which its tools work (`cwd` in its frontmatter).

import assert from "node:assert/strict";
import { testWithScene as test } from "./harness.ts";
import type { Scene } from "./harness.ts";

const CALL = (command: string) =>
  `@You:\nLook.\n\n@Assistant:\n\n**Tool Use:** \`bash\` (\`c1\`)\n\n\`\`\`json\n${
    JSON.stringify({ label: "look", command, timeout: null })
  }\n\`\`\`\n`;
const block = (cwd: string, more = ""): string =>
  `\`\`\`json\n{ "flemma": { "cwd": ${JSON.stringify(cwd)}${more} } }\n\`\`\`\n\n`;

/** Makes a project with a `.git` folder and a document in `chats/`. */
function makeProject(place: Scene): void {
  for (const folder of [".git", "chats", "src", "other/.git"]) {
    Deno.mkdirSync(place.path(`project/${folder}`), { recursive: true });
  }
}

/** Writes a document whose call prints its folder, and runs it. Returns the exit code and the document's text. */
async function run(place: Scene, file: string, text: string, args: readonly string[] = []) {
  place.arrive(file, text);
  const finished = await place.run(["advance", "--no-autopilot", file, "--no-sandbox", ...args]);
  return { ...finished, text: place.read(file) };
}

test("tools of a document work in the folder that it names below its own", async (place) => {
  makeProject(place);
  place.settings("tools: { auto_approve: [bash] }\n");
  const { code, text, stderr } = await run(place, "project/a.chat", block("src") + CALL("pwd"));
  assert.ok(text.includes(`${place.path("project/src")}\n`), `${code} ${stderr} ${text}`);
});

test("a folder above the document's own waits until the person trusts the document", async (place) => {
  makeProject(place);
  place.settings("tools: { auto_approve: [bash] }\n");
  const file = "project/chats/a.chat";
  const first = await run(place, file, block("..") + CALL("pwd"));
  assert.deepEqual([first.code, /place\/project\n/.test(first.text)], [3, false], first.stderr);
  const shown = await place.exits(0, ["trust", "--show", file]);
  assert.match(shown.stdout, /lets tools work in .*\/place\/project \(cwd\)/);
  await place.exits(0, ["trust", file]);
  const then = await run(place, file, block("..") + CALL("pwd"));
  assert.ok(then.text.includes(`${place.path("project")}\n`), `${then.code} ${then.stderr}`);
});

test("a working folder outside the project, or the home folder or above it, is an error, and nothing runs", async (place) => {
  makeProject(place);
  place.settings("tools: { auto_approve: [bash] }\n");
  const home = `${place.folder}/home`;
  Deno.mkdirSync(`${home}/.git`, { recursive: true });
  Deno.mkdirSync(`${home}/chats`);
  Deno.symlinkSync(home, place.path("project/house"));
  Deno.symlinkSync("/etc", place.path("project/link"));
  const rows = [
    ["..", /outside the document's project/],
    ["../../..", /home folder or contains it/],
    ["/", /home folder or contains it/],
    ["~", /home folder or contains it/],
    ["~/", /home folder or contains it/],
    ["house", /home folder or contains it/],
    ["src/../house", /home folder or contains it/],
    ["house/..", /home folder or contains it/],
    ["link", /outside the document's project/],
    ["/etc", /outside the document's project/],
    ["~/chats", /outside the document's project/],
    ["missing", /not a folder/],
    ["a.chat", /not a folder/],
    ["", /non-empty/],
    ["src\0", /not a folder/],
  ] as const;
  for (const [cwd, words] of rows) {
    const { code, text, stderr } = await run(place, "project/a.chat", block(cwd) + CALL("pwd"));
    assert.deepEqual([code, text.includes("Tool Result")], [4, false], `${cwd}: ${stderr}`);
    assert.match(stderr, words, cwd);
    await place.exits(4, ["check", "project/a.chat"]);
    assert.notEqual((await place.run(["trust", "project/a.chat"])).code, 0);
  }
});

test("a link that is exchanged after the agreement needs a new one", async (place) => {
  makeProject(place);
  place.settings("tools: { auto_approve: [bash] }\n");
  Deno.symlinkSync("../src", place.path("project/chats/out"));
  const file = "project/chats/a.chat";
  place.arrive(file, block("out") + CALL("pwd"));
  await place.exits(0, ["trust", file]);
  const first = await run(place, file, block("out") + CALL("pwd"));
  assert.ok(first.text.includes(`${place.path("project/src")}\n`), first.stderr);
  Deno.removeSync(place.path("project/chats/out"));
  Deno.symlinkSync("../other", place.path("project/chats/out"));
  const then = await run(place, file, block("out") + CALL("pwd"));
  assert.deepEqual([then.code, then.text.includes("project/other\n")], [3, false], then.stderr);
});

test("a folder below the document's own waits if it is hidden or a project of its own", async (place) => {
  makeProject(place);
  place.settings("tools: { auto_approve: [bash] }\n");
  Deno.mkdirSync(place.path("project/other/deep"));
  for (const cwd of [".git", "other", "other/deep", "src/../.git"]) {
    const { code, text } = await run(place, "project/a.chat", block(cwd) + CALL("pwd"));
    assert.deepEqual([code, text.includes(`${cwd}\n`)], [3, false], cwd);
  }
});

test("a copy of a document that flemma wrote does not keep its working folder", async (place) => {
  makeProject(place);
  place.settings("tools: { auto_approve: [bash] }\n");
  await place.exits(0, ["new", "project/chats/a.chat", "--bare", "-m", "Look."]);
  const text = place.read("project/chats/a.chat");
  assert.match(text, /"cwd": "\.\."/);
  const call = CALL("pwd").replace("@You:\nLook.\n\n", "");
  place.arrive("project/chats/a.chat", text + "\n" + call);
  const own = await run(place, "project/chats/a.chat", text + "\n" + call);
  assert.ok(own.text.includes(`${place.path("project")}\n`), `${own.code} ${own.stderr}`);
  const copy = await run(place, "project/chats/b.chat", text + "\n" + call);
  assert.deepEqual([copy.code, copy.text.includes("place/project\n")], [3, false]);
  Deno.mkdirSync(place.path("project/other/chats"));
  await place.exits(0, ["fork", "project/chats/a.chat", "project/other/chats/c.chat"]);
  const forked = await run(place, "project/other/chats/c.chat", text + "\n" + call);
  assert.deepEqual([forked.code, forked.text.includes("project/other\n")], [3, false], forked.stderr);
  await place.exits(0, ["fork", "project/chats/a.chat", "project/chats/d.chat"]);
  const beside = await run(place, "project/chats/d.chat", text + "\n" + call);
  assert.ok(beside.text.includes(`${place.path("project")}\n`), `${beside.code} ${beside.stderr}`);
});
