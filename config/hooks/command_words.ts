// The words of a hook's command line, read without running it: its name, its script, and the files that it names.

import { baseName } from "../../base/paths.ts";

/** Programs that run the file which is their first argument. */
const INTERPRETERS =
  /^(?:(?:ba|da|z|k|fi)?sh|node|nodejs|python[\d.]*|ruby[\d.]*|perl[\d.]*|php[\d.]*|lua[\d.]*|deno|bun|tsx|npx|uv|env|exec)$/;
/** Words after an interpreter that are not yet the script. */
const SUBCOMMANDS = /^(?:-.*|run|x|[A-Za-z_]\w*=.*)$/;

/** Folders with which words of a command are resolved. */
export interface CommandPlace {
  readonly home: string;
  /** Value of `CLAUDE_PROJECT_DIR`, and the folder in which a hook inside the sandbox runs. */
  readonly project: string;
}

/** Returns the words of a command line, without quotes. Operators of the shell separate words. */
function commandWords(command: string): string[] {
  const words = command.match(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s;|&<>()"'\\])+/gs) ?? [];
  return words.map((word) =>
    word.replace(
      /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/gs,
      (_, double, single, escaped) => double?.replace(/\\(["\\$`])/g, "$1") ?? single ?? escaped ?? "",
    )
  );
}

/** Matches the name of a script. */
const SCRIPT = /\.(?:sh|bash|zsh|py|[cm]?[jt]s|rb|pl|php|lua)$/;

/** Returns the name of a hook: the script's, wherever the command names one, else the program's. */
export function hookName(command: string): string {
  const { program, script } = startOf(command);
  return baseName(script ?? commandWords(command).find((word) => SCRIPT.test(word)) ?? program) || "hook";
}

/**
 * Returns the script that the command begins with, as an absolute path; null if it does not begin with a path. A script
 * that does not exist makes many interpreters exit with code 2, which must not count as a decision.
 */
export function scriptOf(command: string, place: CommandPlace): string | null {
  const { program, script } = startOf(command);
  const named = script ?? (program.includes("/") ? program : null);
  return named === null ? null : absolute(named, place);
}

/** Returns the absolute paths that the words of a command may mean. They need not exist. */
export function namedPaths(command: string, place: CommandPlace): string[] {
  const words = commandWords(command).flatMap((word) => {
    const value = /^-*[\w-]+=(.+)$/s.exec(word)?.[1];
    return value === undefined ? [word] : [word, value];
  });
  return [...new Set(words.flatMap((word) => absolute(word, place) ?? []))];
}

function startOf(command: string): { readonly program: string; readonly script: string | null } {
  const words = commandWords(command).filter((word, at, all) =>
    // Assignments in front of the program.
    !(/^[A-Za-z_]\w*=/.test(word) && all.slice(0, at).every((each) => /^[A-Za-z_]\w*=/.test(each)))
  );
  const [program = "", ...args] = words;
  if (!INTERPRETERS.test(baseName(program))) return { program, script: null };
  // Behind such an option there is code, or the name of a module. For a shell, -e is a switch.
  const code = /sh$/.test(program) ? /^-[a-z]*c$/ : /^-[cempr]$/;
  if (args.some((word) => code.test(word))) return { program, script: null };
  const script = args.find((word) => !SUBCOMMANDS.test(word));
  return { program, script: script !== undefined && /[./~]/.test(script) ? script : null };
}

/** Returns the path that a word means; null if a variable that is not known remains in it. */
function absolute(word: string, { home, project }: CommandPlace): string | null {
  const path = word
    .replace(/^~(?=\/|$)/, home)
    .replace(/\$(?:HOME\b|\{HOME\})/g, home)
    .replace(/\$(?:CLAUDE_PROJECT_DIR\b|\{CLAUDE_PROJECT_DIR(?::?-[^}]*)?\})/g, project);
  if (path === "" || /[$`*?\0]/.test(path)) return null;
  return path.startsWith("/") ? path : `${project}/${path}`;
}
