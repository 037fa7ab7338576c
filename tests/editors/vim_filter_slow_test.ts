// The filter lines that the pages print for Vim, typed literally for documents with names that a shell would
// interpret.

import assert from "node:assert/strict";
import { ROOT } from "../../scripts/gate/root.ts";
import { withScene } from "../cli/harness.ts";
import { textReply, withServer } from "../cli/replies.ts";
import { installProgram, missingPrograms } from "./terminal.ts";

const missing = await missingPrograms();
const EDITORS: Readonly<Record<string, readonly string[]>> = {
  vim: ["-Nu", "NONE", "-i", "NONE", "-es"],
  nvim: ["--headless", "-u", "NONE", "-i", "NONE", "-es"],
};
/** A document of somebody else may be called anything. */
const NAMES: readonly string[] = [
  "my notes.chat",
  "$(touch ran).chat",
  "it's; touch ran;.chat",
  "`touch ran`.chat",
  "! touch ran | # 50% %:h <cword> \\ \\! [a]*? ~ {b}.chat",
  "--all.chat",
  "a\n!touch ran\nb.chat",
];

/** The lines of Vim with a name in them that stand on the pages. */
function printed(): readonly string[] {
  return ["docs/guide/editors.md", "docs/reference/editors/filter.md", "docs/reference/editors/vim.md"]
    .flatMap((page) =>
      [...Deno.readTextFileSync(`${ROOT}/${page}`).matchAll(/`(:%!flemma [^`]*--name [^`]*)`/g)].map((
        [, line],
      ) => line!)
    );
}

for (const [editor, words] of Object.entries(EDITORS)) {
  Deno.test({
    name: `${editor}: the documented filter line works for every document name and runs nothing from it`,
    ignore: missing.includes(editor),
    fn: () =>
      withScene(async (place) => {
        const lines = printed();
        assert.ok(lines.length >= 2, "the pages print it");
        const replies = lines.flatMap(() => NAMES.map(() => textReply("So be it.")));
        await withServer(replies, async ({ env }) => {
          for (const line of lines) {
            for (const name of NAMES) {
              place.write(name, "@You:\nHi\n");
              await place.spawn([editor, ...words, "-c", line, "-c", "wq!", place.path(name)], {
                env: { ...env, ANTHROPIC_API_KEY: "test-key", ...installProgram(place) },
              }).finished;
              assert.match(place.read(name), /@Assistant:\nSo be it\./, `${line} on ${name}`);
              assert.ok(!place.exists("ran"), `${line} on ${name} ran a command`);
            }
          }
        });
      }),
  });
}
