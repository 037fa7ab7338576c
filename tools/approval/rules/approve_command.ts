// Decides whether rules approve a command: a rule must match each simple command in it.

import { normalPath, parentOf } from "../../../base/paths.ts";
import {
  type CommandPattern,
  fitsWord,
  hasWildcard,
  literalOf,
} from "../../../config/rules/command_pattern.ts";
import type { PlacedRule, Rule } from "../../../config/rules/rule.ts";
import { programName } from "../../../config/rules/runners.ts";
import type { ShellCommand, ShellRedirect, ShellScript, ShellWord, StrictReading } from "../shell/types.ts";
import { isBuiltin } from "./builtins.ts";
import { hazardIn, isHazardous, runnerHazardIn } from "./hazards.ts";
import { fitsPatterns, mustStay, neverApproved, type PatternBase } from "./paths.ts";
import type { EvaluatedCommand } from "./types.ts";
import type { RuleWorld } from "./world.ts";

/** Inputs for evaluating a command. */
export interface CommandQuestion {
  /** Rules that approve by command patterns. */
  readonly rules: readonly PlacedRule[];
  /** Absolute folder in which the command starts. */
  readonly cwd: string;
  readonly world: RuleWorld;
  /** True if `cd` may look for folders elsewhere, because commands have `CDPATH`. */
  readonly searchesFolders: boolean;
  /** Returns the folder to which relative patterns of a rule are relative. */
  baseOf(rule: PlacedRule): PatternBase;
}

/** Maximum number of possible folders of a command that are followed. */
const MOST_FOLDERS = 8;

/** Commands after which the current folder is unknown, because this code does not follow what they do. */
const MOVERS: ReadonlySet<string> = new Set("pushd popd command builtin eval source .".split(" "));

/** Programs that write none of their operands, unless an option tells them to. They may be given protected paths. */
const READERS: ReadonlySet<string> = new Set(
  ("cat head tail wc ls dir grep egrep fgrep zgrep rg ag ack file stat diff cmp comm cut nl tac rev od hexdump strings " +
    "md5sum sha1sum sha256sum sha512sum b2sum cksum sum du df tree readlink realpath basename dirname test [ cd pwd echo " +
    "printf jq column fold fmt paste join sort uniq find fd fdfind tar xxd bat").split(" "),
);

/** Evaluates every simple command of a reading. */
export function evaluateCommands(reading: StrictReading, question: CommandQuestion): EvaluatedCommand[] {
  const found: EvaluatedCommand[] = [];
  new Walk(question, found).script(reading.script, [normalPath(question.cwd)]);
  return found;
}

/** The folders in which a command may start, with links not resolved; null if unknown. */
type Folders = readonly string[] | null;

function union(one: Folders, other: Folders): Folders {
  if (one === null || other === null) return null;
  const all = [...new Set([...one, ...other])];
  return all.length > MOST_FOLDERS ? null : all;
}

/** Visits the commands of a list in the order in which they run, and follows `cd` to find the folder of each. */
class Walk {
  readonly #question: CommandQuestion;
  readonly #found: EvaluatedCommand[];

  constructor(question: CommandQuestion, found: EvaluatedCommand[]) {
    this.#question = question;
    this.#found = found;
  }

  script({ steps }: ShellScript, start: Folders): void {
    let folders = start;
    /** While a list that runs in the background is read: the folders in which the command after this list may start. */
    let outside: { readonly folders: Folders } | null = null;
    /** Every folder in which the list may end, because any command so far may fail and end it. */
    let met = start;
    for (const { join, background, commands } of steps) {
      if (join === ";" && outside !== null) {
        folders = outside.folders;
        met = folders;
        outside = null;
      }
      if (background && outside === null) outside = { folders };
      if (join === ";" || join === "||") folders = met;
      for (const command of commands) {
        for (const inner of command.inner) this.script(inner, folders);
        this.#found.push(this.#evaluate(command, folders));
      }
      if (commands.length === 1) folders = this.#moved(commands[0]!, folders);
      met = union(met, folders);
    }
  }

  /** Returns the folders in which the commands after this one start. */
  #moved(command: ShellCommand, folders: Folders): Folders {
    const program = command.words[0]?.value;
    if (MOVERS.has(program ?? "")) return null;
    if (program !== "cd" || folders === null) return folders;
    const target = targetOf(command, this.#question.searchesFolders);
    if (target === null) return null;
    const moved = folders.map((folder) =>
      normalPath(target.startsWith("/") ? target : `${folder}/${target}`)
    );
    // A path that is not a folder yet may become anything before the command runs, even a link to another folder.
    return moved.every((folder) => this.#question.world.kind(folder) === "folder") ? moved : null;
  }

  #evaluate(command: ShellCommand, folders: Folders): EvaluatedCommand {
    const { text, words, opaque } = command;
    const reported = { text, words: words.map(({ value }) => value), opaque };
    const reason = opaque ?? (words.length === 0 ? "no program" : null);
    if (reason !== null) return { ...reported, opaque: reason, rule: null, why: `it contains ${reason}` };
    let nearest: string | null = null;
    for (const rule of this.#question.rules) {
      const why = new RuleMatch(this.#question, rule, folders).obstacle(command);
      if (why === null) return { ...reported, rule, why: null };
      nearest ??= why.isNear ? why.message : null;
    }
    return { ...reported, rule: null, why: nearest ?? "no rule approves it" };
  }
}

/** Reason why a rule does not match. `isNear` is true if its pattern matches but another condition fails. */
interface Obstacle {
  readonly message: string;
  readonly isNear: boolean;
}

/** Matches one rule against one simple command. */
class RuleMatch {
  readonly #rule: Rule;
  readonly #placed: PlacedRule;
  readonly #question: CommandQuestion;
  readonly #folders: Folders;

  constructor(question: CommandQuestion, placed: PlacedRule, folders: Folders) {
    this.#question = question;
    this.#placed = placed;
    this.#rule = placed.rule;
    this.#folders = folders;
  }

  obstacle(command: ShellCommand): Obstacle | null {
    let nearest: Obstacle | null = null;
    for (const pattern of this.#rule.command ?? []) {
      const found = this.#patternObstacle(pattern, command);
      if (found === null) return null;
      if (nearest === null || (found.isNear && !nearest.isNear)) nearest = found;
    }
    return nearest ?? { message: "the rule has no pattern", isNear: false };
  }

  #patternObstacle(
    pattern: CommandPattern,
    { words, assignments, redirects }: ShellCommand,
  ): Obstacle | null {
    const near = (message: string): Obstacle => ({ message, isNear: true });
    const mismatch = wordMismatch(pattern, words);
    if (mismatch !== null) return mismatch;
    const values = words.map(({ value }) => value ?? "");
    const why = hasWildcard(pattern) ? this.#wildcardObstacle(pattern, words, values, assignments) : null;
    if (why !== null) return near(why);
    const program = words[0]!.value!;
    if (isHazardous(program) && words.some(({ value }) => value === null)) {
      return near(`a word that the shell expands could become an option of ${program}`);
    }
    const unset = assignments.find(({ name }) => this.#rule.env?.includes(name) !== true);
    if (unset !== undefined) return near(`it sets ${unset.name}, which the rule does not list in env`);
    return this.#redirectObstacle(redirects) ?? this.#programObstacle(program, pattern) ??
      (programName(program) === "git" ? this.#repositoryObstacle() : null) ?? this.#withinObstacle(words);
  }

  /** Returns why a wildcard must not match these words; null if it may. */
  #wildcardObstacle(
    pattern: CommandPattern,
    words: readonly ShellWord[],
    values: readonly string[],
    assignments: ShellCommand["assignments"],
  ): string | null {
    const hazard = hazardIn(values, (at) => literalOf(pattern.words[at]) !== null);
    if (hazard !== null) {
      return `"${hazard}" can write a file or run a program, so the rule must name it literally`;
    }
    const runs = this.#rule.allow_runner === true ? null : runnerHazardIn(values);
    if (runs !== null) {
      return `"${runs}" can write a file or run a program, so the rule must name the whole command, or allow_runner`;
    }
    const isCd = words[0]!.value === "cd" && words.length > 1;
    return isCd && targetOf({ words, assignments }, this.#question.searchesFolders) === null
      ? "the folder is known only when the command runs"
      : null;
  }

  /**
   * Returns why the redirections are not covered by the rule; null if they are. Redirections to another descriptor or
   * to `/dev/null` are harmless; the target of any other must be inside the folders of `within`.
   */
  #redirectObstacle(redirects: readonly ShellRedirect[]): Obstacle | null {
    for (const { text, operator, descriptor, target } of redirects) {
      if (operator === ">&" && /^[12]$/.test(target?.value ?? "") && isOutput(descriptor)) continue;
      const isPlain = operator !== null && [">", ">>", "<", "&>", "&>>", ">|"].includes(operator) &&
        (descriptor === null || isOutput(descriptor) || (operator === "<" && descriptor === 0));
      if (isPlain && target?.value === "/dev/null") continue;
      const mayStay = isPlain && operator !== "&>" && operator !== "&>>" && operator !== ">|";
      if (mayStay && this.#rule.within !== undefined && typeof target?.value === "string") {
        const why = this.#outside(target.value, operator === "<" ? "reads" : "writes");
        if (why === null) continue;
        return { message: `${text} ${why}`, isNear: true };
      }
      return { message: `the rule does not allow the redirection ${text}`, isNear: true };
    }
    return null;
  }

  #programObstacle(program: string, pattern: CommandPattern): Obstacle | null {
    const { world } = this.#question;
    const near = (message: string): Obstacle => ({ message, isNear: true });
    if (program.includes("/")) return this.#fileObstacle(program, literalOf(pattern.words[0])!);
    const planted = isBuiltin(program) ? null : world.plantable(program);
    return planted === null
      ? null
      : near(`${program} may come from a place that commands can write to: ${planted}`);
  }

  /**
   * If the pattern names the program by a path, the command must run exactly that file. Returns why it would not; null
   * if it does.
   */
  #fileObstacle(program: string, named: string): Obstacle | null {
    const { world } = this.#question;
    const near = (message: string): Obstacle => ({ message, isNear: true });
    if (this.#folders === null) return near(`the folder that ${program} is relative to is unknown`);
    const folder = this.#question.baseOf(this.#placed).folder;
    const meant = named.startsWith("/")
      ? world.real(named, "/")
      : folder === null
      ? null
      : world.real(named, folder);
    for (const base of this.#folders) {
      const real = world.real(program, base);
      if (real === null || meant === null || real !== meant) {
        return near(`${program} is not the file that the rule names`);
      }
      const why = neverApproved({ asked: normalPath(`${base}/${program}`), real }, world, false);
      if (why !== null) return near(`${program} ${why}`);
    }
    return null;
  }

  /** Git obeys the configuration of its repository, and treats any folder that looks like a repository as one. */
  #repositoryObstacle(): Obstacle | null {
    const { world, cwd } = this.#question;
    const near = (message: string): Obstacle => ({ message, isNear: true });
    const home = repositoryOf(cwd, world);
    if (this.#folders === null) return near("git would run in an unknown folder");
    for (const folder of this.#folders) {
      const found = repositoryOf(folder, world);
      if (found?.isBare) return near(`git would treat ${found.folder} as a repository`);
      if (found?.folder !== home?.folder) return near("git would use another repository");
    }
    return null;
  }

  #withinObstacle(words: readonly ShellWord[]): Obstacle | null {
    if (this.#rule.within === undefined) return null;
    const program = programName(words[0]!.value!);
    const near = (message: string): Obstacle => ({ message, isNear: true });
    let isOperand = false;
    for (const { text, value } of words.slice(1)) {
      if (value === null) return near(`the path ${text} is known only after the shell expands it`);
      const isOption = !isOperand && value.startsWith("-") && value !== "-";
      if (value === "--") isOperand = true;
      if (isOption && /[/~]|\.\./.test(value.split(/[=@:]/, 1)[0]!)) {
        return near(`${text} may contain a path`);
      }
      for (const path of pathsIn(value, isOption)) {
        const why = this.#outside(path, READERS.has(program) ? "reads" : "may write");
        if (why !== null) return near(`${text} ${why}`);
      }
    }
    return null;
  }

  /** Returns why a path does not stay within the rule, checked from every folder that the path may be relative to. */
  #outside(path: string, use: "reads" | "writes" | "may write"): string | null {
    if (path === "") return null;
    const { world } = this.#question;
    if (this.#folders === null) return "is relative to an unknown folder";
    if (path.startsWith("~")) return "is in a home folder";
    for (const folder of this.#folders) {
      const asked = normalPath(path.startsWith("/") ? path : `${folder}/${path}`);
      const real = world.real(path, folder);
      if (real === null) return "cannot be resolved";
      const checked = { asked, real };
      const base = this.#question.baseOf(this.#placed);
      const never = neverApproved(checked, world, use === "writes");
      if (never !== null) return never;
      if (use === "may write" && mustStay(real, world)) {
        return "is protected, and the program may write there";
      }
      if (!fitsPatterns(this.#rule.within ?? [], checked, { base, reading: "approve", world })) {
        return "is outside the paths in the rule's within";
      }
    }
    return null;
  }
}

/** Returns the folder that a `cd` names; null if it is known only when the command runs. */
function targetOf(
  { words, assignments }: Pick<ShellCommand, "words" | "assignments">,
  searchesFolders: boolean,
): string | null {
  const isEnded = words[1]?.value === "--";
  const operands = words.slice(isEnded ? 2 : 1);
  const target = operands.length === 1 ? operands[0]!.value : null;
  // `-` is the previous folder.
  if (target === null || target === "" || target === "-" || (target.startsWith("-") && !isEnded)) return null;
  const searches = searchesFolders || assignments.some(({ name }) => name === "CDPATH");
  return searches && !/^\.{0,2}(?:\/|$)/.test(target) ? null : target;
}

/** Returns why words do not match a pattern; null if they do. */
function wordMismatch(pattern: CommandPattern, words: readonly ShellWord[]): Obstacle | null {
  const far = (message: string): Obstacle => ({ message, isNear: false });
  for (const [at, expected] of pattern.words.entries()) {
    const word = words[at];
    if (word === undefined) return far("it has fewer words than the pattern");
    const isAny = expected.pieces.length === 2 && expected.pieces.every((piece) => piece === "");
    const fits = word.value === null ? isAny && word.count === "one" : fitsWord(expected, word.value);
    if (!fits) return far("its words do not match the pattern");
  }
  if (words.length > pattern.words.length && !pattern.open) return far("it has more words than the pattern");
  return null;
}

function isOutput(descriptor: number | null): boolean {
  return descriptor === null || descriptor === 1 || descriptor === 2;
}

/** Returns the parts of a word that may be paths. */
function pathsIn(word: string, isOption: boolean): string[] {
  const parts: string[] = [];
  for (let at = 0; at < word.length; at++) {
    if ("=@:".includes(word[at]!)) parts.push(word.slice(at + 1));
  }
  if (!isOption) return [word, ...parts];
  // The value of a short option may follow its letter directly, as in `-ofile`.
  return word.startsWith("--") ? parts : [...parts, ...(word.length > 2 ? [word.slice(2)] : [])];
}

/** The repository that git finds around a folder; `isBare` if the folder itself looks like one. */
interface Repository {
  readonly folder: string;
  readonly isBare: boolean;
}

/** The repository around a folder; null if there is none. */
function repositoryOf(folder: string, world: RuleWorld): Repository | null {
  for (let at = world.real(folder, "/") ?? folder;; at = parentOf(at)) {
    const has = (name: string) => world.kind(at === "/" ? `/${name}` : `${at}/${name}`) !== "missing";
    if (has(".git")) return { folder: at, isBare: false };
    if (has("HEAD") && has("objects") && has("refs")) return { folder: at, isBare: true };
    if (at === "/") return null;
  }
}
