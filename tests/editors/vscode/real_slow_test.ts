// The packed extension in a real VS Code: colors, folds, lenses, the diff view, runs, questions about code.

import assert from "node:assert/strict";
import { callsDocument } from "../../cli/harness.ts";
import { print } from "../../../scripts/gate/root.ts";
import { type Part, WAIT } from "../paced_server.ts";
import { missingVsCode, type VsCode, withVsCode } from "./server.ts";

const WRITE = `@You:
Please.

@Assistant:
One moment.

**Tool Use:** \`write\` (\`call_1\`)

\`\`\`json
{"path":"code.py","content":"one\\nTWO\\n"}
\`\`\`

@You:
**Tool Result:** \`call_1\`

\`\`\`flemma:tool status=pending
\`\`\`
`;
const TWO = callsDocument([
  { id: "call_1", command: "echo one", status: "pending" },
  { id: "call_2", command: "echo two", status: "pending" },
]);
const CODE = "one\ntwo\nthree\n";
const QUESTION = "@You:\nHow are you?\n";
const ODD = 'it\'s "odd" $(touch pwned) 100% #1 é.chat';
const LONG = callsDocument([{
  id: "call_1",
  command: `echo ${"word ".repeat(60)}THE-END`,
  status: "pending",
}]);
/** More than two megabytes. */
const LARGE = `@You:\nHello.\n\n@Assistant:\n${
  "A line of an old answer that nobody reads again.\n".repeat(45_000)
}\n${QUESTION}`;

const missing = await missingVsCode();
if (missing !== null) print(`VS Code is not tested. ${missing}`);

/** All of them are there before VS Code starts. */
const FILES = {
  "code.py": CODE,
  "colors.chat": WRITE,
  "folds.chat": WRITE,
  "lenses.chat": TWO,
  "diff.chat": WRITE,
  "typing.chat": QUESTION,
  "redo.chat": QUESTION,
  "failure.chat": QUESTION,
  "cancel.chat": QUESTION,
  "asked.chat": QUESTION,
  "locked.chat": QUESTION,
  "waiting.chat": TWO,
  [ODD]: QUESTION,
  "split.chat": QUESTION,
  "changed.chat": QUESTION,
  "narrow.chat": LONG,
  "large.chat": LARGE,
  "reload.chat": QUESTION,
};

/** What VS Code does, each with the replies of the model. All run in one window, because its start takes seconds. */
const STEPS: readonly (readonly [string, readonly (readonly Part[])[], (code: VsCode) => Promise<void>])[] = [
  ["roles, calls and statuses have colors of their own", [], async (code) => {
    await code.open("colors.chat");
    // A class of VS Code's stands for a color.
    const colorOf = (text: string) =>
      code.page.locator(".editor-group-container.active .view-line span span", { hasText: text }).first()
        .getAttribute("class");
    const colors = async () =>
      new Set(await Promise.all(["@You:", "**Tool Use:**", "pending", "Please."].map(colorOf)));
    await code.until(async () => (await colors()).size === 4, "each has a color of its own");
  }],
  ["a message is folded, and unfolded", [], async (code) => {
    await code.open("folds.chat");
    await code.goTo(4);
    const isFolded = async () => await code.text("One moment.").count() === 0;
    // The server may not have sent the folds yet.
    await code.until(async () => {
      await code.press("Control+Shift+[");
      return await isFolded();
    }, "the message is folded");
    await code.press("Control+Shift+]");
    await code.sees("One moment.");
  }],
  ["lenses approve and reject the call that they belong to", [], async (code) => {
    await code.open("lenses.chat");
    await (await code.lenses("Reject", 2))[1]!.click();
    await code.answers("Reason to reject", "Not now.");
    await code.sees("Not now.");
    await (await code.lenses("Approve", 1))[0]!.click();
    await code.sees("status=approved");
    await code.lenses("Approve", 0);
    const [first, second] = TWO.split("**Tool Result:** `call_2`");
    assert.equal(
      await code.saved("lenses.chat", (text) => text.includes("approved")),
      `${first!.replace("status=pending", "status=approved")}**Tool Result:** \`call_2\`${
        second!.replace("status=pending\n", "status=rejected\nNot now.\n")
      }`,
    );
  }],
  ["a lens shows the change of a call in the diff view", [], async (code) => {
    await code.open("diff.chat");
    await (await code.lenses("Show change", 1))[0]!.click();
    await code.page.locator(".monaco-diff-editor .original .view-line", { hasText: /^two$/ }).waitFor();
    await code.page.locator(".monaco-diff-editor .modified .view-line", { hasText: /TWO/ }).waitFor();
    assert.equal(code.place.read("code.py"), CODE);
    await code.press("Control+W");
  }],
  [
    "text typed above and below while a reply arrives stays, one undo removes the reply, and the text goes out",
    [["First ", WAIT, "answer."], ["Second answer."]],
    async (code) => {
      await code.open("typing.chat");
      await code.advances("First", async () => {
        await code.goTo(2);
        await code.press("End");
        await code.type(" Really 👩‍👩‍👧?");
        await code.press("Control+End");
        await code.type("\n@You:\nUnd Größe?\n");
        await code.sees("Und Größe?");
      });
      await code.sees("First answer.");
      const typed = "@You:\nHow are you? Really 👩‍👩‍👧?\n";
      const after = await code.saved("typing.chat", (text) => text.includes("First answer."));
      const [above, below] = after.split("\n@Assistant:\nFirst answer.\n");
      assert.equal(above, typed);
      // An empty prompt stays if VS Code reports the typed text only after the reply's last edit.
      assert.match(below ?? "", /^\n+(?:@You:\n+)?@You:\nUnd Größe\?\n$/);
      await code.press("Control+Z");
      assert.match(
        await code.saved("typing.chat", (text) => !text.includes("First answer.")),
        /^@You:\nHow are you\? Really 👩‍👩‍👧\?\n\n+(?:@You:\n+)?@You:\nUnd Größe\?\n$/u,
      );
      await code.press("Control+Y");
      await code.sees("First answer.");
      await code.advances();
      await code.sees("Second answer.");
      const asked = code.server.requests.at(-1)!.messages as { role: string }[];
      assert.deepEqual(asked.map(({ role }) => role), ["user", "assistant", "user"]);
      assert.match(JSON.stringify(asked), /Really 👩‍👩‍👧\?.*First answer\..*Und Größe\?/);
      await code.press("Control+S");
    },
  ],
  [
    "a lens approves the call of a reply that was undone and redone",
    [[{ id: "call_1", name: "bash", input: { command: "true" } }]],
    async (code) => {
      await code.open("redo.chat");
      await code.advances();
      await code.lenses("Approve", 1);
      await code.press("Control+Z");
      await code.lenses("Approve", 0);
      await code.press("Control+Y");
      await (await code.lenses("Approve", 1))[0]!.click();
      await code.sees("status=approved");
      assert.match(await code.saved("redo.chat", (text) => text.includes("approved")), /status=approved\n/);
    },
  ],
  [
    "the cause of a failed run is shown once, and the text stays as it was",
    [[{ refusal: "This key is wrong." }]],
    async (code) => {
      await code.open("failure.chat");
      await code.advances();
      const cause = code.page.locator(".notification-toast", { hasText: "This key is wrong." });
      await cause.first().waitFor();
      await code.barIsSilent("flemma");
      assert.equal(await cause.count(), 1);
      await code.press("Control+End");
      await code.type("More.\n");
      assert.equal(await code.saved("failure.chat", (text) => text.includes("More.")), `${QUESTION}More.\n`);
    },
  ],
  [
    "a key cancels a run, and what has arrived stays with its mark",
    [["First ", WAIT, "answer."]],
    async (code) => {
      await code.open("cancel.chat");
      await code.advances();
      await code.barSays("flemma");
      await code.press("Control+Alt+C");
      await code.sees("flemma:aborted");
      await code.barIsSilent("flemma");
      assert.match(
        await code.saved("cancel.chat", (text) => text.includes("aborted")),
        /^@You:\nHow are you\?\n\n@Assistant:\nFirst\s+<!-- flemma:aborted: [^\n]* -->\n/,
      );
      // Nobody reads the rest, but the server holds it back until now.
      code.server.goOn();
    },
  ],
  [
    "a question about selected lines goes into a conversation, and text typed immediately follows the reference",
    [],
    async (code) => {
      await code.open("asked.chat");
      await code.open("code.py");
      await code.goTo(2);
      await code.press("Shift+ArrowDown", "Shift+ArrowDown", "Control+Alt+Q");
      await code.answers("Ask in", "asked.chat", "asked.chat");
      await code.shows("asked.chat");
      await code.type("Why?");
      assert.equal(
        await code.saved("asked.chat", (text) => text.includes("Why?")),
        `${QUESTION}\n@./code.py#L2-3 Why?`,
      );
    },
  ],
  [
    "a reply arrives in a read-only editor, and can be saved once the editor is writable",
    [["First answer."]],
    async (code) => {
      await code.open("locked.chat");
      await code.runs("Set Active Editor Read-only in Session");
      await code.advances();
      await code.sees("First answer.");
      assert.equal(code.place.read("locked.chat"), QUESTION);
      await code.runs("Reset Active Editor Read-only in Session");
      assert.equal(
        (await code.saved("locked.chat", (text) => text.includes("First answer."))).trimEnd(),
        `${QUESTION}\n@Assistant:\nFirst answer.\n\n@You:`,
      );
    },
  ],
  ["a key goes to the next waiting call, and another one approves it", [], async (code) => {
    await code.open("waiting.chat");
    await code.lenses("Approve", 2);
    for (const left of [1, 0]) {
      await code.press("F8");
      await code.page.locator(".marker-widget").waitFor();
      await code.press("Escape", "Control+Alt+A");
      await code.lenses("Approve", left);
    }
    assert.equal(
      await code.saved("waiting.chat", (text) => !text.includes("pending")),
      TWO.replaceAll("status=pending", "status=approved"),
    );
  }],
  [
    "a document whose name looks like commands works, and the name runs no command",
    [["I am well."]],
    async (code) => {
      await code.open(ODD);
      await code.advances();
      await code.sees("I am well.");
      assert.match(await code.saved(ODD, (text) => text.includes("well")), /\n@Assistant:\nI am well\.\n/);
      assert.ok(!code.place.exists("pwned"));
    },
  ],
  ["a document without a file receives a reply like any other", [["I am new."]], async (code) => {
    await code.runs("New Untitled Text File");
    await code.shows("Untitled-1");
    await code.press("F1");
    await code.answers("Type the name of a command", "Change Language Mode", "Change Language Mode");
    await code.answers("Select Language Mode", "Chat", "Chat");
    await code.shows("Untitled-1");
    await code.type(QUESTION);
    await code.advances();
    await code.sees("I am new.");
    await code.runs("View: Revert and Close Editor");
  }],
  ["two editors on one document show a reply in both", [["First ", WAIT, "answer."]], async (code) => {
    await code.open("split.chat");
    await code.press("Control+\\");
    await code.advances("First");
    const shown = code.page.locator(".editor-group-container .view-line", { hasText: "First answer." });
    await code.until(async () => await shown.count() === 2, "the reply is in both editors");
    await code.press("Control+S");
    await code.press("Control+W");
  }],
  [
    "a file that another program changes before or during a run is loaded again, and the reply is below",
    [["First ", WAIT, "answer."]],
    async (code) => {
      await code.open("changed.chat");
      code.place.write("changed.chat", "@You:\nHow is it?\n");
      await code.sees("How is it?");
      await code.advances("First", async () => {
        code.place.write("changed.chat", "@You:\nHow is it, then?\n");
        await code.sees("then?");
      });
      await code.sees("First answer.");
      assert.equal(
        await code.saved("changed.chat", (text) => text.includes("answer")),
        "@You:\nHow is it, then?\n\n@Assistant:\nFirst answer.\n\n@You:\n\n",
      );
      assert.match(JSON.stringify(code.server.requests.at(-1)), /How is it\?/);
    },
  ],
  [
    "in a narrow window, the lines of the document wrap, so that a long command is visible to its end",
    [],
    async (code) => {
      const size = code.page.viewportSize()!;
      await code.open("narrow.chat");
      await code.page.setViewportSize({ width: 460, height: 900 });
      await code.press("Control+B");
      await code.sees("THE-END", "status=pending");
      const [lens] = await code.lenses("Approve", 1);
      await lens!.click();
      await code.sees("status=approved");
      await code.press("Control+S");
      await code.page.setViewportSize(size);
      await code.press("Control+B");
    },
  ],
  [
    "a document of two megabytes receives a reply and stays the same above it",
    [["I am well."]],
    async (code) => {
      await code.open("large.chat");
      await code.press("Control+End");
      await code.advances();
      await code.sees("I am well.");
      assert.equal(
        await code.saved("large.chat", (text) => text.includes("I am well.")),
        `${LARGE}\n@Assistant:\nI am well.\n\n@You:\n\n`,
      );
    },
  ],
  [
    "if the window is closed during a run, what arrived can be recovered",
    [["First ", WAIT, "answer."]],
    async (code) => {
      await code.open("reload.chat");
      await code.advances();
      await code.barSays("flemma");
      await code.page.goto("about:blank");
      await code.until(
        async () => /First/.test((await code.place.run(["recover"])).stdout),
        "the beginning of the reply is saved",
      );
      assert.equal(code.place.read("reload.chat"), QUESTION);
    },
  ],
];

Deno.test({
  name: "VS Code with the installed extension works as its page says",
  ignore: missing !== null,
  fn: async (t) => {
    const replies = STEPS.flatMap(([, replies]) => replies);
    await withVsCode(FILES, replies, async (code) => {
      for (const [name, , play] of STEPS) {
        // Behind a failed step, the replies would not fit.
        if (!await t.step(`VS Code: ${name}`, () => play(code))) return;
      }
    });
  },
});
