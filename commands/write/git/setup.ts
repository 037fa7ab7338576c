// `flemma git setup`: configures git to show and merge conversations message by message.

import type { Environment } from "../../../base/environment.ts";
import { isMissing, readOrNull, rewriteFile } from "../../../base/files.ts";
import { failure, type Outcome, success, thrownText } from "../../../base/problem.ts";
import { operands, shellWord } from "../../../base/shell_word.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit } from "../../io/exit.ts";
import { refuse } from "../../io/refuse.ts";
import { safeJson } from "../../io/safe_json.ts";
import { writeLines, writeOutput } from "../../io/streams.ts";
import { switchOption } from "../../line/options.ts";

const ATTRIBUTES = "*.chat diff=flemma merge=flemma";

/**
 * Shell function that converts a conversation to text. If a converter fails, git aborts the whole diff or log. So this
 * one prints a file unchanged if flemma cannot read it, or if flemma is no longer installed. Git passes top-level
 * files by name alone, which may look like an option.
 */
const TEXTCONV = 'f() { flemma show --plain -- "$1" 2>/dev/null || cat -- "$1"; }; f';

/** Without flemma, git merges line by line. A driver that fails would leave only one side, without markers. */
const DRIVER = 'f() { if command -v flemma >/dev/null; then flemma git merge-driver -- "$@"; ' +
  'else git merge-file --marker-size="$4" -- "$2" "$1" "$3"; fi; }; f %O %A %B %L %P';

const CONFIGURATION: readonly (readonly [key: string, value: string])[] = [
  ["diff.flemma.textconv", TEXTCONV],
  ["diff.flemma.xfuncname", "^((System|You|Assistant):|Call of .*)$"],
  ["merge.flemma.name", "conversations, message by message"],
  ["merge.flemma.driver", DRIVER],
];

/** Sections that contain only these keys. */
const SECTIONS = ["diff.flemma", "merge.flemma"];

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given, environment, messages } = invocation;
  const global = switchOption(given, "global") === true;
  const undo = switchOption(given, "undo") === true;
  const write = switchOption(given, "write") === true;
  if (undo && write) {
    return refuse(invocation, {
      code: "usage",
      message: "--write and --undo cannot be combined. Use one of them.",
    });
  }
  const git = new Git(environment, global);
  const file = await git.attributesFile();
  if (!file.ok) return refuse(invocation, file.problem);
  if (undo || write) {
    const done = undo ? await takeBack(git, file.value) : await writeDown(git, file.value);
    if (!done.ok) return refuse(invocation, done.problem);
    messages.note(
      undo
        ? `Git treats conversations as plain text again. ${file.value} and the git configuration are restored.`
        : `Git now shows and merges *.chat message by message (${file.value}). Undo with: flemma git setup ${
          global ? "--global " : ""
        }--undo`,
    );
    return Exit.ok;
  }
  if (switchOption(given, "json") === true) {
    const configuration = Object.fromEntries(CONFIGURATION);
    writeOutput(`${safeJson({ attributes_file: file.value, attributes: ATTRIBUTES, configuration })}\n`);
    return Exit.ok;
  }
  const scope = global ? "--global " : "";
  const lines = [
    `# add to ${file.value}`,
    ATTRIBUTES,
    "",
    "# run",
    ...CONFIGURATION.map(([key, value]) => `git config ${scope}${key} ${shellWord(value)}`),
    "",
  ];
  writeLines(lines.join("\n"));
  messages.note(`Nothing was changed. To let flemma do both, add --write.`);
  return Exit.ok;
}

async function writeDown(git: Git, path: string): Promise<Outcome<void>> {
  for (const [key, value] of CONFIGURATION) {
    const set = await git.run("config", git.scope, key, value);
    if (!set.ok) return set;
  }
  return await changeLines(path, (lines) => lines.includes(ATTRIBUTES) ? lines : [...lines, ATTRIBUTES]);
}

async function takeBack(git: Git, path: string): Promise<Outcome<void>> {
  for (const section of SECTIONS) {
    // A missing section needs no removal.
    const there = await git.run("config", git.scope, "--get-regexp", `^${section.replace(".", "\\.")}\\.`);
    if (!there.ok) continue;
    const removed = await git.run("config", git.scope, "--remove-section", section);
    if (!removed.ok) return removed;
  }
  return await changeLines(path, (lines) => lines.filter((line) => line !== ATTRIBUTES));
}

/** Changes whole lines of a file and keeps all other bytes. Removes the file if it would become empty. */
async function changeLines(
  path: string,
  change: (lines: readonly string[]) => readonly string[],
): Promise<Outcome<void>> {
  try {
    // The text has one character per byte, because file names may have any encoding.
    const text = Array.from(await readOrNull(path) ?? [], (byte) => String.fromCharCode(byte)).join("");
    const eol = text.includes("\r\n") ? "\r\n" : "\n";
    const lines = text === "" ? [] : (text.endsWith(eol) ? text.slice(0, -eol.length) : text).split(eol);
    const changed = change(lines);
    if (changed.length === lines.length) return success(undefined);
    if (changed.length === 0) await Deno.remove(path);
    else {
      await Deno.mkdir(path.slice(0, path.lastIndexOf("/")) || "/", { recursive: true });
      const whole = `${changed.join(eol)}${eol}`;
      await rewriteFile(path, Uint8Array.from(whole, (character) => character.charCodeAt(0)));
    }
    return success(undefined);
  } catch (thrown) {
    return failure("git-attributes", `${path} cannot be changed: ${thrownText(thrown)}.`);
  }
}

/** Runs git for one repository or, with `--global`, for the person's whole configuration. */
class Git {
  readonly #environment: Environment;
  readonly #global: boolean;

  constructor(environment: Environment, global: boolean) {
    this.#environment = environment;
    this.#global = global;
  }

  get scope(): string {
    return this.#global ? "--global" : "--local";
  }

  async attributesFile(): Promise<Outcome<string>> {
    const { home, variables } = this.#environment;
    if (!this.#global) {
      const top = await this.run("rev-parse", "--show-toplevel");
      if (top.ok) return readByGit(`${top.value}/.gitattributes`);
      return failure(
        "git-repository",
        `This is not a git repository: ${top.problem.message}`,
        "Change to a repository, or use --global for all of them.",
      );
    }
    const named = await this.run("config", "--global", "--type=path", "core.attributesFile");
    if (named.ok && named.value !== "") return named;
    return success(`${variables.XDG_CONFIG_HOME || `${home}/.config`}/git/attributes`);
  }

  /** Returns the output of git without its last line end. */
  async run(...args: readonly string[]): Promise<Outcome<string>> {
    try {
      const { success: done, stdout, stderr } = await new Deno.Command("git", {
        args: [...args],
        cwd: this.#environment.cwd,
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }).output();
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).replace(/\n$/, "");
      if (done) return success(text(stdout));
      const [errorLine = ""] = text(stderr).split("\n");
      return failure("git-failed", errorLine || `git ${args[0]} failed.`, nextAfter(errorLine));
    } catch (thrown) {
      if (thrown instanceof Deno.errors.NotFound) {
        return failure("git-missing", "There is no program git.", "Install it first.");
      }
      throw thrown;
    }
  }
}

/** Refuses a symbolic link, because git does not read attributes through one. */
function readByGit(path: string): Outcome<string> {
  if (!isLink(path)) return success(path);
  return failure(
    "git-attributes",
    `${path} is a symbolic link, and git does not read attributes through one.`,
    "Replace it with a file, or use --global for all repositories.",
  );
}

function isLink(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSymlink;
  } catch (thrown) {
    if (isMissing(thrown)) return false;
    throw thrown;
  }
}

/** Returns how to fix the error that git reported, if known. */
function nextAfter(errorLine: string): string | undefined {
  const [, file] = /^error: could not lock config file (.+): File exists$/.exec(errorLine) ?? [];
  if (file === undefined) return undefined;
  const lock = operands(`${file}.lock`);
  return `If no other git process is changing it, remove the lock that one left: rm ${lock}`;
}
