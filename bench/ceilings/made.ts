// Documents and streams for the limits: many calls of one reply, and replies of any length.

/** A call of one reply, as it is written into a document. */
export interface MadeCall {
  readonly name: string;
  readonly input: object;
}

/** How the calls of a document stand. */
export type Standing = "placed" | "pending" | "approved";

/**
 * A document whose last reply holds calls, numbered `call_0`, `call_1` and so on: `placed` has no blocks for them yet, the
 * others have one for each.
 */
export function callsDocument(calls: readonly MadeCall[], standing: Standing): string {
  const uses = calls.map(({ name, input }, at) =>
    `**Tool Use:** \`${name}\` (\`call_${at}\`)\n\n\`\`\`json\n${JSON.stringify(input)}\n\`\`\`\n`
  );
  const reply = `@You:\nGo.\n\n@Assistant:\n${uses.join("\n")}`;
  if (standing === "placed") return reply;
  const blocks = calls.map((_, at) =>
    `**Tool Result:** \`call_${at}\`\n\n\`\`\`flemma:tool status=${standing}\n\`\`\`\n`
  );
  return `${reply}\n@You:\n\n${blocks.join("\n")}`;
}

/** So many calls of the calculator, each of another sum. */
export function sums(count: number): MadeCall[] {
  return Array.from(
    { length: count },
    (_, at) => ({ name: "calculator", input: { expression: `${at} + 1` } }),
  );
}

/** What a model says at a time, not all of it ASCII. */
const WORDS = "The Tay rises on Ben Lui – 120 miles of it, and none of them straight, says the book.\n"
  .repeat(8);

/** Bytes that are sent together. */
const CHUNK = 1 << 14;

/** The stream of a reply of about so many bytes of text, as Anthropic's API sends it. */
export function replyStream(bytes: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const event = (data: object) => encoder.encode(`data: ${JSON.stringify(data)}\n\n`);
  const delta = event({
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text: WORDS },
  });
  const batch = Math.max(1, Math.floor(CHUNK / delta.length));
  const many = new Uint8Array(delta.length * batch);
  for (let at = 0; at < batch; at++) many.set(delta, at * delta.length);
  let left = Math.ceil(bytes / (encoder.encode(WORDS).length * batch));
  let begun = false;
  return new ReadableStream({
    pull(controller) {
      if (!begun) {
        begun = true;
        controller.enqueue(event({ type: "message_start", message: { usage: { input_tokens: 10 } } }));
        controller.enqueue(
          event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
        );
      } else if (left-- > 0) {
        controller.enqueue(many);
      } else {
        controller.enqueue(event({ type: "content_block_stop", index: 0 }));
        controller.enqueue(
          event({
            type: "message_delta",
            delta: { stop_reason: "end_turn" },
            usage: { output_tokens: 3 },
          }),
        );
        controller.enqueue(event({ type: "message_stop" }));
        controller.close();
      }
    },
  }, { highWaterMark: 0 });
}
