// Documents and streams for the limits: many calls in one reply, and replies of any length.

import { concat } from "../../base/bytes.ts";

/** A call of one reply, as written in a document. */
export interface MadeCall {
  readonly name: string;
  readonly input: object;
}

/** The state of a document's calls. */
export type Stored = "placed" | "pending" | "approved";

/**
 * A document whose last reply contains calls, numbered `call_0`, `call_1` and so on: `placed` has no blocks for them
 * yet, the others have one each.
 */
export function callsDocument(calls: readonly MadeCall[], stored: Stored): string {
  const uses = calls.map(({ name, input }, at) =>
    `**Tool Use:** \`${name}\` (\`call_${at}\`)\n\n\`\`\`json\n${JSON.stringify(input)}\n\`\`\`\n`
  );
  const reply = `@You:\nGo.\n\n@Assistant:\n${uses.join("\n")}`;
  if (stored === "placed") return reply;
  const blocks = calls.map((_, at) =>
    `**Tool Result:** \`call_${at}\`\n\n\`\`\`flemma:tool status=${stored}\n\`\`\`\n`
  );
  return `${reply}\n@You:\n\n${blocks.join("\n")}`;
}

/** `count` calls of the calculator, each with another sum. */
export function sums(count: number): MadeCall[] {
  return Array.from(
    { length: count },
    (_, at) => ({ name: "calculator", input: { expression: `${at} + 1` } }),
  );
}

/** One piece of a model's text, not all of it ASCII. */
const WORDS = "The Tay rises on Ben Lui – 120 miles of it, and none of them straight, says the book.\n"
  .repeat(8);

/** Bytes per chunk. */
const CHUNK = 1 << 14;

/** The content of a reply. */
export type ReplyKind = "text" | "thinking" | "call";

/** The beginning and the deltas of each kind of block. */
const BLOCKS: Readonly<
  Record<ReplyKind, { readonly block: object; readonly delta: (words: string) => object }>
> = {
  text: {
    block: { type: "text", text: "" },
    delta: (words) => ({ type: "text_delta", text: words }),
  },
  thinking: {
    block: { type: "thinking", thinking: "", signature: "" },
    delta: (words) => ({ type: "thinking_delta", thinking: words }),
  },
  call: {
    block: { type: "tool_use", id: "toolu_1", name: "write", input: {} },
    // One member of an object; the inserted text is the inside of a string.
    delta: (words) => ({ type: "input_json_delta", partial_json: JSON.stringify(words).slice(1, -1) }),
  },
};

/** The deltas before and after the pieces of a block. */
const AROUND: Readonly<Record<ReplyKind, readonly [readonly object[], readonly object[]]>> = {
  text: [[], []],
  thinking: [[], [{ type: "signature_delta", signature: "c2lnbmVk" }]],
  call: [
    [{ type: "input_json_delta", partial_json: '{"path":"a.txt","content":"' }],
    [{ type: "input_json_delta", partial_json: '"}' }],
  ],
};

/** The stream of a reply of about `bytes` bytes in one block, as Anthropic's API sends it. */
export function replyStream(bytes: number, kind: ReplyKind = "text"): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const event = (data: object) => encoder.encode(`data: ${JSON.stringify(data)}\n\n`);
  const delta = (one: object) => event({ type: "content_block_delta", index: 0, delta: one });
  const { block, delta: more } = BLOCKS[kind];
  const [before, behind] = AROUND[kind];
  const piece = delta(more(WORDS));
  const batch = Math.max(1, Math.floor(CHUNK / piece.length));
  const many = concat(Array.from({ length: batch }, () => piece));
  const reason = kind === "call" ? "tool_use" : "end_turn";
  const begin = [
    event({ type: "message_start", message: { usage: { input_tokens: 10 } } }),
    event({ type: "content_block_start", index: 0, content_block: block }),
    ...before.map(delta),
  ];
  const end = [
    ...behind.map(delta),
    event({ type: "content_block_stop", index: 0 }),
    event({ type: "message_delta", delta: { stop_reason: reason }, usage: { output_tokens: 3 } }),
    event({ type: "message_stop" }),
  ];
  let left = Math.ceil(bytes / (encoder.encode(WORDS).length * batch));
  let begun = false;
  return new ReadableStream({
    pull(controller) {
      if (!begun) {
        begun = true;
        controller.enqueue(concat(begin));
      } else if (left-- > 0) {
        controller.enqueue(many);
      } else {
        controller.enqueue(concat(end));
        controller.close();
      }
    },
  }, { highWaterMark: 0 });
}
