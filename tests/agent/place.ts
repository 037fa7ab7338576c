// A folder with its own home, state and settings, and a scripted model, for sessions on documents.

import assert from "node:assert/strict";
import { chatInMemory } from "../../agent/open.ts";
import type { ChatSession, MemoryOptions, OwnTool } from "../../agent/types.ts";
import type { Environment } from "../../base/environment.ts";
import type { Outcome } from "../../base/problem.ts";
import { replayProvider } from "../../providers/replay/provider.ts";
import { type Replay, type ScriptedReply, startReplay } from "../../providers/replay/server.ts";
import { countingApprovals } from "../cli/harness.ts";
import { inFolder } from "../folder.ts";
import { testsWith } from "../tests_with.ts";

export class Place {
  /** Real path. */
  readonly folder: string;
  readonly environment: Environment;
  #hasSettings = false;

  constructor(folder: string) {
    this.folder = folder;
    const home = `${folder}/home`;
    this.environment = {
      cwd: `${folder}/place`,
      home,
      variables: {
        PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
        HOME: home,
        XDG_STATE_HOME: `${folder}/state`,
        XDG_CONFIG_HOME: `${folder}/config`,
        XDG_RUNTIME_DIR: `${folder}/run`,
      },
    };
  }

  path(name: string): string {
    return `${this.folder}/place/${name}`;
  }

  /** Writes a file; an approval in it counts, as in `tests/cli/harness.ts`. */
  write(name: string, text: string): void {
    if (/status=approved/.test(text) && !this.#hasSettings) this.settings("");
    this.arrive(name, text);
  }

  /** Writes a file as a copy, a pull or a synchronized folder would. */
  arrive(name: string, text: string): void {
    Deno.writeTextFileSync(this.path(name), text);
  }

  read(name: string): string {
    return Deno.readTextFileSync(this.path(name));
  }

  /** Writes the person's settings file. */
  settings(yaml: string): void {
    Deno.mkdirSync(`${this.folder}/config/flemma`, { recursive: true });
    Deno.writeTextFileSync(`${this.folder}/config/flemma/config.yaml`, countingApprovals(yaml));
    this.#hasSettings = true;
  }

  /** A session on a text in memory, in this place. */
  async memory(text: string, options: MemoryOptions = {}): Promise<ChatSession> {
    return sessionOf(await chatInMemory(bytesOf(text), { environment: this.environment, ...options }));
  }

  /** Every file below `folder` of this place with its text and the time of its last change, to see that nothing changed. */
  async files(folder = "."): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    const visit = async (path: string): Promise<void> => {
      for await (const entry of Deno.readDir(path)) {
        const each = `${path}/${entry.name}`;
        if (entry.isDirectory) await visit(each);
        else found[each] = `${(await Deno.stat(each)).mtime?.getTime()} ${await Deno.readTextFile(each)}`;
      }
    };
    await visit(`${this.folder}/${folder}`);
    return found;
  }
}

export async function inPlace(body: (place: Place) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    for (const name of ["home", "place", "run", "state"]) {
      await Deno.mkdir(`${folder}/${name}`, { mode: 0o700 });
    }
    await body(new Place(folder));
  });
}

/** Defines a test that runs in `inPlace`. */
export const testInPlace = testsWith(inPlace);

/** Runs `body` while a script plays the model. */
export async function withModel(
  replies: readonly ScriptedReply[],
  body: (provider: ReturnType<typeof replayProvider>, replay: Replay) => Promise<void>,
): Promise<void> {
  await using replay = await startReplay({ replies });
  await body(replayProvider(replay), replay);
}

/** A network on which requests hang until they are given up; `asked` settles when the first is made. */
export function hangingFetch(): { readonly fetch: typeof fetch; readonly asked: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    asked: promise,
    fetch: (_address, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
        resolve();
      }),
  };
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function textOf(session: Pick<ChatSession, "chat">): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(session.chat.bytes);
}

export function sessionOf(opened: Outcome<ChatSession>): ChatSession {
  assert.ok(opened.ok, opened.ok ? "" : opened.problem.message);
  return opened.value;
}

/** The code of a failure, or `ok`. */
export function codeOf(outcome: Outcome<unknown>): string {
  return outcome.ok ? "ok" : outcome.problem.code;
}

/** A tool that gives back its text. */
export const ECHO: OwnTool = {
  name: "echo",
  description: "Gives back its text.",
  input_schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  execute: ({ text }) => ({ success: true, output: String(text) }),
};

/** A tool that runs until it is told to end or is cancelled. */
export function waiting(): { readonly tool: OwnTool; begun: Promise<void>; end(): void } {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const tool: OwnTool = {
    name: "wait",
    description: "Waits.",
    input_schema: { type: "object" },
    async: true,
    execute(_input, _context, callback) {
      ended.promise.then(() => callback({ success: true, output: "waited" }));
      begun.resolve();
      return () => {};
    },
  };
  return { tool, begun: begun.promise, end: ended.resolve };
}

/** A session on a document whose call `a` runs until `end`. */
export async function running(place: Place, options: MemoryOptions = {}) {
  const { tool, begun, end } = waiting();
  const settings = { approve: ["wait"] };
  const session = await place.memory(asking(["a", "wait"]), { tools: [tool], settings, ...options });
  const advancing = session.advance();
  await begun;
  return { session, advancing, end };
}

export type CallText = readonly [id: string, tool: string, input?: string];

/** A question and a reply with these calls. */
export function asking(...calls: readonly CallText[]): string {
  const blocks = calls.map(([id, tool, input = "{}"]) =>
    `**Tool Use:** \`${tool}\` (\`${id}\`)\n\n\`\`\`json\n${input}\n\`\`\`\n`
  );
  return `@You:\nPlease.\n\n@Assistant:\nI will.\n\n${blocks.join("\n")}`;
}

/** A block with a status, or a final result. */
export function answer(id: string, status: string | null, body = ""): string {
  const info = status === null ? "" : `flemma:tool status=${status}`;
  return `**Tool Result:** \`${id}\`\n\n\`\`\`${info}\n${body === "" ? "" : `${body}\n`}\`\`\`\n`;
}

/** The document with blocks below its calls. */
export function answered(calls: string, ...blocks: readonly string[]): string {
  return `${calls}\n@You:\n\n${blocks.join("\n")}`;
}
