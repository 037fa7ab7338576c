// The structural parts of the format's test vectors, decisions applied.

import assert from "node:assert/strict";
import { parse, toJson } from "../../parser/mod.ts";
import { checkDocument } from "./promises.ts";

interface Vector {
  readonly name: string;
  readonly chat: string;
  readonly expect: Record<string, unknown>;
}

type Row = Record<string, unknown>;

const FIELDS = new Set(["name", "chat", "files", "expect", "sure", "note", "file", "decision"]);
const STRUCTURE = ["line_count", "frontmatter", "messages", "diagnostics"];
const LATER = new Set(["rewritten", "evaluated", "config"]);
/** Diagnostics are compared by these; the others only where the vector has them. */
const COMPARED = ["code", "severity", "start"];

const vectors = await load();

for (const vector of vectors) {
  Deno.test(`the document of vector ${vector.name} is parsed as the vector expects`, () => {
    for (const field of Object.keys(vector.expect)) {
      assert.ok(
        STRUCTURE.includes(field) || LATER.has(field),
        `the vector expects the unknown field ${field}`,
      );
    }
    const actual = shape(JSON.parse(JSON.stringify(toJson(parse(new TextEncoder().encode(vector.chat))))));
    const expected = shape(vector.expect);
    assert.deepEqual(actual, expected);
  });
}

Deno.test("the documents of all vectors have trees of the grammar, with LF, CR LF and a byte order mark", () => {
  const encoder = new TextEncoder();
  for (const { chat } of vectors) {
    for (const text of [chat, chat.replaceAll(/\r?\n/g, "\r\n"), `\ufeff${chat}`]) {
      checkDocument(encoder.encode(text));
    }
  }
});

Deno.test("the tests use every vector of the format", () => {
  assert.equal(vectors.length, 250 + 37);
});

/** Reads the vectors, with `decisions.jsonl` over those of the same name and the further ones of `extra.jsonl`. */
async function load(): Promise<Vector[]> {
  const mine = (rows: Row[]) => rows.filter((row) => row.file === "chat-format.jsonl");
  const decisions = new Map(mine(await rows("decisions")).map((row) => [row.name, row]));
  const base = await rows("chat-format");
  const known = new Set(base.map((row) => row.name));
  for (const name of decisions.keys()) {
    assert.ok(known.has(name), `a decision names the unknown vector ${name}`);
  }
  return [...base, ...mine(await rows("extra"))].map((row) => {
    const decision = decisions.get(row.name);
    for (const field of Object.keys({ ...row, ...decision })) {
      assert.ok(FIELDS.has(field), `vector ${row.name} has the unknown field ${field}`);
    }
    return { ...row, ...decision } as unknown as Vector;
  });
}

async function rows(name: string): Promise<Row[]> {
  const text = await Deno.readTextFile(new URL(`../vectors/${name}.jsonl`, import.meta.url));
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

/** The structural fields, brought to what the vectors compare. */
function shape(value: Row): Row {
  const { line_count, frontmatter, messages, diagnostics } = value;
  return {
    line_count,
    frontmatter,
    messages: (messages as Row[]).map((message) => ({
      ...message,
      segments: (message.segments as Row[]).map((segment) =>
        segment.kind === "tool_result"
          ? { ...segment, segments: joinTexts(segment.segments as Row[]) }
          : segment
      ),
    })),
    diagnostics: (diagnostics as Row[]).map((row) =>
      Object.fromEntries(COMPARED.map((key) => [key, row[key]]))
    ),
  };
}

/** Where a body is split into adjacent texts is not binding. */
function joinTexts(segments: readonly Row[]): Row[] {
  const joined: Row[] = [];
  for (const segment of segments) {
    const last = joined.at(-1);
    if (segment.kind === "text" && last?.kind === "text") {
      joined[joined.length - 1] = {
        kind: "text",
        value: `${last.value}${segment.value}`,
        start: last.start,
        end: segment.end,
      };
    } else {
      joined.push(segment);
    }
  }
  return joined;
}
