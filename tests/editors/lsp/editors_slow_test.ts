// Independent clients: Neovim's own and Emacs' eglot approve a call by a code action and insert the reply.

import assert from "node:assert/strict";
import { callsDocument, withScene } from "../../cli/harness.ts";
import { textReply, withServer } from "../../cli/replies.ts";

const CLIENTS: Readonly<Record<string, (script: string) => readonly string[]>> = {
  "neovim.lua": (script) => ["nvim", "--headless", "--clean", "-n", "-c", `luafile ${script}`, "-c", "cquit"],
  "eglot.el": (script) => ["emacs", "--batch", "-l", "package", "-f", "package-initialize", "-l", script],
};

for (const [name, words] of Object.entries(CLIENTS)) {
  Deno.test(`${name}: a code action approves a call, which runs, and the reply appears in the buffer`, () =>
    withServer([textReply("All done.")], ({ env }) =>
      withScene(async (place) => {
        const before = callsDocument([{ id: "call_1", command: "echo hällo 🙂", status: "pending" }]);
        place.write("f.chat", before);
        const script = new URL(name, import.meta.url).pathname;
        const finished = await place.spawn(words(script), {
          env: {
            ...env,
            ANTHROPIC_API_KEY: "k",
            CHAT: place.path("f.chat"),
            SERVER: [...place.program, "lsp"].join("\n"),
            TAKE: "Approve bash",
            LANG: "C.UTF-8",
          },
        }).finished;
        assert.equal(finished.code, 0, finished.stderr);
        assert.equal(
          place.read("f.chat").trimEnd(),
          `${
            before.replace("```flemma:tool status=pending\n```", "```\nhällo 🙂\n```")
          }\n@Assistant:\nAll done.\n\n@You:`,
        );
      })));
}
