// Realistic conversations over real sockets against strict servers: tools, edits of earlier turns, other providers
// and files. No provider refusal reaches the person, and no thinking is dropped without a notice.

import assert from "node:assert/strict";
import type { ScriptedReply } from "../../providers/replay/server.ts";
import { type Conversation, converse } from "./conversation.ts";

const CONVERSATIONS = 20;
const TURNS = 12;

const CLAUDES = [
  "claude-sonnet-5-5",
  "claude-opus-5-5",
  "claude-fable-5-2",
  "claude-haiku-5-5",
  "claude-opus-4-8",
  "claude-sonnet-4-6",
  "claude-haiku-4-5",
].map((model) => ["anthropic", model] as const);

const OTHERS = [
  ["openai", "gpt-6.1-sol"],
  ["openai", "gpt-5.4"],
  ["gemini", "gemini-4-argon"],
  ["gemini", "gemini-3.8-flash"],
  ["moonshot", "kimi-k3.1-pro"],
  ["openai_chat", "qwen3"],
] as const;

/** Numbers that look random and are the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor(state / 65_536) % below;
  };
}

interface Turn {
  /** Calls that the model makes one after the other before it answers. */
  readonly calls: number;
  readonly interleaved: boolean;
}

function replyOf(turn: Turn, name: string): readonly ScriptedReply[] {
  const calls = Array.from({ length: turn.calls }, (_, index): ScriptedReply => ({
    reply: [
      ...(turn.interleaved ? [{ text: `Step ${index} of ${name}.` }] : []),
      { thinking: `plan ${name}.${index}\n` },
      { tool_use: { id: `call_${name}_${index}`, name: "bash", input: { command: "ls" } } },
    ],
  }));
  return [...calls, { reply: [{ thinking: `end ${name}` }, { text: `Answer ${name}.` }] }];
}

const EDITS: Readonly<Record<string, (talk: Conversation, pick: (below: number) => number) => void>> = {
  nothing: () => {},
  question: (talk, pick) => {
    const asked = [...talk.text.matchAll(/^Question (\w+)\.[^\n]*$/gm)];
    const one = asked[pick(asked.length)]!;
    talk.edit(one[0], `${one[0]} And so on.`);
  },
  answer: (talk, pick) => {
    const stated = [...talk.text.matchAll(/^Answer \w+\.$/gm)];
    if (stated.length > 0) talk.edit(stated[pick(stated.length)]![0], "Answered otherwise.");
  },
  deletion: (talk, pick) => {
    const turns = [
      ...talk.text.matchAll(/@You:\nQuestion \w+\.[^@]*?@Assistant:\n<thinking [^@]*?Answer \w+\.\n\n/g),
    ];
    if (turns.length > 1) talk.edit(turns[pick(turns.length - 1)]![0], "");
  },
  system: (talk, pick) => talk.edit("Be brief.", pick(2) === 0 ? "Be brief. Please." : "Be brief. Now."),
  tools: (talk) => {
    const count = talk.tools.length;
    talk.tools = [...talk.tools, {
      name: `tool_${count}`,
      description: "Does.",
      input_schema: { type: "object" },
    }];
  },
  file: (talk, pick) => {
    const name = `notes_${pick(1000)}.md`;
    talk.write(name, "Notes.\n");
    talk.text = talk.text.replace(/@\.\/notes[^\s.]*\.md/, `@./${name}`);
  },
  thinking: (talk, pick) => {
    const blocks = [...talk.text.matchAll(/<thinking [^>]*>\n[^<]*<\/thinking>\n\n/g)];
    if (blocks.length > 0) talk.edit(blocks[pick(blocks.length)]![0], "");
  },
};

/** The thinking in the document that was sent before and is not sent now, although its text and signature are there. */
function lost(talk: Conversation, before: readonly string[]): readonly string[] {
  const now = new Set(talk.thinking);
  return before.filter((text) => !now.has(text) && talk.text.includes(`>\n${text}\n</thinking>`));
}

for (let number = 1; number <= CONVERSATIONS; number++) {
  Deno.test(`conversation ${number} of ${CONVERSATIONS}: ${TURNS} turns with tools, edits and two changes of the provider`, async () => {
    const pick = numbers(number);
    const turns = Array.from({ length: TURNS }, (): Turn => ({ calls: pick(3), interleaved: pick(2) === 0 }));
    const names = turns.map((_, index) => `${number}x${index}`);
    const replies = turns.flatMap((turn, index) => replyOf(turn, names[index]!));
    // The provider changes twice: away and back in one half of them, and on to Anthropic and away in the other.
    const [first, second] = number % 2 === 0 ? [CLAUDES, OTHERS] : [OTHERS, CLAUDES];
    const models = [first, second, first].map((list) => list[pick(list.length)]!);
    const text = "@System:\nBe brief.\n";
    await converse({ replies, text }, async (talk) => {
      talk.write("notes.md", "Notes.\n");
      talk.tools = [{ name: "bash", description: "Runs.", input_schema: { type: "object" } }];
      let before: readonly string[] = [];
      const send = async () => {
        const { outcome, reported } = await talk.send();
        assert.equal(outcome.kind, "completed", outcome.kind === "failed" ? outcome.problem.message : "");
        assert.ok(
          !reported.some((words) => words.includes("because the text before has changed")),
          "it was known before it was sent",
        );
        const gone = talk.isAnthropic ? lost(talk, before) : [];
        // A model that is told nothing of its own thinking gets none; everything else is said.
        if (gone.length > 0) {
          assert.ok(reported.some((words) => words.includes("thinking")), `${gone} ${reported}`);
        }
        if (talk.isAnthropic) before = talk.thinking;
      };
      for (const [index, turn] of turns.entries()) {
        const [provider, model] = models[Math.floor(index * models.length / TURNS)]!;
        talk.ask(provider, model);
        if (index > 0 && pick(2) === 0) {
          const kinds = Object.values(EDITS);
          kinds[pick(kinds.length)]!(talk, pick);
        }
        const file = index === 0 ? " See @./notes.md." : "";
        talk.say(`Question ${names[index]}.${file}`);
        await send();
        for (let call = 0; call < turn.calls; call++) {
          talk.answer(`call_${names[index]}_${call}`, `out ${call}`);
          await send();
        }
      }
      assert.equal(talk.replay.remaining, 0);
      assert.deepEqual(talk.replay.problems, [], "what does not fit is left out before it is refused");
    });
  });
}
