// Real editors run the program as a filter over a buffer; the buffer afterwards is what counts.

import { freshFolder } from "../folder.ts";
import assert from "node:assert/strict";

const CLI = new URL("../../cli.ts", import.meta.url).pathname;

const BEFORE = "@You:\nRun it.\n\n@Assistant:\nGladly.\n\n**Tool Use:** `bash` (`call_1`)\n\n" +
  '```json\n{"label":"say","command":"echo from the tool","timeout":null}\n```\n\n' +
  "@You:\n\n**Tool Result:** `call_1`\n\n```flemma:tool status=approved\n```\n";
const AFTER = BEFORE.replace("```flemma:tool status=approved\n```", "```\nfrom the tool\n```");

/** How an editor filters the whole file through a command and saves it. */
const EDITORS: Readonly<Record<string, { program: string; args(file: string, command: string): string[] }>> =
  {
    Vim: {
      program: "vim",
      args: (file, command) => ["-Nu", "NONE", "-es", "-c", `%!${command}`, "-c", "wq", file],
    },
    Neovim: {
      program: "nvim",
      args: (file, command) => ["--headless", "--clean", "-es", "-c", `%!${command}`, "-c", "wq", file],
    },
    Emacs: {
      program: "emacs",
      args: (file, command) => [
        "-Q",
        "--batch",
        file,
        "--eval",
        `(progn (shell-command-on-region (point-min) (point-max) ${
          JSON.stringify(command)
        } nil t) (save-buffer))`,
      ],
    },
  };

async function has(program: string): Promise<boolean> {
  try {
    return (await new Deno.Command(program, { args: ["--version"], stdout: "null", stderr: "null" }).output())
      .success;
  } catch {
    return false;
  }
}

async function filtered(editor: string, command: string, before: string): Promise<string> {
  const folder = await freshFolder("flemma-editor-");
  try {
    for (const name of ["bin", "home", "place"]) await Deno.mkdir(`${folder}/${name}`);
    await Deno.writeTextFile(
      `${folder}/bin/flemma`,
      `#!/bin/sh\nexec "${Deno.execPath()}" run -A --quiet "${CLI}" "$@"\n`,
      { mode: 0o755 },
    );
    const file = `${folder}/place/notes.chat`;
    await Deno.writeTextFile(file, before);
    const { program, args } = EDITORS[editor]!;
    await new Deno.Command(program, {
      args: args(file, command),
      cwd: `${folder}/place`,
      clearEnv: true,
      env: {
        PATH: `${folder}/bin:${Deno.env.get("PATH")}`,
        HOME: `${folder}/home`,
        DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
        TERM: "dumb",
        SHELL: "/bin/sh",
      },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
    return await Deno.readTextFile(file);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

for (const [editor, { program }] of Object.entries(EDITORS)) {
  const absent = !await has(program);

  Deno.test({
    name: `${editor} filters a buffer through advance and gets the result of the approved call`,
    ignore: absent,
    fn: async () => assert.equal(await filtered(editor, "flemma advance --no-autopilot", BEFORE), AFTER),
  });

  Deno.test({
    name: `${editor} keeps the buffer when the provider cannot be reached, and no message lands in it`,
    ignore: absent,
    fn: async () => {
      const before = "@You:\nHello?\n";
      const command = "FLEMMA_ANTHROPIC_BASE_URL=http://127.0.0.1:9 ANTHROPIC_API_KEY=k flemma advance";
      assert.equal(await filtered(editor, command, before), before);
    },
  });

  Deno.test({
    name: `${editor} keeps the buffer when an option is unknown`,
    ignore: absent,
    fn: async () => assert.equal(await filtered(editor, "flemma advance --no-such-option", BEFORE), BEFORE),
  });
}
