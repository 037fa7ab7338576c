// Keys in Emacs: calls are approved when they were seen, no key is lost, and code comes into a conversation.

import assert from "node:assert/strict";
import { callsDocument } from "../cli/harness.ts";
import { onStage } from "./stage.ts";
import { RUNTIMES } from "./runtime.ts";
import { missingPrograms } from "./terminal.ts";

const EMACS = RUNTIMES["Emacs"]!;
const { keys } = EMACS;
const ignore = (await missingPrograms()).includes("emacs");
const test = (name: string, fn: () => Promise<void>) => Deno.test({ name: `Emacs: ${name}`, ignore, fn });

const TWO = callsDocument([
  { id: "call_1", command: "echo one", status: "pending" },
  { id: "call_2", command: "echo two", status: "pending" },
]);
const LONG = callsDocument([
  { id: "call_1", command: `echo ${"x".repeat(5000)} THE-END`, status: "pending" },
]);

test("decisions and a run that are typed without a pause all take effect, in order", () =>
  onStage(
    EMACS,
    [["All done."]],
    async ({ does, saved, sees }) => {
      await sees("waits for you: bash: $ echo one");
      await does(keys.top);
      await does(keys.nextWaiting);
      await does([...keys.approve, ...keys.nextWaiting, ...keys.approve, ...keys.advance], "All done.");
      const text = await saved((text) => text.includes("All done."));
      assert.match(text, /`call_1`\n\n```\none\n```[^]*`call_2`\n\n```\ntwo\n```/);
    },
    TWO,
  ));

test("a shown call is approved only after its end was shown", () =>
  onStage(
    EMACS,
    [],
    async ({ does, saved, sees }) => {
      await sees("1 call waits");
      await does(keys.top);
      await does(keys.nextWaiting);
      await does(keys.show, "call 1, line");
      await does(["a"], "not approved yet");
      await does(["M->", "a"], "approved; C-c C-c");
      assert.equal(
        await saved((text) => text.includes("approved")),
        LONG.replace("status=pending", "status=approved"),
      );
    },
    LONG,
  ));

test("a reason to reject is asked for only on a call", () =>
  onStage(
    EMACS,
    [],
    async ({ does, saved, sees }) => {
      await sees("waits for you: bash: $ echo one");
      await does([...keys.top, ...keys.reject], "No call is on this line");
      assert.equal(await saved(() => true), TWO);
    },
    TWO,
  ));

test("a question about selected lines goes into the conversation, and keys go back and forth", () =>
  onStage(EMACS, [], async ({ place, does, saved }) => {
    place.write("code.py", "1\n2\n3\n");
    await does(["C-x", "C-f", "C-a", "C-k", place.path("code.py"), "Enter"], "code.py");
    await does(["C-n", "C-@", "C-n", "C-n"]);
    await does(["M-x", "flemma-ask", "Enter"], "Conversation (default q.chat)");
    await does(["Enter"], "@./code.py#L2-3");
    await does(["What is it?"], "What is it?");
    assert.equal(
      await saved((text) => text.includes("What is it?")),
      "@You:\nHow are you?\n\n@./code.py#L2-3 What is it?\n",
    );
    const name = ["M-:", "(buffer-name)", "Enter"];
    await does(["C-c", "C-t", ...name], '"code.py"');
    await does(["M-x", "flemma-toggle"], "M-x flemma-toggle");
    await does(["Enter", ...name], '"q.chat"');
  }));

test("a model is chosen from a list for this session", () =>
  onStage(EMACS, [], async ({ place, does }) => {
    await does(["C-c", "C-s"], "Model for this session");
    await does(["$be", "Tab", "Enter"], "$best for this session");
    assert.match((await place.run(["session", "show", "q.chat"])).stdout, /model.*\$best/);
  }));
