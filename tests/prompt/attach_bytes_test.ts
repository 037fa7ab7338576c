// The first bytes of a file decide whether it is sent as an image or a PDF.

import assert from "node:assert/strict";
import { fileFinding, partOf } from "../../prompt/attach.ts";
import { PNG } from "../pictures.ts";

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const JPEG = bytes("\xff\xd8\xff\xe0 jpeg");
const PDF = bytes("%PDF-1.7\n");

Deno.test("a file is sent as what its first bytes say, whatever its name or the given type says", () => {
  const rows: readonly (readonly [string, Uint8Array, string | undefined, string, string | null])[] = [
    ["a.png", PNG, undefined, "image", "image/png"],
    ["a.jpg", PNG, undefined, "image", "image/png"],
    ["a.png", JPEG, undefined, "image", "image/jpeg"],
    ["a.webp", JPEG, "image/webp", "image", "image/jpeg"],
    ["a.txt", JPEG, undefined, "image", "image/jpeg"],
    ["a", PNG, undefined, "image", "image/png"],
    ["a.zip", PNG, undefined, "image", "image/png"],
    ["a.png", PDF, undefined, "pdf", "application/pdf"],
    ["a.pdf", PNG, undefined, "image", "image/png"],
    ["a.pdf", PDF, undefined, "pdf", "application/pdf"],
    ["a.pdf", bytes("junk\n%PDF-1.7\n"), undefined, "pdf", "application/pdf"],
    // A text that begins like a file of another type stays a text.
    ["notes.md", PDF, undefined, "text_file", "text/markdown"],
    ["a.txt", bytes("GIF89a is a format"), undefined, "text_file", "text/plain"],
    ["a.svg", bytes("<svg/>"), undefined, "text_file", "image/svg+xml"],
    // What is not what its name says is only named.
    ["a.png", bytes("<html>not found</html>"), undefined, "unsupported_file", null],
    ["a.jpg", bytes("BM bitmap"), undefined, "unsupported_file", null],
    ["a.pdf", bytes("<html>"), undefined, "unsupported_file", null],
    ["a.dat", bytes("hello"), "image/png", "unsupported_file", null],
    ["a.heic", bytes("\0\0\0 ftypheic"), undefined, "unsupported_file", null],
  ];
  for (const [path, content, mime, kind, type] of rows) {
    const { part, flaw } = partOf(content as Uint8Array<ArrayBuffer>, { filename: `/x/${path}`, path, mime });
    const what = `${path} ${mime ?? ""}`;
    assert.equal(part.kind, kind, what);
    if ("mimeType" in part && type !== "image/svg+xml") assert.equal(part.mimeType, type, what);
    assert.equal(flaw !== undefined, kind === "unsupported_file", what);
  }
});

Deno.test("a file with the wrong extension is named in the warning", () => {
  const { flaw } = partOf(bytes("<html>"), { filename: "/x/a.png", path: "./a.png" });
  assert.match(fileFinding("./a.png", flaw!, "").message, /^\.\/a\.png is not of the type image\/png/);
});
