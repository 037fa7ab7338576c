// Packs the extension for VS Code.

import { EDITOR_FILES } from "../../commands/setup/editor_files.generated.ts";
import { vsixOf } from "../../commands/setup/vsix.ts";

/** Writes the package into a folder; returns its path. */
export async function packExtension(folder: string): Promise<string> {
  await Deno.mkdir(folder, { recursive: true });
  const path = `${folder}/flemma.vsix`;
  await Deno.writeFile(path, vsixOf(EDITOR_FILES.vscode!));
  return path;
}
