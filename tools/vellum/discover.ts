// Finds the tool files of some folders: which names count, which of two wins, and what is only told of (tools 7.1).

import { byBytes } from "../../base/bytes.ts";
import { thrownText } from "../../base/problem.ts";

/** A folder that tool files are looked for in. */
export interface ToolFolder {
  /** Absolute. */
  readonly path: string;
  /** Whether a file `NAME.removed` takes the built-in tool of that name away. */
  readonly removes: boolean;
}

/** A file that may bring a tool. */
export interface ToolFile {
  /** Absolute. */
  readonly path: string;
  /** Its name without the ending, which is the tool's unless the file says another. */
  readonly base: string;
  /** Code, or the definition alone. */
  readonly kind: "code" | "definition";
}

/** What was found. */
export interface Discovered {
  /** In the order of the folders, inside of one by name. */
  readonly files: readonly ToolFile[];
  /** Built-in tools that are taken away. */
  readonly removed: readonly string[];
  /** Sentences for the person. */
  readonly warnings: readonly string[];
}

/** Endings of code, the stronger first. */
const CODE = [".js", ".mjs", ".ts"];
const DEFINITION = ".json";
const REMOVED = ".removed";

/** Looks into the folders, not below them. One that is missing has nothing. */
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

/** What the names in one folder come to. Pure. */
function sort(names: readonly string[], { path, removes }: ToolFolder): Discovered {
  const warnings: string[] = [];
  const removed: string[] = [];
  const candidates = new Map<string, string[]>();
  for (const name of [...names].sort(byBytes)) {
    if (isIgnored(name)) continue;
    if (name.endsWith(REMOVED)) {
      if (removes) removed.push(name.slice(0, -REMOVED.length));
      else warnings.push(`${path}/${name} takes no tool away: only your own folder of tools may do that.`);
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
      warnings.push(`${path}/${base}${other} is not used, because ${base}${chosen} is there.`);
    }
    return { path: `${path}/${base}${chosen}`, base, kind: chosen === DEFINITION ? "definition" : "code" };
  });
  return { files, removed, warnings };
}

/** Names that are somebody's notes, tests or types. */
function isIgnored(name: string): boolean {
  return /^[._]/.test(name) || name.endsWith(".d.ts") || /(?:\.test|_test)\.[^.]+$/.test(name);
}

/** The names of files in a folder, links to files among them; what keeps it from being listed as the end of a sentence. */
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
