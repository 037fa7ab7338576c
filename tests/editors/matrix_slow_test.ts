// The contract of a filter with real editors in a real terminal: the buffer is right or unchanged, one undo reverts a
// filter, nothing is lost, nothing runs twice.

import assert from "node:assert/strict";
import { callsDocument, type Scene, withScene } from "../cli/harness.ts";
import { type Reply, textReply, withServer } from "../cli/replies.ts";
import { type Editor, EDITORS, EditorSession, installProgram, missingPrograms } from "./terminal.ts";

const QUESTION = "@You:\nHow are you?\n";
const ANSWERED = `${QUESTION}\n@Assistant:\nI am well.\n\n@You:\n\n`;
const RUNNABLE = callsDocument([{ id: "c1", command: "echo ran >> runs; echo hello", status: "approved" }]);
const RESULT = RUNNABLE.replace("```flemma:tool status=approved\n```", "```\nhello\n```");
const PENDING = callsDocument([{ id: "call_1", command: "true", status: "pending" }]);
const KEY = { ANTHROPIC_API_KEY: "test-key" };

const missing = await missingPrograms();

Deno.test("every editor of the test matrix is installed", () => {
  assert.deepEqual(missing, [], "apt-get install -y vim neovim emacs-nox kakoune vis micro nano tmux");
});

/** What a file holds after an editor opened it, `act` did something there, and the buffer was saved. */
async function afterEditing(
  editor: Editor,
  before: string | Uint8Array,
  act: (session: EditorSession, place: Scene) => Promise<void>,
  options: { readonly env?: Readonly<Record<string, string>>; readonly shown?: string } = {},
): Promise<string> {
  let after = "";
  await withScene(async (place) => {
    const env = { ...KEY, ...options.env, ...installProgram(place) };
    place.write("f.chat", before);
    const session = await EditorSession.open(editor, place, "f.chat", {
      shown: options.shown ?? "@You:",
      env,
    });
    try {
      await act(session, place);
      await session.saveAndQuit();
      after = new TextDecoder("latin1").decode(Deno.readFileSync(place.path("f.chat")));
      after = new TextDecoder().decode(Uint8Array.from(after, (character) => character.charCodeAt(0)));
    } finally {
      await session.close();
    }
  });
  return after;
}

/** Editors differ in whether they save a last line end that was not there, or blank lines at the end. */
const trimmed = (text: string) => `${text.replace(/\n+$/, "")}\n`;

async function withReplies(
  replies: readonly Reply[],
  body: (env: Readonly<Record<string, string>>) => Promise<void>,
): Promise<void> {
  await withServer(replies, ({ env }) => body(env));
}

for (const [name, editor] of Object.entries(EDITORS)) {
  const test = (what: string, fn: () => Promise<void>) =>
    Deno.test({ name: `${name}: ${what}`, ignore: missing.includes(editor.program), fn });

  test("a filter inserts a reply into the buffer and changes nothing else", () =>
    withReplies([textReply("I am well.")], async (env) => {
      const after = await afterEditing(editor, QUESTION, (session) => session.filtered("flemma advance"), {
        env,
      });
      assert.equal(trimmed(after), trimmed(ANSWERED));
    }));

  test("one undo removes a reply", () =>
    withReplies([textReply("I am well.")], async (env) => {
      const after = await afterEditing(editor, QUESTION, async (session) => {
        await session.filtered("flemma advance");
        await session.until(
          async () => (await session.screen()).includes("I am well."),
          "the reply is shown",
        );
        await session.undo();
        await session.until(
          async () => !(await session.screen()).includes("I am well."),
          "the reply is gone",
        );
      }, { env });
      assert.equal(after, QUESTION);
    }));

  test("if a provider is down, a FILE is given or an id is unknown, the buffer stays unchanged", async () => {
    const env = { FLEMMA_ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
    const after = await afterEditing(editor, PENDING, async (session, place) => {
      place.write("other.chat", RUNNABLE);
      for (const command of ["flemma send", "flemma approve other.chat call_1", "flemma approve call_9"]) {
        await session.filtered(command);
        Deno.removeSync(place.path("pid"));
        await session.dismiss();
      }
      assert.equal(place.read("other.chat"), RUNNABLE);
    }, { env });
    assert.equal(after, PENDING);
  });

  test("if a provider answers 401 after a tool ran, the tool ran once and its result stays in the buffer", () =>
    withReplies([{ status: 401, body: "{}" }], async (env) => {
      let runs = "";
      const after = await afterEditing(editor, RUNNABLE, async (session, place) => {
        await session.filtered("flemma advance");
        runs = place.read("runs");
      }, { env });
      assert.equal(trimmed(after), RESULT);
      assert.equal(runs, "ran\n");
    }));

  test("a reply that is cut off stays in the buffer with its mark", () =>
    withReplies([{ ...textReply("Half an answer"), cut: true }], async (env) => {
      const after = await afterEditing(editor, QUESTION, (session) => session.filtered("flemma advance"), {
        env,
      });
      assert.match(after, /\n@Assistant:\nHalf an answer\n\n<!-- flemma:aborted: .* -->\n+$/);
    }));

  for (const presses of [1, 2]) {
    test(`after ${presses} key press${presses > 1 ? "es" : ""} to stop a filter, the buffer is complete or unchanged, and no text is lost`, async () => {
      const before = callsDocument([{
        id: "c1",
        command: "echo ran >> runs; touch started; while ! test -e go; do :; done; echo hello",
        status: "approved",
      }]);
      let kept = "";
      let runs = "";
      const after = await afterEditing(editor, before, async (session, place) => {
        await session.filter("flemma advance --no-autopilot");
        await session.until(() => place.exists("started"), "the tool runs");
        for (let press = 0; press < presses; press++) await session.stop();
        if (editor.deaf) place.write("go", "");
        await session.programEnds();
        kept = (await place.run(["recover"])).stdout;
        runs = place.read("runs");
        await session.dismiss();
        await session.undoIfEmptied("@You:");
      });
      assert.equal(runs, "ran\n");
      const [head] = before.split("**Tool Result:**");
      assert.ok(after.startsWith(head!), "nothing of the text is lost");
      const unchanged = trimmed(after) === trimmed(before);
      const result = /\*\*Tool Result:\*\* `c1`( \(error\))?\n\n```\n[^`]*\n```\n+$/;
      assert.ok(unchanged || result.test(after), after);
      // Some editors kill right away or at the second press: then there may be nothing yet that could be kept.
      if (unchanged && kept !== "") {
        assert.match(kept, result, "text that the editor dropped can be recovered");
      }
    });
  }

  const CONTENT: readonly (readonly [string, string | Uint8Array])[] = [
    ["lines that end with CR LF", PENDING.replaceAll("\n", "\r\n")],
    ["no final line break", PENDING.trimEnd()],
    ["bytes that are Latin-1", latin1(PENDING.replace("Please.", "Größe bitte."))],
    ["5 MB", PENDING.replace("Please.", `Please.\n${"A line of text that is not short.\n".repeat(155_000)}`)],
  ];
  for (const [what, before] of CONTENT) {
    test(`an editor gets a document with ${what} back unchanged, or with one word changed`, async () => {
      const after = await afterEditing(
        editor,
        before,
        (session) => session.filtered("flemma approve call_1"),
      );
      const text = typeof before === "string" ? before : new TextDecoder().decode(before);
      const right = [text, text.replace("status=pending", "status=approved")];
      // Latin-1 may have become UTF-8 on the way through the editor, which shows it all the same.
      const utf8 = PENDING.replace("Please.", "Größe bitte.");
      if (typeof before !== "string") right.push(utf8, utf8.replace("status=pending", "status=approved"));
      const same = (a: string, b: string) =>
        trimmed(a.replaceAll("\r", "")) === trimmed(`${b.replaceAll("\r", "")}\n`);
      assert.ok(right.some((one) => same(after, one)), after.slice(0, 2000));
      if (what.startsWith("lines")) assert.ok(after.includes("@You:\r\nPlease.\r\n"), "the line ends stay");
    });
  }
}

function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
