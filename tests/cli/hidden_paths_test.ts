// Hidden paths are hidden from documents as well: references, includes and first blocks obey `deny_read`.

import assert from "node:assert/strict";
import { withScene } from "./harness.ts";

Deno.test("a hidden file is neither attached nor included, and the diagnostic says why", async () => {
  await withScene(async (place) => {
    place.write("secret.txt", "the key is 1234\n");
    place.write("open.txt", "an open word\n");
    place.settings(`sandbox: { policy: { deny_read: [${place.path("secret.txt")}] } }\n`);
    place.write("a.chat", '@You:\n@./secret.txt\n@./open.txt\n{{ include("secret.txt") }}\n');
    const shown = await place.run(["send", "--dry-run", "a.chat"]);
    assert.ok(!shown.stdout.includes("1234"), shown.stdout);
    const checked = await place.run(["check", "a.chat"]);
    const lines = checked.stdout.split("\n").filter((line) => line.includes("deny_read"));
    assert.equal(lines.length, 2, checked.stdout);
    const allowed = await place.run(["send", "--dry-run", "--no-config", "a.chat"]);
    assert.equal(allowed.stdout.split("1234").length, 3);
  });
});

Deno.test("a document can hide more from itself, and its first block cannot read what the person hides", async () => {
  await withScene(async (place) => {
    place.write("secret.txt", "the key is 1234\n");
    const hides = `flemma.opt.sandbox.policy.deny_read:append("${place.path("secret.txt")}")`;
    place.write("own.chat", `\`\`\`lua\n${hides}\n\`\`\`\n@You:\n@./secret.txt\nhi\n`);
    assert.ok(!(await place.run(["send", "--dry-run", "own.chat"])).stdout.includes("1234"));
    place.settings(`sandbox: { policy: { deny_read: [${place.path("secret.txt")}] } }\n`);
    place.write("block.chat", '```lua\ntext = include("secret.txt")\n```\n@You:\n{{ text }}\n');
    const { code, stdout } = await place.run(["check", "block.chat"]);
    assert.equal(code, 4);
    assert.match(stdout, /deny_read/);
  });
});
