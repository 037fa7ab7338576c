// The location of a problem in the frontmatter, as reports and runs show it.

import assert from "node:assert/strict";
import { withScene } from "./harness.ts";

Deno.test("both a report and a run name the line of an error in the frontmatter", async () => {
  const blocks: readonly (readonly [language: string, code: string, line: number])[] = [
    ["lua", 'local level = "low"\nflemma.opt.thinkng = level', 3],
    ["lua", "local x = 1\n\nx x", 4],
    ["json", '{\n  "flemma": { "thinking": "low", }\n}', 3],
    ["yaml", "flemma:\n  temperature: 0.5\n  thinkng: low", 4],
  ];
  await withScene(async (place) => {
    for (const [language, code, line] of blocks) {
      place.write("a.chat", `\`\`\`${language}\n${code}\n\`\`\`\n@You:\nhi\n`);
      const reported = new RegExp(`^a\\.chat:${line}:1: error \\w+ `, "m");
      assert.match((await place.run(["check", "a.chat"])).stdout, reported, code);
      assert.match((await place.run(["advance", "a.chat"])).stderr, reported, code);
      const json = JSON.parse((await place.run(["check", "--json", "a.chat"])).stdout);
      assert.equal(json[0].diagnostics[0].line, line, code);
    }
  });
});
