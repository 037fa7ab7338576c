// Finds the tool files in folders. Decides which names are tool files, which of two files takes precedence, and which
// files only cause a warning.

import { byBytes } from "../../base/bytes.ts";
import { thrownText } from "../../base/problem.ts";

/** A folder to search for tool files. */
export interface ToolFolder {
  /** Absolute path. */
  readonly path: string;
  /** True if a file `NAME.removed` removes the built-in tool with that name. */
  readonly removes: boolean;
}

/** A file that may define a tool. */
export interface ToolFile {
  /** Absolute path. */
  readonly path: string;
  /** File name without extension, which names the tool unless the file says otherwise. */
  readonly base: string;
  /** Kind of the file: code, or only a definition. */
  readonly kind: "code" | "definition";
}

/** Result of the search. */
export interface Discovered {
  /** Files in the order of the folders, and by name in each folder. */
  readonly files: readonly ToolFile[];
  /** Names of removed built-in tools. */
  readonly removed: readonly string[];
  /** Sentences for the person. */
  readonly warnings: readonly string[];
}

/** Extensions of code, highest precedence first. */
const CODE = [".js", ".mjs", ".ts"];
const DEFINITION = ".json";
const REMOVED = ".removed";

/** Searches the folders, but not their subfolders. A missing folder has no files. */
export async function discoverFiles(folders: readonly ToolFolder[]): Promise<Discovered> {
  const files: ToolFile[] = [];
  const removed: string[] = [];
  const warnings: string[] = [];
  for (const folder of folders) {
    const listed = await namesIn(folder.path);
    if (typeof listed === "string") {
      warnings.push(`The tool files in ${folder.path} cannot be listed: ${listed}.`);
      continue;
    }
    const found = sort(listed, folder);
    files.push(...found.files);
    removed.push(...found.removed);
    warnings.push(...found.warnings);
  }
  return { files, removed, warnings };
}

/** Classifies the names in one folder. Pure. */
function sort(names: readonly string[], { path, removes }: ToolFolder): Discovered {
  const warnings: string[] = [];
  const removed: string[] = [];
  const candidates = new Map<string, string[]>();
  for (const name of [...names].sort(byBytes)) {
    if (isIgnored(name)) continue;
    if (name.endsWith(REMOVED)) {
      if (removes) removed.push(name.slice(0, -REMOVED.length));
      else warnings.push(`${path}/${name} removes no tool: only your own tool folder may do that.`);
      continue;
    }
    const ending = [...CODE, DEFINITION].find((each) => name.endsWith(each));
    if (ending === undefined) continue;
    const base = name.slice(0, -ending.length);
    candidates.set(base, [...candidates.get(base) ?? [], ending]);
  }
  const files = [...candidates].map(([base, endings]): ToolFile => {
    const [chosen = "", ...others] = [...CODE, DEFINITION].filter((each) => endings.includes(each));
    for (const other of others) {
      warnings.push(`${path}/${base}${other} is not used, because ${base}${chosen} exists.`);
    }
    return { path: `${path}/${base}${chosen}`, base, kind: chosen === DEFINITION ? "definition" : "code" };
  });
  return { files, removed, warnings };
}

/** True if a name belongs to notes, tests or types. */
function isIgnored(name: string): boolean {
  return /^[._]/.test(name) || name.endsWith(".d.ts") || /(?:\.test|_test)\.[^.]+$/.test(name);
}

/** Names of files in a folder, links to files included; or why it cannot be listed, as the end of a sentence. */
async function namesIn(folder: string): Promise<readonly string[] | string> {
  const names: string[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) {
      if (entry.isFile || entry.isSymlink && await isFile(`${folder}/${entry.name}`)) names.push(entry.name);
    }
    return names;
  } catch (thrown) {
    return thrown instanceof Deno.errors.NotFound ? [] : thrownText(thrown);
  }
}

async function isFile(path: string): Promise<boolean> {
  return await Deno.stat(path).then((info) => info.isFile, () => false);
}
