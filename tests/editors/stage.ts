// One real editor with its runtime files on a real terminal, with a document and a server paced by the test.

import { type Scene, withScene } from "../cli/harness.ts";
import { type PacedServer, type Part, withPacedServer } from "./paced_server.ts";
import type { Runtime } from "./runtime.ts";
import { EditorSession, installProgram } from "./terminal.ts";

const ASK_ABOUT_ALL = "tools: { auto_approve_sandboxed: false, auto_approve: [] }\n";
/** What stands in the document where a test says nothing else. */
export const QUESTION = "@You:\nHow are you?\n";

/** Where a test plays. */
export interface Stage {
  readonly session: EditorSession;
  readonly place: Scene;
  readonly server: PacedServer;
  /** Types keys, then waits until the text is on the screen. */
  does(keys: readonly string[], ...shown: readonly string[]): Promise<void>;
  sees(...shown: readonly string[]): Promise<void>;
  /** What the file holds once the buffer is saved and `holds` is true of it. */
  saved(holds: (text: string) => boolean): Promise<string>;
}

/** Plays a test in an editor that has a document open, which holds `before`. */
export async function onStage(
  runtime: Runtime,
  replies: readonly (readonly Part[])[],
  play: (stage: Stage) => Promise<void>,
  before = QUESTION,
  name = "q.chat",
  columns = 120,
): Promise<void> {
  await withPacedServer(replies, (server) =>
    withScene(async (place) => {
      place.settings(ASK_ABOUT_ALL);
      place.write(name, before);
      place.write("seen.txt", "one\ntwo\nthree\n");
      const env = { ...server.env, ...installProgram(place), ...temporaryFolder(runtime, place) };
      const session = await EditorSession.open(runtime, place, name, { shown: "@You:", env, columns });
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
          text = readOr(place, name, "");
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

function temporaryFolder({ temporary }: Runtime, place: Scene): Record<string, string> {
  if (temporary === undefined) return {};
  Deno.mkdirSync(place.path(temporary));
  return { TMPDIR: place.path(temporary) };
}

/** The text of a file; `missing` at a moment at which there is none: an editor that saves may move the file away first. */
export function readOr(place: Scene, name: string, missing: string): string {
  try {
    return place.read(name);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return missing;
    throw thrown;
  }
}
