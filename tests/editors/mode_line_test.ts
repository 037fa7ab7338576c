// What Emacs shows in its mode line of what runs, inside of Emacs without a terminal.

import assert from "node:assert/strict";
import { ROOT } from "../../scripts/gate/root.ts";
import { missingPrograms } from "./terminal.ts";

Deno.test({
  name: "the mode line shows a command as it is: Emacs reads %b there as the name of the buffer",
  ignore: (await missingPrograms()).includes("emacs"),
  fn: async () => {
    const shown =
      '(let ((flemma--run (make-flemma--run :command "advance" :doing "bash: $ date +%b"))) (princ (flemma--mode-line)))';
    const { stdout, stderr } = await new Deno.Command("emacs", {
      args: ["-Q", "--batch", "--load", `${ROOT}/editors/emacs/flemma.el`, "--eval", shown],
    }).output();
    const text = new TextDecoder().decode(stdout);
    assert.equal(text, " [bash: $ date +%%b 0 s]", new TextDecoder().decode(stderr));
  },
});
