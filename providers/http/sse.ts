// Reads a server-sent event stream from bytes: the data of each event, and lines that are no SSE at all.

import { createParser } from "npm:eventsource-parser@4.1.3";

/** What a stream is made of. */
export interface SseHandlers {
  /** The data of one event, its lines joined. */
  onData(data: string): void;
  /** A line that belongs to no event: an error body in place of a stream, for instance. */
  onLine(line: string): void;
}

/** Bytes that are decoded at a time: longer strings are garbage that is collected late. */
const AT_ONCE = 1 << 14;

/** Feeds bytes as they come, cut anywhere; `end` tells a clean end of the transfer. */
export interface SseReader {
  feed(bytes: Uint8Array): void;
  end(): void;
}

export function createSseReader(handlers: SseHandlers): SseReader {
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent: (event) => handlers.onData(event.data),
    onError: (error) => {
      if (error.type === "unknown-field" && error.line !== undefined) handlers.onLine(error.line);
    },
  });
  // The parser drops an unfinished line that is no field, so it gets whole lines only. Fragments are joined
  // once per line: a long line in many small pieces must not cost its length for each of them.
  const unfinished: string[] = [];
  const feed = (text: string): void => {
    const end = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
    if (end > 0) {
      parser.feed(unfinished.splice(0).join("") + text.slice(0, end));
      text = text.slice(end);
    }
    if (text !== "") unfinished.push(text);
  };
  return {
    feed(bytes) {
      for (let at = 0; at < bytes.length; at += AT_ONCE) {
        feed(decoder.decode(bytes.subarray(at, at + AT_ONCE), { stream: true }));
      }
    },
    // A last event may lack its blank line, and a lone CR at the very end is undecided until more comes.
    end: () => feed(`${decoder.decode()}\n\n`),
  };
}
