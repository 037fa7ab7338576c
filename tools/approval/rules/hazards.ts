// Options that make a program write a file or run another program. A wildcard in an approving rule does not cover them.
// The table is data.
//
// The table is never complete: a program that is not in it is evaluated by the pattern alone. Programs that write or
// run something in ways that no table of options covers are runners (config/rules/runners.ts).

import { programName } from "../../../config/rules/runners.ts";

/** The words of a program that are hazards. */
export interface Hazard {
  /** Letters of short options; any letter of a word with one dash counts. */
  readonly letters?: string;
  /** Long options, in full. Their abbreviations count too. */
  readonly long?: readonly string[];
  /** Complete options that only look like abbreviations of those. */
  readonly whole?: readonly string[];
  /** Whole words that are hazards at any position. */
  readonly words?: readonly string[];
  /** Matches texts that are a hazard anywhere in any word. */
  readonly text?: RegExp;
  /** True if a first argument without a dash consists of letters of options, as in `tar xf`. */
  readonly bundled?: boolean;
  /** Number of operands that only name input; further ones are hazards. */
  readonly operands?: number;
  /** Letters of options whose value is the next word, which is not an operand. */
  readonly values?: string;
}

/** Hazards by program name. */
export const HAZARDS: Readonly<Record<string, Hazard>> = {
  rg: { letters: "z", long: ["--pre", "--hostname-bin", "--search-zip"] },
  ag: { long: ["--pager"] },
  ack: { long: ["--pager", "--output", "--ackrc"] },
  bat: { long: ["--pager"], words: ["cache"] },
  sort: { letters: "oT", long: ["--output", "--compress-program", "--temporary-directory"] },
  tree: { letters: "oR", long: ["--output"] },
  file: { letters: "Cz", long: ["--compile", "--uncompress"] },
  diff: { letters: "l", long: ["--paginate"] },
  sdiff: { letters: "o", long: ["--output", "--diff-program"] },
  shuf: { letters: "o", long: ["--output"] },
  diff3: { long: ["--diff-program"] },
  date: { letters: "s", long: ["--set"] },
  dmesg: { letters: "cCDEn", long: ["--clear", "--read-clear", "--console-off", "--console-on"] },
  journalctl: {
    long: ["--vacuum-size", "--vacuum-time", "--vacuum-files", "--rotate", "--flush", "--cursor-file"],
  },
  // `%n` in a format assigns to the variable named next, which could be PATH.
  printf: { letters: "v", text: /%[-+ #0'*.\d]*[hjlLtz]*n/ },
  jobs: { letters: "x" },
  test: { letters: "v" },
  "[": { letters: "v" },
  yq: { letters: "is", long: ["--inplace", "--split-exp"] },
  // Libxml2 and Go accept one dash or two before each name.
  xmllint: { letters: "o", long: ["--output", "--shell", "-shell"] },
  gofmt: { letters: "wr", long: ["--w", "--r", "--cpuprofile"] },
  nm: { long: ["--plugin"] },
  objdump: { long: ["--plugin"] },
  ip: { letters: "b", words: ["exec", "exe", "ex", "e"], long: ["-batch", "--batch"] },
  ss: { letters: "KD", long: ["--kill", "--diag"] },
  gh: {
    letters: "w",
    words: ["alias", "extension", "extensions", "ext", "codespace", "cs", "config"],
    long: ["--web"],
  },
  // One dash or two, in any case.
  tsc: {
    text:
      /^--?(?:out|outFile|outDir|declarationDir|tsBuildInfoFile|generateTrace|generateCpuProfile|build|b|init)(?:=|$)/i,
  },
  eslint: {
    letters: "ocf",
    long: [
      ..."--format --env-info".split(" "),
      ..."--fix --output-file --init --plugin --config --rulesdir --parser --resolve-plugins-relative-to"
        .split(" "),
      ..."--cache-location --cache-file".split(" "),
    ],
  },
  prettier: {
    letters: "w",
    long: ["--write", "--plugin", "--plugin-search-dir", "--config", "--cache-location"],
  },
  pandoc: {
    letters: "oFLd",
    long: "--output --filter --lua-filter --pdf-engine --extract-media --defaults --log".split(" "),
  },
  mypy: {
    long: [
      ..."--config-file --python-executable --install-types --cache-dir --junit-xml --linecount-report".split(
        " ",
      ),
      ..."--any-exprs-report --cobertura-xml-report --html-report --linecoverage-report".split(" "),
      ..."--lineprecision-report --txt-report --xml-report --xslt-html-report --xslt-txt-report".split(" "),
    ],
  },
  pylint: { long: ["--load-plugins", "--init-hook", "--rcfile", "--output"] },
  flake8: { long: ["--config", "--append-config", "--output-file", "--tee"] },
  ruff: {
    letters: "o",
    long: ["--fix", "--fix-only", "--output-file", "--config", "--cache-dir", "--add-noqa"],
  },
  rubocop: {
    letters: "rcoaA",
    long: "--require --plugin --config --out --autocorrect --autocorrect-all --auto-correct --auto-gen-config"
      .split(" "),
  },
  stylelint: {
    letters: "co",
    long: [
      ..."--config --config-basedir --custom-syntax --custom-formatter --formatter --output-file --fix".split(
        " ",
      ),
      ..."--cache-location".split(" "),
    ],
    whole: ["--cache"],
  },
  markdownlint: { letters: "cfor", long: ["--config", "--fix", "--output", "--rules"] },
  cppcheck: {
    long: [
      ..."--addon --addon-python --rule-file --output-file --cppcheck-build-dir --dump --plist-output".split(
        " ",
      ),
      ..."--clang --exe --exename --project --library".split(" "),
    ],
  },
  // LLVM accepts one dash or two before each name.
  "clang-format": { letters: "i", long: ["--i", "--inplace"] },
  "clang-tidy": {
    text:
      /^--?(?:load|fix|fix-errors|fix-notes|export-fixes|config|config-file|vfsoverlay|p|extra-arg|store)/,
  },
  dot: { letters: "oOlc" },
  tcpdump: { letters: "wzZGC" },
  tshark: { letters: "wXKb" },
  sysctl: { letters: "wp", long: ["--write", "--load", "--system"], text: /=/ },
  "ssh-add": { letters: "sSD" },
  // A macro such as `%(touch f)` runs its text in a shell.
  rpm: {
    letters: "EDUF",
    long: [
      ..."--eval --define --predefine --pipe --rcfile --macros --load --root --dbpath --import".split(" "),
      ..."--install --upgrade --freshen --erase --reinstall --restore --setperms --setugids --setcaps".split(
        " ",
      ),
      ..."--rebuilddb --initdb".split(" "),
    ],
    text: /%[({]/,
  },
  dpkg: {
    letters: "irP",
    long: [
      ..."--install --unpack --configure --remove --purge --pre-invoke --post-invoke --status-logger".split(
        " ",
      ),
      ..."--admindir --root --instdir --add-architecture --set-selections --update-avail".split(" "),
    ],
  },
  dnf: { letters: "c", long: ["--config", "--setopt", "--enableplugin", "--installroot"] },
  yum: { letters: "c", long: ["--config", "--setopt", "--enableplugin", "--installroot"] },
  pacman: { letters: "SUR", long: ["--config", "--hookdir", "--dbpath", "--root", "--sysroot", "--sync"] },
  ugrep: {
    letters: "zZ",
    long: ["--pager", "--filter", "--view", "--save-config", "--decompress", "--config"],
  },
  ug: { letters: "zZ", long: ["--pager", "--filter", "--view", "--save-config", "--decompress", "--config"] },
  delta: { long: ["--pager", "--config"] },
  hg: { letters: "R", long: ["--config", "--cwd", "--repository"] },
  svn: { long: ["--diff-cmd", "--diff3-cmd", "--editor-cmd", "--config-option", "--config-dir"] },
  jj: { letters: "R", long: ["--config", "--config-file", "--config-toml", "--repository", "--tool"] },
  "apt-cache": { letters: "oc", long: ["--option", "--config-file"] },
  apt: { letters: "oc", long: ["--option", "--config-file"] },
  "apt-get": { letters: "oc", long: ["--option", "--config-file"] },
  ctags: { letters: "fo", long: ["--output"] },
  curl: {
    letters: "oOJTKdFDcQ",
    long: [
      ..."--output --output-dir --remote-name --remote-name-all --remote-header-name --upload-file --config"
        .split(" "),
      ..."--data --data-ascii --data-binary --data-raw --data-urlencode --form --form-string --json".split(
        " ",
      ),
      ..."--dump-header --cookie-jar --trace --trace-ascii --stderr --hsts --alt-svc --etag-save".split(" "),
      ..."--libcurl --engine --unix-socket --abstract-unix-socket --ssl-sessions --quote --url-query".split(
        " ",
      ),
    ],
    whole: ["--url", "--ssl"],
    // Expanded options may be any of these. An output format may name a file.
    text: /^--expand-|%output\{/,
  },
  wget: {
    letters: "OoaePi",
    long: [
      ..."--output-document --output-file --append-output --execute --post-file --body-file".split(" "),
      ..."--post-data --body-data --use-askpass --config --directory-prefix --save-cookies".split(" "),
    ],
  },
  tar: {
    bundled: true,
    letters: "IF",
    long: [
      ..."--to-command --checkpoint-action --use-compress-program --rsh-command --info-script".split(" "),
      ..."--new-volume-script --rmt-command".split(" "),
    ],
  },
};

/**
 * Further hazards of programs that run or write what their arguments say. No pattern with a wildcard approves them,
 * even one that spells them out, unless the rule has `allow_runner`.
 */
export const RUNNER_HAZARDS: Readonly<Record<string, Hazard>> = {
  // Words at any position: `--` does not keep find from reading them as actions.
  find: {
    words: "-delete -exec -execdir -ok -okdir -fprint -fprint0 -fprintf -fls -unlink -rm".split(" "),
  },
  fd: { letters: "xXl", long: ["--exec", "--exec-batch", "--list-details"] },
  fdfind: { letters: "xXl", long: ["--exec", "--exec-batch", "--list-details"] },
  // All modes except listing and comparing; files in which tar reads further options or writes reports; archives on
  // other machines.
  tar: {
    bundled: true,
    letters: "xcruATgM",
    long: [
      ..."--extract --get --create --append --update --catenate --concatenate --delete --files-from".split(
        " ",
      ),
      ..."--index-file --listed-incremental --volno-file --multi-volume --one-top-level".split(" "),
    ],
    whole: ["--list", "--file"],
    text: /:/,
  },
  uniq: { operands: 1, values: "fsw" },
  xxd: { operands: 1, values: "cglnosR" },
};

/** Options of git before its subcommand. */
const GIT_GLOBAL: Hazard = {
  letters: "cCp",
  long: [
    "--git-dir",
    "--work-tree",
    "--exec-path",
    "--config-env",
    "--paginate",
    "--namespace",
    "--super-prefix",
  ],
};
/** Options of any subcommand of git. */
const GIT_ANY: Hazard = {
  long: [
    ..."--output --output-directory --ext-diff --textconv --filters --open-files-in-pager".split(" "),
    ..."--upload-pack --receive-pack --exec --config --template --extcmd --unsafe-paths".split(" "),
    ..."--gpg-sign --show-signature --help --strategy --separate-git-dir --build-fake-ancestor".split(" "),
    ..."--sendmail-cmd --smtp-server --to-cmd --cc-cmd --header-cmd".split(" "),
  ],
  whole: ["--text", "--stat"],
  // Signatures are checked by a program.
  text: /%G|%\(signature/,
};
/** Hazards of individual git subcommands. */
const GIT_SUBCOMMANDS: Readonly<Record<string, Hazard>> = {
  grep: { letters: "O" },
  archive: { letters: "o", long: ["--remote"] },
  "format-patch": { letters: "o" },
  clone: { letters: "uc" },
  rebase: { letters: "xSs" },
  commit: { letters: "S" },
  // The strategy NAME is the program git-merge-NAME.
  merge: { letters: "Ss" },
  pull: { letters: "Ss" },
  mergetool: { letters: "t", long: ["--tool"] },
  "cherry-pick": { letters: "S" },
  revert: { letters: "S" },
  branch: { long: ["--edit-description"] },
  tag: { letters: "suv", long: ["--sign", "--local-user", "--verify"] },
  difftool: { letters: "xt" },
  "ls-remote": { letters: "u" },
};
/** Subcommands of git that a wildcard may match: they run nothing but git itself. */
const GIT_PLAIN: ReadonlySet<string> = new Set(
  ("status log diff show branch tag describe rev-parse rev-list ls-files ls-tree cat-file blame shortlog reflog grep " +
    "merge-base name-rev show-ref for-each-ref symbolic-ref diff-tree diff-index diff-files show-branch whatchanged " +
    "cherry count-objects var version help-all add commit checkout switch restore reset stash merge cherry-pick revert " +
    "rm mv init clean apply fetch pull push").split(" "),
);

/** True if a program has options that write or run something. */
export function isHazardous(program: string): boolean {
  const name = programName(program);
  return name === "git" || hazardOf(HAZARDS, name) !== undefined ||
    hazardOf(RUNNER_HAZARDS, name) !== undefined;
}

function hazardOf(table: Readonly<Record<string, Hazard>>, name: string): Hazard | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/**
 * Of the words that only a wildcard of the pattern matched, returns the first that makes the program write a file or
 * run another program; null if there is none.
 *
 * @param words the program and its arguments
 * @param isSpelled whether the pattern spells out the word at an index
 */
export function hazardIn(words: readonly string[], isSpelled: (at: number) => boolean): string | null {
  const name = programName(words[0] ?? "");
  if (name === "git") return gitHazard(words, isSpelled);
  const hazard = hazardOf(HAZARDS, name);
  return hazard === undefined ? null : firstHazard(words, hazard, isSpelled);
}

/** Returns the first word of a command for which its rule needs `allow_runner`; null if there is none. */
export function runnerHazardIn(words: readonly string[]): string | null {
  const hazard = hazardOf(RUNNER_HAZARDS, programName(words[0] ?? ""));
  if (hazard === undefined) return null;
  return firstHazard(words, hazard, () => false) ?? furtherOperand(words, hazard);
}

function firstHazard(
  words: readonly string[],
  hazard: Hazard,
  isSpelled: (at: number) => boolean,
): string | null {
  const end = endOfOptions(words);
  return words.find((word, at) => {
    if (at === 0 || isSpelled(at)) return false;
    const isBundle = at === 1 && hazard.bundled === true && !word.startsWith("-");
    return isHazard(isBundle ? `-${word}` : word, hazard, at < end);
  }) ?? null;
}

/** Returns the first operand that does not only name input; null if there is none. */
function furtherOperand(words: readonly string[], { operands, values = "" }: Hazard): string | null {
  if (operands === undefined) return null;
  const end = endOfOptions(words);
  let left = operands;
  for (let at = 1; at < words.length; at++) {
    const word = words[at]!;
    const isOption = at <= end && word.startsWith("-") && word !== "-";
    if (isOption && at < end && word.length === 2 && values.includes(word[1]!)) at += 1;
    else if (!isOption && --left < 0) return word;
  }
  return null;
}

function gitHazard(words: readonly string[], isSpelled: (at: number) => boolean): string | null {
  const end = endOfOptions(words);
  const subcommandAt = words.findIndex((word, at) => at > 0 && !word.startsWith("-"));
  const subcommand = words[subcommandAt] ?? "";
  if (subcommandAt > 0 && !isSpelled(subcommandAt) && !GIT_PLAIN.has(subcommand)) return subcommand;
  const own = Object.hasOwn(GIT_SUBCOMMANDS, subcommand) ? GIT_SUBCOMMANDS[subcommand]! : {};
  return words.find((word, at) => {
    if (at === 0 || at === subcommandAt || isSpelled(at)) return false;
    const isOption = at < end;
    if (subcommandAt === -1 || at < subcommandAt) return isHazard(word, GIT_GLOBAL, isOption);
    return isHazard(word, GIT_ANY, isOption) || isHazard(word, own, isOption) || word.startsWith("ext::");
  }) ?? null;
}

function isHazard(
  word: string,
  { letters = "", long = [], whole = [], words = [], text }: Hazard,
  mayBeOption: boolean,
): boolean {
  if (words.includes(word) || text?.test(word) === true) return true;
  if (!mayBeOption || !word.startsWith("-") || word === "-") return false;
  if (!word.startsWith("--")) {
    return [...word.slice(1)].some((letter) => letters.includes(letter)) || long.includes(word);
  }
  const name = word.split("=", 1)[0]!;
  return name.length > 2 && !whole.includes(name) && long.some((option) => option.startsWith(name));
}

/** Index of `--`, after which nothing is an option. */
function endOfOptions(words: readonly string[]): number {
  const at = words.indexOf("--");
  return at === -1 ? words.length : at;
}
