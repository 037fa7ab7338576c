// For rules that ask or deny, finds the command that another command such as `sudo` runs: `sudo -u x git push` is also
// evaluated as `git push`.

import { programName } from "../../../config/rules/runners.ts";
import type { ShellWord } from "./types.ts";

/** Commands inside a command. */
export interface Unwrapped {
  /** Commands that the program runs, each as a list of words. */
  readonly commands: readonly (readonly ShellWord[])[];
  /** True if the starts of the commands are only guessed. */
  readonly guessed?: boolean;
  /** Texts that a shell reads as commands. */
  readonly scripts: readonly string[];
  /** True if the command may run something that its words do not show. */
  readonly unread: boolean;
}

/** How a program takes the command that it runs. */
interface Wrapper {
  /** Letters of options that take a separate value. */
  readonly letters?: string;
  /** Long options that take a separate value. */
  readonly long?: readonly string[];
  /** Number of operands before the command. */
  readonly skip?: number;
  /** True if variables may be set before the command. */
  readonly sets?: boolean;
  /** True if the program appends words from its standard input to the command. */
  readonly adds?: boolean;
  /** True if a shell reads the command. */
  readonly joined?: boolean;
  /** Options whose value a shell reads. */
  readonly text?: readonly string[];
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    letters: "ugpCrtTUDRh",
    long: [
      "--user",
      "--group",
      "--prompt",
      "--chroot",
      "--chdir",
      "--role",
      "--type",
      "--host",
      "--other-user",
    ],
    sets: true,
  },
  doas: { letters: "uCa" },
  su: { letters: "cgGsw", text: ["-c", "--command"] },
  runuser: { letters: "cugGsw", text: ["-c", "--command"] },
  pkexec: { long: ["--user"] },
  env: {
    letters: "uCSa",
    long: ["--unset", "--chdir", "--argv0"],
    sets: true,
    text: ["-S", "--split-string"],
  },
  xargs: {
    letters: "adEILnPs",
    long: ["--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-chars", "--process-slot-var"],
    adds: true,
  },
  parallel: { letters: "jNIaSP", adds: true },
  nohup: {},
  setsid: {},
  nice: { letters: "n", long: ["--adjustment"] },
  ionice: { letters: "cnpPu", long: ["--class", "--classdata"] },
  taskset: { skip: 1 },
  timeout: { letters: "ks", long: ["--kill-after", "--signal"], skip: 1 },
  stdbuf: { letters: "ioe", long: ["--input", "--output", "--error"] },
  time: { letters: "fo", long: ["--format", "--output"] },
  chroot: { skip: 1 },
  unshare: { letters: "SGRw" },
  nsenter: { letters: "tSGrw" },
  flock: { letters: "wEc", skip: 1, text: ["-c", "--command"] },
  strace: { letters: "abeEIoOpPsSuUX" },
  ltrace: { letters: "aAeFlnopsuwxX" },
  watch: { letters: "n", long: ["--interval"], joined: true },
  script: { letters: "cEImOTB", text: ["-c", "--command"] },
  ssh: { letters: "bBcDeEFiIJlLmoOpPQRSwW", skip: 1, joined: true },
  busybox: {},
  toybox: {},
  command: {},
  builtin: {},
  exec: { letters: "a" },
  coproc: {},
  trap: { text: ["-"] },
};

/** Programs that run a command somewhere in their arguments, in too many ways for a table. */
const ANYWHERE: ReadonlySet<string> = new Set(
  ("docker podman kubectl systemd-run bwrap start-stop-daemon npx pnpm yarn bunx uv uvx poetry bundle entr expect " +
    "gdb run-parts npm bun pipx cargo").split(" "),
);
const SHELLS: ReadonlySet<string> = new Set("sh bash dash ash zsh ksh mksh fish csh tcsh".split(" "));
/** Programs that read code which may contain commands. */
const LANGUAGES: ReadonlySet<string> = new Set(
  ("python pypy perl ruby node deno php lua luajit awk gawk mawk nawk sed tclsh guile m4 make gmake vim vi nvim emacs " +
    "ed ex source . at batch crontab osascript r rscript").split(" "),
);
const FIND_EXEC: ReadonlySet<string> = new Set(["-exec", "-execdir", "-ok", "-okdir"]);

const NOTHING: Unwrapped = { commands: [], scripts: [], unread: false };
const UNREAD: Unwrapped = { ...NOTHING, unread: true };
const ANY_WORDS: ShellWord = { text: "…", value: null, count: "many" };

/** True if a program reads commands from its standard input. */
export function isShell(program: string): boolean {
  return SHELLS.has(programName(program));
}

/** Finds what a command runs by its arguments. */
export function unwrap(words: readonly ShellWord[]): Unwrapped {
  const program = words[0]?.value;
  if (program === null || program === undefined) return NOTHING;
  const name = programName(program);
  const rest = words.slice(1);
  if (SHELLS.has(name)) return unwrapShell(rest);
  if (name === "eval") return joined(rest);
  if (name === "trap") {
    return rest.length === 0 ? NOTHING : joined(rest.filter(({ value }) => value !== "--").slice(0, 1));
  }
  if (name === "find" || name === "fd" || name === "fdfind") return unwrapFind(rest);
  if (name === "git") return unwrapGit(words[0]!, rest);
  if (LANGUAGES.has(name)) return UNREAD;
  if (ANYWHERE.has(name)) {
    const commands = rest.map((_, at) => rest.slice(at)).filter(([first]) => !isOption(first));
    return { ...NOTHING, commands, guessed: true, unread: true };
  }
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  return wrapper === undefined ? NOTHING : unwrapWrapper(wrapper, rest);
}

function unwrapWrapper(wrapper: Wrapper, given: readonly ShellWord[]): Unwrapped {
  const scripts: string[] = [];
  let unread = false;
  let rest = [...given];
  let skip = wrapper.skip ?? 0;
  const takeText = (word: ShellWord | undefined) => {
    if (word?.value === null || word?.value === undefined) unread = true;
    else scripts.push(word.value);
  };
  while (rest.length > 0) {
    const [word, next] = rest;
    const value = word!.value;
    if (value === null) break;
    if (value === "--") {
      rest = rest.slice(1);
      if (skip === 0) break;
      continue;
    }
    if (isOption(word)) {
      const text = wrapper.text?.find((option) =>
        value === option ||
        (option.startsWith("--") ? value.startsWith(`${option}=`) : value.startsWith(option))
      );
      if (text !== undefined) {
        const attached = value.slice(text.length).replace(/^=/, "");
        if (attached !== "") scripts.push(attached);
        else takeText(next);
        rest = rest.slice(attached === "" ? 2 : 1);
      } else rest = rest.slice(takesValue(wrapper, value) ? 2 : 1);
      continue;
    }
    if (wrapper.sets && /^[A-Za-z_]\w*=/.test(value)) {
      rest = rest.slice(1);
      continue;
    }
    if (skip === 0) break;
    skip -= 1;
    rest = rest.slice(1);
  }
  // `su USER -c COMMAND` has its text after the operand.
  for (const [at, word] of rest.entries()) {
    if (word.value !== null && wrapper.text?.includes(word.value)) takeText(rest[at + 1]);
  }
  if (wrapper.joined) {
    const text = joined(rest);
    return { ...text, scripts: [...scripts, ...text.scripts], unread: unread || text.unread };
  }
  const more = wrapper.adds ? [ANY_WORDS] : [];
  const replaced = wrapper.adds
    ? rest.map((
      word,
    ) => (word.value?.includes("{}") ? { ...word, value: null, count: "many" as const } : word))
    : rest;
  const commands = rest.length === 0 ? [] : [[...replaced, ...more]];
  return { commands, scripts, unread };
}

/** True if a separate value follows an option. */
function takesValue({ letters = "", long = [] }: Wrapper, option: string): boolean {
  if (option.startsWith("--")) return long.includes(option);
  // A value may follow only the last letter of a cluster.
  return letters.includes(option.at(-1)!) &&
    ![...option.slice(1, -1)].some((letter) => letters.includes(letter));
}

function unwrapShell(rest: readonly ShellWord[]): Unwrapped {
  for (const [at, { value }] of rest.entries()) {
    if (value === null) return UNREAD;
    if (/^-[a-zA-Z]*c/.test(value)) {
      const text = rest.slice(at + 1).find((word) => !isOption(word));
      return text?.value === null || text === undefined ? UNREAD : { ...NOTHING, scripts: [text.value] };
    }
  }
  return UNREAD;
}

function unwrapFind(rest: readonly ShellWord[]): Unwrapped {
  const commands: ShellWord[][] = [];
  for (const [at, { value }] of rest.entries()) {
    const runs = value !== null && (FIND_EXEC.has(value) || value === "-x" || value === "-X");
    if (!runs) continue;
    const after = rest.slice(at + 1);
    const end = after.findIndex((word) => word.value === ";" || word.value === "+");
    commands.push(
      (end === -1 ? after : after.slice(0, end))
        .map((word) => (word.value?.includes("{}") ? { ...word, value: null, count: "many" } : word)),
    );
  }
  return { ...NOTHING, commands: commands.filter((words) => words.length > 0) };
}

/** Global options of git that take a value. */
const GIT_VALUED: ReadonlySet<string> = new Set([
  "-C",
  "-c",
  "--git-dir",
  "--work-tree",
  "--namespace",
  "--config-env",
  "--super-prefix",
  "--attr-source",
]);

function unwrapGit(git: ShellWord, rest: readonly ShellWord[]): Unwrapped {
  let at = 0;
  let unread = false;
  while (at < rest.length && isOption(rest[at])) {
    const { value } = rest[at]!;
    if (value === "-c" || value?.startsWith("--config-env")) unread = true;
    at += GIT_VALUED.has(value ?? "") ? 2 : 1;
  }
  const plain = rest.slice(at);
  const scripts: string[] = [];
  for (const [index, { value }] of plain.entries()) {
    const next = plain[index + 1]?.value;
    if ((value === "foreach" || value === "-x" || value === "--exec") && typeof next === "string") {
      scripts.push(next);
    }
    if (value?.startsWith("--exec=")) scripts.push(value.slice("--exec=".length));
  }
  const run = plain[0]?.value === "bisect" && plain[1]?.value === "run" ? [plain.slice(2)] : [];
  const commands = [
    ...(at > 0 && plain.length > 0 ? [[git, ...plain]] : []),
    ...run.filter((each) => each.length > 0),
  ];
  return { commands, scripts, unread };
}

/** Joins words that a shell reads as one text. */
function joined(words: readonly ShellWord[]): Unwrapped {
  if (words.length === 0) return NOTHING;
  if (words.some(({ value }) => value === null)) return UNREAD;
  return { ...NOTHING, scripts: [words.map(({ value }) => value).join(" ")] };
}

function isOption(word: ShellWord | undefined): boolean {
  return word?.value?.startsWith("-") === true && word.value !== "-";
}
