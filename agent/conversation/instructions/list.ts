// Lists the instruction files that a document includes, as the next request would contain them.

import type { Environment } from "../../../base/environment.ts";
import { workFolderOf } from "../../../base/paths.ts";
import { readCheckedSync } from "../../../base/system/reading.ts";
import type { Settings } from "../../../config/settings.generated.ts";
import type { Chat } from "../../../parser/types.ts";
import { importRules, projectFiles } from "../../../prompt/template/project_files.ts";
import { secretPaths } from "../../settings.ts";
import { instructionSections } from "./sections.ts";

/** An instruction file of a project. */
export interface InstructionFile {
  /** Path relative to the working folder. */
  readonly path: string;
  /** Number of bytes in the request; 0 if the file is left out. */
  readonly bytes: number;
  /** In the system prompt, or in a result, as instructions of subfolders are. */
  readonly where: "prompt" | "result";
  /** Why the file is left out, as the end of a sentence; null if it is included. */
  readonly leftOut: string | null;
}

/** Returns the files in the system prompt, then those in results. */
export async function listInstructions(
  chat: Chat,
  { environment, document, settings, isReadable }: {
    readonly environment: Environment;
    /** Absolute path of the document; null if it has none. */
    readonly document: string | null;
    readonly settings: Settings;
    readonly isReadable: (path: string) => boolean;
  },
): Promise<readonly InstructionFile[]> {
  const folder = workFolderOf(environment, document);
  const imports = await importRules(folder, {
    from: settings.instructions.imports,
    home: environment.home,
    isSecret: await secretPaths(environment, settings),
  });
  const { files, leftOut } = projectFiles(folder, (path, check = () => null) => {
    const bytes = readCheckedSync(
      path,
      (real, info) => isReadable(real) ? check(real, info) : "the document may not read it",
    );
    if (typeof bytes === "string") throw new Error(bytes);
    return bytes;
  }, imports);
  const size = (text: string) => new TextEncoder().encode(text).length;
  return [
    ...files.map(({ path, text }) => ({ path, bytes: size(text), where: "prompt", leftOut: null }) as const),
    ...leftOut.map(({ path, why }) => ({ path, bytes: 0, where: "prompt", leftOut: why }) as const),
    ...instructionSections(chat).map(({ path, text }) =>
      ({ path, bytes: size(text), where: "result", leftOut: null }) as const
    ),
  ];
}
