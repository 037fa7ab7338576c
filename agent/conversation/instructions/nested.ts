// Adds the instructions of a subfolder, such as its AGENTS.md, to the first result of a file tool that works there.

import { realPathOrNull } from "../../../base/files.ts";
import { isInside, parentOf, resolvePath, workFolderOf } from "../../../base/paths.ts";
import { readCheckedSync } from "../../../base/system/reading.ts";
import { hideSecretsIn } from "../../../base/text/secrets.ts";
import { importRules, nestedFiles, type ProjectFileReader } from "../../../prompt/template/project_files.ts";
import type { Call, Chat } from "../../../parser/types.ts";
import { folderOfCalls } from "../../../tools/approval/rules_of.ts";
import type { ExecutionResult } from "../../../tools/definition.ts";
import { secretPaths } from "../../settings.ts";
import type { ToolsSubject } from "../../tools.ts";
import { headOf } from "./sections.ts";

/** Returns the result of a call with the instructions of the folder in which it worked, if the document lacks them. */
export async function withNestedInstructions(
  call: Call,
  result: ExecutionResult,
  { chat, tools, shown }: {
    readonly chat: Chat;
    readonly tools: ToolsSubject;
    /** Files that results of this session contain. */
    readonly shown: Set<string>;
  },
): Promise<ExecutionResult> {
  const { output } = result;
  const { environment, document, sandbox, settings } = tools;
  const base = { folder: folderOfCalls(tools, call.name), home: environment.home };
  const target = realPathOrNull(resolvePath(String(call.input.path), base));
  const folder = realPathOrNull(workFolderOf(environment, document));
  // A result that refers to a file is only the reference.
  if (target === null || folder === null || typeof output !== "string" || output.startsWith("@")) {
    return result;
  }
  const below = isFolder(target) ? target : parentOf(target);
  if (below === folder || !isInside(below, folder)) return result;
  const readFile: ProjectFileReader = (path, check = () => null) => {
    const bytes = readCheckedSync(
      path,
      (real, info) => sandbox.isPathReadable(real) ? check(real, info) : "tools may not read it",
    );
    if (typeof bytes === "string") throw new Error(bytes);
    return bytes;
  };
  const { home } = environment;
  const rules = {
    from: settings.instructions.imports,
    home,
    isSecret: await secretPaths(environment, settings),
  };
  const imports = await importRules(folder, rules, { nested: true });
  const { files } = nestedFiles(folder, below, readFile, imports);
  const added = files.filter(({ path }) => {
    if (shown.has(path) || `${folder}/${path}` === target) return false;
    shown.add(path);
    return !chat.results.some(({ content }) => content.includes(headOf(path)));
  });
  if (added.length === 0) return result;
  const sections = added.map(({ path, text }) => `${headOf(path)}\n${text.trimEnd()}`);
  return hideSecretsIn({ ...result, output: [output.trimEnd(), ...sections].join("\n\n") });
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}
