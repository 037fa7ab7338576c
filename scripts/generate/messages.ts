// Collects every sentence that the program can print from its source, for tests of wording and for printing.
//
//   deno run -A scripts/generate/messages.ts          one per line: room, codes, sentence, next step
//   deno run -A scripts/generate/messages.ts WORD…    those that contain one of the words

import { byBytes } from "../../base/bytes.ts";
import { isThere } from "../../base/files.ts";
import { ROOMS } from "../gate/layers.ts";
import { print, ROOT } from "../gate/root.ts";
import { walk } from "../mutate/walk.ts";
import { type Sentence, sentencesOf } from "./messages/collect.ts";

/** A sentence and the room that it comes from. Sentence and next step are each one line. */
export interface Message extends Sentence {
  readonly room: string;
}

/**
 * Files whose texts are documented on other pages or not meant for users: help, settings, file names, the test server.
 */
const NO_WORDS: readonly string[] = [
  "commands/line/help.ts",
  "commands/line/manual.ts",
  "commands/line/overview.ts",
  "commands/line/rows/",
  "commands/line/table.ts",
  "base/media.ts",
  "config/schema/parameters.ts",
  "config/schema/schema.ts",
  "config/schema/tools.ts",
  "providers/replay/",
  "render/html/",
  "render/secrets.ts",
];

/** Returns all sentences of all rooms, each once, sorted by room and text. */
export async function collectMessages(root: string = ROOT): Promise<Message[]> {
  const found = new Map<string, Message>();
  for (
    const room of Object.keys(ROOMS).filter((name) => !name.endsWith(".ts") && isThere(`${root}/${name}`))
  ) {
    for await (const path of walk(`${root}/${room}`, ".ts")) {
      const file = path.slice(root.length + 1);
      if (file.endsWith(".generated.ts") || NO_WORDS.some((start) => file.startsWith(start))) continue;
      for (const { codes, text, next } of sentencesOf(await Deno.readTextFile(path))) {
        const message = { room, codes, text: oneLine(text), next: next === null ? null : oneLine(next) };
        found.set(shown(message), message);
      }
    }
  }
  return [...found].sort(([a], [b]) => byBytes(a, b)).map(([, message]) => message);
}

function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, " / ");
}

function shown({ room, codes, text, next }: Message): string {
  return [room, codes.join(" "), text, next ?? ""].join("\t");
}

if (import.meta.main) {
  for (const message of await collectMessages()) {
    const line = shown(message);
    if (Deno.args.length === 0 || Deno.args.some((word) => line.includes(word))) print(line);
  }
}
