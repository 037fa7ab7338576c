// HTTP responses of a replay server: streams in chunks, streams cut off on purpose, and plain bodies.

import type { Fault, ScriptedReply } from "./script.ts";

/** Creates the response for a reply with these frames, including its simulated error. */
export function answerWith(
  { fault, chunk }: Pick<ScriptedReply, "fault" | "chunk">,
  frames: () => readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Response {
  if (fault?.status !== undefined || fault?.body !== undefined) return plainAnswer(fault);
  return new Response(stream(cutFrames(frames(), chunk), fault?.cut), {
    headers: { "content-type": "text/event-stream", ...headers, ...fault?.headers },
  });
}

function plainAnswer(fault: Fault): Response {
  const status = fault.status ?? 200;
  if (typeof fault.body === "string") return new Response(fault.body, { status, headers: fault.headers });
  return Response.json(fault.body ?? null, { status, headers: fault.headers });
}

function cutFrames(frames: readonly string[], size: number | undefined): readonly Uint8Array[] {
  const encoder = new TextEncoder();
  if (size === undefined || size < 1) return frames.map((frame) => encoder.encode(frame));
  const bytes = encoder.encode(frames.join(""));
  return Array.from(
    { length: Math.ceil(bytes.length / size) },
    (_, index) => bytes.slice(index * size, (index + 1) * size),
  );
}

/** Streams the chunks, and breaks off after `cut` bytes if given. */
function stream(chunks: readonly Uint8Array[], cut: number | undefined): ReadableStream<Uint8Array> {
  let left = cut ?? Infinity;
  let index = 0;
  return new ReadableStream({
    pull(controller) {
      if (left <= 0) return controller.error(new Error("the script cuts the connection here"));
      const chunk = chunks[index++];
      if (chunk === undefined) return controller.close();
      controller.enqueue(chunk.subarray(0, Math.min(left, chunk.length)));
      left -= chunk.length;
    },
  });
}
