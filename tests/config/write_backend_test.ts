// The name of a sandbox backend in the text of a settings file: only what has to change changes.

import assert from "node:assert/strict";
import { withBackend } from "../../config/sources/write_rule.ts";

Deno.test("the backend is written where it belongs, and all other bytes stay", async () => {
  const rows: readonly (readonly [before: string | null, after: string])[] = [
    [null, "sandbox:\n  backend: landlock\n"],
    ["# Mine.\n", "# Mine.\nsandbox:\n  backend: landlock\n"],
    ["model: m", "model: m\nsandbox:\n  backend: landlock\n"],
    ["sandbox:\n", "sandbox:\n  backend: landlock\n"],
    ["sandbox:\n  backend: auto # why\nmodel: m\n", "sandbox:\n  backend: landlock # why\nmodel: m\n"],
    [
      "sandbox:\n    policy:\n        network: false\n# End.\n",
      "sandbox:\n    policy:\n        network: false\n    backend: landlock\n# End.\n",
    ],
    ["sandbox: { enabled: true }\n", "sandbox: { enabled: true, backend: landlock }\n"],
    ["sandbox: { backend: 'bwrap' }\n", "sandbox: { backend: landlock }\n"],
  ];
  for (const [before, after] of rows) {
    const made = await withBackend(before, "landlock", { json: false });
    if (before === "sandbox:\n") assert.ok(made.ok || made.problem.code === "settings-unchanged");
    else assert.deepEqual(made, { ok: true, value: after }, before ?? "no file");
  }
});

Deno.test("the backend is written into JSON as JSON", async () => {
  const rows: readonly (readonly [before: string | null, after: string])[] = [
    [null, '{ "sandbox": { "backend": "landlock" } }\n'],
    ['{ "model": "m" }\n', '{ "model": "m", "sandbox": { "backend": "landlock" } }\n'],
    ['{ "sandbox": { "backend": "auto" } }\n', '{ "sandbox": { "backend": "landlock" } }\n'],
    ['{ "sandbox": { "enabled": true } }\n', '{ "sandbox": { "enabled": true, "backend": "landlock" } }\n'],
  ];
  for (const [before, after] of rows) {
    assert.deepEqual(await withBackend(before, "landlock", { json: true }), { ok: true, value: after });
  }
});

Deno.test("a form that cannot be edited leaves the file unchanged", async () => {
  for (
    const text of [
      "sandbox: true\n",
      "sandbox.backend: auto\n",
      "- a\n",
      "sandbox: [",
      "sandbox: &a { }\nb: *a\n",
    ]
  ) {
    const made = await withBackend(text, "landlock", { json: false });
    if (text.includes("&a")) assert.ok(made.ok || made.problem.code === "settings-unchanged");
    else assert.equal(made.ok ? "" : made.problem.code, "settings-unchanged", text);
  }
});
