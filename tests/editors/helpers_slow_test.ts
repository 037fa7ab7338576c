// A document with a helper in real editors: it waits for the person, who decides in the helper's document.

import assert from "node:assert/strict";
import { RUNTIMES } from "./runtime.ts";
import { onStage, readOr } from "./stage.ts";
import { missingPrograms } from "./terminal.ts";

const missing = await missingPrograms();
const QUESTION = { question: "Run it.", document: null, name: "runner", preset: null, files: null };
const COMMAND = { label: "run", command: "echo from the helper", timeout: null };

Deno.test({
  name: "Emacs: the document of a helper that waits is named, and approving its caller does not approve it",
  ignore: missing.includes("emacs"),
  fn: () =>
    onStage(RUNTIMES["Emacs"]!, [
      [{ id: "ask_1", name: "ask_document", input: QUESTION }],
      [{ id: "run_1", name: "bash", input: COMMAND }],
    ], async ({ place, server, does, sees }) => {
      const { keys } = RUNTIMES["Emacs"]!;
      place.settings(
        "tools: { $append: [ask_document], auto_approve: [ask_document], auto_approve_sandboxed: false }\n",
      );
      await place.run(["advance", "q.chat"], { env: server.env });
      await does(["M-x", "revert-buffer-quick", "Enter"], "helper=runner");
      await does(["M-x", "flemma-refresh", "Enter"]);
      await sees("<- waits in q.chat.d/runner.chat");
      await does([...keys.top, ...keys.nextWaiting]);
      await does(keys.show, "Decide there");
    }, "@You:\nGo.\n"),
});

for (const name of ["Vim", "Neovim"]) {
  const runtime = RUNTIMES[name]!;
  Deno.test({
    name: `${name}: a call of a helper is approved in its document, and the caller goes on`,
    ignore: missing.includes(runtime.program),
    fn: () =>
      onStage(runtime, [
        [{ id: "ask_1", name: "ask_document", input: QUESTION }],
        [{ id: "run_1", name: "bash", input: COMMAND }],
        ["It ran."],
        ["All done."],
      ], async ({ place, session, does, sees, saved }) => {
        const { keys } = runtime;
        place.settings(
          "tools: { $append: [ask_document], auto_approve: [ask_document], auto_approve_sandboxed: false }\n",
        );
        await does(keys.advance);
        const helper = "q.chat.d/runner.chat";
        await session.until(
          () => readOr(place, helper, "").includes("status=pending"),
          "the helper waits",
        );
        await sees("← waits in q.chat.d/runner.chat");
        await saved((text) => text.includes("(helper=runner)"));
        await does([`:edit ${helper}`, "Enter"], "Run it.");
        await does([...keys.top, ...keys.nextWaiting, ...keys.approve], "status=approved");
        await session.type(keys.save);
        await session.until(
          () => readOr(place, helper, "").includes("status=approved"),
          "the approval is saved",
        );
        await does([":edit q.chat", "Enter"], "ask_document");
        await does([...keys.end, ...keys.advance], "All done.");
        const text = await saved((text) => text.includes("All done."));
        assert.match(text, /`ask_1`\n\n```\nIt ran\.\n\nHelper: runner \(q\.chat\.d\/runner\.chat\)\n```/);
        assert.match(place.read(helper), /```\nfrom the helper\n```/);
      }, "@You:\nGo.\n"),
  });
}
