// A provider that refuses, and wide characters, in real editors with this project's files.

import assert from "node:assert/strict";
import { callsDocument } from "../cli/harness.ts";
import { WAIT } from "./paced_server.ts";
import { RUNTIMES } from "./runtime.ts";
import { onStage, QUESTION } from "./stage.ts";
import { missingPrograms } from "./terminal.ts";

const missing = await missingPrograms();
const WIDE = "漢字かな 👩‍👩‍👧 Größe e\u0301";
const CALLS = callsDocument([
  { id: "call_1", command: `echo '${WIDE}'`, status: "pending" },
  { id: "call_2", command: "echo two", status: "pending" },
]).replace("Please.", WIDE);

/** Keys that make the buffer read-only, and writable again; and how the editor refuses to change it. */
const READ_ONLY: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "Vim": [[":set nomodifiable", "Enter"], [":set modifiable", "Enter"], ["cannot be changed"]],
  "Neovim": [[":set nomodifiable", "Enter"], [":set modifiable", "Enter"], ["cannot be changed"]],
  "Emacs": [["C-x", "C-q"], ["C-x", "C-q"], ["read-only"]],
  "Kakoune": [
    [":set-option buffer readonly true", "Enter"],
    [":set-option buffer readonly false", "Enter"],
    ["read-only"],
  ],
};

for (const [name, runtime] of Object.entries(RUNTIMES)) {
  const { keys } = runtime;
  const test = (what: string, fn: () => Promise<void>) =>
    Deno.test({ name: `${name}: ${what}`, ignore: missing.includes(runtime.program), fn });

  test("if a provider refuses a request, its cause is shown, and the buffer stays as it was", () =>
    onStage(runtime, [[{ refusal: "This key was revoked." }]], async ({ session, does, saved }) => {
      await does(keys.advance, "This key was revoked.");
      await session.type(runtime.dismiss);
      await does(keys.append("!"), "!");
      const text = await saved((text) => text.includes("!"));
      assert.equal(text.replace("!", ""), QUESTION);
    }));

  test("in a read-only buffer no request goes out, the cause is shown, and once it is writable the key works", () =>
    onStage(runtime, [["First answer."]], async ({ server, session, does, sees, saved }) => {
      const [makeReadOnly = [], makeWritable = [], refusal = []] = READ_ONLY[name]!;
      await does(makeReadOnly);
      await does(keys.advance, ...refusal);
      assert.equal(server.requests.length, 0);
      await session.type(runtime.dismiss);
      await does(makeWritable);
      await does(keys.advance, "First answer.");
      await sees(runtime.complete);
      const text = await saved((text) => text.includes("First"));
      assert.equal(text.trimEnd(), `${QUESTION}\n@Assistant:\nFirst answer.\n\n@You:`);
    }));

  test("behind wide characters, keys decide about the call at the cursor, and text typed during a reply stays", () =>
    onStage(
      runtime,
      [[`${WIDE} `, WAIT, `${WIDE}.`]],
      async ({ server, does, sees, saved }) => {
        await does([...keys.top, ...keys.nextWaiting]);
        await does(keys.reject, runtime.asks);
        await does([`Nein, ${WIDE}`, "Enter"], "status=rejected");
        await does(keys.nextWaiting);
        await does(keys.approve, "status=approved");
        await does([...keys.end, ...keys.advance]);
        await sees("@Assistant:");
        await does([...keys.top, ...keys.append(` ${WIDE}`)], `@You: ${WIDE.slice(0, 4)}`);
        server.goOn();
        await sees(runtime.complete);
        const text = await saved((text) => text.includes(`${WIDE}.`));
        assert.ok(text.startsWith(`@You: ${WIDE}\n${WIDE}\n`), text);
        assert.ok(text.includes(`\`call_1\` (error)\n\n\`\`\`\nNein, ${WIDE}\n\`\`\`\n`), text);
        assert.ok(text.includes("`call_2`\n\n```\ntwo\n```\n"), text);
        assert.ok(text.includes(`\n@Assistant:\n${WIDE} ${WIDE}.\n`), text);
      },
      CALLS,
    ));
}
