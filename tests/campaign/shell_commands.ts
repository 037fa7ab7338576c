// Commands of every form that the shell has, as a model or an attacker may write them: from a grammar, and from the
// lists of tests/tools/rules with parts exchanged.

import { readList } from "../tools/rules/policy.ts";
import type { Chance } from "./random.ts";

const PROGRAMS = "echo cat ls head tail wc grep rg sort cut pwd cd git [ printf".split(" ");
const OTHERS = "touch rm sh bash env xargs sudo tee sed awk find eval exec command source . read declare trap"
  .split(" ");
const SUBCOMMANDS = "status log diff grep push config commit".split(" ");
const ARGUMENTS =
  ("-l -n -1 -o --output=pwned --outp=pwned -Opwned -opwned --pre=touch --compress-program=touch -v --ext-diff " +
    "--textconv -c -C -- - a b.txt src src/a.ts .. /tmp main..dev x=y --x=~ ] 'a[$(touch pwned)]' -uo -exec +")
    .split(" ");
const OPERATORS = [
  "; ",
  ";",
  " && ",
  "&&",
  " || ",
  " | ",
  "|",
  " |& ",
  " & ",
  "&",
  "\n",
  "\n\n",
  " # c\n",
  ";;",
  "; ;",
];
const REDIRECTIONS =
  (">pwned|> pwned|>>pwned|2>pwned|&>pwned|>|pwned|<>pwned|>&pwned|2>/dev/null|>/dev/null|</dev/null|" +
    "2>&1|>&2|1>&2|<a|<<<x|3>pwned|{fd}>pwned|>/dev/null/../pwned|>$y|&>/dev/null|>&1").split("|");
const STRAY = [
  "'",
  '"',
  "`",
  "\\",
  "$",
  "(",
  ")",
  "{",
  "}",
  "<",
  ">",
  ";",
  "&",
  "|",
  "\n",
  " ",
  "\t",
  "#",
  "*",
  "?",
  "[",
  "]",
  "~",
  "!",
  "=",
  "\r",
  "\u00a0",
  "$(",
  "${",
  "$((",
  "`touch pwned`",
  "$(touch pwned)",
  "<(touch pwned)",
  "; touch pwned",
  "\ntouch pwned\n",
  "\\\n",
];

const oneIn = (random: Chance, one: number): boolean => random.below(one) === 0;

/** A command. */
export function shellCommand(random: Chance): string {
  let text = oneIn(random, 3) ? random.pick(listed()) : list(random, 0);
  while (oneIn(random, 3)) text = spoiled(random, text);
  return text;
}

let lines: readonly string[] | null = null;

function listed(): readonly string[] {
  return lines ??= ["attacks.txt", "harmless.txt"].flatMap((name) => readList(name)).map(({ command }) =>
    command
  );
}

/** The same with a stray piece put in, something taken out, or two places exchanged. */
function spoiled(random: Chance, text: string): string {
  const at = random.below(text.length + 1);
  switch (random.below(4)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1);
    case 1: {
      const other = random.pick(listed());
      return text.slice(0, at) + other.slice(random.below(other.length));
    }
    default:
      return text.slice(0, at) + random.pick(STRAY) + text.slice(at);
  }
}

function list(random: Chance, depth: number): string {
  let text = command(random, depth);
  for (let more = random.below(3); more > 0; more--) text += random.pick(OPERATORS) + command(random, depth);
  if (oneIn(random, 8)) text += random.pick([";", " &", "\n", " # end", " #"]);
  return text;
}

function command(random: Chance, depth: number): string {
  if (depth < 2 && oneIn(random, 10)) return compound(random, depth + 1);
  const words: string[] = [];
  if (oneIn(random, 12)) {
    words.push(`${random.pick(["x", "PATH", "LD_PRELOAD", "a[0]", "x+"])}=${word(random, depth)}`);
  }
  words.push(disguised(random, oneIn(random, 8) ? random.pick(OTHERS) : random.pick(PROGRAMS)));
  if (words.at(-1) === "git") words.push(disguised(random, random.pick(SUBCOMMANDS)));
  for (let more = random.below(4); more > 0; more--) {
    words.push(oneIn(random, 8) ? random.pick(REDIRECTIONS) : word(random, depth));
  }
  return words.join(random.pick([" ", " ", " ", "  ", "\t", " \\\n "]));
}

function compound(random: Chance, depth: number): string {
  const inner = list(random, depth);
  return random.pick([
    `(${inner})`,
    `{ ${inner}; }`,
    `if ${inner}; then ${inner}; fi`,
    `for f in a b; do ${inner}; done`,
    `f() { ${inner}; }; f`,
    `! ${inner}`,
    `time ${inner}`,
    `cat <<E\n${inner}\nE`,
    `cat <<'E'\n$(touch pwned)\nE\n${inner}`,
    `[[ -v a[$(touch pwned)] ]]`,
    `((a[$(touch pwned)]))`,
    `printf 'abc%n' PATH; ls`,
    `printf -v PATH 3; ls`,
    `case x in x) ${inner};; esac`,
    `coproc ${inner}`,
  ]);
}

function word(random: Chance, depth: number): string {
  let text = piece(random, depth);
  while (oneIn(random, 4)) text += piece(random, depth);
  return text;
}

function piece(random: Chance, depth: number): string {
  const inner = () => (depth < 2 ? list(random, depth + 1) : "pwd");
  switch (random.below(22)) {
    case 0:
      return `'${random.pick(["a b", "$(touch pwned)", "; touch pwned", "`x`", "%s", "\\"])}'`;
    case 1:
      return `"${
        random.pick(["a b", "$x", "${y}", '\\"', "\\$x", "a; b", "$(", "it's", "$((1+2))", "\\`", "!"])
      }"`;
    case 2:
      return `$(${inner()})`;
    case 3:
      return `"$(${inner()})"`;
    case 4:
      return `\`${inner().replaceAll("`", "\\`")}\``;
    case 5:
      return `<(${inner()})`;
    case 6:
      return random.pick(["$x", "$y", "$_", "$1", "$@", "$*", "$?", "$$", "$!", "$-", "$HOME"]);
    case 7:
      return random.pick([
        "${x}",
        "${y}",
        "${#x}",
        "${x:-a}",
        "${x:=a}",
        "${x#a}",
        "${x/a/b}",
        "${x:0:1}",
        "${x@P}",
        "${!x}",
        "${x[0]}",
        "${x[$(touch pwned)]}",
        "${x^^}",
        "${x:-$(touch pwned)}",
        "${ touch pwned; }",
        "${|touch pwned;}",
        "${x[@]}",
        "${x:+b}",
      ]);
    case 8:
      return random.pick([
        "$((1+2))",
        "$((x))",
        "$((_))",
        "$((a[$(touch pwned)]))",
        "$[1+1]",
        "$[x]",
        "$(( (1) ))",
      ]);
    case 9:
      return random.pick([
        "{a,b}",
        "{touch,pwned}",
        "{1..3}",
        "{}",
        "a{b}c",
        "{a,$x}",
        "{$(touch pwned),b}",
      ]);
    case 10:
      return random.pick([
        "*",
        "?",
        "[ab]*",
        "src/*.ts",
        "~",
        "~/x",
        "*.txt",
        "[",
        "[!a]",
        "a[",
        "*$(touch pwned)",
      ]);
    case 11:
      return random.pick(["$'a'", "$'\\x74'", "$'a\\'; touch pwned; '", '$"a"', "$''"]);
    case 12:
      return random.pick(["\\a", "\\ ", "\\;", "\\$x", "\\'", '\\"', "\\\\", "\\*", "\\#", "#", "a#b"]);
    default:
      return random.pick(ARGUMENTS);
  }
}

/** A name in another spelling. */
function disguised(random: Chance, name: string): string {
  switch (random.below(14)) {
    case 0:
      return `"${name}"`;
    case 1:
      return `'${name.slice(0, 1)}'${name.slice(1)}`;
    case 2:
      return `\\${name}`;
    case 3:
      return `/usr/bin/${name}`;
    default:
      return name;
  }
}
