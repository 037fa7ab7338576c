// Which editors the slow tests start, and which mirror current ones are built from.

import assert from "node:assert/strict";
import { inFolder } from "../folder.ts";
import { currentEditors, debianMirror } from "./current.ts";

Deno.test("the mirror is the one of Debian that apt uses; sources of other systems, comments and security updates do not count", () => {
  const rows: readonly (readonly [string, string | null])[] = [
    ["deb http://mirror.example/debian bookworm main", "http://mirror.example/debian"],
    [
      "deb [arch=amd64 signed-by=/a/b] https://mirror.example/debian/ sid main",
      "https://mirror.example/debian",
    ],
    ["Types: deb\nURIs: http://mirror.example/debian\nSuites: sid", "http://mirror.example/debian"],
    ["# deb http://mirror.example/debian sid main", null],
    ["# http://mirror.example/archive/debian/20250520T000000Z", null],
    ["deb http://mirror.example/ubuntu noble main", null],
    ["deb http://mirror.example/debian-security sid main", null],
    ["", null],
  ];
  for (const [text, expected] of rows) assert.equal(debianMirror([text]), expected, text);
  assert.equal(debianMirror(["", "URIs: http://mirror.example/debian"]), "http://mirror.example/debian");
});

Deno.test("tests start current editors only if a build of them is complete", async () => {
  await inFolder((folder) => {
    assert.equal(currentEditors(folder), null);
    Deno.mkdirSync(`${folder}/bin`);
    assert.equal(currentEditors(folder), null);
    Deno.writeTextFileSync(`${folder}/bin/emacs`, "");
    assert.equal(currentEditors(folder), `${folder}/bin`);
  });
});
