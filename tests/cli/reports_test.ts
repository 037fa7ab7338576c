// Reports only read: they create and change no file or folder.

import assert from "node:assert/strict";
import { callsDocument, type Scene, testWithScene as test } from "./harness.ts";

/** Every path of the scene with what it holds; the runtime folder apart, where a probe's answer is kept. */
function everything({ folder }: Scene): string[] {
  const found: string[] = [];
  const visit = (path: string) => {
    for (const { name, isDirectory } of Deno.readDirSync(path)) {
      const inner = `${path}/${name}`;
      if (inner === `${folder}/run`) continue;
      found.push(isDirectory ? `${inner}/` : `${inner} ${Deno.readTextFileSync(inner)}`);
      if (isDirectory) visit(inner);
    }
  };
  visit(folder);
  return found.sort();
}

const REPORTS: readonly (readonly string[])[] = [
  ["status", "a.chat"],
  ["status", "--json", "a.chat"],
  ["check", "a.chat"],
  ["parse", "--json", "a.chat"],
  ["config", "show", "a.chat"],
  ["config", "check", "a.chat"],
  ["config", "path", "a.chat"],
  ["config", "get", "sandbox.policy.rw_paths", "a.chat"],
  ["sandbox", "status", "a.chat"],
  ["trust", "--list"],
  ["session", "show", "a.chat"],
  ["send", "--dry-run", "a.chat"],
  ["doctor"],
];

test("reports create neither the folders that a document's settings name nor any other file", async (place) => {
  const block = "```lua\nflemma.opt.sandbox.policy.rw_paths:append({ path = 'out/deep', create = true })\n" +
    "flemma.opt.model = 'claude-sonnet-4-5'\n```\n";
  const call = callsDocument([{
    id: "call_1",
    command: "echo ran > out/deep/ran.txt",
    status: "approved",
  }]);
  place.write("a.chat", block + call);
  const before = everything(place);
  for (const words of REPORTS) {
    const { code, stderr } = await place.run(words, { env: { ANTHROPIC_API_KEY: "k" } });
    assert.ok([0, 1, 3].includes(code), `${words.join(" ")}: ${code} ${stderr}`);
    assert.deepEqual(everything(place), before, words.join(" "));
  }
  const status = await place.run(["sandbox", "status", "a.chat"]);
  assert.doesNotMatch(status.stdout, /does not exist/);
  await place.run(["approve", "a.chat", "call_1"]);
  assert.ok(!place.exists("out"), "approving runs nothing and creates nothing");
  await place.run(["advance", "--no-autopilot", "a.chat"]);
  assert.equal(place.read("out/deep/ran.txt"), "ran\n");
});

test("status tests the sandbox only if a call waits for it, and otherwise shows the settings", async (place) => {
  const backend = `${place.folder}/none`;
  place.settings(`sandbox: { backend: required, backends: { bwrap: { path: ${backend} } } }\n`);
  place.write("quiet.chat", "@You:\nHello\n");
  place.write("open.chat", callsDocument([{ id: "call_1", command: "true", status: "pending" }]));
  const quiet = await place.run(["status", "quiet.chat"]);
  const open = await place.run(["status", "open.chat"]);
  assert.match(quiet.stdout, /^sandbox: on$/m);
  assert.match(open.stdout, /^sandbox: not usable: .+/m);
  place.settings("sandbox: { enabled: false }\n");
  assert.match((await place.run(["status", "quiet.chat"])).stdout, /^sandbox: off$/m);
});

test("status says what the sandbox cannot protect completely, if a call is open and the sandbox is on", async (place) => {
  for (let at = 0; at < 201; at++) {
    Deno.mkdirSync(place.path(`many/r${at}/.git`), { recursive: true });
    place.write(`many/r${at}/.git/HEAD`, "ref: refs/heads/main\n");
  }
  place.write("quiet.chat", "@You:\nHello\n");
  place.write("open.chat", callsDocument([{ id: "call_1", command: "true", status: "pending" }]));
  const limit = /many contains too many git repositories/;
  assert.match((await place.run(["status", "open.chat"])).stderr, limit);
  assert.match((await place.run(["status", "--json", "open.chat"])).stderr, limit);
  assert.doesNotMatch((await place.run(["status", "quiet.chat"])).stderr, limit);
  place.settings("sandbox: { enabled: false }\n");
  assert.doesNotMatch((await place.run(["status", "open.chat"])).stderr, limit);
});
