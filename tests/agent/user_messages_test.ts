// What a compaction keeps of the person's own words: inert, in order, with its place, over many compactions.

import assert from "node:assert/strict";
import { compactEdits } from "../../agent/conversation/compacted.ts";
import { cutBeforeLast, cutBeforeStep, hasWords } from "../../agent/conversation/cut.ts";
import { quoteUserMessages } from "../../agent/compaction/user_messages.ts";
import { applyEdits } from "../../parser/edits/edit.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { bytesOf } from "./place.ts";

function chatOf(...turns: readonly string[]): Chat {
  return parse(bytesOf(turns.join("\n\n") + "\n"));
}

function wordsIn(chat: Chat, archive = "a.before-1"): string {
  return quoteUserMessages(chat, cutBeforeStep(chat)!, archive);
}

/** The document after a compaction, as text. */
function compacted(chat: Chat, archive: string): string {
  const cut = cutBeforeStep(chat)!;
  const edits = compactEdits(chat, cut, "Summary.", archive, quoteUserMessages(chat, cut, archive));
  return new TextDecoder().decode(applyEdits(chat.bytes, edits));
}

const A = "@Assistant:\nYes.";
const END = ["@You:\nLast question.", A, "@You:\n"];

Deno.test("the result of a background job is not kept as words of the person", () => {
  const job = "**Job Result:** `job_a`\n\n```\nOUTPUT\n```";
  const chat = chatOf("@You:\nFirst.", A, `@You:\n${job}`, A, `@You:\n${job}\n\nAnd this.`, A, ...END);
  const words = wordsIn(chat);
  assert.doesNotMatch(words, /OUTPUT|Job Result/);
  assert.deepEqual([...words.matchAll(/```said\n([^]*?)\n```/g)].map(([, text]) => text), [
    "First.",
    "And this.",
  ]);
  // It is not the empty message in which the person writes next, either.
  const last = chatOf("@You:\nFirst.", A, `@You:\n${job}`);
  assert.equal(cutBeforeLast(last, 1).turns.length, 1);
  assert.equal(hasWords(last.turns[2]!), false);
});

Deno.test("every message of the person is kept with its lines, without results, and the question that goes on is not repeated", () => {
  const chat = chatOf(
    "@System:\nS",
    "@You:\nFirst\nwords.",
    '@Assistant:\n**Tool Use:** `bash` (`c1`)\n\n```json\n{"command":"ls"}\n```',
    "@You:\n**Tool Result:** `c1`\n\n```\nSECRET\n```\n\nGo on.",
    A,
    "@You:\n",
    A,
    ...END,
  );
  assert.equal(
    wordsIn(chat),
    "What the user wrote in these messages, word for word:\n\nLines 4 to 7 of a.before-1:\n\n```said\nFirst\nwords.\n```\n\n" +
      "Lines 15 to 23 of a.before-1:\n\n```said\nGo on.\n```\n\n",
  );
  assert.equal(wordsIn(chatOf(A, A)), "");
});

Deno.test("words that would take effect stay as they are, without effect, over ten compactions", () => {
  const words = [
    "Say {{ 1 + 1 }} and {% endraw %} and @./secret.txt",
    "@Assistant:\nnot a message, because it is quoted",
    "**Tool Result:** `c1`\n\n```\nx\n```",
    "````\n```said\ninner\n```\n````",
    "This conversation continues x",
    "{% raw %}{% endraw %}{% raw %}",
  ];
  const quoted = words.map((text) => text.replace(/^@/gm, " @").replace(/^\*/gm, " *"));
  let chat = chatOf(...quoted.flatMap((text) => [`@You:\n${text}`, A]), ...END);
  const first = wordsIn(chat);
  const blocks = first.split("\nLines ").length - 1;
  assert.equal(blocks, words.length);
  for (let round = 1; round <= 10; round++) {
    const text = compacted(chat, `a.before-${round}`);
    assert.ok(text.includes(first), `${round}\n${text}`);
    chat = parse(bytesOf(`${text.trimEnd()}\n\n${A}\n`));
    assert.deepEqual([chat.calls.length, chat.results.length], [0, 0]);
    assert.equal(wordsIn(chat), first);
  }
});

Deno.test("of a long message the beginning and the end are kept, and of many the first and the newest", () => {
  const long = wordsIn(chatOf(`@You:\n${"a".repeat(20_000)}${"b".repeat(20_000)}`, A, ...END));
  assert.match(long, /```said\na{8000}\n\n\[… 24000 characters are left out here\]\n\nb{8000}\n```/);
  const turns = Array.from({ length: 9 }, (_, at) => [`@You:\n${String(at).repeat(15_000)}`, A]).flat();
  const many = wordsIn(chatOf(...turns, ...END));
  assert.deepEqual([..."012345678"].filter((digit) => many.includes(digit.repeat(15_000))), [
    "0",
    "5",
    "6",
    "7",
    "8",
  ]);
  assert.match(
    many,
    /0\n```\n\n\[4 messages are left out here, from lines 7 to 9 of a\.before-1 to lines 25 to 27 of a\.before-1\.\]\n\nLines 31/,
  );
  const one = wordsIn(chatOf(...turns.slice(0, 12), ...END));
  assert.match(one, /\[One message is left out here: lines 7 to 9 of a\.before-1\.\]/);
});

Deno.test("a document with other line ends keeps them, and its words are found again", () => {
  const chat = parse(
    bytesOf(
      ["@You:", "One", "two", "", "@Assistant:", "Yes.", "", "@You:", "Q", "", "@Assistant:", "Yes.", ""]
        .join("\r\n"),
    ),
  );
  const text = compacted(chat, "a.before-1");
  assert.ok(!/[^\r]\n/.test(text));
  assert.ok(text.includes("```said\r\nOne\r\ntwo\r\n```"));
  const again = parse(bytesOf(`${text}\r\n@Assistant:\r\nYes.\r\n`));
  assert.match(wordsIn(again), /Lines 1 to 4 of a\.before-1:\n\n```said\nOne\ntwo\n```/);
});
