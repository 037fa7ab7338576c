import assert from "node:assert/strict";
import { createSseReader } from "../../providers/http/sse.ts";

/** Data and stray lines of a stream that arrives in pieces of `size` bytes. */
function read(stream: string, size: number): { data: string[]; lines: string[] } {
  const data: string[] = [];
  const lines: string[] = [];
  const reader = createSseReader({ onData: (one) => data.push(one), onLine: (line) => lines.push(line) });
  const bytes = new TextEncoder().encode(stream);
  for (let at = 0; at < bytes.length; at += size) reader.feed(bytes.subarray(at, at + size));
  reader.end();
  return { data, lines };
}

const CASES: readonly (readonly [string, string, readonly string[], readonly string[]])[] = [
  ["LF", "data: a\n\ndata: b\n\n", ["a", "b"], []],
  ["CR LF", "event: x\r\ndata: a\r\n\r\n", ["a"], []],
  ["CR alone", "data: a\r\rdata: b\r\r", ["a", "b"], []],
  ["comments and no space after the colon", ": hi\ndata:a\n\n", ["a"], []],
  ["several data lines", "data: a\ndata: b\n\n", ["a\nb"], []],
  ["no blank line at the end", "data: a\n\ndata: b", ["a", "b"], []],
  ["a byte order mark", "\ufeffdata: a\n\n", ["a"], []],
  ["characters of several bytes", "data: äö😀\u2028x\n\n", ["äö😀\u2028x"], []],
  ["lines that are not SSE", '{\n  "error": 1\n}', [], ["{", '  "error": 1', "}"]],
  ["stray lines between events", "data: a\n\n<html>\ndata: b\n\n", ["a", "b"], ["<html>"]],
  ["nothing", "", [], []],
];

Deno.test("an event stream gives the same events wherever it is cut", async (t) => {
  for (const [name, stream, data, lines] of CASES) {
    await t.step(name, () => {
      for (const size of [1, 2, 3, 7, 1000]) {
        assert.deepEqual(read(stream, size), { data, lines }, `size ${size}`);
      }
    });
  }
});
