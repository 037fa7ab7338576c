import assert from "node:assert/strict";
import { withScene } from "./harness.ts";

Deno.test("doctor tells versions, settings, keys by name, state, tools and sandbox on one page", async () => {
  await withScene(async (place) => {
    place.settings("tools: { auto_approve: [read] }\n");
    const env = { ANTHROPIC_API_KEY: "sk-very-secret" };
    const { code, stdout } = await place.run(["doctor"], { env });
    assert.equal(code, 0);
    for (
      const line of [
        /^ {2}flemma +\d+\.\d+\.\d+$/m,
        /^ {2}G {2}\S+\/config\/flemma\/config\.yaml$/m,
        /^ {2}anthropic +from ANTHROPIC_API_KEY$/m,
        /^ {2}read +built in, approve by urn:flemma:approval:config$/m,
        /^ {2}bash +built in, approve by urn:flemma:approval:sandbox$/m,
        /^ {2}sandbox +on, and it works$/m,
      ]
    ) assert.match(stdout, line);
    assert.ok(!stdout.includes("sk-very-secret"));
    const json = JSON.parse((await place.run(["doctor", "--json"], { env })).stdout);
    assert.deepEqual(json.credentials.anthropic, { found: true, detail: "ANTHROPIC_API_KEY" });
    assert.equal(json.sandbox.available, true);
    assert.ok(!JSON.stringify(json).includes("sk-very-secret"));
  });
});

Deno.test("doctor names what is wrong, and its exit code says so", async () => {
  await withScene(async (place) => {
    const noKey = await place.run(["doctor"]);
    assert.match(noKey.stdout, /anthropic +No key for Anthropic was found.*ANTHROPIC_API_KEY/);
    place.settings("sandbox: { backends: { bwrap: { path: /nowhere/bwrap } } }\n");
    const noSandbox = await place.run(["doctor"]);
    assert.equal(noSandbox.code, 1);
    assert.match(noSandbox.stdout, /\/nowhere\/bwrap/);
    place.settings("modle: x\n");
    const wrong = await place.run(["doctor"]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stdout, /! .*config\.yaml:1:1: unknown key "modle".*did you mean "model"/);
  });
});
