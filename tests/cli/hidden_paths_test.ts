// Hidden paths are hidden from documents too: references, includes and frontmatter obey `deny_read`.

import assert from "node:assert/strict";
import { callsDocument, testWithScene as test } from "./harness.ts";

test("hidden files are not attached or included, and a diagnostic says why", async (place) => {
  place.write("secret.txt", "the key is 1234\n");
  place.write("open.txt", "an open word\n");
  place.settings(`sandbox: { policy: { deny_read: [${place.path("secret.txt")}] } }\n`);
  place.write("a.chat", '@You:\n@./secret.txt\n@./open.txt\n{{ include("secret.txt") }}\n');
  const shown = await place.run(["send", "--dry-run", "a.chat"]);
  assert.ok(!shown.stdout.includes("1234"), shown.stdout);
  const checked = await place.run(["check", "a.chat"]);
  const lines = checked.stdout.split("\n").filter((line) => line.includes("the sandbox policy hides it"));
  assert.equal(lines.length, 2, checked.stdout);
  const allowed = await place.run(["send", "--dry-run", "--no-config", "a.chat"]);
  assert.equal(allowed.stdout.split("1234").length, 3);
});

test("a document can hide more paths from itself, and its frontmatter cannot read what the person hides", async (place) => {
  place.write("secret.txt", "the key is 1234\n");
  const hides = `flemma.opt.sandbox.policy.deny_read:append("${place.path("secret.txt")}")`;
  place.write("own.chat", `\`\`\`lua\n${hides}\n\`\`\`\n@You:\n@./secret.txt\nhi\n`);
  assert.ok(!(await place.run(["send", "--dry-run", "own.chat"])).stdout.includes("1234"));
  place.settings(`sandbox: { policy: { deny_read: [${place.path("secret.txt")}] } }\n`);
  place.write("block.chat", '```lua\ntext = include("secret.txt")\n```\n@You:\n{{ text }}\n');
  const { stdout } = await place.exits(4, ["check", "block.chat"]);
  assert.match(stdout, /the sandbox policy hides it/);
});

test("a document cannot make hidden paths visible by making a part of them writable", async (place) => {
  Deno.mkdirSync(place.path("secrets/keys"), { recursive: true });
  place.write("secrets/keys/key.txt", "the key is 1234\n");
  place.settings(`sandbox: { policy: { deny_read: [${place.path("secrets")}] } }\n`);
  const block = `\`\`\`lua\nflemma.opt.sandbox.policy.rw_paths:append("${
    place.path("secrets/keys")
  }")\n\`\`\`\n`;
  place.write("reference.chat", `${block}@You:\n@./secrets/keys/key.txt\nhi\n`);
  const sent = await place.run(["send", "--dry-run", "reference.chat"]);
  assert.ok(!sent.stdout.includes("1234"), sent.stdout);
  assert.match(sent.stderr, /rw_paths" names \S+secrets\/keys, which your settings hide/);
  place.write("call.chat", block + callsDocument([{ id: "call_1", command: "cat secrets/keys/key.txt" }]));
  await place.run(["advance", "--no-autopilot", "call.chat"]);
  assert.ok(!place.read("call.chat").includes("1234"), place.read("call.chat"));
});

test("if an untrusted document turns off the sandbox that hides files, the person is asked before a file is read", async (place) => {
  place.write("secret.txt", "the key is 1234\n");
  place.settings(`sandbox: { policy: { deny_read: [${place.path("secret.txt")}] } }\n`);
  const input = '{"label":"x","path":"secret.txt","offset":null,"limit":null}';
  place.write(
    "a.chat",
    "```lua\nflemma.opt.sandbox = false\n```\n@You:\nPlease: @./secret.txt\n\n@Assistant:\n" +
      "**Tool Use:** `read` (`call_1`)\n\n```json\n" + input + "\n```\n",
  );
  assert.ok(!(await place.run(["send", "--dry-run", "a.chat"])).stdout.includes("1234"));
  await place.exits(3, ["advance", "--no-autopilot", "a.chat"]);
  assert.match(place.read("a.chat"), /flemma:tool status=pending/);
});

test("a document cannot include environment variables from /proc, not even through a link", async (place) => {
  Deno.symlinkSync("/proc/self/environ", place.path("link.txt"));
  place.write(
    "a.chat",
    '@You:\n@./link.txt;type=text/plain\n{{ include("link.txt") }}\n{{ include("/proc/self/environ") }}\n',
  );
  const { stdout } = await place.run(["send", "--dry-run", "a.chat"], {
    env: { ANTHROPIC_API_KEY: "sk-1234" },
  });
  assert.ok(stdout.includes("link.txt"), stdout);
  assert.ok(!stdout.includes("sk-1234"), stdout);
  const checked = await place.run(["check", "a.chat"]);
  assert.equal(checked.stdout.split("a system file").length, 4, checked.stdout);
});
