// `flemma git setup`: what git has to be told so that it shows and merges conversations message by message.

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

/** The line of the attributes. */
const ATTRIBUTES = "*.chat diff=flemma merge=flemma";

/**
 * A conversation as text. Git gives up a whole diff or log where this fails: what cannot be read, and where there is no flemma
 * any more, is shown as it stands, as git itself would. Git names files below its top by their names alone, which may begin like
 * an option.
 */
const TEXTCONV = 'f() { flemma show --plain -- "$1" 2>/dev/null || cat -- "$1"; }; f';

/** Where there is no flemma any more, git merges the lines: a driver that fails leaves one side alone, without marks. */
const DRIVER = 'f() { if command -v flemma >/dev/null; then flemma git merge-driver -- "$@"; ' +
  'else git merge-file --marker-size="$4" -- "$2" "$1" "$3"; fi; }; f %O %A %B %L %P';

/** Keys of git's configuration with their values. */
const CONFIGURATION: readonly (readonly [key: string, value: string])[] = [
  ["diff.flemma.textconv", TEXTCONV],
  ["diff.flemma.xfuncname", "^((System|You|Assistant):|Call of .*)$"],
  ["merge.flemma.name", "conversations, message by message"],
  ["merge.flemma.driver", DRIVER],
];

/** Sections that hold nothing but these keys. */
const SECTIONS = ["diff.flemma", "merge.flemma"];

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given, environment, messages } = invocation;
  const global = switchOption(given, "global") === true;
  const undo = switchOption(given, "undo") === true;
  const write = switchOption(given, "write") === true;
  if (undo && write) {
    return refuse(invocation, {
      code: "usage",
      message: "--write and --undo are opposites: say one of them.",
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
        ? `Git treats conversations as any text again; ${file.value} and its configuration are as they were.`
        : `Git shows and merges *.chat message by message now (${file.value}). Take it back with: flemma git setup ${
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
    `# into ${file.value}`,
    ATTRIBUTES,
    "",
    "# to be run",
    ...CONFIGURATION.map(([key, value]) => `git config ${scope}${key} ${shellWord(value)}`),
    "",
  ];
  writeLines(lines.join("\n"));
  messages.note(`Nothing is changed yet. With --write flemma does both.`);
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
    // One that is not there is what is wanted.
    const there = await git.run("config", git.scope, "--get-regexp", `^${section.replace(".", "\\.")}\\.`);
    if (!there.ok) continue;
    const removed = await git.run("config", git.scope, "--remove-section", section);
    if (!removed.ok) return removed;
  }
  return await changeLines(path, (lines) => lines.filter((line) => line !== ATTRIBUTES));
}

/** Changes whole lines of a file, whatever bytes its others hold; one that would be left empty goes. */
async function changeLines(
  path: string,
  change: (lines: readonly string[]) => readonly string[],
): Promise<Outcome<void>> {
  try {
    // A character for each byte: names of files have any encoding.
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

/** The program git, for one repository or for the person. */
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

  /** The file of attributes that is meant. */
  async attributesFile(): Promise<Outcome<string>> {
    const { home, variables } = this.#environment;
    if (!this.#global) {
      const top = await this.run("rev-parse", "--show-toplevel");
      if (top.ok) return readByGit(`${top.value}/.gitattributes`);
      return failure(
        "git-repository",
        `This is no git repository: ${top.problem.message}`,
        "Change into one, or use --global for all of yours.",
      );
    }
    const named = await this.run("config", "--global", "--type=path", "core.attributesFile");
    if (named.ok && named.value !== "") return named;
    return success(`${variables.XDG_CONFIG_HOME || `${home}/.config`}/git/attributes`);
  }

  /** What git prints, without its last line end. */
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

/** The path, unless what lies there is nothing that git would read. */
function readByGit(path: string): Outcome<string> {
  if (!isLink(path)) return success(path);
  return failure(
    "git-attributes",
    `${path} is a link, and git reads no attributes through a link.`,
    "Put a file in its place, or use --global for all of yours.",
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

/** What helps where git itself said what is in its way. */
function nextAfter(errorLine: string): string | undefined {
  const [, file] = /^error: could not lock config file (.+): File exists$/.exec(errorLine) ?? [];
  if (file === undefined) return undefined;
  const lock = operands(`${file}.lock`);
  return `Another git changes it now, or one was stopped while it did. Then take its lock away: rm ${lock}`;
}
