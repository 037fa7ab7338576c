// Stage one: the WASM scan finds the same lines as the classifiers of single lines.

import assert from "node:assert/strict";
import { Chunk, STRIDE } from "../../parser/text/chunk.ts";
import * as lines from "../../parser/text/lines.ts";
import { WINDOW } from "../../parser/scan/layout.ts";
import * as marks from "../../parser/text/line_kinds.ts";
import { hostileDocument, Random } from "./hostile.ts";

/** What each line means, asked of every classifier there is. */
function expected(
  bytes: Uint8Array,
): { marks: number[][]; feeds: number; crFeeds: number; starts: number[] } {
  const found: number[][] = [];
  const starts = [0];
  let feeds = 0;
  let crFeeds = 0;
  for (let from = 0; from < bytes.length;) {
    const feed = bytes.indexOf(10, from);
    const to = feed < 0 ? bytes.length : feed;
    const next = feed < 0 ? to : to + 1;
    if (feed >= 0) {
      feeds++;
      if (to > from && bytes[to - 1] === 13) crFeeds++;
      starts.push(next);
    }
    let bits = 0;
    let number = 0;
    const role = lines.markerRole(bytes, from, to);
    if (role !== null) {
      const word = new TextDecoder().decode(bytes.subarray(role.from, role.to));
      number = ["", "You", "Assistant", "System"].indexOf(word) | 0;
      bits |= marks.MARKER;
    }
    if (lines.legacyMarker(bytes, from, to) !== null) bits |= marks.LEGACY;
    const opener = lines.blockOpen(bytes, from, to);
    if (opener !== null) {
      bits |= marks.TICKS;
      number = opener.ticks;
    }
    if (lines.fenceOpen(bytes, from, to) > 0) bits |= marks.OPENS;
    if (lines.bareTicks(bytes, from, to) > 0) bits |= marks.BARE;
    if (lines.frontmatterClose(bytes, from, to)) bits |= marks.BARE_THREE;
    if (lines.toolUseHeader(bytes, from, to) !== null) bits |= marks.USE;
    if (lines.toolResultHeader(bytes, from, to) !== null) bits |= marks.RESULT;
    if (lines.jobResultHeader(bytes, from, to) !== null) bits |= marks.JOB;
    const strict = tags(bytes, from, to);
    const stripped = feed >= 0 && to > from && bytes[to - 1] === 13 ? tags(bytes, from, to - 1) : 0;
    bits |= strict | stripped | (strict === 0 && stripped !== 0 ? marks.NEEDS_CRLF : 0);
    if (bits !== 0) found.push([from, next, bits, Math.max(0, number)]);
    from = next;
  }
  return { marks: found, feeds, crFeeds, starts };
}

function tags(bytes: Uint8Array, from: number, to: number): number {
  const tag = lines.thinkingTag(bytes, from, to);
  return (tag?.selfClosed ? marks.THINKING_TAG : tag ? marks.THINKING_OPEN : 0) |
    (lines.thinkingClose(bytes, from, to) ? marks.THINKING_CLOSE : 0) |
    (lines.serverToolTag(bytes, from, to) !== null ? marks.SERVER_TOOL_OPEN : 0) |
    (lines.serverToolClose(bytes, from, to) ? marks.SERVER_TOOL_CLOSE : 0) |
    (lines.abortMarker(bytes, from, to) !== null ? marks.ABORT : 0);
}

function check(bytes: Uint8Array): void {
  const chunk = new Chunk(bytes);
  const found: number[][] = [];
  for (let at = 0; at < chunk.marks.length; at += STRIDE) {
    found.push([...chunk.marks.subarray(at, at + STRIDE)]);
  }
  const { marks, feeds, crFeeds, starts } = expected(bytes);
  assert.deepEqual(found, marks);
  assert.deepEqual([chunk.feeds, chunk.crFeeds, ...chunk.lines], [feeds, crFeeds, ...starts]);
}

Deno.test("every meaningful line begins with one of the known bytes, and the scan finds exactly these lines", () => {
  for (let seed = 0; seed < 2000; seed++) check(hostileDocument(new Random(seed)));
});

Deno.test("the scan finds lines and line ends that cross the border between two windows", () => {
  for (const length of [-3, -2, -1, 0, 1, WINDOW - 1, WINDOW].map((more) => WINDOW + more)) {
    const filler = new Uint8Array(length).fill(0x78);
    for (const tail of ["\n@You:\n", "\r\n```js\r\n", "\n", "\n@", "", "\n```\n@You:\n`"]) {
      const bytes = new Uint8Array(length + tail.length);
      bytes.set(filler);
      bytes.set(new TextEncoder().encode(tail), length);
      check(bytes);
      bytes[0] = 0x40;
      check(bytes);
      bytes[0] = 0x60;
      check(bytes);
    }
  }
});

Deno.test("the scan finds lines of every length at every position of a scan step", () => {
  for (let length = 0; length < 40; length++) {
    for (let shift = 0; shift < 20; shift++) {
      const line = "`".repeat(length > 20 ? 3 : 1) + "y".repeat(length);
      check(new TextEncoder().encode(`${"z".repeat(shift)}\n${line}\r\n${line}\n\n@You:\n`));
    }
  }
});
