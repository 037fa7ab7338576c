// The runtime files for Vim and Neovim, run inside each editor without a terminal.

import assert from "node:assert/strict";
import { inFolder } from "../folder.ts";
import { ROOT } from "../../scripts/gate/root.ts";
import { missingPrograms } from "./terminal.ts";

const missing = await missingPrograms();
const EDITORS: Readonly<Record<string, readonly string[]>> = {
  vim: ["--not-a-term", "-T", "dumb", "-Nu", "NONE", "-i", "NONE"],
  nvim: ["--headless", "-u", "NONE", "-i", "NONE"],
};

/** What a script of this folder found wrong inside of an editor. */
async function faultsOf(
  editor: string,
  script: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  return await inFolder(async (folder) => {
    const faults = `${folder}/faults`;
    const { stderr } = await new Deno.Command(editor, {
      args: [
        ...EDITORS[editor]!,
        "--cmd",
        `set rtp^=${ROOT}/editors/vim`,
        "-S",
        `${ROOT}/tests/editors/${script}`,
      ],
      cwd: folder,
      env: { HOME: folder, FAULTS: faults, ...env },
      stdin: "null",
    }).output();
    try {
      return await Deno.readTextFile(faults);
    } catch (thrown) {
      return `the script did not end: ${thrown}\n${new TextDecoder().decode(stderr)}`;
    }
  });
}

for (const editor of Object.keys(EDITORS)) {
  const test = (what: string, fn: () => Promise<void>) =>
    Deno.test({ name: `${editor}: ${what}`, ignore: missing.includes(editor), fn });

  test("two writers to one buffer lose no text of each other, in any order", async () => {
    assert.equal(await faultsOf(editor, "follow.vim", { SEED: "7", ROUNDS: "200" }), "");
  });

  test("the whole text reaches the program, even if it is larger than a pipe", async () => {
    assert.equal(await faultsOf(editor, "whole_text.vim", {}), "");
  });

  test("in Vim, folds, motions, text objects, colors, keys and the command work as the help page says", async () => {
    assert.equal(await faultsOf(editor, "views.vim", {}), "");
  });
}
