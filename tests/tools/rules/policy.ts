// The policy for the lists of attacks and harmless commands, and a function that evaluates it.

import { isInside, resolvePath } from "../../../base/paths.ts";
import { readRule } from "../../../config/rules/read_rule.ts";
import type { PlacedRule } from "../../../config/rules/rule.ts";
import { evaluateCall, type RuledTool, type RuleParts } from "../../../tools/approval/rules/evaluate.ts";
import { builtinTools } from "../../../tools/builtin/mod.ts";
import type { RuleEvaluation } from "../../../tools/approval/rules/types.ts";
import { type RuleWorld, worldNow } from "../../../tools/approval/rules/world.ts";
import type { ShellLibrary } from "../../../tools/approval/shell/every_command.ts";
import { testsWith } from "../../tests_with.ts";

/** Fourteen programs that read, some of them with options that write. */
export const READ_ONLY: readonly string[] = [
  "echo **",
  "cat **",
  "ls **",
  "head **",
  "tail **",
  "wc **",
  "grep **",
  "rg **",
  "sort **",
  "cut **",
  "pwd",
  "cd **",
  "git status **",
  "git log **",
  "git diff **",
  "git grep **",
  "[ **",
  "printf **",
];

/** A rule as settings have it. */
export function placed(
  value: Readonly<Record<string, unknown>>,
  layer: PlacedRule["layer"] = "G",
): PlacedRule {
  const rule = readRule(value);
  if (!rule.ok) throw new Error(JSON.stringify(rule.problem));
  return { rule: rule.value, written: value, key: "tools.rules", layer };
}

const TOOLS = new Map<string, RuledTool>(builtinTools().map((tool) => [tool.name, tool]));

let library: ShellLibrary | null = null;

export interface Where {
  /** Working folder, and what relative patterns belong to. */
  readonly folder: string;
  /** @default that of this process */
  readonly path?: string;
  /** Real paths that commands may write. @default the folder */
  readonly writable?: readonly string[];
  readonly protect?: readonly string[];
  readonly home?: string;
  readonly world?: Partial<RuleWorld>;
  readonly otherShell?: string;
  /** Whether commands have CDPATH. @default false */
  readonly searchesFolders?: boolean;
  /** Whether a sandbox works. @default true */
  readonly sandboxed?: boolean;
  /** Tools that come to the program's own or replace them. */
  readonly tools?: Readonly<Record<string, RuledTool>>;
  /** @default the library */
  readonly loadShell?: () => Promise<ShellLibrary>;
}

/** Judges one call by rules. */
export function evaluate(
  rules: readonly Readonly<Record<string, unknown>>[],
  tool: string,
  input: Readonly<Record<string, unknown>>,
  where: Where,
): Promise<RuleEvaluation> {
  return evaluateCall(tool, input, partsFor(rules, where));
}

/** What rules are judged with. */
export function partsFor(rules: readonly Readonly<Record<string, unknown>>[], where: Where): RuleParts {
  const { folder, home = "/home/nobody" } = where;
  const environment = { cwd: folder, home, variables: {} };
  const world = worldNow({
    environment,
    path: where.path ?? Deno.env.get("PATH") ?? "",
    writable: () => where.writable ?? [folder],
    isProtected: (path) => (where.protect ?? []).some((root) => isInside(path, root)),
  });
  return {
    rules: rules.map((rule) => placed(rule)),
    worldNow: () => ({ ...world, ...where.world }),
    folderOf: () => folder,
    baseOf: () => ({
      folder,
      expand: (front) => (front === "$HOME" ? home : resolvePath(front, { folder, home })),
    }),
    tool: (name) => where.tools?.[name] ?? TOOLS.get(name),
    searchesFolders: where.searchesFolders ?? false,
    otherShell: where.otherShell ?? null,
    isSandboxed: () => Promise.resolve(where.sandboxed ?? true),
    loadShell: where.loadShell ?? (async () => library ??= await import("unbash")),
  };
}

/** Judges a command under the policy above. */
export function evaluateCommand(command: string, where: Where): Promise<RuleEvaluation> {
  return evaluate([{ approve: "bash", command: READ_ONLY }], "bash", { command }, where);
}

/** Runs a test in a folder of its own, which is a repository of git as far as one looks at it. */
export async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "flemma-rules-" }));
  try {
    await Deno.mkdir(`${folder}/.git`);
    await Deno.mkdir(`${folder}/src`);
    await Deno.mkdir(`${folder}/docs`);
    await Deno.mkdir(`${folder}/other/.git`, { recursive: true });
    // What git takes for a repository although nobody made it one.
    for (const name of ["objects", "refs"]) await Deno.mkdir(`${folder}/bare/${name}`, { recursive: true });
    await Deno.writeTextFile(`${folder}/bare/HEAD`, "ref: refs/heads/main\n");
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Defines a test that runs in `inFolder`. */
export const testInRepository = testsWith(inFolder);

/** One line of a list: a command, with `\n` and the like as in JavaScript, and why it is there. */
export interface ListedCommand {
  readonly command: string;
  readonly reason: string;
}

/** Reads a list: `COMMAND  ## REASON` a line; `\n`, `\r`, `\t`, `\0`, `\\` and `\u{…}` stand for characters. */
export function readList(name: string): ListedCommand[] {
  return Deno.readTextFileSync(new URL(name, import.meta.url)).split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const at = line.lastIndexOf("  ## ");
      if (at === -1) throw new Error(`no reason in the line: ${line}`);
      return { command: unescaped(line.slice(0, at)), reason: line.slice(at + 5) };
    });
}

function unescaped(text: string): string {
  const letters: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", 0: "\0", e: "\x1b" };
  return text.replace(
    /␛(?:u\{([0-9a-f]+)\}|(.))/gu,
    (_, code: string | undefined, letter: string) =>
      code === undefined ? letters[letter] ?? letter : String.fromCodePoint(parseInt(code, 16)),
  );
}
