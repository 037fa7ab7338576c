// Generates a module with the runtime files of editors, so that a bundle or compiled program includes them.

import { EDITOR_PLACES } from "../../../commands/setup/editor_places.ts";
import { generate as generateHighlighting } from "./highlighting.ts";
import { ROOT } from "../../gate/root.ts";

const FOLDER = "editors";
const TARGET = "commands/setup/editor_files.generated.ts";
/** Files for development that are not installed. */
const OURS = /(?:^|\/)(?:README\.md|tags|tsconfig\.json)$/;

export async function generate(): Promise<{ path: string; text: string }[]> {
  // These files are not on the disk yet, or not as they will be.
  const made = new Map((await generateHighlighting()).map(({ path, text }) => [path, text]));
  const editors = new Set(Object.values(EDITOR_PLACES).map(({ files }) => files));
  const entries: string[] = [];
  for (const editor of [...editors].sort()) {
    const files: Record<string, string> = {};
    await collect(editor, "", files);
    for (const [path, text] of made) {
      const [, of, name] = /^editors\/([^/]+)\/(.*)$/.exec(path) ?? [];
      if (of === editor) files[name!] = text;
    }
    entries.push(`  ${JSON.stringify(editor)}: {`);
    for (const name of Object.keys(files).sort()) {
      entries.push(`    ${JSON.stringify(name)}: ${JSON.stringify(files[name])},`);
    }
    entries.push("  },");
  }
  const text = [
    `// Made from ${FOLDER}/ by \`deno task generate\`. Do not edit.`,
    "",
    "/** Folder of an editor → path below it → content. */",
    "export const EDITOR_FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {",
    ...entries,
    "};",
    "",
  ].join("\n");
  return [{ path: TARGET, text }];
}

async function collect(editor: string, below: string, files: Record<string, string>): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(`${ROOT}/${FOLDER}/${editor}/${below}`)) {
    const path = below + name;
    if (isDirectory) await collect(editor, `${path}/`, files);
    else if (!OURS.test(path)) files[path] = await Deno.readTextFile(`${ROOT}/${FOLDER}/${editor}/${path}`);
  }
}
