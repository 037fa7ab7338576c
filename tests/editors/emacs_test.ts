// Conversation text that Emacs could interpret, in Emacs without a terminal.

import assert from "node:assert/strict";
import { ROOT } from "../../scripts/gate/root.ts";
import { withScene } from "../cli/harness.ts";
import { missingPrograms } from "./terminal.ts";

const ignore = (await missingPrograms()).includes("emacs");

/** What an expression prints, the files for Emacs loaded. */
async function printed(expression: string): Promise<string> {
  const args = ["-Q", "--batch", "--load", `${ROOT}/editors/emacs/flemma.el`, "--eval", expression];
  const { stdout, stderr } = await new Deno.Command("emacs", { args }).output();
  return new TextDecoder().decode(stdout) || new TextDecoder().decode(stderr);
}

Deno.test({
  name: "the mode line shows a command literally, although Emacs would read %b in it as the buffer name",
  ignore,
  fn: async () => {
    const run = '(make-flemma--run :command "advance" :doing "bash: $ date +%b")';
    const shown = await printed(`(let ((flemma--run ${run})) (princ (flemma--mode-line)))`);
    assert.equal(shown, " [bash: $ date +%%b 0 s]");
  },
});

Deno.test({
  name:
    "text in a reply that looks like local variables sets none, and the local variables of the folder take effect",
  ignore,
  fn: () =>
    withScene(async (place) => {
      place.write(".dir-locals.el", "((flemma-mode . ((fill-column . 33))))");
      const opened = (text: string) => {
        place.write("a.chat", text);
        const found = "(list major-mode fill-column tab-width)";
        return printed(`(progn (find-file "${place.path("a.chat")}") (prin1 ${found}))`);
      };
      const reply = "@You:\nHi\n\n@Assistant:\nLocal Variables:\nmode: sh\ntab-width: 3\nEnd:\n";
      assert.equal(await opened(reply), "(flemma-mode 33 8)");
      assert.equal(await opened(`-*- mode: sh; tab-width: 3 -*-\n${reply}`), "(flemma-mode 33 8)");
    }),
});
