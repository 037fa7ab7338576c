// A conversation of twelve turns with each vendor, against its strict server: tools, an edit of an earlier turn, a copied
// turn, a change of the key within a loop of calls, a cut stream, and a switch to another vendor and back. No refusal
// happens twice, no thinking that the vendor can read is lost, and the beginning of the request stays the same.

import assert from "node:assert/strict";
import type { Settings } from "../../config/settings.generated.ts";
import type { ReplyBlock, ScriptedReply } from "../../providers/replay/script.ts";
import { type Conversation, converse } from "./conversation.ts";

/** A vendor, as it is asked and as its server is played. */
interface Vendor {
  readonly provider: string;
  readonly model: string;
  readonly servers?: Settings["providers"];
  /** The member of the request that contains the conversation. */
  readonly list: "messages" | "input" | "contents";
  /** Where a reply contains its thinking. */
  readonly thinks: "block" | "details" | "tags";
  /** Refusals that teach flemma something, each once. */
  readonly teaches?: readonly RegExp[];
  /** Whether the vendor reads a block; the default is that it reads all. */
  reads?(block: Block, now: Moment): boolean;
}

/** A block of thinking in the document. */
interface Block {
  /** The signature, or the text of unsigned thinking. */
  readonly value: string;
  /** The words that say when it was made: turn and key. */
  readonly turn: number;
  readonly key: string;
}

interface Moment {
  readonly key: string;
  /** True once a question before turn 3 was edited. */
  readonly edited: boolean;
}

const byKey = ({ key }: Block, now: Moment) => key === now.key;

const OWN = (name: string, rest: Settings["providers"][string] = {}): Settings["providers"] => ({
  [name]: { kind: "openai_chat", ...rest },
});

const VENDORS: Readonly<Record<string, Vendor>> = {
  "Anthropic": {
    provider: "anthropic",
    model: "claude-sonnet-5-5",
    list: "messages",
    thinks: "block",
    // The thinking after an edited question is invalid; that of the turns before and after the edit is not.
    reads: ({ turn, key }, now) => key === now.key && (!now.edited || turn < 2 || turn > 3),
  },
  "Anthropic, a model that does not check": {
    provider: "anthropic",
    model: "claude-opus-4-8",
    list: "messages",
    thinks: "block",
  },
  "OpenAI": { provider: "openai", model: "gpt-6.2-sol", list: "input", thinks: "block", reads: byKey },
  "Gemini": {
    provider: "gemini",
    model: "gemini-3.8-flash",
    list: "contents",
    thinks: "block",
    reads: byKey,
  },
  "Vertex AI": {
    provider: "vertex",
    model: "gemini-4-argon",
    list: "contents",
    thinks: "block",
    reads: byKey,
  },
  "Moonshot": { provider: "moonshot", model: "kimi-k3.1-pro", list: "messages", thinks: "block" },
  "OpenRouter": {
    provider: "openrouter",
    model: "anthropic/claude-sonnet-5-5",
    servers: OWN("openrouter", { reasoning_key: "reasoning" }),
    list: "messages",
    thinks: "details",
  },
  "DeepSeek": {
    provider: "deepseek",
    model: "deepseek-v4",
    servers: OWN("deepseek"),
    list: "messages",
    thinks: "block",
  },
  "DeepSeek under a name that flemma does not know": {
    provider: "lab",
    model: "deepseek-v4",
    servers: OWN("lab"),
    list: "messages",
    thinks: "block",
    // Calls of another vendor have no reasoning.
    teaches: [/must be passed back/],
  },
  "Groq": {
    provider: "groq",
    model: "groq/llama-5",
    servers: OWN("groq"),
    list: "messages",
    thinks: "block",
    reads: () => false,
  },
  "Groq under a name that flemma does not know": {
    provider: "lab",
    model: "groq/llama-5",
    servers: OWN("lab"),
    list: "messages",
    thinks: "block",
    teaches: [/'reasoning_content' is unsupported/],
    reads: () => false,
  },
  "Z.ai": {
    provider: "zai",
    model: "glm-5",
    servers: { zai: {} },
    list: "messages",
    thinks: "block",
    teaches: [/must be passed back/],
  },
  "Cerebras": {
    provider: "cerebras",
    model: "cerebras/gpt-oss",
    servers: { cerebras: {} },
    list: "messages",
    thinks: "block",
    reads: () => false,
  },
  "Mistral": {
    provider: "mistral",
    model: "mistral-large",
    servers: { mistral: {} },
    list: "messages",
    thinks: "block",
    reads: () => false,
  },
  "MiniMax": {
    provider: "minimax",
    model: "minimax-m4",
    servers: OWN("minimax"),
    list: "messages",
    thinks: "tags",
  },
};

const TURNS = 12;

/** A stretch of text that takes longer than the connection of a cut stream lasts. */
const LONG = "word ".repeat(2000);
const CUT_AT = 9000;

/** The thinking of a reply: words that say when and with which key it was made. */
function thinking({ thinks }: Vendor, words: string): readonly ReplyBlock[] {
  if (thinks === "tags") return [{ text: `<think>\n${words}\n</think>\n\n` }];
  return [{ thinking: words, ...(thinks === "details" ? { signature: btoa(`signed ${words}`) } : {}) }];
}

const call = (id: string): ReplyBlock => ({ tool_use: { id, name: "bash", input: { command: "ls" } } });
const wordsOf = (turn: number, step: number, key: string) => `plan ${turn}.${step} with ${key}.`;

/** The blocks of thinking of a vendor in a document. */
function blocksIn(text: string, { provider, thinks }: Vendor): readonly Block[] {
  const tags = [...text.matchAll(/<thinking(?: (\w+):signature="([^"]*)")?>\n([^]*?)\n<\/thinking>/g)];
  return tags.flatMap(([, maker, signature, content]) => {
    const at = /plan (\d+)\.\d+ with (\w+)\./.exec(content!);
    const isSigned = !["moonshot", "deepseek", "groq", "minimax", "lab", "zai", "cerebras", "mistral"]
      .includes(provider);
    if (at === null || (isSigned ? maker !== provider || signature === "" : maker !== undefined)) return [];
    const value = !isSigned
      ? content!
      : provider === "openai"
      ? JSON.parse(atob(signature!)).encrypted_content
      : thinks === "details"
      ? JSON.parse(atob(signature!))[0].signature
      : signature!;
    return [{ value, turn: Number(at[1]), key: at[2]! }];
  });
}

/** The conversation in the last request, as text without its end. */
function conversationIn(talk: Conversation, { list }: Vendor): string {
  const { body } = talk.replay.requests.at(-1)!;
  return body.slice(body.indexOf(`"${list}":[`)).replace(/\]\}$/, "");
}

function commonLength(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

/** What happens before a turn or within it. */
const EVENTS = {
  cut: 3,
  edit: 4,
  copy: 5,
  parallel: 6,
  key: 7,
  away: 9,
  back: 10,
  firstKey: 12,
} as const;

/**
 * Turns whose request, or that of the next turn, may differ from the last one before its end. Gemini gets stand-ins for
 * signatures only in the current turn.
 */
const CHANGES: ReadonlySet<number> = new Set([
  EVENTS.edit,
  EVENTS.key,
  EVENTS.away,
  EVENTS.back,
  EVENTS.firstKey,
]);

for (const [name, vendor] of Object.entries(VENDORS)) {
  Deno.test(`${name}: in twelve turns no refusal happens twice, readable thinking is sent, and the beginning of the request is kept`, async () => {
    const other: Vendor = name.startsWith("OpenAI") ? VENDORS["Anthropic"]! : VENDORS["OpenAI"]!;
    const keyAt = (turn: number) => turn < EVENTS.key || turn === EVENTS.firstKey ? "first" : "second";
    const replies: ScriptedReply[] = [];
    for (let turn = 1; turn <= TURNS; turn++) {
      const who = turn === EVENTS.away || turn === EVENTS.back ? other : vendor;
      // The key changes after the call of its turn; the last turn has the first key again.
      const before = turn === EVENTS.key ? "first" : keyAt(turn);
      if (turn === EVENTS.cut) {
        replies.push({
          reply: [...thinking(vendor, wordsOf(turn, 0, before)), { text: LONG }],
          fault: { cut: CUT_AT },
        });
        continue;
      }
      const calls = turn === EVENTS.parallel ? [call(`c${turn}a`), call(`c${turn}b`)] : [call(`c${turn}`)];
      replies.push({ reply: [...thinking(who, wordsOf(turn, 0, before)), ...calls] });
      const ends = turn === EVENTS.back ? vendor : who;
      replies.push({
        reply: [...thinking(ends, wordsOf(turn, 1, keyAt(turn))), { text: `Answer ${turn}.` }],
      });
    }
    await converse({ replies, text: "@System:\nBe brief.\n" }, async (talk) => {
      talk.takesKey = true;
      talk.tools = [{ name: "bash", description: "Runs.", input_schema: { type: "object" } }];
      const figures: string[] = [];
      let last: string | null = null;
      let checked = 0;
      const use = (who: Vendor, key: string) => {
        talk.key = key;
        talk.project = key;
        const url = talk.replay.url;
        talk.servers = Object.fromEntries(
          Object.entries(who.servers ?? {}).map(([server, facts]) => [server, { ...facts, base_url: url }]),
        );
        talk.ask(who.provider, who.model);
      };
      const send = async (turn: number, who: Vendor, key: string, edited: boolean, mayChange: boolean) => {
        const { outcome, reported } = await talk.send();
        const expected = turn === EVENTS.cut ? "failed" : "completed";
        assert.equal(
          outcome.kind,
          expected,
          `turn ${turn}: ${JSON.stringify(outcome)}\n${reported.join("\n")}`,
        );
        if (who !== vendor) {
          last = null;
          return;
        }
        const body = talk.replay.requests.at(-1)!.body;
        const lead = vendor.thinks === "tags" ? "<think>\n" : "";
        const isSent = ({ value }: Block) => body.includes(JSON.stringify(lead + value).slice(1, -1));
        // The blocks of earlier turns, which were in the document before the reply.
        const blocks = blocksIn(talk.text, vendor).filter((block) => block.turn < turn);
        for (const block of blocks) {
          const reads = vendor.reads?.(block, { key, edited }) ?? true;
          if (!reads) continue;
          checked++;
          assert.ok(isSent(block), `turn ${turn}: ${JSON.stringify(block)} is missing`);
        }
        const now = conversationIn(talk, vendor);
        if (last !== null) {
          const kept = commonLength(last, now);
          figures.push(`${turn}: ${kept}/${last.length}`);
          if (!mayChange) {
            assert.equal(kept, last.length, `turn ${turn}: the beginning of the request changed`);
          }
        }
        last = now;
      };
      for (let turn = 1; turn <= TURNS; turn++) {
        const isAway = turn === EVENTS.away || turn === EVENTS.back;
        const who = isAway ? other : vendor;
        const edited = turn >= EVENTS.edit;
        const first = turn === EVENTS.key ? "first" : keyAt(turn);
        if (turn === EVENTS.edit) talk.edit("Question 2.", "Question 2, please.");
        if (turn === EVENTS.copy) {
          const copied = talk.text.slice(
            talk.text.indexOf("@You:\nQuestion 1."),
            talk.text.indexOf("@You:\nQuestion 2"),
          );
          talk.text = talk.text.replace(/@You:\n\s*$/, copied);
        }
        use(who, first);
        talk.say(`Question ${turn}.`);
        await send(turn, who, first, edited, CHANGES.has(turn) || CHANGES.has(turn - 1));
        if (turn === EVENTS.cut) continue;
        const ends = turn === EVENTS.back ? vendor : who;
        use(ends, keyAt(turn));
        const ids = turn === EVENTS.parallel ? [`c${turn}a`, `c${turn}b`] : [`c${turn}`];
        for (const id of ids) talk.answer(id, `out of ${id}`);
        await send(turn, ends, keyAt(turn), edited, turn === EVENTS.key || turn === EVENTS.back);
      }
      assert.equal(talk.replay.remaining, 0);
      const { problems } = talk.replay;
      assert.equal(
        new Set(problems.map((words) => words.replace(/\d+/g, "N"))).size,
        problems.length,
        problems.join("\n"),
      );
      assert.ok(
        checked > 40 || vendor.reads?.({ value: "", turn: 1, key: "" }, { key: "", edited: false }) === false,
      );
      const teaches = vendor.teaches ?? [];
      assert.equal(problems.length, teaches.length, problems.join("\n"));
      teaches.forEach((words, index) => assert.match(problems[index]!, words));
      const line = `${name}: kept bytes of the conversation by turn: ${figures.join(", ")}\n`;
      await Deno.stderr.write(new TextEncoder().encode(line));
    });
  });
}
