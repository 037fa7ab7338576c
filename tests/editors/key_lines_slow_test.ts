// Key bindings for editors that need no more than a few lines: as printed, in the editor's own configuration file.

import assert from "node:assert/strict";
import { callsDocument, withScene } from "../cli/harness.ts";
import { textReply, withServer } from "../cli/replies.ts";
import { type Editor, EDITORS, EditorSession, installProgram, missingPrograms } from "./terminal.ts";

const PENDING = callsDocument([{ id: "call_1", command: "true", status: "pending" }]);

/** Where an editor reads lines of a person, and the keys by the command that they stand for. */
const ROWS: Readonly<
  Record<string, {
    readonly file: string;
    readonly open?: (document: string, file: string) => readonly string[];
    readonly keys: Readonly<Record<"advance" | "approve" | "all" | "reject", readonly string[]>>;
  }>
> = {
  micro: {
    file: "config/micro/bindings.json",
    keys: { advance: ["M-m"], approve: ["M-a"], all: ["M-A"], reject: ["M-r"] },
  },
  nano: {
    file: "home/.nanorc",
    // The superuser's nano looks only into the superuser's own home.
    open: (document, file) => ["nano", "--rcfile", file, document],
    keys: { advance: ["M-1"], approve: ["M-2"], all: ["M-3"], reject: ["M-4"] },
  },
  vis: {
    file: "config/vis/visrc.lua",
    keys: {
      advance: [" ", "m", "m"],
      approve: [" ", "m", "a"],
      all: [" ", "m", "A"],
      reject: [" ", "m", "r"],
    },
  },
};

const missing = await missingPrograms();

for (const [name, { file, open, keys }] of Object.entries(ROWS)) {
  const base = EDITORS[name]!;
  Deno.test({
    name: `${name}: with the printed key bindings one key approves, rejects or sends`,
    ignore: missing.includes(base.program),
    fn: () =>
      withServer([textReply("I am well.")], ({ env }) =>
        withScene(async (place) => {
          const { stdout } = await place.run(["editor", name, "--print"]);
          const path = `${place.folder}/${file}`;
          Deno.mkdirSync(path.replace(/\/[^/]*$/, ""), { recursive: true });
          // It is the passage that a person would put there, without the line that names the file it came from.
          const printed = stdout.split(/^==> .* <==\n/m).find((text) => text.includes("advance"));
          Deno.writeTextFileSync(path, printed!);
          const editor: Editor = open === undefined
            ? base
            : { ...base, open: (document) => open(document, path) };
          const played = async (text: string, pressed: readonly string[], shown: string) => {
            place.write("q.chat", text);
            const session = await EditorSession.open(editor, place, "q.chat", {
              shown: "@You:",
              env: { ANTHROPIC_API_KEY: "k", ...env, ...installProgram(place) },
            });
            try {
              await session.type(pressed);
              await session.until(async () => (await session.screen()).includes(shown), `shows ${shown}`);
              await session.saveAndQuit();
              return place.read("q.chat");
            } finally {
              await session.close();
            }
          };
          for (const key of ["approve", "all"] as const) {
            assert.match(await played(PENDING, keys[key], "status=approved"), /status=approved/, key);
          }
          assert.match(await played(PENDING, keys.reject, "status=rejected"), /status=rejected/);
          const text = await played("@You:\nHow are you?\n", keys.advance, "I am well.");
          assert.match(text, /^@You:\nHow are you\?\n\n@Assistant:\nI am well\.\n/);
        })),
  });
}
