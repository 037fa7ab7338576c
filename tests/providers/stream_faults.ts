// Every fault of a stream as a server would send it in each provider's dialect, and the expected result.

import type { Answer } from "./loopback.ts";
import { DIALECTS, type Frame, stream, type StreamDialect } from "./same_stream.ts";

/** The document that is sent. */
export const BEFORE = "@You:\nhi\n";
const WORDS = "Grüße 😀\u2028 and done.";
const INPUT = '{"command":"ls","n":[1]}';
const PIECES = ['{"comm', 'and":"ls","n"', ":[1]}"];

const use = (id: string) => `**Tool Use:** \`bash\` (\`${id}\`)\n\n\`\`\`json\n${INPUT}\n\`\`\`\n`;
const reply = (body: string) => `${BEFORE}\n@Assistant:\n${body}\n@You:\n\n`;
/** The document with the whole reply. */
export const WHOLE = reply(`${WORDS}\n\n${use("c1")}`);

/** How a fault has to end. `text` is what of the reply the document keeps, before the mark of a reply that broke off. */
export type Ending =
  | { readonly is: "whole"; readonly document?: string; readonly warns?: true }
  | { readonly is: "cut"; readonly document: string }
  | { readonly is: "failed"; readonly text: string | null; readonly says?: RegExp };

export interface Fault {
  answer(dialect: StreamDialect): Answer;
  readonly ending: Ending | ((dialect: StreamDialect) => Ending);
}

const SSE = { "content-type": "text/event-stream" };
const JSON_TYPE = { "content-type": "application/json" };
const HTML = "<html><body><h1>Bad gateway</h1></body></html>";

const all = (dialect: StreamDialect): readonly Frame[] => [
  ...dialect.begin(),
  ...dialect.text(WORDS),
  ...dialect.call({ id: "c1", index: 0, pieces: PIECES }),
  ...dialect.end("calls"),
];
const begun = (dialect: StreamDialect): readonly Frame[] => [...dialect.begin(), ...dialect.text(WORDS)];
const withCalls = (
  dialect: StreamDialect,
  ...calls: readonly Parameters<StreamDialect["call"]>[0][]
): readonly Frame[] => [
  ...begun(dialect),
  ...calls.flatMap((call) => dialect.call(call)),
  ...dialect.end("calls"),
];

function streamed(
  make: (dialect: StreamDialect) => string | Uint8Array,
  rest: Partial<Answer> = {},
): Fault["answer"] {
  return (dialect) => ({ headers: SSE, ...rest, body: make(dialect) });
}

const whole: Ending = { is: "whole" };
const nothing = (says?: RegExp): Ending => ({ is: "failed", text: null, says });
const broken = (says?: RegExp): Ending => ({ is: "failed", text: `${WORDS}\n`, says });
const status = (
  code: number,
  body: (dialect: StreamDialect) => unknown,
  ending: Ending,
  headers = JSON_TYPE,
): Fault => ({
  answer: (dialect) => {
    const stated = body(dialect);
    return { status: code, headers, body: typeof stated === "string" ? stated : JSON.stringify(stated) };
  },
  ending,
});

async function gzip(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

const packed = new Map<string, Uint8Array>();
for (const dialect of DIALECTS) packed.set(dialect.provider, await gzip(stream(all(dialect))));

const GZIP = { ...SSE, "content-encoding": "gzip" };

/** Faults by what is wrong. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  // How bytes are cut and lines end
  "no deviation at all": { answer: streamed((dialect) => stream(all(dialect))), ending: whole },
  "single bytes, with characters of several bytes cut": {
    answer: streamed((v) => stream(all(v)), { chunk: 1 }),
    ending: whole,
  },
  "chunks of seven bytes": { answer: streamed((v) => stream(all(v)), { chunk: 7 }), ending: whole },
  "lines that end in CR LF": { answer: streamed((v) => stream(all(v), { eol: "\r\n" })), ending: whole },
  "CR LF in single bytes": {
    answer: streamed((v) => stream(all(v), { eol: "\r\n" }), { chunk: 1 }),
    ending: whole,
  },
  "lines that end in CR": { answer: streamed((v) => stream(all(v), { eol: "\r" })), ending: whole },
  "a byte order mark": { answer: streamed((v) => `\ufeff${stream(all(v))}`), ending: whole },
  "comments between events": {
    answer: streamed((v) => `: hello\n\n${stream(all(v), { between: ": OPENROUTER PROCESSING\n\n" })}`),
    ending: whole,
  },
  "no space after the colon": { answer: streamed((v) => stream(all(v), { space: "" })), ending: whole },
  "blank lines between events": {
    answer: streamed((v) => stream(all(v), { between: "\n\n" })),
    ending: whole,
  },
  "fields for ids and retry times": {
    answer: streamed((v) => stream(all(v), { between: "id: 7\nretry: 10\n\n" })),
    ending: whole,
  },
  "data over several lines": {
    answer: streamed((v) => stream(all(v).map((frame) => ({ ...frame, data: pretty(frame.data) })))),
    ending: whole,
  },
  "a last event without its blank line": { answer: streamed((v) => stream(all(v)).trimEnd()), ending: whole },
  "an end marker that the API does not have": {
    answer: streamed((v) => `${stream(all(v))}data: [DONE]\n\n`),
    ending: whole,
  },
  "empty data and null": {
    answer: streamed((v) => stream(all(v), { between: "data:\n\ndata: null\n\n" })),
    ending: whole,
  },
  "characters as escapes": {
    answer: streamed((v) => stream(all(v)).replace(/[^\0-\x7f]/g, (c) => `\\u${hex(c)}`)),
    ending: whole,
  },
  "garbage after the end": { answer: streamed((v) => `${stream(all(v))}<html>data: {"x"`), ending: whole },
  "a compressed body": {
    answer: (v) => ({ headers: GZIP, body: packed.get(v.provider)! }),
    ending: whole,
  },
  "a content type with a character set": {
    answer: streamed((v) => stream(all(v)), {
      headers: { "content-type": "text/event-stream; charset=utf-8" },
    }),
    ending: whole,
  },
  "no type": { answer: streamed((v) => stream(all(v)), { headers: {} }), ending: whole },
  "the content type of plain text": {
    answer: streamed((v) => stream(all(v)), { headers: { "content-type": "text/plain" } }),
    ending: whole,
  },
  "an event of two million characters": {
    answer: streamed((v) => stream([...v.begin(), ...v.text("x".repeat(2_000_000)), ...v.end("normal")])),
    ending: { is: "whole", document: reply(`${"x".repeat(2_000_000)}\n`) },
  },
  "an unknown event": {
    answer: streamed((v) => stream([...begun(v), ...v.unknown(), ...all(v).slice(begun(v).length)])),
    // At Gemini it is a part of the reply, which is left out.
    ending: (v) => v.provider === "gemini" ? { is: "whole", warns: true } : whole,
  },
  // Calls
  "a call in one piece": {
    answer: streamed((v) => stream(withCalls(v, { id: "c1", index: 0, pieces: [INPUT] }))),
    ending: whole,
  },
  "an input that is an object": {
    answer: streamed((v) =>
      stream(withCalls(v, { id: "c1", index: 0, pieces: [], object: JSON.parse(INPUT) }))
    ),
    ending: whole,
  },
  "two calls with one id": {
    answer: streamed((v) =>
      stream(withCalls(v, { id: "c1", index: 0, pieces: PIECES }, { id: "c1", index: 1, pieces: PIECES }))
    ),
    ending: { is: "whole", document: reply(`${WORDS}\n\n${use("c1")}\n${use("c1_2")}`) },
  },
  "calls without an id": {
    answer: streamed((v) =>
      stream(
        withCalls(v, { id: undefined, index: 0, pieces: PIECES }, {
          id: undefined,
          index: 1,
          pieces: PIECES,
        }),
      )
    ),
    ending: { is: "whole", document: reply(`${WORDS}\n\n${use("{{ID}}")}\n${use("{{ID}}")}`) },
  },
  "a call with an empty id": {
    answer: streamed((v) => stream(withCalls(v, { id: "", index: 0, pieces: PIECES }))),
    ending: { is: "whole", document: reply(`${WORDS}\n\n${use("{{ID}}")}`) },
  },
  // What breaks off or goes wrong in the middle
  "an error as the first event": {
    answer: streamed((v) => stream(v.error("Out of order."))),
    ending: nothing(/Out of order/),
  },
  "an error in the middle": {
    answer: streamed((v) => stream([...begun(v), ...v.error("Out of order.")])),
    ending: broken(/Out of order/),
  },
  "an error in the middle of a call": {
    answer: streamed((v) => stream([...begun(v), ...v.halfCall('{"a'), ...v.error("Out of order.")])),
    ending: broken(/Out of order/),
  },
  "half an input, then a normal end": {
    answer: streamed((v) =>
      stream([...begun(v), ...v.halfCall('{"command":"rm -rf /tmp'), ...v.end("calls")])
    ),
    // Where a call is one event, a part of it is no JSON: the person is told that something is missing.
    ending: (v) =>
      v.provider === "gemini"
        ? { is: "whole", document: reply(`${WORDS}\n`), warns: true }
        : broken(/was incomplete/),
  },
  "the token limit in the middle of a text": {
    answer: streamed((v) => stream([...begun(v), ...v.end("limit")])),
    ending: { is: "cut", document: reply(`${WORDS}\n`) },
  },
  "the token limit in the middle of a call": {
    answer: streamed((v) => stream([...begun(v), ...v.halfCall('{"command":"ls'), ...v.end("limit")])),
    ending: (v) =>
      v.provider === "gemini" ? { is: "cut", document: reply(`${WORDS}\n`) } : broken(/token limit/),
  },
  "a withdrawn reply": {
    answer: streamed((v) => stream([...begun(v), ...v.end("blocked")])),
    ending: { is: "failed", text: `${WORDS}\n` },
  },
  "a stream without its end": {
    answer: streamed((v) => stream(begun(v))),
    ending: broken(/before the reply was complete/),
  },
  "a stream that ends in the middle of an event": {
    answer: streamed((v) => stream(all(v)).slice(0, stream(begun(v)).length + 20)),
    ending: broken(/before the reply was complete/),
  },
  "an empty stream": { answer: streamed(() => ""), ending: nothing(/before the reply was complete/) },
  "only comments": {
    answer: streamed(() => ": a\n\n: b\n\n"),
    ending: nothing(/before the reply was complete/),
  },
  "only a beginning": {
    answer: streamed((v) => stream(v.begin())),
    ending: nothing(/before the reply was complete/),
  },
  "a line that is not JSON in the middle": {
    answer: streamed((v) => stream([...begun(v), { data: '{"type":' }, ...all(v).slice(begun(v).length)])),
    ending: { is: "whole", warns: true },
  },
  "a connection that is cut": {
    answer: streamed((v) => stream(begun(v)), { reset: true }),
    ending: broken(/broke/),
  },
  "a connection that is cut before the first byte": {
    answer: streamed(() => "", { reset: true }),
    ending: nothing(/broke|complete/),
  },
  "a compressed body that is cut": {
    answer: (v) => ({ headers: GZIP, body: packed.get(v.provider)!.subarray(0, 40) }),
    ending: { is: "failed", text: null },
  },
  "silence in the middle": {
    answer: streamed((v) => stream(begun(v)), { hang: true }),
    ending: broken(/ sent nothing for /),
  },
  "silence from the beginning": {
    answer: streamed(() => "", { hang: true }),
    ending: nothing(/ sent nothing for /),
  },
  // Answers that are no stream
  "400": status(400, (v) => v.refusal("The sky is too blue."), nothing(/too blue/)),
  "401": status(401, (v) => v.refusal("No such key."), nothing(/No such key/)),
  "404 with a page": status(404, () => HTML, nothing(/HTTP 404.*Bad gateway/), {
    "content-type": "text/html",
  }),
  "413": status(413, (v) => v.refusal("Request too large."), nothing(/too large/)),
  "429": status(429, (v) => v.refusal("Too many requests."), nothing(/Too many/)),
  "500": status(500, (v) => v.refusal("Oh dear."), nothing(/Oh dear/)),
  "502 with a page": status(502, () => HTML, nothing(/HTTP 502.*Bad gateway/), {
    "content-type": "text/html",
  }),
  "503 with an empty body": status(503, () => "", nothing(/HTTP 503/)),
  "529 as an event stream": status(529, (v) => stream(all(v)), nothing(/HTTP 529/), SSE),
  "a redirect": {
    answer: () => ({ status: 307, headers: { location: "http://127.0.0.1:1/" }, body: "" }),
    ending: nothing(/redirects to/),
  },
  "a page instead of a stream": status(200, () => HTML, nothing(/Bad gateway/), {
    "content-type": "text/html",
  }),
  "a page with the content type of a stream": status(200, () => HTML, nothing(/Bad gateway/), SSE),
  "an error with a success status": status(200, (v) => v.refusal("Sold out."), nothing(/Sold out/)),
  "an error with the content type of a stream": status(
    200,
    (v) => v.refusal("Sold out."),
    nothing(/Sold out/),
    SSE,
  ),
  "a stream with the content type of JSON": {
    answer: streamed((v) => stream(all(v)), { headers: JSON_TYPE }),
    ending: nothing(/Unexpected API response/),
  },
};

function pretty(data: string): string {
  return data.startsWith("{") ? JSON.stringify(JSON.parse(data), null, 1) : data;
}

/** Each half of a character by itself, as JSON escapes it. */
function hex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, "0");
}
