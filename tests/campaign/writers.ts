// Two writers to one document, in real editors: a person types above and below a reply that arrives, either in the
// editor's buffer or in the file behind it.

import assert from "node:assert/strict";
import { type Scene, withScene } from "../cli/harness.ts";
import { type PacedServer, type Part, WAIT, withPacedServer } from "../editors/paced_server.ts";
import { RUNTIMES } from "../editors/runtime.ts";
import { onStage } from "../editors/stage.ts";
import { type Editor, EDITORS, EditorSession, missingPrograms } from "../editors/terminal.ts";
import { missingVsCode, withVsCode } from "../editors/vscode/server.ts";
import { type Chance, chance, pause } from "./random.ts";

const ROUNDS_A_SESSION = 8;
const QUESTION = "@You:\nQuestion.\n";
const NAME = "q.chat";

/** What a person does in one editor, whatever the editor is. */
interface Person {
  /** Adds to the first line. */
  above(text: string): Promise<void>;
  /** Writes lines below the end. */
  below(...lines: readonly string[]): Promise<void>;
  /** Saves until the file holds what it should. */
  saves(holds: (text: string) => boolean): Promise<string>;
  /** Sends the conversation on; settles with a function that waits for the end. */
  advances(): Promise<() => Promise<void>>;
}

type Play = (person: Person, server: PacedServer) => Promise<void>;
type Session = (replies: readonly (readonly Part[])[], play: Play) => Promise<void>;

/** Keys of an editor without this project's files. */
interface Plain extends Editor {
  readonly top: readonly string[];
  below(...lines: readonly string[]): readonly string[];
  readonly save: readonly string[];
  readonly reload: readonly string[];
  readonly before?: readonly string[];
}

const VI = {
  top: ["gg"],
  below: (...lines: readonly string[]) => [
    "G",
    ...lines.flatMap((line, at) => [at === 0 ? "o" : "Enter", line]),
    "Escape",
  ],
  save: [":write!", "Enter"],
  reload: [":edit!", "Enter"],
};

const PLAIN: Readonly<Record<string, Plain>> = {
  "Vim": { ...EDITORS["Vim"]!, ...VI },
  "Neovim": { ...EDITORS["Neovim without shelltemp"]!, ...VI },
  "Kakoune": {
    ...EDITORS["Kakoune"]!,
    ...VI,
    below: (...lines) => ["ge", ...VI.below(...lines).slice(1)],
    before: [":set-option global autoreload no", "Enter"],
    writing: " insert ",
  },
  "Helix": {
    ...EDITORS["Kakoune"]!,
    ...VI,
    program: "hx",
    open: (file) => ["hx", file],
    below: (...lines) => ["ge", ...VI.below(...lines).slice(1)],
    reload: [":reload", "Enter"],
  },
};

/** The editor's own key advances the document; the reply arrives in the buffer. */
function inBuffer(name: string): Session {
  const runtime = RUNTIMES[name]!;
  const { keys } = runtime;
  return (replies, play) =>
    onStage(runtime, replies, async ({ session, place, server }) => {
      const person: Person = {
        above: (text) => session.type([...keys.top, ...keys.append(text)]),
        below: (...lines) => session.type(keys.write(...lines)),
        saves: (holds) => savesUntil(session, place, keys.save, holds),
        advances: async () => {
          const before = server.requests.length;
          if (place.exists("pid")) Deno.removeSync(place.path("pid"));
          await session.type([...keys.end, ...keys.advance]);
          await session.until(() => server.requests.length > before, "the request goes out");
          return () => session.programEnds();
        },
      };
      await play(person, server);
    }, QUESTION);
}

/** A process advances the file that the editor has open, and the person saves what is in the buffer. */
function inFile(name: string): Session {
  const plain = PLAIN[name]!;
  return (replies, play) =>
    withPacedServer(replies, (server) =>
      withScene(async (place) => {
        place.write(NAME, QUESTION);
        const session = await EditorSession.open(plain, place, NAME, { shown: "Question." });
        try {
          await session.type(plain.before ?? []);
          const person: Person = {
            above: (text) => session.type([...plain.top, "A", text, "Escape"]),
            below: (...lines) => session.type(plain.below(...lines)),
            saves: (holds) => savesUntil(session, place, plain.save, holds),
            advances: async () => {
              const before = server.requests.length;
              const started = place.start(["advance", NAME, "--no-autopilot"], { env: server.env });
              await session.until(() => server.requests.length > before, "the request goes out");
              return async () => {
                const { code, stderr } = await started.finished;
                assert.equal(code, 0, stderr);
                await session.type(plain.reload);
                await session.until(
                  async () => (await session.screen()).includes("@You:"),
                  "the file is read again",
                );
              };
            },
          };
          await play(person, server);
        } finally {
          await session.close();
        }
      }));
}

/** VS Code advances the document; the reply arrives in its buffer. */
const inVsCode: Session = async (replies, play) => {
  const begin = { [NAME]: QUESTION };
  await withVsCode(begin, replies, async (code) => {
    await code.open(NAME);
    const person: Person = {
      above: async (text) => {
        await code.goTo(1);
        await code.press("End");
        await code.type(text);
      },
      below: async (...lines) => {
        await code.press("Control+End");
        await code.type(`\n${lines.join("\n")}\n`);
      },
      saves: (holds) => code.saved(NAME, holds),
      advances: async () => {
        await code.press("Control+End");
        await code.advances();
        return () => code.barIsSilent("flemma");
      },
    };
    await play(person, code.server);
  });
};

/** Saves, again if the file does not hold what it should, because the reply had not arrived yet. */
async function savesUntil(
  session: EditorSession,
  place: Scene,
  keys: readonly string[],
  holds: (text: string) => boolean,
): Promise<string> {
  const read = () => place.exists(NAME) ? place.read(NAME) : "";
  for (let again = 0; !holds(read()); again++) {
    const screen = await session.screen();
    // The file has changed since the editor read it, and the person saves anyway.
    if (screen.includes("(y/n)?")) await session.type(["y"]);
    else if (screen.includes("Press ENTER")) await session.type(["Enter"]);
    else if (again % 40 === 0) await session.type(keys);
    await pause(50);
    if (again > 1200) assert.fail(`not so: ${holds}. The file:\n${read()}\n${await session.screen()}`);
  }
  return read();
}

/** Returns the editors that this machine has, each with where its second writer writes. */
export async function writerSessions(): Promise<ReadonlyMap<string, Session>> {
  const missing = await missingPrograms();
  const found = new Map<string, Session>();
  for (const name of Object.keys(RUNTIMES)) {
    if (!missing.includes(RUNTIMES[name]!.program)) found.set(`${name}, in the buffer`, inBuffer(name));
  }
  for (const [name, { program }] of Object.entries(PLAIN)) {
    const args = ["-c", 'command -v "$1"', "sh", program];
    const { success } = await new Deno.Command("/bin/sh", { args, stdout: "null" }).output();
    if (success) found.set(`${name}, in the file`, inFile(name));
  }
  if (await missingVsCode() === null) found.set("VS Code, in the buffer", inVsCode);
  return found;
}

/** Lets two writers write so many times; answers what it did, and throws at the first thing that was lost. */
export async function writers(count: number, seed: number): Promise<string> {
  const random = chance(seed);
  const sessions = [...await writerSessions()];
  assert.ok(sessions.length > 0, "no editor is installed");
  const made = new Map<string, number>();
  let rounds = 0;
  for (let at = seed; rounds < count; at++) {
    const [name, session] = sessions[at % sessions.length]!;
    const now = Math.min(ROUNDS_A_SESSION, Math.ceil(count / sessions.length), count - rounds);
    try {
      await playRounds(session, random, now);
    } catch (cause) {
      throw new Error(`${name}, session ${at}: ${(cause as Error).message}`, { cause });
    }
    rounds += now;
    made.set(name, (made.get(name) ?? 0) + now);
  }
  return `${[...made].map(([name, times]) => `${name}: ${times}`).join("; ")}: no text lost`;
}

async function playRounds(session: Session, random: Chance, rounds: number): Promise<void> {
  const wordsOf = (round: number) => [`first${round}.`, `second${round}.`, `third${round}.`];
  const replies = Array.from({ length: rounds }, (_, round): Part[] => {
    const [first, second, third] = wordsOf(round);
    const gap = () => random.pick([" ", "\n", "\n\n"]);
    return [`${first}${gap()}`, WAIT, `${second}${gap()}`, WAIT, `${third}`];
  });
  await session(replies, async (person, server) => {
    const typed: string[] = ["Question."];
    const written: string[] = [];
    let isAsked = true;
    for (let round = 0; round < rounds; round++) {
      const token = (kind: string) => {
        const made = `${kind}${round}.`;
        typed.push(made);
        return made;
      };
      if (!isAsked) await person.below(token("asked"));
      await person.saves((text) => typed.every((each) => text.includes(each)));
      const ends = await person.advances();
      const goesOn = pause(random.below(300)).then(() => server.goOn());
      await pause(random.below(200));
      const order = random.pick([["above"], ["below"], ["above", "below"], ["below", "above"]]);
      for (const where of order) {
        if (where === "above") await person.above(` ${token("above")}`);
        else await person.below("@You:", token("below"));
        await pause(random.below(100));
      }
      isAsked = order.includes("below");
      await person.saves((text) => typed.every((each) => text.includes(each)));
      await goesOn;
      server.goOn();
      await ends();
      written.push(...wordsOf(round));
      const text = await person.saves((text) => written.every((each) => text.includes(each)));
      for (const each of [...typed, ...written]) {
        assert.equal(
          text.split(each).length,
          2,
          `${each} is there ${text.split(each).length - 1} times:\n${text}`,
        );
      }
      const places = written.map((each) => text.indexOf(each));
      assert.deepEqual(places, places.toSorted((a, b) => a - b), `replies are out of order:\n${text}`);
    }
  });
}
