// Generates a module with the files of `flemma demo`, so that a bundle or compiled program includes them.

import { ROOT } from "../gate/root.ts";

const FOLDER = "examples/demo";
const TARGET = "commands/setup/demo_files.generated.ts";

export async function generate(): Promise<{ path: string; text: string }[]> {
  const files: Record<string, string> = {};
  await collect("", files);
  const entries = Object.keys(files).sort().map((name) =>
    `  ${JSON.stringify(name)}: ${JSON.stringify(files[name])},`
  );
  const text = [
    `// Made from ${FOLDER}/ by \`deno task generate\`. Do not edit.`,
    "",
    "/** Path below the demo's folder → content. */",
    "export const DEMO_FILES: Readonly<Record<string, string>> = {",
    ...entries,
    "};",
    "",
  ].join("\n");
  return [{ path: TARGET, text }];
}

async function collect(below: string, files: Record<string, string>): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(`${ROOT}/${FOLDER}/${below}`)) {
    if (isDirectory) await collect(`${below}${name}/`, files);
    else if (name !== "README.md") {
      files[below + name] = await Deno.readTextFile(`${ROOT}/${FOLDER}/${below}${name}`);
    }
  }
}
