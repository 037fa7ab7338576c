// Finds what a command would run or load from places that commands in the sandbox can write. Over-approximates: a file
// that is only data counts too.

import { baseName, expandHome, normalPath } from "../../base/paths.ts";
import { isInReach } from "./place.ts";

/** Folders with which the words of a command are resolved to paths. */
export interface NamedCodePlace {
  readonly home: string;
  /** Folders that relative paths may mean. */
  readonly folders: readonly string[];
  /** Real paths that commands can write. */
  readonly roots: readonly string[];
}

/** Programs that run the file or folder that is their first argument without a dash. */
const INTERPRETERS =
  /^(?:node|nodejs|python[\d.]*|pypy[\d.]*|ruby[\d.]*|perl[\d.]*|php[\d.]*|lua[\d.]*|luajit|tsx|ts-node|sh|bash|zsh|dash|ksh|fish|elixir|guile|tclsh|Rscript|osascript|env|nice|nohup|timeout|sudo|doas|xargs)$/;
/** Programs that run a package or project, which is the first argument that is not a subcommand. */
const RUNNERS =
  /^(?:npx|npm|pnpm|pnpx|yarn|bun|bunx|deno|uv|uvx|pipx|go|cargo|poetry|pdm|rye|hatch|dotnet|mix|swift|make|just|task|gradle|mvn)$/;
const SUBCOMMANDS: ReadonlySet<string> = new Set(
  "run exec x dlx tool task start test serve create eval watch install".split(" "),
);
/** Options of interpreters whose value is the code itself, or the name of a module. */
const CODE_GIVEN = /^-(?:-eval|-print|[mcepE])$/;
/** Options whose value is a folder from which code is run or loaded. */
const FOLDER_OPTIONS =
  /^(?:--(?:prefix|directory|project|from|with|with-editable|with-requirements|cwd|dir|root|work-tree|package|manifest-path|module-path|class-?path|modulepath|import|require|loader|env-file|node-modules-dir|working-directory|chdir|file|config)|-[CIpPrS]|-cp)$/;

/**
 * The first path in a writable folder that a command would run or load; null if there is none.
 *
 * @param argv program and arguments
 */
export function namedCode(argv: readonly string[], place: NamedCodePlace): string | null {
  const [program = "", ...args] = argv;
  const found = program.includes("/") ? firstInReach([program], place, true) : null;
  if (found !== null) return found;
  const first = codeArgument(baseName(program), args);
  for (const [at, word] of args.entries()) {
    const runs = word === first || FOLDER_OPTIONS.test(args[at - 1] ?? "");
    const [, option = "", value] = /^(-[^=\s]*)=(.*)$/s.exec(word) ?? [];
    const each = value !== undefined
      ? firstInReach([value], place, FOLDER_OPTIONS.test(option))
      : /[\s;|&<>()]/.test(word)
      ? namedInShell(word, place) ?? firstInReach([word], place, runs)
      : firstInReach([word, ...glued(word), ...word.split(/[:=,]/)], place, runs);
    if (each !== null) return each;
  }
  return null;
}

/**
 * Returns the first path in a writable folder that a command line of a shell names; null if there is none. Any word
 * that is a path counts, even the path of a folder.
 */
export function namedInShell(line: string, place: NamedCodePlace): string | null {
  const words = line.split(/[\s;|&<>()"'`=]+/).filter((word) => word !== "")
    .map((word) => word.replace(/^\$(?:HOME|\{HOME\})(?=\/|$)/, "~"));
  const named = words.filter((word) => /^(?:~?\/|\.{1,2}\/|~$)/.test(word));
  const folders = [...place.folders, ...named.map((word) => expandHome(word, place.home)).filter(isFolder)];
  return firstInReach(named, place, true) ?? firstInReach(words, { ...place, folders }, false);
}

/**
 * Returns the argument with the path that an interpreter or runner runs; undefined if the code comes from elsewhere,
 * such as an option.
 */
function codeArgument(program: string, args: readonly string[]): string | undefined {
  if (INTERPRETERS.test(program)) {
    if (args.some((word) => CODE_GIVEN.test(word))) return undefined;
    return args.find((word) => !word.startsWith("-") && /\/|^\.|^~/.test(word));
  }
  if (!RUNNERS.test(program)) return undefined;
  return args.find((word) => !word.startsWith("-") && !SUBCOMMANDS.has(word));
}

/** The value of a short option without a blank, as in `-I/folder`. */
function glued(word: string): string[] {
  return /^-[A-Za-z][~./]/.test(word) ? [word.slice(2)] : [];
}

/**
 * Returns the first of these paths that commands can write. Files count; folders and missing paths count only if code
 * is run from there.
 */
function firstInReach(
  words: readonly string[],
  { home, folders, roots }: NamedCodePlace,
  runs: boolean,
): string | null {
  for (const word of words) {
    if (word === "" || word.includes("\0")) continue;
    const path = expandHome(word.replace(/^file:\/\/(?=\/)/, ""), home);
    for (const full of path.startsWith("/") ? [path] : folders.map((folder) => `${folder}/${path}`)) {
      if (!isInReach(full, roots)) continue;
      // A missing relative word is usually no path at all.
      if (isFile(full) || runs && (isFolder(full) || path.startsWith("/"))) return normalPath(full);
    }
  }
  return null;
}

function isFile(path: string): boolean {
  return kindOf(path)?.isFile === true;
}

function isFolder(path: string): boolean {
  return kindOf(path)?.isDirectory === true;
}

function kindOf(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch {
    return null;
  }
}
