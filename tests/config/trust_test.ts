// Trust in files: what exactly is trusted, and that one file's trust says nothing about another. One row per
// condition.

import assert from "node:assert/strict";
import {
  isTrusted,
  recordTrust,
  revokeTrust,
  trustedEntries,
  trustPath,
} from "../../config/sources/trust.ts";
import { testInWorld as test } from "./world.ts";

const NOW = new Date("2026-11-29T00:00:00Z");

test("trust applies to one path, its exact content, and the content of all files it names", async (world) => {
  const environment = world.environment();
  const [one, two, three] = ["one", "two", "three"].map((name) => `${world.project}/${name}.ts`) as [
    string,
    string,
    string,
  ];
  for (const path of [one, two, three]) await world.write(path, "export default 1;\n");
  const trusted = async (path = "/a", text = "text", files: readonly string[] = [one, two]) => {
    const answer = await isTrusted(environment, path, text, { code: files });
    return answer.ok ? answer.value : answer.problem.code;
  };
  assert.equal(await trusted(), false);
  assert.ok((await recordTrust(environment, "/a", "text", { code: [two, one] }, NOW)).ok);
  const rows: readonly (readonly [string, boolean, Parameters<typeof trusted>])[] = [
    ["exactly that", true, []],
    ["in another order", true, ["/a", "text", [two, one]]],
    ["another path", false, ["/b"]],
    ["another content", false, ["/a", "text "]],
    ["a file fewer", false, ["/a", "text", [one]]],
    ["a file more", false, ["/a", "text", [one, two, three]]],
    ["another file with the same content", false, ["/a", "text", [one, three]]],
    ["a file that is not there", false, ["/a", "text", [one, `${two}x`]]],
  ];
  for (const [what, expected, question] of rows) assert.equal(await trusted(...question), expected, what);
  for (const path of [one, two]) {
    await world.write(path, "export default 2;\n");
    assert.equal(await trusted(), false, path);
    await world.write(path, "export default 1;\n");
    assert.equal(await trusted(), true, path);
  }
  await world.write(trustPath(environment), "{");
  assert.equal(await trusted(), "file-broken");
});

test("trust in a path replaces earlier trust in the same path, and can be withdrawn for each path", async (world) => {
  const environment = world.environment();
  const paths = () => {
    const entries = trustedEntries(environment);
    return entries.ok ? entries.value.map(({ path }) => path) : entries.problem.code;
  };
  const record = async (path: string, text = "text", files: readonly string[] = []) =>
    (await recordTrust(environment, path, text, { code: files }, NOW)).ok;
  const revoke = async (path: string) => {
    const revoked = await revokeTrust(environment, path);
    return revoked.ok ? revoked.value : revoked.problem.code;
  };
  assert.deepEqual(paths(), []);
  assert.equal(await revoke("/b"), false);
  for (const path of ["/c", "/a", "/b"]) assert.ok(await record(path));
  assert.deepEqual(paths(), ["/a", "/b", "/c"]);
  assert.ok(await record("/b", "new"));
  assert.deepEqual(paths(), ["/a", "/b", "/c"]);
  assert.deepEqual(await isTrusted(environment, "/b", "text"), { ok: true, value: false });
  assert.deepEqual(await isTrusted(environment, "/b", "new"), { ok: true, value: true });
  assert.equal(await record("/d", "text", [`${world.project}/gone.ts`]), false);
  assert.deepEqual(paths(), ["/a", "/b", "/c"]);
  assert.equal(await revoke("/x"), false);
  assert.equal(await revoke("/b"), true);
  assert.deepEqual(paths(), ["/a", "/c"]);
  const later = JSON.stringify({ version: 2, entries: [] });
  await world.write(trustPath(environment), later);
  assert.deepEqual([paths(), await record("/a"), await revoke("/a")], ["file-broken", false, "file-broken"]);
  assert.equal(await Deno.readTextFile(trustPath(environment)), later, "a list of a later version stays");
});
