// The attacks on the sandbox, with Landlock in place of namespaces: each is held, repaired, refused with a reason, or named
// as not covered.

import assert from "node:assert/strict";
import { landlockVersion } from "../../sandbox/kernel/landlock_version.ts";
import { sandboxStatus } from "../../sandbox/mod.ts";
import { assertNoneLost, tryAttacks } from "./attacks/both_users.ts";
import { inScene, sandboxOf } from "./attacks/scene.ts";
import { isSuperuser } from "./ordinary_user.ts";

/** Attacks that succeed, each with a part of the sentence by which status names it. */
const NOT_COVERED: Readonly<Record<string, string>> = {
  "appending, truncating, changing the mode": "Modes, owners",
  "tracing a process outside, and reading its memory": "All processes",
  "shared memory that outlives the command (System V)": "Shared memory",
  "devices that type, record, draw, mount or tunnel": "names of devices",
  "terminals of other programs": "names of devices",
  "the person's other processes, by number and by name": "All processes",
  "writing the running document": "text of the document",
  "editing the running document in place": "text of the document",
  "moving another file over the running document": "text of the document",
  "removing and recreating the running document": "text of the document",
  "a hard link to the running document": "text of the document",
  "the running document's descriptor, opened again for writing": "text of the document",
  "checking out another version of the document with git": "text of the document",
  "an approval, frontmatter and settings written into the files that decide about the run":
    "text of the document",
  "the namespaces of the person, also the superuser's": "All processes",
  "the session bus by its address in the environment": "names of devices and sockets",
  "another socket in the folder of the multiplexer, and one that appears later": "Folders of sockets",
};

const version = landlockVersion();
const isMissing = !version.ok || version.value < 6;

for (const [who, ordinary] of [["", false], [" by an ordinary user", true]] as const) {
  Deno.test(`with Landlock, every attack${who} is held, repaired, refused or named`, {
    ignore: isMissing || (ordinary && !isSuperuser),
  }, async () => {
    const { notCovered } = await inScene((scene) =>
      sandboxStatus(sandboxOf(scene, { rw_paths: ["urn:flemma:cwd", `${scene.root}/tmp`] }, {}, "landlock"))
    );
    const outcomes = await tryAttacks({ ordinary, backend: "landlock" });
    const rows = outcomes.map(({ group, name, retained, repaired, refused, detail }) => {
      const named = Object.hasOwn(NOT_COVERED, name) &&
        notCovered.some((line) => line.includes(NOT_COVERED[name]!));
      const outcome = refused
        ? "refused"
        : retained
        ? repaired ? "repaired" : "held"
        : named
        ? "not covered"
        : "LOST";
      return { group, name, outcome, detail };
    });
    const lines = rows.map(({ group, name, outcome }) => `${outcome.padEnd(12)}${group}: ${name}\n`);
    Deno.stdout.writeSync(new TextEncoder().encode(lines.join("")));
    assert.ok(rows.length >= 300, `only ${rows.length} attacks`);
    assertNoneLost(rows.filter(({ outcome }) => outcome === "LOST"));
  });
}
