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

const CALLS =
  "@Assistant:\n**Tool Use:** `bash` (`a`)\n\n```json\n{}\n```\n\n**Tool Use:** `bash` (`b`)\n\n```json\n{}\n```\n\n" +
  "@You:\n**Tool Result:** `a`\n\n```flemma:tool status=pending\n```\n";

Deno.test({
  name:
    "keys typed before a call is shown are dropped, because the window that they were meant for was not there",
  ignore,
  fn: async () => {
    const call = JSON.stringify(JSON.stringify([{ id: "a", text: ["bash: ls"] }]));
    const shown = (typed: string) =>
      printed(`(progn
        (insert ${JSON.stringify(CALLS)})
        (cl-letf (((symbol-function 'flemma--call-process)
                   (lambda (_words _text _on-err on-done)
                     (setq unread-command-events ${typed})
                     (funcall on-done ${call} 0)))
                  ((symbol-function 'fit-window-to-buffer) #'ignore))
          (flemma-show))
        (prin1 (list unread-command-events (with-current-buffer "*flemma call*" (buffer-string)))))`);
    assert.equal(await shown("nil"), '(nil "bash: ls\n")');
    assert.equal(await shown("(list ?a ?x)"), '(nil "bash: ls\n")');
  },
});

Deno.test({
  name: "a key for a call does nothing if that call has changed since the key was pressed",
  ignore,
  fn: async () => {
    const rows = [
      [
        "(goto-char (point-max))",
        "a",
        '(re-search-backward "{}" nil t 2) (insert " ")',
        "The call a has changed",
      ],
      [
        "(goto-char (point-min)) (forward-line 7)",
        "b",
        '(goto-char (point-min)) (insert "@You:\\nHi\\n\\n")',
        "started",
      ],
    ] as const;
    for (const [go, id, change, answer] of rows) {
      const said = await printed(
        `(with-temp-buffer (insert ${JSON.stringify(CALLS)}) ${go}
         (cl-letf (((symbol-function 'flemma--start) (lambda (&rest words) (princ (format "started %s" words)))))
           (let ((call (flemma--call-here)))
             (princ (format "%s: " (car call)))
             (save-excursion ${change})
             (condition-case fault (flemma--press "approve" nil call)
               (error (princ (error-message-string fault)))))))`,
      );
      assert.ok(said.startsWith(`${id}: ${answer}`), said);
    }
  },
});

Deno.test({
  name: "the nearest code block is copied, whatever the block contains",
  ignore,
  fn: async () => {
    const text = "Hi\n```sh\nfirst\n```\n\nText\n\n````md\n```\nsecond\n```\n````\nEnd\n";
    const copied = (line: number) =>
      printed(
        `(with-temp-buffer (insert ${JSON.stringify(text)}) (goto-char (point-min)) (forward-line ${line})
         (let ((inhibit-message t)) (flemma-copy-block)) (princ (current-kill 0)))`,
      );
    for (const line of [0, 1, 2, 5]) assert.equal(await copied(line), "first", `line ${line}`);
    for (const line of [7, 9, 12]) assert.equal(await copied(line), "```\nsecond\n```", `line ${line}`);
  },
});

Deno.test({
  name:
    "a reference names the file relative to the conversation, in the spelling of messages, with whole lines",
  ignore,
  fn: async () => {
    const rows = [
      ["/p/a.py", "/p/", "@./a.py"],
      ["/p/src/ü b%.py", "/p/chats/", "@../src/ü%20b%25.py"],
      ["/p/a#L1", "/p/", "@./a%23L1"],
      ["/p/c++", "/p/", "@./c%2B%2B"],
    ] as const;
    for (const [file, folder, reference] of rows) {
      const words = `${JSON.stringify(file)} ${JSON.stringify(folder)}`;
      assert.equal(await printed(`(princ (flemma--reference ${words}))`), reference);
    }
    const lines =
      '(with-temp-buffer (insert "1\\n2\\n3\\n") (princ (list (flemma--lines-of 1 3) (flemma--lines-of 1 2)' +
      " (flemma--lines-of 1 5) (flemma--lines-of 3 3))))";
    assert.equal(await printed(lines), "(#L1 #L1 #L1-2 #L2)");
  },
});

Deno.test({
  name: "a question begins in the person's own empty or open message, or in a new one",
  ignore,
  fn: async () => {
    const rows = [
      ["", "@You:\nQ"],
      ["@You:\n\n", "@You:\nQ"],
      ["@You:\nHello", "@You:\nHello\n\nQ"],
      ["@You:\nHi\n\n@Assistant:\nYes.\n", "@You:\nHi\n\n@Assistant:\nYes.\n\n@You:\nQ"],
    ] as const;
    for (const [before, after] of rows) {
      const made = `(with-temp-buffer (insert ${
        JSON.stringify(before)
      }) (flemma--begin-question) (insert "Q") (princ (buffer-string)))`;
      assert.equal(await printed(made), after);
    }
  },
});
