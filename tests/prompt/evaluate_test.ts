import assert from "node:assert/strict";
import { parse } from "../../parser/mod.ts";
import { evaluateChat } from "../../prompt/evaluate.ts";
import { typeOfContent, typeOfName } from "../../base/media.ts";
import type { Part, Prompt } from "../../prompt/types.ts";
import { wireMessages } from "../../providers/anthropic/messages.ts";
import { scene } from "./scene.ts";

/** Evaluates a document that lies in a folder with these files. */
async function inFolder(
  files: Readonly<Record<string, string | Uint8Array>>,
  document: string,
  home = "",
): Promise<Prompt & { folder: string }> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "flemma-prompt-" }));
  try {
    for (const [name, content] of Object.entries(files)) {
      await Deno.writeFile(
        `${folder}/${name}`,
        typeof content === "string" ? new TextEncoder().encode(content) : content,
      );
    }
    const chat = parse(new TextEncoder().encode(document.replaceAll("<dir>", folder)));
    const environment = { cwd: "/", home: folder + home, variables: {} };
    const prompt = await evaluateChat(chat, { document: `${folder}/talk.chat`, environment });
    return { ...prompt, folder };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A document in which `tool` was called once and answered with `body`. */
function answered(tool: string, body: string, status = ""): string {
  return `@Assistant:\n**Tool Use:** \`${tool}\` (\`a\`)\n\n\`\`\`json\n{}\n\`\`\`\n\n` +
    `@You:\n**Tool Result:** \`a\`${status}\n\n\`\`\`\n${body}\n\`\`\`\n`;
}

function resultParts(prompt: Prompt): readonly Part[] {
  const part = prompt.history.at(-1)?.parts[0];
  assert.ok(part?.kind === "tool_result");
  return part.parts;
}

Deno.test("a result of the read tool is sent as a file only if it consists of exactly one file reference", async () => {
  const files = { "a.png": "GIF89a", "s.txt": "secret" };
  const image = resultParts(await inFolder(files, answered("read", "@./a.png;type=image/png")));
  assert.deepEqual(image.map(({ kind }) => kind), ["image"]);
  for (
    const [tool, body, status] of [
      ["bash", "@./s.txt;type=text/plain", ""],
      ["read", "see @./s.txt;type=text/plain", ""],
      ["read", "@./s.txt;type=text/plain\n", ""],
      ["read", "@./s.txt;type=text/plain.", ""],
      ["read", "@//<dir>/s.txt;type=text/plain\u00a0", ""],
      ["read", "@./s.txt;type=text/plain", " (error)"],
      ["read", "{{ include('s.txt') }}", ""],
    ] as const
  ) {
    const prompt = await inFolder(files, answered(tool, body, status));
    assert.deepEqual(
      resultParts(prompt),
      [{ kind: "text", text: body.replace("<dir>", prompt.folder) }],
      body,
    );
    assert.ok(!prompt.blocked);
  }
});

Deno.test("a text that the read tool escaped because it looks like a reference is sent in its original form", async () => {
  const prompt = await inFolder({ "s.txt": "secret" }, answered("read", "\\@./s.txt"));
  assert.deepEqual(resultParts(prompt), [{ kind: "text", text: "@./s.txt" }]);
  const other = await inFolder({}, answered("bash", "\\@./s.txt"));
  assert.deepEqual(resultParts(other), [{ kind: "text", text: "\\@./s.txt" }]);
});

Deno.test("a reference to a missing file stays text, causes a warning with its location, and does not prevent the request", async () => {
  const prompt = await inFolder({}, "@You:\nfirst\nsee é @./gone.md.\n");
  assert.deepEqual(prompt.history[0]!.parts, [{ kind: "text", text: "first\nsee é @./gone.md." }]);
  const [warning] = prompt.diagnostics;
  assert.deepEqual(
    [warning?.code, warning?.severity, warning?.start, warning?.startCol, warning?.endCol],
    ["file_not_found", "warning", 3, 8, 17],
  );
  assert.ok(!prompt.blocked);
});

Deno.test("references may start in the home folder, the root or a parent folder; an unknown option causes a warning", async () => {
  const files = { "a.md": "A", "b.csv": "B" };
  const prompt = await inFolder(files, "@You:\n@~/a.md @//<dir>/b.csv @./../<dir>/x @./a.md;foo=1\n");
  const kinds = prompt.history[0]!.parts.map((part) =>
    part.kind === "text_file" ? bare(part.text) : part.kind
  );
  assert.deepEqual(kinds, ["A", "text", "B", "text", "A"]);
  assert.deepEqual(prompt.diagnostics.map(({ code }) => code), ["file_not_found", "file_option_unknown"]);
});

Deno.test("the type of a file comes from the reference, else from the extension, else from its bytes", async () => {
  assert.equal(typeOfName("/x/A.JPG"), "image/jpeg");
  assert.equal(typeOfName("/x.md/Makefile"), null);
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  assert.equal(typeOfContent(png), "image/png");
  assert.equal(typeOfContent(new TextEncoder().encode("all:\n")), "text/plain");
  assert.equal(typeOfContent(new Uint8Array([0, 1])), "application/octet-stream");
  assert.equal(typeOfContent(new Uint8Array([0xff, 0xfe])), "application/octet-stream");
  const prompt = await inFolder(
    { Makefile: "all:\n", "a.ts": "x", blob: new Uint8Array([0]) },
    "@You:\n@./Makefile @./a.ts;type=text/plain @./a.ts @./blob\n",
  );
  assert.deepEqual(prompt.history[0]!.parts.filter(({ kind }) => kind !== "text").map(({ kind }) => kind), [
    "text_file",
    "text_file",
    "text_file",
    "unsupported_file",
  ]);
  assert.deepEqual(prompt.diagnostics.map(({ code }) => code), ["file_unsupported_mime"]);
});

Deno.test("files of every text type are sent as text, and images as images; of all other files and of empty files, only the name is sent", async () => {
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const files: Readonly<
    Record<string, readonly [content: string | Uint8Array, kind: string, reported?: string]>
  > = {
    "a.json": ["{}", "text_file application/json"],
    "a.svg": ["<svg/>", "text_file image/svg+xml"],
    "a.ts": ["let a", "text_file application/typescript"],
    "a.jpg": [png, "image image/png"],
    "a.bmp": ["BM", "unsupported_file", "file_unsupported_mime"],
    "a.zip": ["PK", "unsupported_file", "file_unsupported_mime"],
    "empty.md": ["", "unsupported_file", "file_empty"],
    "blank.md": [" \n\u00a0", "unsupported_file", "file_empty"],
    "empty.png": ["", "unsupported_file", "file_empty"],
    "empty.pdf": ["", "unsupported_file", "file_empty"],
    "empty": ["", "unsupported_file", "file_empty"],
  };
  const contents = Object.fromEntries(Object.entries(files).map(([name, [content]]) => [name, content]));
  for (const [name, [, kind, reported]] of Object.entries(files)) {
    const prompt = await inFolder(contents, `@You:\nsee @./${name}\n`);
    const part = prompt.history[0]!.parts.find(({ kind }) => kind !== "text")!;
    assert.equal(["mimeType" in part ? `${part.kind} ${part.mimeType}` : part.kind].join(), kind, name);
    assert.deepEqual(
      prompt.diagnostics.map(({ code }) => code),
      reported === undefined ? [] : [reported],
      name,
    );
    assert.deepEqual(
      prompt.diagnostics.map(({ start, startCol }) => [start, startCol]),
      reported ? [[2, 5]] : [],
      name,
    );
  }
});

Deno.test("text in another encoding is decoded and reported, with a command that converts it to UTF-8", async () => {
  const wide = (text: string, big: boolean) =>
    [...text].flatMap((one) => big ? [0, one.charCodeAt(0)] : [one.charCodeAt(0), 0]);
  const rows: readonly (readonly [string, readonly number[], string, RegExp])[] = [
    [
      "Latin-1",
      [0x67, 0x72, 0xf6, 0xdf, 0x65],
      "größe",
      /column 3\); flemma reads it as ISO-8859-1\. .*: iconv -f/,
    ],
    ["Windows", [0x93, 0x68, 0x94], "\u201ch\u201d", /reads it as WINDOWS-1252\. .*: iconv -f WINDOWS-1252/],
    [
      "UTF-16 with a mark",
      [0xff, 0xfe, ...wide("hello there", false)],
      "hello there",
      /reads it as UTF-16\. .*: iconv/,
    ],
    [
      "the other way round",
      [0xfe, 0xff, ...wide("hello there", true)],
      "hello there",
      /reads it as UTF-16\. /,
    ],
    ["without a mark", wide("hello there", false), "hello there", /reads it as UTF-16LE\. /],
    ["big, without one", wide("hello there", true), "hello there", /reads it as UTF-16BE\. /],
    [
      "UTF-8 with a broken byte",
      [...new TextEncoder().encode("naïve\n"), 0xe2, 0x82, 0x0a],
      "naïve\n\ufffd\n",
      /Some bytes of .* are not UTF-8, the first in line 2, column 1; flemma sends each as \ufffd/,
    ],
  ];
  for (const [what, bytes, text, reported] of rows) {
    for (
      const reference of [
        "@./a.txt",
        '{{ include("a.txt", { [symbols.BINARY] = true }) }}',
        '{{ include("a.txt") }}',
      ]
    ) {
      const chat = `\`\`\`yaml\nflemma:\n  files:\n    names: false\n\`\`\`\n@You:\nSee ${reference}\n`;
      const { prompt } = await scene(chat, { "a.txt": new Uint8Array(bytes) });
      const sent = prompt.history[0]!.parts.map((part) => "text" in part ? part.text : part.kind).join("");
      assert.equal(sent, `See ${text}`, what);
      const found = prompt.diagnostics.filter(({ code }) => code === "file_not_utf8");
      assert.equal(found.length, 1, `${what} ${reference}`);
      assert.match(found[0]!.message, reported, what);
      assert.equal(prompt.blocked, false);
    }
  }
});

Deno.test("a problem with an included file is reported once, even if a loop includes the file several times", async () => {
  const loop = '@You:\n{% for _ = 1, 3 do %}{{ include("a.txt") }}{% end %}\n';
  const { reported } = await scene(loop, { "a.txt": new Uint8Array([0xe4]) });
  assert.deepEqual(reported, ["file_not_utf8 -"]);
});

Deno.test("a file with NUL bytes is not text: its path is sent and reported, and including it is an error", async () => {
  const files = { "a.txt": new Uint8Array([0x61, 0, 0x62]) };
  const attached = await scene("@You:\nSee @./a.txt\n", files);
  assert.deepEqual(attached.reported, ["file_not_utf8 2"]);
  assert.deepEqual(attached.prompt.history[0]!.parts.at(-1)!.kind, "unsupported_file");
  const included = await scene('@You:\n{% include_it = include("a.txt") %}x\n', files);
  assert.deepEqual(included.reported, ["file_not_utf8 2!"]);
});

Deno.test("for a file that no provider accepts, the model sees the path as it was written, not the real path", async () => {
  const { prompt, folder } = await scene("@You:\nSee @./sub/../a.zip\n", { "a.zip": "PK", "sub/x": "" });
  const part = prompt.history[0]!.parts.at(-1)!;
  assert.deepEqual(part, { kind: "unsupported_file", filename: `${folder}/a.zip`, path: "./sub/../a.zip" });
  const { messages } = JSON.parse(
    JSON.stringify({ messages: wireMessages(prompt, { provider: "anthropic", foreign: "drop" }) }),
  );
  assert.deepEqual(messages[0].content.at(-1), { type: "text", text: "@./sub/../a.zip" });
});

Deno.test("an image in a System message is omitted, and text files in the message are joined with its text", async () => {
  const prompt = await inFolder(
    { "a.md": "A\n", "p.png": "P" },
    "@System:\nRules: @./a.md @./p.png end\n@You:\nq\n",
  );
  assert.equal(prompt.system, 'Rules: \n<file path="./a.md">\nA\n</file>\n \n end');
});

Deno.test("a reference to a folder stays text and causes a warning; in an unsaved document, references start in the working folder", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "flemma-prompt-" }));
  try {
    await Deno.writeTextFile(`${folder}/a.txt`, "A");
    await Deno.mkdir(`${folder}/sub`);
    const chat = parse(new TextEncoder().encode("@You:\n@./a.txt @./sub\n"));
    const prompt = await evaluateChat(chat, {
      document: null,
      environment: { cwd: folder, home: "/", variables: {} },
    });
    assert.deepEqual(prompt.history[0]!.parts.map(({ kind }) => kind), ["text_file", "text"]);
    assert.deepEqual(prompt.diagnostics.map(({ code }) => code), ["file_not_found"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** The text of a file without the lines that name it. */
function bare(text: string): string | undefined {
  return /^<file path="[^"\n]+">\n(.*)\n<\/file>$/s.exec(text)?.[1];
}
