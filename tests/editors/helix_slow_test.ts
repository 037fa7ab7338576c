// Helix with its shipped lines: the language server, and keys that filter the buffer.

import assert from "node:assert/strict";
import { callsDocument, type Scene, withScene } from "../cli/harness.ts";
import { textReply, withServer } from "../cli/replies.ts";
import { ROOT } from "../../scripts/gate/root.ts";
import { type Editor, EditorSession, installProgram } from "./terminal.ts";

const HELIX: Editor = {
  program: "hx",
  open: (file) => ["hx", file],
  filter: () => [],
  undo: ["u"],
  saveAndQuit: [":wq!", "Enter"],
  stop: ["C-c"],
  dismiss: ["Escape"],
};

const ignore = !await new Deno.Command("/bin/sh", { args: ["-c", "command -v hx tmux"], stdout: "null" })
  .output().then(({ success }) => success);

interface Stage {
  readonly place: Scene;
  does(keys: readonly string[], ...shown: readonly string[]): Promise<void>;
  saved(holds: (text: string) => boolean): Promise<string>;
}

function test(
  name: string,
  body: (stage: Stage) => Promise<void>,
  text: string,
  { replies = [] as string[], columns = 120 } = {},
): void {
  Deno.test({
    name: `Helix: ${name}`,
    ignore,
    fn: () =>
      withServer(replies.map((reply) => textReply(reply)), ({ env }) =>
        withScene(async (place) => {
          const config = `${place.folder}/config/helix`;
          Deno.mkdirSync(config, { recursive: true });
          for (const file of ["config.toml", "languages.toml"]) {
            Deno.copyFileSync(`${ROOT}/editors/helix/${file}`, `${config}/${file}`);
          }
          place.write("a.chat", text);
          const key: Record<string, string> = replies.length > 0 ? { ANTHROPIC_API_KEY: "k" } : {};
          const session = await EditorSession.open(HELIX, place, "a.chat", {
            shown: "@You:",
            columns,
            env: { ...env, ...key, ...installProgram(place), XDG_CONFIG_HOME: `${place.folder}/config` },
          });
          const does = async (keys: readonly string[], ...shown: readonly string[]) => {
            await session.type(keys);
            for (const each of shown) {
              await session.until(async () => (await session.screen()).includes(each), `shows ${each}`);
            }
          };
          const saved = async (holds: (text: string) => boolean) => {
            await session.type([":write", "Enter"]);
            await session.until(() => holds(place.read("a.chat")), `the file holds what it should: ${holds}`);
            return place.read("a.chat");
          };
          try {
            await body({ place, does, saved });
          } finally {
            await session.close();
          }
        })),
  });
}

const PENDING = callsDocument([{ id: "call_1", command: "echo ran", status: "pending" }]);
const APPROVED = PENDING.replace("status=pending", "status=approved");

test(
  "a filter that fails leaves the buffer as it was",
  async ({ does, saved, place }) => {
    await does([" ", "m", "m"]);
    // The key that approves is taken only after the filter, and fails too, because no call waits.
    await does([" ", "m", "a"]);
    await does(["ge", "o", "And more.", "Escape"], "And more.");
    assert.equal(await saved((text) => text.includes("more")), "@You:\nHow are you?\nAnd more.\n");
    assert.match((await place.run(["status", "--last"])).stdout, /waits|call/);
  },
  "@You:\nHow are you?\n",
);

test(
  "a filter key advances the conversation, and one undo removes the reply",
  async ({ does, saved }) => {
    await does([" ", "m", "m"], "I am well.");
    await saved((text) => text.includes("I am well."));
    await does(["u"]);
    assert.equal(await saved((text) => !text.includes("well")), "@You:\nHow are you?\n");
  },
  "@You:\nHow are you?\n",
  { replies: ["I am well."] },
);

test(
  "a code action approves the call, and a filter key then runs it",
  async ({ does, saved }) => {
    await does(["ge"], "waits for you");
    await does(["k", " ", "a"], "Approve bash (call_1)");
    await does(["Enter"], "status=approved");
    assert.equal(await saved((text) => text.includes("approved")), APPROVED);
    await does([" ", "m", "m"], "All done.");
    assert.match(await saved((text) => text.includes("All done.")), /\nran\n```/);
  },
  PENDING,
  { replies: ["All done."] },
);

test(
  "at 40 columns, the lines of the document wrap, so that a long command is visible to its end",
  async ({ does }) => {
    await does([], "word word", "THE-END", "status=pending");
  },
  callsDocument([{ id: "call_1", command: `echo ${"word ".repeat(60)}THE-END`, status: "pending" }]),
  { columns: 40 },
);
