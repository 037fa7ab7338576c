// Reads words of a command for approvals: their value, or why it cannot be known.

import type { Word, WordPart } from "npm:unbash@6.0.4";
import type { ShellScript, ShellWord } from "./types.ts";

/** Inputs for reading words: the text of the command, and a reader for substitutions. */
export interface WordReader {
  readonly source: string;
  /** Records why the reading cannot support an approval. Only the first reason is recorded. */
  refuse(reason: string): void;
  /** Reads the commands of a substitution between two offsets. */
  script(part: Extract<WordPart, { script: unknown }>, start: number, end: number): ShellScript;
}

/** A word with its substitutions. */
export interface ReadWord {
  readonly word: ShellWord;
  readonly inner: readonly ShellScript[];
}

/** Characters that, unquoted, end a word or begin something else. */
const METACHARACTERS = /[\s<>();&|`"'\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}]/u;
/** A character after `$` that makes it an expansion or a quote. */
const EXPANSION = /[\w({@*#?$!'"[-]/;
/** A parameter that cannot evaluate, assign or run anything: `${x}`, `${x[@]}`, `${x:-word}`, `${x%word}`, … */
const PLAIN_PARAMETER =
  /^\$\{#?(?:[A-Za-z_]\w*|\d+|[@*#?$!-])(?:\[[@*]\])?(?:(?::?[-+?]|##?|%%?|\/\/?[#%]?|\^\^?|,,?)[^$`'"\\<>(){}&|;]*)?\}$/;
const SIMPLE_PARAMETER = /^\$(?:[A-Za-z_]\w*|[\d@*#?$!-])$/;
/** Arithmetic with numbers only; a name in it would be evaluated again. */
const PLAIN_ARITHMETIC = /^\$\(\([\d\s+\-*/%()<>=!&|^~?:]*\)\)$/;

export function readWord(word: Word, reader: WordReader): ReadWord {
  return new WordPieces(reader).read(word);
}

class WordPieces {
  readonly #reader: WordReader;
  readonly #inner: ShellScript[] = [];
  #value = "";
  #known = true;
  #count: "one" | "many" = "one";
  /** The unquoted characters of the word. Only among these do braces, brackets and tildes have a special meaning. */
  #bare = "";

  constructor(reader: WordReader) {
    this.#reader = reader;
  }

  read(word: Word): ReadWord {
    const { source } = this.#reader;
    const text = source.slice(word.pos, word.end);
    const parts: readonly (WordPart | { type: "Literal"; pos: number; end: number })[] = word.parts ??
      [{ type: "Literal", pos: word.pos, end: word.end }];
    let at = word.pos;
    for (const part of parts) {
      if (part.pos !== at) this.#reader.refuse("a word that cannot be parsed completely");
      at = part.end;
      this.#part(part as WordPart);
    }
    if (at !== word.end) this.#reader.refuse("a word that cannot be parsed completely");
    if (/\{.*(?:,|\.\.)/s.test(this.#bare)) this.#reader.refuse("a brace expansion");
    if (/[*?]/.test(this.#bare) || (this.#bare !== "[" && /\[.*\]/s.test(this.#bare))) this.#unknown("many");
    if (/(?:^|[=:])~/.test(this.#bare)) this.#unknown("many");
    if (this.#known && this.#value !== word.value) this.#reader.refuse("an ambiguous word");
    return {
      word: { text, value: this.#known ? this.#value : null, count: this.#known ? "one" : this.#count },
      inner: this.#inner,
    };
  }

  #unknown(count: "one" | "many"): void {
    this.#known = false;
    if (count === "many") this.#count = "many";
  }

  #part(part: WordPart): void {
    const text = this.#reader.source.slice(part.pos, part.end);
    switch (part.type) {
      case "Literal":
        return this.#literal(text);
      case "Glob":
        if (part.kind === "bracket" && /[$`'"\\<>()]/.test(text)) {
          this.#reader.refuse("an expansion in a pattern");
        }
        this.#bare += text;
        return this.#unknown("many");
      case "SingleQuoted":
        if (!/^'[^']*'$/s.test(text)) this.#reader.refuse("quotes that cannot be parsed");
        this.#value += text.slice(1, -1);
        this.#bare += "_";
        return;
      case "DoubleQuoted":
        return this.#doubleQuoted(part, text);
      case "SimpleExpansion":
      case "ParameterExpansion":
      case "CommandExpansion":
      case "ArithmeticExpansion":
        this.#bare += "_";
        return this.#expansion(part, text, false);
      case "ProcessSubstitution":
        this.#bare += "_";
        this.#inner.push(this.#reader.script(part, part.pos + 2, part.end - 1));
        return this.#unknown("one");
      case "AnsiCQuoted":
        return this.#reader.refuse("a $'…' text");
      case "LocaleString":
        return this.#reader.refuse('a $"…" text');
      case "BraceExpansion":
        return this.#reader.refuse("a brace expansion");
      default:
        return this.#reader.refuse("unknown syntax");
    }
  }

  /** Reads text outside of quotes. */
  #literal(text: string): void {
    for (let at = 0; at < text.length; at++) {
      let character = text[at]!;
      if (character === "\\") {
        at += 1;
        character = text[at] ?? "";
        if (character === "" || character === "\n") this.#reader.refuse("a backslash at the end of a line");
        if (/\p{Cc}/u.test(character)) this.#reader.refuse("a control character");
        this.#bare += "_";
        this.#value += character;
        continue;
      }
      if (character === "$" && EXPANSION.test(text[at + 1] ?? "")) {
        this.#reader.refuse("an expansion that cannot be parsed");
      }
      this.#bare += character;
      this.#value += character;
    }
    const bare = text.replace(/\\./gsu, "");
    if (METACHARACTERS.test(bare)) this.#reader.refuse("a character that is special in the shell");
  }

  #doubleQuoted(part: Extract<WordPart, { type: "DoubleQuoted" }>, text: string): void {
    this.#bare += "_";
    if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) {
      this.#reader.refuse("quotes that cannot be parsed");
    }
    let at = part.pos + 1;
    for (const child of part.parts) {
      if (child.pos !== at) this.#reader.refuse("quotes that cannot be parsed completely");
      at = child.end;
      const inner = this.#reader.source.slice(child.pos, child.end);
      if (child.type === "Literal") this.#quotedLiteral(inner);
      else this.#expansion(child, inner, true);
    }
    if (at !== part.end - 1) this.#reader.refuse("quotes that cannot be parsed completely");
  }

  #quotedLiteral(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const character = text[at]!;
      const next = text[at + 1] ?? "";
      if (character === "\\" && /[$`"\\\n]/.test(next)) {
        at += 1;
        if (next !== "\n") this.#value += next;
        continue;
      }
      if (character === '"' || character === "`") this.#reader.refuse("quotes that cannot be parsed");
      if (character === "$" && /[\w({@*#?$![-]/.test(next)) {
        this.#reader.refuse("an expansion that cannot be parsed");
      }
      this.#value += character;
    }
  }

  #expansion(
    part: Extract<
      WordPart,
      { type: "SimpleExpansion" | "ParameterExpansion" | "CommandExpansion" | "ArithmeticExpansion" }
    >,
    text: string,
    isQuoted: boolean,
  ): void {
    this.#unknown(isQuoted && !/^\$\{?@|\[@\]/.test(text) ? "one" : "many");
    switch (part.type) {
      case "SimpleExpansion":
        if (!SIMPLE_PARAMETER.test(text)) this.#reader.refuse("an expansion that cannot be parsed");
        return;
      case "ParameterExpansion":
        if (!PLAIN_PARAMETER.test(text)) {
          this.#reader.refuse("an expansion that may evaluate, assign or run code");
        }
        return;
      case "ArithmeticExpansion":
        if (!PLAIN_ARITHMETIC.test(text)) this.#reader.refuse("arithmetic with more than numbers");
        return;
      case "CommandExpansion":
        return this.#substitution(part, text);
    }
  }

  #substitution(part: Extract<WordPart, { type: "CommandExpansion" }>, text: string): void {
    if (text.startsWith("`") && text.endsWith("`") && text.length > 1 && !text.includes("\\")) {
      this.#inner.push(this.#reader.script(part, part.pos + 1, part.end - 1));
    } else if (text.startsWith("$(") && text.endsWith(")")) {
      this.#inner.push(this.#reader.script(part, part.pos + 2, part.end - 1));
    } else this.#reader.refuse("an unsupported substitution");
  }
}
