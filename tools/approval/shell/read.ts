// Reads a command for approving rules. Everything that is not known to be simple makes the reading opaque, so that no
// rule approves the command in doubt.
//
// A library makes the syntax tree. Two checks here compare the tree with the text: every byte of the command must
// belong to a piece or separator of the tree, and no literal may contain a character with a meaning for the shell. Only
// node types that are listed here are allowed.

import type {
  AndOr,
  Assignment,
  Command,
  ParsedScript,
  Redirection,
  Statement,
  SyntaxNode,
  Word,
} from "npm:unbash@6.0.4";
import { accountsFor, type CommandPiece, type Separator } from "./separators.ts";
import type {
  ShellAssignment,
  ShellCommand,
  ShellRedirect,
  ShellScript,
  ShellStep,
  ShellWord,
  StrictReading,
} from "./types.ts";
import { readWord, type WordReader } from "./word.ts";

export type Parse = (source: string) => ParsedScript;

/** Maximum number of simple commands; nobody reads more before approving them. */
const MOST_COMMANDS = 64;
/** Maximum number of characters. */
const LONGEST = 32 * 1024;

export function readStrictly(source: string, parse: Parse): StrictReading {
  const refused = refusedText(source);
  if (refused !== null) return { script: { steps: [] }, opaque: refused };
  const tree = parse(source);
  if ((tree.errors ?? []).length > 0) {
    return { script: { steps: [] }, opaque: "syntax that cannot be parsed" };
  }
  const reader = new Reader(source);
  const script = reader.script(tree, 0, source.length);
  const opaque = reader.opaque ??
    (reader.count > MOST_COMMANDS ? `more than ${MOST_COMMANDS} commands` : null);
  return { script, opaque };
}

/** Returns why a text is not read at all; null if it is read. */
function refusedText(source: string): string | null {
  if (source.length > LONGEST) return `more than ${LONGEST / 1024} KiB`;
  if (source.includes("\0")) return "a NUL character";
  // The shell receives bytes; a lone surrogate would become another text on the way.
  return source.isWellFormed() ? null : "an invalid character";
}

class Reader {
  readonly #source: string;
  /** Reason why the reading as a whole is opaque. */
  opaque: string | null = null;
  /** Number of simple commands so far. */
  count = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Reads the commands between two offsets; anything else between them makes the reading opaque. */
  script(
    tree: { readonly commands: readonly Statement[] } | undefined,
    start: number,
    end: number,
  ): ShellScript {
    if (tree === undefined) {
      this.#refuse("syntax that cannot be parsed");
      return { steps: [] };
    }
    const pieces: CommandPiece[] = [];
    const steps: ShellStep[] = [];
    let before: CommandPiece["before"] = "start";
    for (const statement of tree.commands) {
      steps.push(...this.#statement(statement, before, pieces));
      before = statement.background === true ? "&" : "end";
    }
    const last = before === "&" ? "&" : "end";
    if (!accountsFor(this.#source, { start, end }, pieces, last)) {
      this.#refuse("text between its words that cannot be parsed");
    }
    return { steps };
  }

  #refuse(reason: string): void {
    this.opaque ??= reason;
  }

  #statement(statement: Statement, before: CommandPiece["before"], pieces: CommandPiece[]): ShellStep[] {
    const background = statement.background === true;
    const node: SyntaxNode = statement.command;
    const list: Pick<AndOr, "commands" | "operators"> = node.type === "AndOr"
      ? node
      : { commands: [node], operators: [] };
    return list.commands.map((pipeline, at) => {
      const operator = at === 0 ? null : list.operators[at - 1]!;
      const join = operator ?? (before === "start" ? "start" : ";");
      return { join, background, commands: this.#pipeline(pipeline, operator ?? before, pieces) };
    });
  }

  #pipeline(node: SyntaxNode, before: CommandPiece["before"], pieces: CommandPiece[]): ShellCommand[] {
    if (node.type !== "Pipeline") return [this.#command(node, before, pieces)];
    if (node.prefixes.length > 0) return [this.#whole(node, before, pieces, "! or time")];
    return node.commands.map((command, at) =>
      this.#command(command, at === 0 ? before : node.operators[at - 1]!, pieces)
    );
  }

  /** Reads a node that is one piece but not a simple command. */
  #whole(
    node: SyntaxNode,
    before: CommandPiece["before"],
    pieces: CommandPiece[],
    what: string,
  ): ShellCommand {
    this.count += 1;
    pieces.push({ start: node.pos, end: node.end, before });
    const text = this.#source.slice(node.pos, node.end);
    return { text, assignments: [], words: [], redirects: [], inner: [], opaque: what };
  }

  #command(node: SyntaxNode, before: CommandPiece["before"], pieces: CommandPiece[]): ShellCommand {
    if (node.type !== "Command") {
      return this.#whole(node, before, pieces, COMPOUND[node.type] ?? "unknown syntax");
    }
    this.count += 1;
    return new CommandReader(this.#source, this, node).read(before, pieces);
  }
}

/** Descriptions of compound commands. */
const COMPOUND: Readonly<Record<string, string>> = {
  Subshell: "a subshell ( )",
  BraceGroup: "a group { }",
  If: "an if",
  For: "a for loop",
  ArithmeticFor: "a for loop",
  While: "a while loop",
  Select: "a select",
  Case: "a case",
  Function: "a function",
  Coproc: "a coprocess",
  TestCommand: "a test [[ ]]",
  ArithmeticCommand: "arithmetic (( ))",
  Redirected: "a group with a redirection",
};

class CommandReader implements WordReader {
  readonly source: string;
  readonly #scripts: Reader;
  readonly #node: Command;
  #opaque: string | null = null;
  readonly #inner: ShellScript[] = [];

  constructor(source: string, scripts: Reader, node: Command) {
    this.source = source;
    this.#scripts = scripts;
    this.#node = node;
  }

  read(before: Separator | "start", pieces: CommandPiece[]): ShellCommand {
    const { prefix, name, suffix } = this.#node;
    const assignments: ShellAssignment[] = [];
    const words: ShellWord[] = [];
    const redirects: ShellRedirect[] = [];
    let place = before;
    for (const item of [...prefix, ...(name === undefined ? [] : [name]), ...suffix]) {
      pieces.push({ start: item.pos, end: item.end, before: place, joins: this.#joins(item) });
      place = "blank";
      if (item.type === "Word") words.push(this.#word(item));
      else if (item.type === "Assignment") {
        if (words.length > 0) this.refuse("an assignment among its words");
        assignments.push(this.#assignment(item));
      } else redirects.push(this.#redirect(item));
    }
    const { pos, end } = this.#node;
    if (words[0] !== undefined && words[0].value === null) {
      this.refuse("a program name that the shell expands");
    }
    return {
      text: this.source.slice(pos, end),
      assignments,
      words,
      redirects,
      inner: this.#inner,
      opaque: this.#opaque,
    };
  }

  refuse(reason: string): void {
    this.#opaque ??= reason;
  }

  script(part: Parameters<WordReader["script"]>[0], start: number, end: number): ShellScript {
    return this.#scripts.script(part.script, start, end);
  }

  #joins(item: Word | Assignment | Redirection): boolean {
    return item.type !== "Word" && item.type !== "Assignment" &&
      /^[<>&]/.test(this.source.slice(item.pos, item.end));
  }

  #word(node: Word): ShellWord {
    const { word, inner } = readWord(node, this);
    this.#inner.push(...inner);
    return word;
  }

  #assignment(node: Assignment): ShellAssignment {
    const { pos, end, name, value } = node;
    const text = this.source.slice(pos, end);
    if (
      node.append === true || node.index !== undefined || value.type !== "Word" ||
      !text.startsWith(`${name}=`)
    ) {
      this.refuse("an assignment to something other than a variable");
    } else if (value.end !== end || value.pos !== pos + name.length + 1) {
      if (text !== `${name}=`) this.refuse("an assignment that cannot be parsed");
    } else this.#word(value);
    return { text, name };
  }

  #redirect(node: Redirection): ShellRedirect {
    const text = this.source.slice(node.pos, node.end);
    if (node.type !== "Redirect") {
      this.refuse("a here-document");
      return { text, operator: null, descriptor: null, target: null };
    }
    const { descriptor, operator, target } = node;
    if (descriptor?.type === "FileDescriptorVariable" || target === undefined) {
      this.refuse("a redirection that cannot be parsed");
      return { text, operator: null, descriptor: null, target: null };
    }
    const number = descriptor?.value ?? null;
    const front = this.source.slice(node.pos, target.pos);
    if (
      !front.startsWith(`${number ?? ""}${operator}`) ||
      !/^[ \t]*$/.test(front.slice(`${number ?? ""}${operator}`.length))
    ) {
      this.refuse("a redirection that cannot be parsed");
    }
    return { text, operator, descriptor: number, target: this.#word(target) };
  }
}
