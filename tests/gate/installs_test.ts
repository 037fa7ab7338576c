// The test of ways to install finds errors. `deno task installs` tries all ways with the real package.

import assert from "node:assert/strict";
import type { Findings } from "../../scripts/release/installs/try.ts";
import { configuredRegistry } from "../../scripts/release/installs/pinned.ts";
import { keyOf, tableIn, tableOf } from "../../scripts/release/installs/report.ts";
import { WAYS } from "../../scripts/release/installs/ways.ts";
import { type Publication, startRegistry } from "../../scripts/release/installs/registry.ts";

function publication(version: string): Publication {
  return {
    manifest: { name: "flemma", version, bin: { flemma: "bin/flemma" } },
    archive: new TextEncoder().encode(`the archive of ${version}`),
  };
}

Deno.test("the test registry offers each version with the hash of its archive, and the last version as latest", async () => {
  await using registry = startRegistry([publication("1.0.0"), publication("1.1.0")], "http://127.0.0.1:1");
  const reported = await (await fetch(`${registry.address}/flemma`)).json();
  assert.deepEqual(reported["dist-tags"], { latest: "1.1.0" });
  assert.deepEqual(Object.keys(reported.versions), ["1.0.0", "1.1.0"]);
  const { tarball, integrity } = reported.versions["1.0.0"].dist;
  const archive = await (await fetch(tarball)).bytes();
  assert.equal(new TextDecoder().decode(archive), "the archive of 1.0.0");
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-512", archive)).toBase64();
  assert.equal(integrity, `sha512-${hash}`);
});

Deno.test("the test registry passes on other packages and serves their archives itself", async () => {
  await using upstream = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const { origin, pathname } = new URL(request.url);
    return pathname === "/other"
      ? Response.json({ name: "other", dist: { tarball: `${origin}/other/-/other-1.0.0.tgz` } })
      : new Response(null, { status: 404 });
  });
  const address = `http://127.0.0.1:${upstream.addr.port}`;
  await using registry = startRegistry([publication("1.0.0")], address);
  const reported = await (await fetch(`${registry.address}/other`)).json();
  assert.equal(reported.dist.tarball, `${registry.address}/other/-/other-1.0.0.tgz`);
  const missing = await fetch(`${registry.address}/missing`);
  assert.equal(missing.status, 404);
  await missing.body?.cancel();
});

Deno.test("the test registry takes packages other than flemma from the registry that is configured for npm", async () => {
  const before = Deno.env.get("npm_config_registry");
  Deno.env.set("npm_config_registry", "http://127.0.0.1:4873/npm/");
  try {
    assert.equal(await configuredRegistry(), "http://127.0.0.1:4873/npm");
  } finally {
    if (before === undefined) Deno.env.delete("npm_config_registry");
    else Deno.env.set("npm_config_registry", before);
  }
});

Deno.test("the install page has a row for every tested way to install, and none of them failed", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/reference/install.md", import.meta.url));
  const { rows } = tableIn(page);
  const missing = WAYS.map(keyOf).filter((key) => !rows.some((row) => row.startsWith(key)));
  assert.deepEqual(missing, []);
  assert.deepEqual(rows.filter((row) => row.includes("**no**")), []);
  assert.equal(rows.length, WAYS.length + 2);
});

Deno.test("after one way to install is tested, only the row of this way changes, and a failure is shown in that row", () => {
  const [first, second] = WAYS;
  const earlier = [
    `${keyOf(first!)} yes | yes |`,
    `${keyOf(second!)} yes | yes |`,
    "| gone | Node 1 | yes |",
  ];
  const found: Findings = new Map([["install", "exit code 1"], ["demo", null]]);
  const table = tableOf(new Map([[second!, found]]), earlier);
  assert.deepEqual(table.split("\n").slice(2), [
    `${keyOf(first!)} yes | yes |`,
    `${keyOf(second!)} **no** |  | yes |  |  |  |  |`,
  ]);
});
