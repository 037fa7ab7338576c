// Text that a command could have written does not count as the person's until they confirm it.

import assert from "node:assert/strict";
import { callsDocument, type Scene, testWithScene as test } from "../cli/harness.ts";
import { AtTerminal } from "../cli/terminal.ts";

const STEP = ["advance", "--no-autopilot"];
const ASK = "tools: { auto_approve_sandboxed: false }\n";

/** Waits inside the sandbox until the document can be written, and approves the other call in it. */
const FLIP = (file: string) =>
  `touch started; until sed -i '/^\`\`\`/s/=pending/=approved/' ${file} 2>/dev/null; do sleep 0.02; done; touch done`;

function approvedAndPending(place: Scene, name: string, command: string): void {
  place.write(
    name,
    callsDocument([
      { id: "call_1", command, status: "approved" },
      { id: "call_2", command: "echo ran >> runs.txt", status: "pending" },
    ]),
  );
}

/** The person edits the word in the block of the second call. */
function approveByHand(place: Scene, name: string): void {
  place.write(name, place.read(name).replace(/(`call_2`\n\n```flemma:tool status=)pending/, "$1approved"));
}

/** Saves as many editors do: a new file takes the place of the old one. */
function saveByRename(place: Scene, name: string): void {
  place.write(`${name}~new`, place.read(name));
  Deno.renameSync(place.path(`${name}~new`), place.path(name));
}

/** Runs the document while an editor saves it in the middle. */
async function runWhileSaved(place: Scene, name: string, args: readonly string[] = []) {
  const started = place.start([...STEP, name, ...args]);
  await place.appears("started", started);
  saveByRename(place, name);
  return await started.finished;
}

test("if a command approved a call after an editor's save, the call waits for the person, who learns the reason", async (place) => {
  place.settings(ASK);
  approvedAndPending(place, "a.chat", FLIP("a.chat"));
  const first = await runWhileSaved(place, "a.chat");
  assert.match(place.read("a.chat"), /`call_1`\n\n```\n/, first.stderr);
  assert.match(place.read("a.chat"), /`call_2`\n\n```flemma:tool status=approved/);
  const status = await place.run(["status", "a.chat"]);
  assert.match(status.stdout, /approval of call_2, because the file was replaced while a command ran/);
  assert.match(status.stdout, /flemma approve \S+a\.chat call_2/);
  assert.match((await place.run(["status", "--json", "a.chat"])).stdout, /"doubts":\["A command could/);
  const second = await place.run([...STEP, "a.chat"]);
  assert.equal(second.code, 3, second.stderr);
  assert.match(second.stderr, /call_2 waits for you: a command could have written its approval/);
  assert.match(place.read("a.chat"), /`call_2`\n\n```flemma:tool status=pending/);
  assert.ok(!place.exists("runs.txt"));
  // It says pending again, so the next word in it is the person's, and nothing is left to confirm.
  assert.doesNotMatch((await place.run(["status", "a.chat"])).stdout, /could have written/);
  approveByHand(place, "a.chat");
  await place.run([...STEP, "a.chat"]);
  assert.equal(place.read("runs.txt"), "ran\n");
});

test("review shows which calls a command could have approved and why, and the person confirms or refuses each with a key", async (place) => {
  place.settings(ASK);
  approvedAndPending(place, "a.chat", FLIP("a.chat"));
  await runWhileSaved(place, "a.chat");
  const terminal = new AtTerminal(place, ["review", "a.chat"]);
  const shown = (await terminal.press("Approve #2? ", "y")).replace(/\s+/g, " ");
  assert.match(shown, /A command could have written the approval of call_2, because the file was replaced/);
  assert.match(shown, /policy asks you \(not confirmed by you\): a command could have written its approval/);
  await terminal.press("There are no more calls to decide. ", "q");
  assert.equal((await terminal.ended()).code, 0);
  assert.doesNotMatch((await place.run(["status", "a.chat"])).stdout, /could have written/);
  const { stderr } = await place.run([...STEP, "a.chat"]);
  assert.equal(place.exists("runs.txt") && place.read("runs.txt"), "ran\n", stderr);
});

test("flemma approve confirms an approval that a command could have written, and flemma trust does not", async (place) => {
  place.settings(ASK);
  approvedAndPending(place, "a.chat", FLIP("a.chat"));
  await runWhileSaved(place, "a.chat");
  assert.equal((await place.run(["trust", "a.chat"])).code, 0);
  assert.match((await place.run(["status", "a.chat"])).stdout, /could have written/);
  assert.equal((await place.run(["approve", "a.chat", "call_2"])).code, 0);
  assert.doesNotMatch((await place.run(["status", "a.chat"])).stdout, /could have written/);
  const { stderr } = await place.run([...STEP, "a.chat"]);
  assert.equal(place.exists("runs.txt") && place.read("runs.txt"), "ran\n", stderr);
});

test("a save by an editor that changes nothing is not reported", async (place) => {
  place.settings(ASK);
  approvedAndPending(place, "a.chat", "touch started; until test -e saved; do sleep 0.02; done");
  const started = place.start([...STEP, "a.chat"]);
  await place.appears("started", started);
  saveByRename(place, "a.chat");
  place.write("saved", "");
  assert.notEqual((await started.finished).code, 5);
  assert.doesNotMatch((await place.run(["status", "a.chat"])).stdout, /could have written/);
  approveByHand(place, "a.chat");
  await place.run([...STEP, "a.chat"]);
  assert.equal(place.read("runs.txt"), "ran\n");
});

test("frontmatter that a command wrote, or from which it removed a restriction, has no effect until the person confirms it", async (place) => {
  place.settings("tools: { auto_approve: [read, write, edit] }\n");
  const restricting = "```lua\nflemma.opt.tools.auto_approve_sandboxed = false\n```\n";
  const blocks: readonly (readonly [before: string, sed: string])[] = [
    ["", `1i \`\`\`lua\\nflemma.opt.tools.auto_approve = { "bash" }\\n\`\`\``],
    [restricting, "1,3d"],
  ];
  for (const [at, [before, script]] of blocks.entries()) {
    for (const name of ["started", "done"]) if (place.exists(name)) Deno.removeSync(place.path(name));
    const file = `${at}.chat`;
    const command =
      `touch started; until sed -i '${script}' ${file} 2>/dev/null; do sleep 0.02; done; touch done`;
    place.write(file, before + callsDocument([{ id: "call_1", command, status: "approved" }]));
    await runWhileSaved(place, file);
    const changed = place.read(file);
    assert.notEqual(changed.startsWith(before) && before !== "", true, "the command changed the block");
    const more = callsDocument([{ id: "call_9", command: "echo ran >> runs.txt" }])
      .replace("@You:\nPlease.\n\n", "");
    place.write(file, `${changed.trimEnd()}\n\n${more}`);
    const { code, stderr } = await place.run([...STEP, file]);
    assert.equal(code, 3, stderr);
    assert.match(stderr, /A command could have written the frontmatter, because the file was replaced/);
    assert.match(place.read(file), /`call_9`\n\n```flemma:tool status=pending/);
    assert.match((await place.run(["status", file])).stdout, /could have written the frontmatter/);
    assert.ok(!place.exists("runs.txt"));
  }
});

test("if a command replaces a link to the document, the link is restored after the command", async (place) => {
  place.settings(ASK);
  Deno.mkdirSync(place.path("docs"));
  approvedAndPending(
    place,
    "docs/real.chat",
    "cd ..; sed '/^```/s/=pending/=approved/' docs/real.chat > forged; rm link.chat; cp forged link.chat",
  );
  Deno.symlinkSync("docs/real.chat", place.path("link.chat"));
  await place.run([...STEP, "link.chat"]);
  assert.ok(Deno.lstatSync(place.path("link.chat")).isSymlink, "the link is back");
  await place.run([...STEP, "link.chat"]);
  assert.ok(!place.exists("runs.txt"));
});

test("after a kill, a forged document in place of the link is not taken for the person's document", async (place) => {
  place.settings(ASK);
  Deno.mkdirSync(place.path("docs"));
  for (const [at, forge] of ["cp forged", "ln -s forged", "ln forged"].entries()) {
    const [link, real, begun] = [`link${at}.chat`, `docs/real${at}.chat`, `begun${at}`];
    const command =
      `cd ..; sed '/^\`\`\`/s/=pending/=approved/; s/echo ran/echo forged/' ${real} > forged${at}; rm ${link}; ` +
      `${forge}${at} ${link}; touch ${begun}; sleep 60`;
    approvedAndPending(place, real, command);
    Deno.symlinkSync(real, place.path(link));
    const started = place.start([...STEP, link]);
    await place.appears(begun, started);
    started.kill("SIGKILL");
    await started.finished;
    assert.match((await place.run(["status", link])).stdout, /link\d\.chat was replaced/, forge);
    const { code, stderr } = await place.run([...STEP, link]);
    // It waits for the person, or the link is put back while the forgery is open.
    assert.ok(code === 3 || code === 5, `${forge} ${code} ${stderr}`);
    await place.run([...STEP, link]);
    assert.ok(!place.exists("runs.txt"), forge);
  }
});

test("a document is not trusted if a command wrote it under another name", async (place) => {
  place.settings(ASK);
  approvedAndPending(
    place,
    "a.chat",
    "sed '/^```/s/=pending/=approved/' b.chat > t && cat t > b.chat",
  );
  Deno.linkSync(place.path("a.chat"), place.path("b.chat"));
  await place.run([...STEP, "a.chat"]);
  const { code, stderr } = await place.run([...STEP, "a.chat"]);
  assert.equal(code, 3, stderr);
  assert.ok(!place.exists("runs.txt"), stderr);
});

test("hard links of a document share one lock", async (place) => {
  approvedAndPending(place, "a.chat", "touch started; until test -e go; do sleep 0.02; done");
  Deno.linkSync(place.path("a.chat"), place.path("b.chat"));
  const started = place.start([...STEP, "a.chat"]);
  await place.appears("started", started);
  const other = await place.run([...STEP, "b.chat"]);
  assert.equal(other.code, 5);
  assert.match(other.stderr, /b\.chat is in use by process/);
  assert.match((await place.run(["status", "b.chat"])).stdout, /in use by process/);
  place.write("go", "");
  await started.finished;
  assert.notEqual((await place.run([...STEP, "b.chat"])).code, 5);
});
