// The runtime files in real editors on a real terminal, against a server that answers in the pace of the test: what a person
// sees, what is in the buffer, what is on disk.

import assert from "node:assert/strict";
import { type Scene, withScene } from "../cli/harness.ts";
import { type PacedServer, type Part, WAIT, withPacedServer } from "./paced_server.ts";
import { type Runtime, RUNTIMES } from "./runtime.ts";
import { EditorSession, installProgram, missingPrograms } from "./terminal.ts";

const missing = await missingPrograms();
const ASK_ABOUT_ALL = "tools: { auto_approve_sandboxed: false, auto_approve: [] }\n";
const QUESTION = "@You:\nHow are you?\n";

interface Stage {
  readonly session: EditorSession;
  readonly place: Scene;
  readonly server: PacedServer;
  /** Types keys, then waits until the text is on the screen. */
  does(keys: readonly string[], ...shown: readonly string[]): Promise<void>;
  sees(...shown: readonly string[]): Promise<void>;
  /** What the file holds once the buffer is saved and `holds` is true of it. */
  saved(holds: (text: string) => boolean): Promise<string>;
}

async function onStage(
  runtime: Runtime,
  replies: readonly (readonly Part[])[],
  play: (stage: Stage) => Promise<void>,
  before = QUESTION,
): Promise<void> {
  await withPacedServer(replies, (server) =>
    withScene(async (place) => {
      place.settings(ASK_ABOUT_ALL);
      place.write("q.chat", before);
      place.write("seen.txt", "one\ntwo\nthree\n");
      const env = { ...server.env, ...installProgram(place) };
      const session = await EditorSession.open(runtime, place, "q.chat", { shown: "@You:", env });
      const sees = async (...shown: readonly string[]) => {
        for (const text of shown) {
          await session.until(async () => (await session.screen()).includes(text), `shows ${text}`);
        }
      };
      const does = async (keys: readonly string[], ...shown: readonly string[]) => {
        await session.type(keys);
        await sees(...shown);
      };
      const saved = async (holds: (text: string) => boolean) => {
        await session.type(runtime.keys.save);
        // An editor that saves leaves no file there for a moment, or an empty one.
        let text = "";
        const saved = () => {
          text = readOr(place, "q.chat", "");
          return text !== "" && holds(text);
        };
        await session.until(saved, `the file holds what it should: ${holds}`);
        return text;
      };
      try {
        await play({ session, place, server, does, sees, saved });
      } finally {
        await session.close();
      }
    }));
}

/** The text of a file; `missing` at a moment at which there is none. */
function readOr(place: Scene, name: string, missing: string): string {
  try {
    return place.read(name);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return missing;
    throw thrown;
  }
}

for (const [name, runtime] of Object.entries(RUNTIMES)) {
  const { keys } = runtime;
  const test = (what: string, fn: () => Promise<void>) =>
    Deno.test({ name: `${name}: ${what}`, ignore: missing.includes(runtime.program), fn });

  test("from a question over a diff, an approval and a rejection with a reason to the final text", () =>
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

  test("the cursor stays where the person reads, and a question typed during the reply is the next turn", () =>
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

  test("cancelled by one key the reply stands there with its mark", () =>
    onStage(runtime, [["Half an ", WAIT, "answer."]], async ({ does, saved }) => {
      await does(keys.advance, "Half an");
      await does(keys.cancel, "flemma:aborted", "stopped");
      assert.match(
        await saved((text) => text.includes("aborted")),
        /\n@Assistant:\nHalf an\s+<!-- flemma:aborted: .* -->\n$/,
      );
    }));

  test("one undo takes a whole reply back", () =>
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

  test("where both changed the same line the person's stays, and the reply is shown beside it", () =>
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
