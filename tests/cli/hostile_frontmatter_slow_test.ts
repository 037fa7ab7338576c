// Frontmatter that never ends or exhausts memory, in the real program: reported with exit code 4, document unchanged.

import assert from "node:assert/strict";
import { callsDocument, withScene } from "./harness.ts";

/** Restricting what runs comes last here, so a block that is cut off must count as if nothing were allowed. */
const HOSTILE: Readonly<Record<string, readonly [code: string, reported: RegExp]>> = {
  "a loop around pcall": [
    "while true do pcall(function() while true do end end) end",
    /stopped: it took more than \d+ steps/,
  ],
  "recursion that catches itself": ["local function f() pcall(f) end\nf()", /more than 200 levels deep/],
  "strings of a gigabyte": ['while true do pcall(string.rep, "x", 1e9) end', /memory|string of more/],
  "a pattern that backtracks exponentially": [
    'local s = ("a"):rep(5000)\nx = s:find(("a*"):rep(20) .. "b")',
    /steps|seconds/,
  ],
  "a table without end": ["local t = {}\nfor i = 1, 1e9 do t[i] = {} end", /more than 64 MiB of memory/],
  "settings without end": [
    'while true do pcall(function() flemma.opt.tools:append("bash") end) end',
    /steps|seconds/,
  ],
  "an included device": [
    'x = include("/dev/zero")',
    /\/dev\/zero cannot be read \(it is a system file/,
  ],
};

for (const [name, [code, reported]] of Object.entries(HOSTILE)) {
  Deno.test(`${name} in the frontmatter is reported and stops check and advance, and the document stays unchanged`, async () => {
    await withScene(async (place) => {
      const block = `flemma.opt.tools.auto_approve = { "bash" }\n${code}\nflemma.opt.tools.auto_approve = {}`;
      const chat = "```lua\n" + block + "\n```\n" +
        callsDocument([{ id: "call_1", command: "touch ran.txt", status: "approved" }]);
      place.write("a.chat", chat);
      const check = await place.run(["check", "a.chat"]);
      assert.equal(check.code, 4, check.stderr);
      assert.match(check.stdout, reported);
      for (const command of [["advance", "a.chat"], ["execute", "a.chat", "call_1"], ["send", "a.chat"]]) {
        const run = await place.run(command);
        assert.equal(run.code, 4, `${command.join(" ")}: ${run.stderr}`);
        assert.match(run.stderr, reported);
      }
      const filtered = await place.run(["advance"], { stdin: chat });
      assert.equal(filtered.code, 4);
      assert.equal(filtered.stdout, chat);
      assert.equal(place.read("a.chat"), chat);
      assert.ok(!place.exists("ran.txt"), "the call ran");
    });
  });
}
