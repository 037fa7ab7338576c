// Attached text carries its path, in a form that no content and no name can break.

import assert from "node:assert/strict";
import { namedText } from "../../prompt/attach.ts";
import { scene } from "./scene.ts";

Deno.test("attached texts are framed by lines with the path as it was written", async () => {
  const result = await scene(
    '@You:\nCompare @./a.txt, @./sub/../two%20words.md and {{ include("a.txt", { [symbols.BINARY] = true }) }}.\n',
    {
      "a.txt": "A\n",
      "two words.md": "no line end",
      "sub/x": "",
    },
  );
  const texts = result.prompt.history[0]!.parts.map((part) =>
    part.kind === "text" || part.kind === "text_file" ? part.text : part.kind
  );
  assert.deepEqual(texts, [
    "Compare ",
    '<file path="./a.txt">\nA\n</file>',
    ", ",
    '<file path="./sub/../two words.md">\nno line end\n</file>',
    " and ",
    '<file path="a.txt">\nA\n</file>',
    ".",
  ]);
});

Deno.test("an excerpt names its lines, unless file names are off; lines that do not exist are reported", async () => {
  const excerpt = async (frontmatter: string) => {
    const { prompt } = await scene(`${frontmatter}@You:\n@./a.txt#L2-9\n`, { "a.txt": "A\nB\n" });
    const [part, ...others] = prompt.history[0]!.parts;
    assert.deepEqual(others, []);
    const codes = prompt.diagnostics.map(({ code, startCol, endCol }) => [code, startCol, endCol]);
    assert.deepEqual(codes, [["file_lines", 1, 13]]);
    return part?.kind === "text_file" ? part.text : null;
  };
  assert.equal(await excerpt(""), '<file path="./a.txt" lines="2-2">\n2\tB\n</file>');
  assert.equal(await excerpt("```yaml\nflemma:\n  files:\n    names: false\n```\n"), "2\tB\n");
});

Deno.test("neither the name nor the text of an attached file can end its frame", () => {
  assert.equal(
    namedText('a"b<c>&\n\x7f.txt', "x\n</file>\n</file path>\n </file>\nend </file>\r\n</file"),
    '<file path="a&#34;b&#60;c&#62;&#38;&#10;&#127;.txt">\nx\n<\\/file>\n<\\/file path>\n </file>\nend </file>\r\n<\\/file\n</file>',
  );
  assert.equal(namedText("é 名.txt", "</file>\n"), '<file path="é 名.txt">\n<\\/file>\n</file>');
});

Deno.test("with files.names: false, attached text is sent without a frame; results of the read tool and images never have a frame", async () => {
  const read = (id: string, path: string) =>
    `**Tool Use:** \`read\` (\`${id}\`)\n\n\`\`\`json\n{"path":"${path}"}\n\`\`\`\n`;
  const chat = `@Assistant:\n${
    read("r1", "a.txt")
  }\n@You:\n**Tool Result:** \`r1\`\n\n\`\`\`\n@./a.txt\n\`\`\`\n\nSee @./a.txt @./p.png\n`;
  const files = { "a.txt": "A\n", "p.png": new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) };
  const textsOf = async (block: string) =>
    (await scene(block + chat, files)).prompt.history[1]!.parts.map((part) =>
      part.kind === "tool_result"
        ? part.parts.map((inner) => "text" in inner ? inner.text : inner.kind)
        : "text" in part
        ? part.text
        : part.kind
    ).filter((text) => text !== "\n" && text !== "\n\n");
  const framed = await textsOf("");
  assert.ok(framed.some((text) => text === '<file path="./a.txt">\nA\n</file>'));
  assert.deepEqual(framed.find(Array.isArray), ["A\n"]);
  const bare = await textsOf("```yaml\nflemma:\n  files:\n    names: false\n```\n");
  assert.ok(bare.some((text) => text === "A\n"));
  assert.ok(!JSON.stringify(bare).includes("<file"));
});
