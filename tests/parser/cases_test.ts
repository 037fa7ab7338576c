// The rules of the grammar and the findings of documents, as cases in `trees.txt` and `faults.txt`.

import assert from "node:assert/strict";
import { parse } from "../../parser/mod.ts";
import { cases } from "./cases.ts";
import { outline } from "./outline.ts";
import { checkDocument } from "./promises.ts";

for (const { title, document, expected } of await cases("trees.txt")) {
  Deno.test(`the syntax tree of a document: ${title}`, () => {
    // The expectation may break lines where the tree's own text has commas.
    const joined = expected.replaceAll(/\(\s+/g, "(").replaceAll(/\s+\)/g, ")").replaceAll(/,?\s+/g, ",");
    assert.equal(outline(document), joined);
    checkDocument(new TextEncoder().encode(document));
  });
}

for (const { title, document, expected } of await cases("faults.txt")) {
  Deno.test(`the diagnostics of a document: ${title}`, () => {
    const chat = parse(new TextEncoder().encode(document));
    const found = chat.diagnostics.map(({ start, code }) => `${start} ${code}`).join("\n");
    assert.equal(found, expected);
  });
}

Deno.test("a diagnostic names the part of the document that it is about", () => {
  const text = "@Assistent:\n@Assistant:\n**Tool Use:** `bash` (`call_7`)\n```yaml\n```\n";
  const [role, call] = parse(new TextEncoder().encode(text)).diagnostics;
  assert.match(role!.message, /"Assistent".*"@Assistant:"/);
  assert.match(call!.message, /"call_7" of "bash".*"yaml".*"json"/);
  assert.equal(call!.id, "call_7");
});

Deno.test("if a role line has the form of another program, the diagnostic shows flemma's form", () => {
  const sentence = (text: string) => parse(new TextEncoder().encode(text)).diagnostics[0]?.message ?? "";
  for (const role of ["user", "User", "human"]) {
    assert.match(sentence(`@${role}:\nhi\n`), /Did you mean "@You:"\?$/);
    assert.match(sentence(`@${role}: hi\n`), / Write "@You:" on its own line and the text below it\.$/);
  }
  assert.match(sentence("@ai: hi\n"), /Write "@Assistant:"/);
  assert.match(
    sentence("@You: hi\n"),
    /"@You:" with text on the same line .*\. Move the text to the next line, or run flemma migrate\.$/,
  );
  // What only looks like one gets no advice.
  for (const text of ["@somebody: hi\n", "@user hi\n", "x @user: hi\n"]) {
    assert.doesNotMatch(sentence(text), /Write/, text);
  }
});

Deno.test("a call in a fence counts as quoted if only empty lines separate it from the closing fence; any other line is reported", () => {
  const codes = (between: string, eol = "\n") => {
    const lines = ["@Assistant:", "```", "**Tool Use:** `bash` (`a`)", "", "```json", "{}", "```"];
    const text = `${lines.join(eol)}${eol}${between}\`\`\`${eol}`;
    return parse(new TextEncoder().encode(text)).diagnostics.map(({ code }) => code);
  };
  assert.deepEqual(codes(""), [], "the fence closes: a quote was meant");
  assert.deepEqual(codes("\n\n"), []);
  assert.deepEqual(codes("\r\n", "\r\n"), []);
  // In a document of LF a carriage return is a character of its line.
  assert.deepEqual(codes("\r\n"), ["call_hidden_in_fence"]);
  assert.deepEqual(codes("words\n"), ["call_hidden_in_fence"]);
});
