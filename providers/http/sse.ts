// A reader of server-sent events. It returns the data of each event, and lines that are not SSE.

import { createParser } from "npm:eventsource-parser@4.1.3";

export interface SseHandlers {
  /** Called with the data of one event, its lines joined. */
  onData(data: string): void;
  /** Called with a line that belongs to no event, such as part of an error body sent instead of a stream. */
  onLine(line: string): void;
}

/** Number of bytes decoded in one step, because longer strings are garbage that is collected late. */
const AT_ONCE = 1 << 14;

/** Takes bytes cut at any position; `end` reports that the transfer ended cleanly. */
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
  // The parser drops an unfinished line that is not a field, so it gets only whole lines. Fragments are joined once
  // per line: joining at each piece would make long lines quadratic.
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
    // The last event may lack its blank line, and a lone CR at the end stays undecided until more data arrives.
    end: () => feed(`${decoder.decode()}\n\n`),
  };
}
