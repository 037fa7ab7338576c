// Highlighting files that are generated from the parser's tables, in the editors that read them.

import assert from "node:assert/strict";
import { type Scene, withScene } from "../cli/harness.ts";
import { EDITOR_FILES } from "../../commands/setup/editor_files.generated.ts";
import { EDITORS, EditorSession, missingPrograms } from "./terminal.ts";

const DOCUMENT = `@You:
Hello @./notes.md {{ name }}

\`\`\`
@You:
\`\`\`

**Tool Result:** \`call_1\` (rejected)

\`\`\`flemma:tool status=pending
\`\`\`
`;

const missing = await missingPrograms();

/** Where an editor reads a highlighting file, and how it opens a document with it. */
const ROWS = {
  micro: { file: "config/micro/syntax/chat.yaml", name: "chat.yaml", words: () => [] },
  nano: { file: "config/chat.nanorc", name: "chat.nanorc", words: (path: string) => ["--rcfile", path] },
} as const;

for (const [program, { file, name, words }] of Object.entries(ROWS)) {
  const colors = async (place: Scene) => {
    const path = `${place.folder}/${file}`;
    Deno.mkdirSync(path.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(path, EDITOR_FILES[program]![name]!);
    place.write("a.chat", DOCUMENT);
    const editor = {
      ...EDITORS[program]!,
      open: (document: string) => [program, ...words(path), document],
    };
    const env = {
      XDG_CONFIG_HOME: `${place.folder}/config`,
      TERM: "xterm-256color",
      HOME: `${place.folder}/home`,
    };
    const session = await EditorSession.open(editor, place, "a.chat", { shown: "flemma:tool", env });
    try {
      const screen = await session.colors();
      const colorOf = (text: string, nth = 0) => {
        const line = screen.split("\n").filter((each) => each.includes(text))[nth] ?? "";
        // The last color that begins before the text.
        return [...line.slice(0, line.indexOf(text)).matchAll(/\[([\d;]*)m/g)].map(([, code]) => code)
          .join(" ");
      };
      const [role, quoted, plain] = [colorOf("@You:"), colorOf("@You:", 1), colorOf("Hello")];
      assert.notEqual(role, plain, screen);
      assert.notEqual(role, quoted, screen);
      for (const colored of ["(rejected", "status=pending", "@./notes.md", "{{ name"]) {
        assert.notEqual(colorOf(colored), plain, `${colored}\n${screen}`);
      }
      assert.ok(!/rror|Bad regex/.test(screen), screen);
    } finally {
      await session.close();
    }
  };
  Deno.test({
    name: `${program} colors roles, statuses and references, and no role inside a fence`,
    ignore: missing.includes(program),
    fn: () => withScene(colors),
  });
}

Deno.test("every pattern of the TextMate grammar is a regular expression", () => {
  const patterns: string[] = [];
  JSON.parse(EDITOR_FILES.vscode!["chat.tmLanguage.json"]!, (key, value) => {
    if (["match", "begin", "end"].includes(key)) patterns.push(value);
    return value;
  });
  assert.ok(patterns.length > 20);
  for (const pattern of patterns) new RegExp(pattern.replace(/^\(\?i\)/, ""));
});
