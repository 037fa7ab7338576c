// The person's own words, which an automatic compaction keeps below the summary. Pure.

import { visible } from "../../base/visible.ts";
import type { Chat, Turn } from "../../parser/types.ts";
import { wordsOf } from "../conversation/compacted.ts";
import type { Cut } from "../conversation/cut.ts";
import { quoteLine, quoteText, unquoted } from "../conversation/quoted.ts";

/** A message of the person, with a caption that says where it is. */
interface Words {
  readonly caption: string;
  readonly text: string;
}

/** Most characters that are kept of one message: about 4,000 tokens. */
const MOST_OF_ONE = 16_000;
/** Most characters that are kept in all: about 20,000 tokens. */
const MOST_IN_ALL = 80_000;

const HEADING = "What the user wrote in these messages, word for word:";
const INFO = "said";

/**
 * Returns what the person wrote in the messages that are summarized, as text for the message with the summary: every
 * message in a block of its own, where nothing takes effect. Of very long messages the beginning and the end are kept.
 * If there is too much, the first message and the newest ones are kept. Words that an earlier compaction kept are kept
 * again.
 *
 * @param archive name of the document with the complete messages
 * @returns complete lines, or an empty text if the person wrote nothing
 */
export function quoteUserMessages(chat: Chat, { summed, asked }: Cut, archive: string): string {
  const all = summed.filter((turn) => turn.role === "You" && turn !== asked)
    .flatMap((turn) => earlierWords(chat, turn) ?? ownWords(chat, turn, archive));
  if (all.length === 0) return "";
  const kept = selected(all);
  const dropped = all.filter((words) => !kept.has(words));
  const blocks = all.flatMap((words) => {
    if (kept.has(words)) return [`${quoteLine(words.caption)}\n\n${quoteText(words.text, INFO)}`];
    return words === dropped[0] ? [`${quoteLine(leftOut(dropped))}\n`] : [];
  });
  return `${HEADING}\n\n${blocks.join("\n")}\n`;
}

/** Returns the messages that are kept: the first one, and as many of the newest as there is room for. */
function selected(all: readonly Words[]): ReadonlySet<Words> {
  const [first] = all;
  const kept = new Set(first === undefined ? [] : [first]);
  let size = first?.text.length ?? 0;
  for (const words of all.slice(1).toReversed()) {
    size += words.text.length;
    if (size > MOST_IN_ALL) break;
    kept.add(words);
  }
  return kept;
}

function leftOut(dropped: readonly Words[]): string {
  const place = ({ caption }: Words) => caption.replace(/:$/, "").replace(/^L/, "l");
  const [first, last] = [dropped[0]!, dropped.at(-1)!];
  return first === last
    ? `[One message is left out here: ${place(first)}.]`
    : `[${dropped.length} messages are left out here, from ${place(first)} to ${place(last)}.]`;
}

function ownWords(chat: Chat, turn: Turn, archive: string): readonly Words[] {
  const text = sourceOf(chat, turn).trim();
  if (text === "") return [];
  const { start, end } = turn.place;
  return [{ caption: `Lines ${start} to ${end} of ${visible(archive)}:`, text: shortened(text) }];
}

/** Returns a message without its marker and its results, as it is in the document, with line feeds as line ends. */
function sourceOf(chat: Chat, turn: Turn): string {
  const text = new TextDecoder().decode(wordsOf(chat, turn)).replaceAll("\r\n", "\n");
  return text.slice(text.indexOf("\n") + 1);
}

function shortened(text: string): string {
  if (text.length <= MOST_OF_ONE) return text;
  const [head, tail] = [text.slice(0, MOST_OF_ONE / 2), text.slice(-MOST_OF_ONE / 2)];
  return `${head.toWellFormed()}\n\n[… ${
    text.length - MOST_OF_ONE
  } characters are left out here]\n\n${tail.toWellFormed()}`;
}

/** Matches a caption and the block below it, as `quoteUserMessages` writes them. */
const KEPT =
  /^(.*:(?:\{% endraw %\})?)\n\n((?:\{% raw %\}\n)?)(`{3,})said\n([^]*?)\n\3(?:\n\{% endraw %\})?$/gm;

/** Returns the words that an earlier compaction kept in this message; null if the message is not from a compaction. */
function earlierWords(chat: Chat, turn: Turn): readonly Words[] | null {
  const text = sourceOf(chat, turn);
  if (!/^(?:\{% raw %\})?This conversation continues .*\n\n(?:\{% raw %\}\n)?`{3,}summary$/m.test(text)) {
    return null;
  }
  return [...text.matchAll(KEPT)].map(([, caption = "", raw, , body = ""]) => ({
    caption: caption.startsWith("{% raw %}") ? unquoted(caption.slice(9, -12)) : caption,
    text: raw === "" ? body : unquoted(body),
  }));
}
