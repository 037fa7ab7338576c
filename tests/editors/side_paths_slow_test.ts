// What people do while a run is in progress: edit other lines, reload, undo, open the text twice, mistype a command,
// use a buffer without a file. Nothing is lost.

import assert from "node:assert/strict";
import { WAIT } from "./paced_server.ts";
import { type Runtime, RUNTIMES } from "./runtime.ts";
import { onStage, QUESTION, readOr, type Stage } from "./stage.ts";
import { missingPrograms } from "./terminal.ts";

const missing = await missingPrograms();

const test = (
  name: string,
  what: string,
  play: (stage: Stage, runtime: Runtime) => Promise<void>,
  before?: string,
) => {
  const runtime = RUNTIMES[name]!;
  Deno.test({
    name: `${name}: ${what}`,
    ignore: missing.includes(runtime.program),
    fn: () =>
      onStage(
        runtime,
        [["First ", WAIT, "answer."], ["Second answer."]],
        (stage) => play(stage, runtime),
        before,
      ),
  });
};

/** Keys that start a new buffer without a file in which conversations work. */
const NEW_BUFFER: Readonly<Record<string, readonly string[]>> = {
  "Vim": [":enew | set filetype=chat", "Enter"],
  "Neovim": [":enew | set filetype=chat", "Enter"],
  // Emacs loses keys that come while it shows how a command could have been called shorter; after M-: it shows nothing.
  "Emacs": ["C-x", "b", "talk", "Enter", "M-:", "(flemma-mode)", "Enter"],
  "Kakoune": [":edit -scratch *talk*", "Enter", ":set-option buffer filetype chat", "Enter"],
};

/** Keys for a second window on the same buffer. */
const SECOND_WINDOW: Readonly<Record<string, readonly string[]>> = {
  "Vim": [":split", "Enter"],
  "Neovim": [":split", "Enter"],
  "Emacs": ["C-x", "2"],
};

for (const [name, { keys, complete }] of Object.entries(RUNTIMES)) {
  test(
    name,
    "lines that a person changes above a streaming reply stay, and the reply is complete",
    async (stage) => {
      const { server, does, sees, saved } = stage;
      await does(keys.advance, "First");
      await does([...keys.top, ...keys.append(" Hello!")], "@You: Hello!");
      server.goOn();
      await sees("First answer.", complete);
      const text = await saved((text) => text.includes("First answer."));
      assert.equal(
        text.trimEnd(),
        "@You: Hello!\nHow are you?\n\n@Assistant:\nFirst answer.\n\n@You:",
      );
    },
  );

  test(
    name,
    "a buffer without a file receives a reply like any other",
    async ({ session, server, does, sees }) => {
      await does(NEW_BUFFER[name]!);
      await session.until(
        async () => !(await session.screen()).includes("How are you?"),
        "the new buffer is there",
      );
      await does(keys.write("@You:", "Who is there?"), "Who is there?");
      await does(keys.advance, "First");
      server.goOn();
      await sees("First answer.", complete);
      assert.match(JSON.stringify(server.requests[0]!.messages), /Who is there\?/);
    },
  );

  test(
    name,
    "an undo during a reply reverts the person's own edit, and the reply still arrives",
    async (stage) => {
      const { session, server, does, sees, saved } = stage;
      await does(keys.advance, "First");
      await does([...keys.top, ...keys.append(" Hello!")], "@You: Hello!");
      const { undo } = RUNTIMES[name]!;
      await session.type(undo);
      await session.until(async () => !(await session.screen()).includes("Hello!"), "it is taken back");
      server.goOn();
      await sees("answer.");
      await session.until(async () => (await session.screen()).includes("flemma: "), "it says how it ended");
      const text = await saved((text) => text.includes("How are you?"));
      assert.ok(text.startsWith(QUESTION), text);
      assert.ok(!text.includes("Hello!"), text);
    },
  );

  if (SECOND_WINDOW[name] !== undefined) {
    test(
      name,
      "a buffer in two windows shows a reply in both",
      async ({ session, server, does, sees, saved }) => {
        await does(SECOND_WINDOW[name]!);
        await does(keys.advance, "First");
        server.goOn();
        await sees("First answer.", complete);
        const count = async () => (await session.screen()).split("First answer.").length - 1;
        await session.until(async () => await count() === 2, "both windows show it");
        const text = await saved((text) => text.includes("First answer."));
        assert.equal(text.trimEnd(), `${QUESTION}\n@Assistant:\nFirst answer.\n\n@You:`);
      },
    );
  }
}

test(
  "Kakoune",
  "two clients of a session show a reply in both",
  async ({ session, server, does, sees, saved }) => {
    const { keys, complete } = RUNTIMES["Kakoune"]!;
    await does([":nop %sh{ tmux split-window 'kak -c '$kak_session }", "Enter"]);
    // Until the client is drawn, its terminal would change Enter into another key.
    await session.until(
      async () => (await session.screen()).includes("client1@["),
      "the second client is there",
    );
    await does([":buffer q.chat", "Enter"], "How are you?");
    await does(keys.advance, "First");
    server.goOn();
    await sees("First answer.", complete);
    await does([":quit", "Enter"]);
    await session.until(
      async () => (await session.screen()).split("\n").length > 30,
      "the first client is alone",
    );
    await sees("First answer.");
    const text = await saved((text) => text.includes("First answer."));
    assert.equal(text.trimEnd(), `${QUESTION}\n@Assistant:\nFirst answer.\n\n@You:`);
  },
);

for (const name of ["Vim", "Neovim"]) {
  test(
    name,
    "an unknown word after :Flemma is reported with the valid words, and nothing runs",
    async ({ server, does, sees }) => {
      await does([":Flemma advanec", "Enter"], "flemma: unknown command :Flemma advanec; use advance, ");
      await does([":Flemma approve nobody", "Enter"]);
      await sees("nobody");
      assert.equal(server.requests.length, 0);
    },
  );

  test(
    name,
    "saving asks about a file that another program wrote during a run, and the reply is in the buffer",
    async (stage) => {
      const { session, place, server, does, sees } = stage;
      await does(RUNTIMES[name]!.keys.advance, "First");
      place.write("q.chat", "@You:\nSomebody else.\n");
      // Vim compares whole seconds.
      const later = Date.now() / 1000 + 10;
      Deno.utimeSync(place.path("q.chat"), later, later);
      server.goOn();
      await sees("First answer.", RUNTIMES[name]!.complete);
      await does([":write", "Enter"], "changed since reading it");
      assert.equal(place.read("q.chat"), "@You:\nSomebody else.\n");
      await does(["y", "Enter"]);
      await session.until(() => readOr(place, "q.chat", "").includes("First answer."), "it is saved");
      assert.ok(place.read("q.chat").startsWith(QUESTION));
    },
  );

  test(
    name,
    "an editor's prompt stays on the screen while a run ends, and the end is reported afterwards",
    async (stage) => {
      const { session, place, server, does } = stage;
      // Vim's timers go on behind a question, Neovim's do not.
      const ticks = "call timer_start(50, {_ -> writefile(['tick'], 'ticks', 'a')}, {'repeat': -1})";
      if (name === "Vim") await does([`:${ticks}`, "Enter"]);
      await does(RUNTIMES[name]!.keys.advance, "First");
      place.write("q.chat", "@You:\nSomebody else.\n");
      const later = Date.now() / 1000 + 10;
      Deno.utimeSync(place.path("q.chat"), later, later);
      await does([":write", "Enter"], "(y/n)?");
      server.goOn();
      await session.programEnds();
      if (name === "Vim") {
        const ticks = () => place.read("ticks").length;
        const before = ticks();
        await session.until(() => ticks() > before + 15, "the editor has looked at what came");
      }
      assert.match(await session.screen(), /\(y\/n\)\?/);
      await session.type(["n"]);
      await session.until(async () => {
        const screen = await session.screen();
        if (screen.includes("Press ENTER")) await session.type(["Enter"]);
        return screen.includes(RUNTIMES[name]!.complete);
      }, "the end is told");
      await stage.sees("First answer.");
      assert.equal(place.read("q.chat"), "@You:\nSomebody else.\n");
    },
  );

  test(
    name,
    "a buffer that is reloaded during a run keeps the reloaded text, and the reply is shown next to it",
    async (stage) => {
      const { server, does, sees, saved } = stage;
      await does(RUNTIMES[name]!.keys.advance, "First");
      await does([":edit!", "Enter"], "How are you?");
      server.goOn();
      await sees("First answer.");
      const text = await saved((text) => text.includes("How are you?"));
      assert.equal(text, QUESTION);
    },
  );
}

test(
  "Emacs",
  "a buffer that is reverted during a run keeps the reverted text, and the reply is shown next to it",
  async (stage) => {
    const { session, server, does, sees, saved } = stage;
    await does(RUNTIMES["Emacs"]!.keys.advance, "First");
    await does(["M-x", "revert-buffer", "Enter"], "Discard edits");
    await session.type(["yes", "Enter"]);
    await session.until(async () => !(await session.screen()).includes("First"), "it is read anew");
    server.goOn();
    await sees("First answer.");
    const text = await saved((text) => text.includes("How are you?"));
    assert.ok(text.startsWith(QUESTION), text);
  },
);
