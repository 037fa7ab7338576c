// Reads everything a command may run, for rules that ask or deny. When in doubt it reports more, not less.

import type { HereDoc, ParsedScript, SyntaxNode, Word, WordPart } from "npm:unbash@6.0.4";
import { isShell, unwrap } from "./unwrap.ts";
import type { LooseReading, PossibleCommand, ShellWord } from "./types.ts";

/** The parser library: its parser and tree traversal. */
export interface ShellLibrary {
  parse(source: string): ParsedScript;
  forEachChild(node: SyntaxNode, callback: (child: SyntaxNode) => void): void;
}

/** Maximum depth of nested runners that are read. */
const DEEPEST = 8;
/** Maximum number of characters of a text that is read. */
const LONGEST = 256 * 1024;
/** Maximum number of commands that are read. */
const MOST = 1000;

export function everyCommand(source: string, library: ShellLibrary): LooseReading {
  const found = new Search(library);
  found.text(source, 0);
  return { commands: found.commands, unread: found.unread };
}

class Search {
  readonly #library: ShellLibrary;
  readonly commands: PossibleCommand[] = [];
  unread = false;

  constructor(library: ShellLibrary) {
    this.#library = library;
  }

  text(source: string, depth: number): void {
    if (depth > DEEPEST || source.length > LONGEST) {
      this.unread = true;
      return;
    }
    const tree = this.#library.parse(source);
    if ((tree.errors ?? []).length > 0) this.unread = true;
    this.#node(tree, source, depth);
  }

  #node(node: SyntaxNode, source: string, depth: number): void {
    if (node.type === "Command") {
      const words = [
        ...(node.name === undefined ? [] : [node.name]),
        ...node.args.map((
          each,
        ) => (each.type === "Word" ? each : { ...each, value: each.text, parts: undefined })),
      ].map((word) => this.#word(word as Word));
      if (words.length > 0) {
        this.#command({ text: source.slice(node.pos, node.end), words, guessed: false }, depth);
        if (isShell(words[0]!.value ?? "")) this.#fed(node.redirects, depth);
      }
    }
    this.#library.forEachChild(node, (child) => this.#node(child, source, depth));
  }

  #command(command: PossibleCommand, depth: number): void {
    if (this.commands.length >= MOST || depth > DEEPEST) {
      this.unread = true;
      return;
    }
    this.commands.push(command);
    const { commands, scripts, unread, guessed = false } = unwrap(command.words);
    if (unread) this.unread = true;
    for (const words of commands) {
      this.#command({ text: command.text, words, guessed: guessed || command.guessed }, depth + 1);
    }
    for (const script of scripts) this.text(script, depth + 1);
  }

  /** Reads the standard input that redirections give to a shell. */
  #fed(redirects: readonly SyntaxNode[], depth: number): void {
    for (const redirect of redirects) {
      if (redirect.type === "HereDoc") this.text((redirect as HereDoc).body.text, depth + 1);
      if (redirect.type !== "HereString" || redirect.target === undefined) continue;
      const { value } = this.#word(redirect.target);
      if (value === null) this.unread = true;
      else this.text(value, depth + 1);
    }
  }

  #word(word: Word): ShellWord {
    const plain = (word.parts ?? []).every(isPlain);
    const bare = (word.parts ?? [{ type: "Literal", text: word.text }] as const)
      .map((part) => (part.type === "Literal" ? part.text.replace(/\\./gs, "") : "")).join("");
    // The parser leaves some redirections and substitutions inside words, so such a word is reported as unread.
    if (/[<>();&|`]/.test(bare)) this.unread = true;
    const known = plain && !/[*?]|\[.*\]|^~|\{.*(?:,|\.\.)/s.test(bare);
    return { text: word.text, value: known ? word.value : null, count: "many" };
  }
}

function isPlain(part: WordPart): boolean {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return true;
    case "DoubleQuoted":
    case "LocaleString":
      return part.parts.every(({ type }) => type === "Literal");
    default:
      return false;
  }
}
