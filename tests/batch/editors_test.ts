// A document whose request is in a batch, as editors and programs see it.

import assert from "node:assert/strict";
import { chatInMemory } from "../../advanced.ts";
import { processEnvironment } from "../../base/environment.ts";
import { stopWords } from "../../editors/stop_words.ts";
import { inFolder } from "../folder.ts";

const ITEM = "a".repeat(32);
const TEXT =
  `@You:\nHello\n\n**Reply:** \`batch b1\`\n\n\`\`\`flemma:reply status=batched item=${ITEM}\n\`\`\`\n`;

Deno.test("a run of a batched document stops with a sentence, changes nothing and asks nobody", () =>
  inFolder(async (folder) => {
    const environment = { ...processEnvironment(), cwd: folder, home: folder, variables: {} };
    const fetched = () => Promise.reject(new Error("nothing may be asked"));
    for (const text of [TEXT, `${TEXT}\nMore below.\n`, `${TEXT}\n@You:\nMore below.\n`]) {
      const opened = await chatInMemory(new TextEncoder().encode(text), { environment, fetch: fetched });
      assert.ok(opened.ok);
      await using chat = opened.value;
      assert.deepEqual(await chat.plan(), [{ do: "rest", at: "batched", ids: [] }]);
      for (const stop of [await chat.advance(), await chat.send(), await chat.advance({ goOn: true })]) {
        assert.deepEqual([stop.reason, stop.line, stop.problem?.code], ["batched", 4, "batched"]);
        const words = stopWords(stop);
        assert.equal(words?.level, "info");
        assert.match(words?.text ?? "", /^The request is in the batch b1 \(line 4\)\. .*flemma batch fetch$/);
      }
      const request = await chat.request();
      assert.ok(request.kind === "failed" && request.problem.code === "batched");
      const { diagnostics, blocked } = await chat.diagnose();
      assert.deepEqual(diagnostics.map(({ code, severity, start }) => [code, severity, start]), [
        ["batched", "info", 4],
      ]);
      assert.equal(blocked, false);
      assert.equal(new TextDecoder().decode(chat.chat.bytes), text);
    }
  }));
