// Helix with its shipped lines: the language server, and keys that filter the buffer.

import assert from "node:assert/strict";
import { readOrNull } from "../../base/files.ts";
import { callsDocument, type Scene, withScene } from "../cli/harness.ts";
import { inFolder } from "../folder.ts";
import { ROOT } from "../../scripts/gate/root.ts";
import { type PacedServer, type Part, WAIT, withPacedServer } from "./paced_server.ts";
import { savedText } from "./saved_text.ts";
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

/** Changes an attribute of a file; false where the file system or the rights do not allow that. */
async function isChanged(path: string, attribute: "+i" | "-i"): Promise<boolean> {
  const { success } = await new Deno.Command("chattr", { args: [attribute, path], stderr: "null" }).output()
    .catch(() => ({ success: false }));
  return success;
}

const canBeReadOnly = !ignore && await inFolder(async (folder) => {
  const path = `${folder}/file`;
  Deno.writeTextFileSync(path, "");
  return await isChanged(path, "+i") && await isChanged(path, "-i");
});

interface Stage {
  readonly place: Scene;
  readonly server: PacedServer;
  readonly session: EditorSession;
  /** Types keys, and waits until the screen shows these texts. */
  does(keys: readonly string[], ...shown: readonly string[]): Promise<void>;
  /** Waits until the screen no longer shows a text. */
  hides(text: string): Promise<void>;
  /** Chooses the first code action at the beginning of the document, which has this title. */
  acts(title: string): Promise<void>;
  /** Starts a run by the code action, and waits until the request was sent. */
  advances(): Promise<void>;
  /** Saves the document until the file is this text, or matches this pattern. */
  saves(expected: string | RegExp): Promise<void>;
  /** Makes a read-only document writable again. */
  writable(): Promise<void>;
}

interface Options {
  readonly replies?: readonly (readonly Part[])[];
  readonly columns?: number;
  /** Name of the document. */
  readonly file?: string;
  /** True if nobody can write the file, not even the superuser, until `writable` is called. */
  readonly readOnly?: boolean;
}

function test(
  name: string,
  body: (stage: Stage) => Promise<void>,
  text: string,
  { replies = [], columns = 120, file = "a.chat", readOnly = false }: Options = {},
): void {
  Deno.test({
    name: `Helix: ${name}`,
    ignore: ignore || readOnly && !canBeReadOnly,
    fn: () =>
      withPacedServer(replies, (server) =>
        withScene(async (place) => {
          const config = `${place.folder}/config/helix`;
          Deno.mkdirSync(config, { recursive: true });
          for (const name of ["config.toml", "languages.toml"]) {
            Deno.copyFileSync(`${ROOT}/editors/helix/${name}`, `${config}/${name}`);
          }
          place.write(file, text);
          const writable = () => isChanged(place.path(file), "-i").then((done) => assert.ok(done));
          if (readOnly) assert.ok(await isChanged(place.path(file), "+i"));
          const { ANTHROPIC_API_KEY: key, ...env } = server.env;
          const session = await EditorSession.open(HELIX, place, file, {
            shown: "@You:",
            columns,
            env: {
              ...env,
              ...replies.length > 0 ? { ANTHROPIC_API_KEY: key! } : {},
              ...installProgram(place),
              XDG_CONFIG_HOME: `${place.folder}/config`,
            },
          });
          const shows = async (text: string) => (await session.screen()).includes(text);
          const does = async (keys: readonly string[], ...shown: readonly string[]) => {
            await session.type(keys);
            for (const each of shown) {
              await session.until(() => shows(each), `shows ${each}`);
            }
          };
          const hides = (text: string) => session.until(async () => !await shows(text), `hides ${text}`);
          const acts = async (title: string) => {
            // There is no menu while the server is not ready, so the keys are typed again from time to time.
            let looks = 0;
            await session.until(async () => {
              if (looks++ % 100 === 0) await session.type(["Escape", "gg", " ", "a"]);
              return await shows(title);
            }, `the menu shows ${title}`);
            await session.type(["Enter"]);
          };
          const advances = async () => {
            const before = server.requests.length;
            await acts("Advance the conversation");
            await session.until(() => server.requests.length > before, "the request goes out");
          };
          const saves = async (expected: string | RegExp) => {
            const isIt = (text: string) =>
              typeof expected === "string" ? text === expected : expected.test(text);
            // The last edit of a reply may arrive after the screen showed its text, so the document is saved again.
            let looks = 0;
            let text = "";
            await session.until(
              async () => {
                if (looks++ % 20 === 0) await session.type([":write", "Enter"]);
                // Helix empties or moves a file before it writes it.
                text = new TextDecoder().decode(await readOrNull(place.path(file)) ?? new Uint8Array());
                return isIt(text);
              },
              () =>
                `the file is or matches\n${String(expected).slice(-500)}\nbut it ends with\n${
                  text.slice(-500)
                }`,
            );
          };
          try {
            await body({ place, server, session, does, hides, acts, advances, saves, writable });
          } finally {
            if (readOnly) await writable();
            await session.close();
          }
        })),
  });
}

const PENDING = callsDocument([{ id: "call_1", command: "echo ran", status: "pending" }]);
const QUESTION = "@You:\nHow are you?\n";
const ANSWERED = `${QUESTION}\n@Assistant:\nFirst answer.\n\n@You:\n\n`;
/** More than two megabytes. */
const LARGE = `@You:\nHello.\n\n@Assistant:\n${
  "A line of an old answer that nobody reads again.\n".repeat(45_000)
}\n${QUESTION}`;
const APPROVED = PENDING.replace("status=pending", "status=approved");

test(
  "a filter that fails leaves the buffer as it was",
  async ({ does, saves, place }) => {
    await does([" ", "m", "m"]);
    // The key that approves is taken only after the filter, and fails too, because no call waits.
    await does([" ", "m", "a"]);
    await does(["ge", "o", "And more.", "Escape"], "And more.");
    await saves("@You:\nHow are you?\nAnd more.\n");
    assert.match((await place.run(["status", "--last"])).stdout, /waits|call/);
  },
  "@You:\nHow are you?\n",
);

test(
  "a reply arrives in a read-only document, and can be saved once the file is writable",
  async ({ does, saves, place, writable }) => {
    await does([], "[readonly]");
    await does([" ", "m", "m"], "First answer.");
    await does([":write", "Enter"], "read only");
    assert.equal(place.read("a.chat"), QUESTION);
    await writable();
    await does([":write!", "Enter"]);
    await saves(ANSWERED);
  },
  QUESTION,
  { replies: [["First answer."]], readOnly: true },
);

test(
  "a filter key advances the conversation, and one undo removes the reply",
  async ({ does, saves }) => {
    await does([" ", "m", "m"], "I am well.");
    await saves(/I am well\./);
    await does(["u"]);
    await saves("@You:\nHow are you?\n");
  },
  "@You:\nHow are you?\n",
  { replies: [["I am well."]] },
);

test(
  "a code action approves the call, and a filter key then runs it",
  async ({ does, saves }) => {
    await does(["ge"], "waits for you");
    await does(["k", " ", "a"], "Approve bash (call_1)");
    await does(["Enter"], "status=approved");
    await saves(APPROVED);
    await does([" ", "m", "m"], "All done.");
    await saves(/\nran\n```[^]*All done\./);
  },
  PENDING,
  { replies: [["All done."]] },
);

test(
  "at 40 columns, the lines of the document wrap, so that a long command is visible to its end",
  async ({ does }) => {
    await does([], "word word", "THE-END", "status=pending");
  },
  callsDocument([{ id: "call_1", command: `echo ${"word ".repeat(60)}THE-END`, status: "pending" }]),
  { columns: 40 },
);

test(
  "a key goes to the next waiting call",
  async ({ does, hides }) => {
    await does([], "waits for you");
    for (const id of ["call_1", "call_2"]) {
      await does(["]d"]);
      await does([" ", "a"], `Approve bash (${id})`);
      await does(["Escape"]);
      await hides("Approve bash");
    }
  },
  callsDocument([
    { id: "call_1", command: "echo one", status: "pending" },
    { id: "call_2", command: "echo two", status: "pending" },
  ]),
);

test(
  "lines typed above and below while a reply arrives stay, and the question below goes out next",
  async ({ does, advances, saves, server }) => {
    await advances();
    await does(["gg", "o", "Hello.", "Escape"], "Hello.");
    await does(["ge", "o", "@You:", "Enter", "And you?", "Escape"], "And you?");
    server.goOn();
    await does([], "First answer.");
    await saves(
      /^@You:\nHello\.\nHow are you\?\n+@Assistant:\nFirst answer\.\n+@You:\nAnd you\?\n$/,
    );
    await advances();
    await does([], "Second answer.");
    assert.match(JSON.stringify(server.requests[1]), /First answer.*And you/);
  },
  QUESTION,
  { replies: [["First ", WAIT, "answer."], ["Second answer."]] },
);

test(
  "a code action cancels a run, and what has arrived stays with its mark",
  async ({ does, acts, advances, saves }) => {
    await advances();
    await acts("Cancel the run");
    await does([], "flemma:aborted");
    await saves(/^@You:\nHow are you\?\n\n@Assistant:\nFirst\s+<!-- flemma:aborted: [^\n]* -->\n/);
  },
  QUESTION,
  { replies: [["First ", WAIT, "answer."]] },
);

test(
  "a document whose name looks like commands works, and the name runs no command",
  async ({ does, advances, saves, place }) => {
    await advances();
    await does([], "First answer.");
    await saves(ANSWERED);
    await does([" ", "m", "m"]);
    assert.ok(!place.exists("pwned"));
  },
  QUESTION,
  { replies: [["First answer."]], file: 'it\'s "odd" $(touch pwned) %sh{touch pwned} 100% #1 é.chat' },
);

test(
  "a buffer without a file receives a reply like any other",
  async ({ does }) => {
    await does([":new", "Enter"], "[scratch]");
    await does([":set-language chat", "Enter", "i", "@You:", "Enter", "Who?", "Escape"], "Who?");
    await does([" ", "m", "m"], "First answer.");
  },
  QUESTION,
  { replies: [["First answer."]] },
);

test(
  "two windows on one document show a reply in both",
  async ({ does, advances, session }) => {
    await does([":vsplit", "Enter"]);
    await advances();
    await session.until(
      async () => (await session.screen()).split("First answer.").length === 3,
      "the reply is in both windows",
    );
  },
  QUESTION,
  { replies: [["First answer."]] },
);

test(
  "saving refuses a file that another program wrote during a run, and the reply is in the buffer",
  async ({ does, advances, place, server }) => {
    await advances();
    // Helix compares times of whole seconds.
    place.write("a.chat", "@You:\nAnother text.\n");
    Deno.utimeSync(place.path("a.chat"), new Date(), new Date(Date.now() + 60_000));
    server.goOn();
    await does([], "First answer.");
    await does([":write", "Enter"], "modified by an external process");
    assert.equal(place.read("a.chat"), "@You:\nAnother text.\n");
    await does([":reload", "Enter"], "Another text.");
  },
  QUESTION,
  { replies: [["First ", WAIT, "answer."]] },
);

test(
  "if the editor ends during a run, what arrived can be recovered",
  async ({ advances, place, session }) => {
    await advances();
    await savedText(place, "First");
    await session.close();
    const { stdout } = await place.run(["recover"]);
    assert.match(stdout, /^@You:\nHow are you\?\n\n@Assistant:\nFirst\s+<!-- flemma:aborted/);
    assert.equal(place.read("a.chat"), QUESTION);
  },
  QUESTION,
  { replies: [["First ", WAIT, "answer."]] },
);

test(
  "behind wide characters, an action decides about the call at the cursor, and text typed during a reply stays",
  async ({ does, advances, saves, server }) => {
    await does(["ge"], "waits for you");
    await does(["k", " ", "a"], "Approve bash (call_1)");
    await does(["Enter"], "status=approved");
    await advances();
    await does(["gg", "o", "Größe 👩‍👩‍👧 𝒳", "Escape"], "Größe");
    server.goOn();
    await does([], "Großartig 🙂 well.");
    await saves(/^@You:\nGröße 👩‍👩‍👧 𝒳\n[^]*größe 🙂[^]*\nécho\n```\n\n@Assistant:\nGroßartig 🙂 well\.\n/u);
  },
  callsDocument([{ id: "call_1", command: "echo écho # größe 🙂", status: "pending" }]),
  { replies: [["Großartig 🙂 ", WAIT, "well."]] },
);

test(
  "a document of two megabytes receives a reply and stays the same above it",
  async ({ does, advances, saves }) => {
    await advances();
    await does(["ge"], "First answer.");
    await saves(`${LARGE}\n@Assistant:\nFirst answer.\n\n@You:\n\n`);
  },
  LARGE,
  { replies: [["First answer."]] },
);
