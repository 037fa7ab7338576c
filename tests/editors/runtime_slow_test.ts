// The runtime files in real editors on a real terminal, with a server paced by the test: screen, buffer and file.

import assert from "node:assert/strict";
import { callsDocument } from "../cli/harness.ts";
import { WAIT } from "./paced_server.ts";
import { RUNTIMES } from "./runtime.ts";
import { onStage, QUESTION } from "./stage.ts";
import { missingPrograms } from "./terminal.ts";

/** Words that end a string of an editor's language, and a command of it behind that; each would make a file. */
const HOSTILE: readonly string[] = [
  "] ]; nop %sh{touch ran}; try %[ evaluate-commands %[ nop '\n",
  "' ]; nop %sh{touch ran}; %{ } § `touch ran` $(touch ran)\n",
  "%{system('touch ran')} | call system('touch ran') | \\\" \" ' %s %d %n\n",
  '(shell-command "touch ran") #(shell-command "touch ran")\n',
];

/** What a document of somebody else may be called. */
const HOSTILE_NAME =
  `it's "x" $(touch ran) %{nop %sh{touch ran}} | \`touch ran\` # % %s <ret> ! ] ;touch ran;.chat`;

/** Two calls that wait; the first is named like an option that means both. */
const CALLED_LIKE_AN_OPTION = callsDocument([
  { id: "--all", command: "echo one", status: "pending" },
  { id: "call_2", command: "echo two", status: "pending" },
]);

const missing = await missingPrograms();

for (const [name, runtime] of Object.entries(RUNTIMES)) {
  const { keys } = runtime;
  const test = (what: string, fn: () => Promise<void>) =>
    Deno.test({ name: `${name}: ${what}`, ignore: missing.includes(runtime.program), fn });

  test("an editor goes from a question through a diff, an approval and a rejection with a reason to the final text", () =>
    onStage(runtime, [
      [
        "Let me ",
        WAIT,
        "look.",
        { id: "call_w", name: "write", input: { path: "seen.txt", content: "one\n2\nthree\n" } },
        { id: "call_b", name: "bash", input: { command: "touch ran", timeout: null } },
      ],
      ["All ", WAIT, "done."],
    ], async ({ session, place, server, does, sees, saved }) => {
      await does(keys.advance, "Let me");
      server.goOn();
      await sees("status=pending");
      if (runtime.previews) await sees("waits for you: write", "waits for you: bash");
      else await sees("waits for you");
      await does(keys.top);
      await does(keys.nextWaiting);
      await does(keys.show, "-two", "+2", "path: seen.txt");
      await does(keys.closeShown);
      await does(keys.approve, "status=approved");
      await does(keys.nextWaiting);
      await session.until(async () => !(await session.screen()).includes("status=approved waits"), "seen");
      await does(keys.reject, runtime.asks);
      await does(["Not now, please.", "Enter"], "status=rejected");
      if (keys.beside !== undefined) await does(keys.beside("seen.txt"), "two");
      await does([...keys.end, ...keys.advance], "All");
      if (keys.beside !== undefined) {
        await session.until(async () => /^2$/m.test(await session.screen()), "the other buffer is read anew");
      }
      server.goOn();
      await sees("All done.");
      await sees(runtime.complete);
      const text = await saved((text) => text.includes("All done."));
      assert.ok(text.startsWith(`${QUESTION}\n@Assistant:\nLet me look.\n\n**Tool Use:**`), text);
      assert.match(text, /\*\*Tool Result:\*\* `call_w`\n\n```\nWrote 12 bytes to seen\.txt\.\n```/);
      assert.match(text, /\*\*Tool Result:\*\* `call_b` \(error\)\n\n```\nNot now, please\.\n```/);
      assert.match(text, /\n\n@Assistant:\nAll done\.\n\n@You:\n\n?$/);
      assert.equal(place.read("seen.txt"), "one\n2\nthree\n");
      assert.equal(place.exists("ran"), false, "what was rejected did not run");
    }));

  test("the cursor stays where the person reads, and a question typed during a reply becomes the next turn", () =>
    onStage(runtime, [["First ", WAIT, "answer."], ["Second answer."]], async (stage) => {
      const { server, does, sees, saved } = stage;
      await does(keys.advance, "First");
      await does(keys.write("@You:", "And you?"), "And you?");
      await does(keys.top);
      server.goOn();
      await sees("First answer.", runtime.complete);
      // The cursor is still at the top: there the person goes on writing.
      await does(keys.append(" Really."), "@You: Really.");
      await does(runtime.undo);
      const text = await saved((text) => text.includes("First answer."));
      assert.equal(text.trimEnd(), `${QUESTION}\n@Assistant:\nFirst answer.\n\n@You:\nAnd you?`);
      await does(keys.advance, "Second answer.");
      const asked = server.requests[1]!.messages as { role: string }[];
      assert.deepEqual(asked.map(({ role }) => role), ["user", "assistant", "user"]);
      assert.match(JSON.stringify(asked.at(-1)), /And you\?/);
    }));

  test("the editor never interprets the text of a reply or call, whatever it means in the editor's language", () =>
    onStage(runtime, [[
      ...HOSTILE,
      WAIT,
      "\nend",
      { id: "call_h", name: "bash", input: { command: HOSTILE.join(""), label: HOSTILE[0], timeout: null } },
    ]], async ({ place, server, does, sees, saved }) => {
      await does(keys.advance, "touch ran");
      server.goOn();
      await sees("status=pending", "waits");
      const text = await saved((text) => text.includes("status=pending"));
      assert.ok(text.startsWith(`${QUESTION}\n@Assistant:\n${HOSTILE.join("")}\nend\n`), text);
      assert.equal(place.exists("ran"), false, "nothing of it was run");
    }));

  test("a document whose name looks like shell or editor commands works, and the name runs no command", () =>
    onStage(
      runtime,
      [["Well, ", WAIT, "thanks."]],
      async ({ place, server, does, sees, saved }) => {
        await does(keys.advance, "Well,");
        server.goOn();
        await sees(runtime.complete);
        const text = await saved((text) => text.includes("thanks."));
        assert.equal(text.trimEnd(), `${QUESTION}\n@Assistant:\nWell, thanks.\n\n@You:`);
        assert.equal(place.exists("ran"), false, "nothing of it was run");
      },
      QUESTION,
      HOSTILE_NAME,
    ));

  const { approveShown } = keys;
  if (approveShown !== undefined) {
    test("the approved call is the one that was shown, also if the model named it like an option", () =>
      onStage(
        runtime,
        [],
        async ({ does, saved }) => {
          if (runtime.previews) await does([], "waits for you");
          if (keys.completeCall !== undefined) {
            await does(keys.completeCall, "Flemma approve 1");
            await does(["Escape"]);
          }
          await does([...keys.top, ...keys.nextWaiting]);
          await does(keys.show, "call 1, line");
          await does(approveShown, "approved");
          const text = await saved((text) => text.includes("status=approved"));
          assert.equal(text, CALLED_LIKE_AN_OPTION.replace("status=pending", "status=approved"));
        },
        CALLED_LIKE_AN_OPTION,
      ));
  }

  test("one key cancels a reply, which stays in the buffer with its mark", () =>
    onStage(runtime, [["Half an ", WAIT, "answer."]], async ({ does, saved }) => {
      await does(keys.advance, "Half an");
      await does(keys.cancel, "flemma:aborted", "stopped");
      assert.match(
        await saved((text) => text.includes("aborted")),
        /\n@Assistant:\nHalf an\s+<!-- flemma:aborted: .* -->\n$/,
      );
    }));

  test("one undo removes a whole reply", () =>
    onStage(
      runtime,
      [["First ", WAIT, "line.\nSecond ", WAIT, "line."]],
      async ({ session, server, does, sees, saved }) => {
        await does(keys.advance, "First");
        server.goOn();
        await sees("Second");
        server.goOn();
        await sees("Second line.", runtime.complete);
        await saved((text) => text.includes("Second line."));
        await does(runtime.undo);
        await session.until(async () => !(await session.screen()).includes("@Assistant"), "it is gone");
        assert.equal(await saved((text) => !text.includes("Assistant")), QUESTION);
      },
    ));

  test("if a person and a reply change the same line, the person's line stays, and the reply is shown next to it", () =>
    onStage(runtime, [["Hello ", WAIT, "there."]], async ({ server, does, sees, saved }) => {
      await does(keys.advance, "Hello");
      await does([...keys.lastLine, ...keys.append(" world")], "world");
      server.goOn();
      await sees("changed the same lines");
      await does(keys.other?.show ?? [], "Hello there.");
      await does(keys.other?.back ?? []);
      assert.match(await saved((text) => text.includes("world")), /@Assistant:\nHello ? world\n/);
    }));
}
