// Collects the sentences of a source file: those with an error code, with their next step, and all other texts that
// read like words.

import { parse } from "@babel/parser";
import { children, hole, isNode, type Node, type Resolve, textsOf } from "./text.ts";

/** A sentence with its codes and next step. */
export interface Sentence {
  /** Error codes of the sentence; empty for a text without a code. */
  readonly codes: readonly string[];
  readonly text: string;
  /** What to do next; null if the sentence says it itself, or there is nothing to do. */
  readonly next: string | null;
}

/**
 * Members whose texts are documented on other pages: help in commands.md, settings in configuration.md, tools for
 * models.
 */
const REPORTED_ELSEWHERE = new Set([
  "help",
  "summary",
  "details",
  "usage",
  "example",
  "doc",
  "description",
  "expected",
]);

/** Returns all sentences of a file, in the order of the source. */
export function sentencesOf(code: string): Sentence[] {
  return new Collector(
    parse(code, { sourceType: "module", plugins: ["typescript"] }).program as unknown as Node,
  ).found;
}

class Collector {
  readonly found: Sentence[] = [];
  /** Constants and functions of the file by name: their values or return values, and the scope of the name. */
  readonly #names = new Map<string, { readonly node: Node; readonly scope: Node }[]>();
  /** Texts that are already part of a sentence with a code. */
  readonly #taken = new Set<Node>();
  /** Sentences without a code by their node, dropped if a sentence with a code includes them. */
  readonly #loose: { node: Node; text: string }[] = [];

  constructor(program: Node) {
    this.#declare(program, program);
    this.#visit(program);
    for (const { node, text } of this.#loose) {
      if (!this.#taken.has(node)) this.found.push({ codes: [], text, next: null });
    }
  }

  #declare(node: Node, scope: Node): void {
    if (node.type === "VariableDeclarator" && isNode(node.init) && isNode(node.id)) {
      this.#name(node.id.name as string, node.init, scope);
    } else if (node.type === "FunctionDeclaration" && isNode(node.id)) {
      for (const answer of answersOf(node.body as Node)) this.#name(node.id.name as string, answer, scope);
    }
    const inner = node.type === "BlockStatement" || /Function/.test(node.type) ? node : scope;
    for (const child of children(node)) this.#declare(child, inner);
  }

  #name(name: string, node: Node, scope: Node): void {
    this.#names.set(name, [...this.#names.get(name) ?? [], { node, scope }]);
  }

  /** Returns what a name refers to at its position: the innermost declaration in scope. */
  readonly #resolve: Resolve = (name, at) => {
    const holding = (this.#names.get(name) ?? []).filter(({ scope }) => scope.start <= at && at < scope.end);
    const innermost = Math.max(...holding.map(({ scope }) => scope.start));
    return holding.filter(({ scope }) => scope.start === innermost).map(({ node }) => node);
  };

  /** Marks the texts of an expression as part of a sentence and returns them. */
  #take(node: Node): string[] {
    this.#mark(node);
    return textsOf(node, this.#resolve) ?? [hole(node)].filter((text) => text !== "{…}");
  }

  #mark(node: Node): void {
    if (this.#taken.has(node)) return;
    this.#taken.add(node);
    const named = node.type === "Identifier" ? node : node.callee;
    if (isNode(named) && named.type === "Identifier") {
      this.#resolve(named.name as string, named.start).forEach((each) => this.#mark(each));
    }
    for (const child of children(node)) {
      // Values inserted into a text appear in it by name, and may contain separate sentences.
      if (node.type !== "TemplateLiteral") this.#mark(child);
    }
  }

  #visit(node: Node): void {
    if (node.type.startsWith("TS") && !/As|NonNull|Satisfies/.test(node.type)) return;
    if (/^(?:Import|Export(?:All|Named))Declaration$/.test(node.type) && isNode(node.source)) return;
    if (node.type === "ObjectExpression") this.#object(node);
    if (node.type === "CallExpression") {
      // The text is a list of words and not a sentence.
      if (calledName(node) === "split") return;
      this.#call(node);
    }
    if (node.type === "ObjectProperty") {
      if (!REPORTED_ELSEWHERE.has((node.key as Node).name as string)) this.#visit(node.value as Node);
      return;
    }
    if (isComparison(node) || node.type === "SwitchCase") {
      // A text used in a comparison is not a message.
      for (const child of children(node)) if (child.type !== "StringLiteral") this.#visit(child);
      return;
    }
    const texts = textsOf(node);
    if (texts !== null) {
      for (const text of texts) if (saysSomething(text)) this.#loose.push({ node, text });
      // In a text, only the inserted values are examined.
      if (node.type === "StringLiteral") return;
    }
    for (const child of children(node)) {
      if (texts === null || textsOf(child) === null) this.#visit(child);
      else this.#insideText(child);
    }
  }

  /** Visits a text that is already listed: only its inserted values can contain other sentences. */
  #insideText(node: Node): void {
    for (const child of children(node)) {
      if (textsOf(child) === null) this.#visit(child);
      else this.#insideText(child);
    }
  }

  /** Examines an object of the form `{ code, message, next }`. */
  #object(node: Node): void {
    const codes = codesOf(memberOf(node, "code"), this.#resolve);
    const message = memberOf(node, "message");
    if (codes.length > 0 && message !== undefined) this.#add(codes, message, memberOf(node, "next"));
  }

  /** Examines `failure(code, message, next)`, and every other call with a code and a sentence. */
  #call(node: Node): void {
    const given = node.arguments as Node[];
    const name = calledName(node);
    const first = given[0];
    const at = name === "failure" && first?.type === "StringLiteral"
      ? 0
      : given.findIndex((each) => codesOf(each).length > 0);
    if (at < 0) return;
    const texts = name === "failure" ? textsOf(given[at]!) ?? [] : codesOf(given[at]);
    const codes = texts.map((code) =>
      name === "providerError" ? `provider-${code.replaceAll("_", "-")}` : code
    );
    const rest = given.slice(at + 1);
    // In other calls any argument may have another meaning. In `failure` the sentence is always at this position.
    const message = name === "failure"
      ? rest[0]
      : rest.find((each) => (textsOf(each, this.#resolve) ?? []).some(isSentence));
    if (message === undefined) return;
    const after = rest[rest.indexOf(message) + 1];
    const next = name === "failure" ? after : memberOf(after, "next");
    this.#add(codes, message, next);
  }

  #add(codes: readonly string[], message: Node, next: Node | undefined): void {
    const nexts = next === undefined ? [] : this.#take(next);
    const more = next === undefined ? null : nexts.join(" Or: ") || null;
    for (const text of this.#take(message)) {
      // A message that is entirely a value is reported at the source of the value, so it counts here only for what it
      // adds.
      if (more !== null || !/^\{[^}]*\}$/.test(text)) this.found.push({ codes, text, next: more });
    }
  }
}

/** Returns a member of an object literal. */
function memberOf(node: Node | undefined, name: string): Node | undefined {
  if (node?.type !== "ObjectExpression") return undefined;
  const found = (node.properties as Node[]).find((each) =>
    each.type === "ObjectProperty" && (each.key as Node).name === name
  );
  return found?.value as Node | undefined;
}

/** Returns what a function returns, ignoring inner functions. */
function answersOf(body: Node): Node[] {
  if (body.type === "ReturnStatement") return isNode(body.argument) ? [body.argument] : [];
  if (/Function/.test(body.type)) return [];
  return children(body).flatMap(answersOf);
}

function calledName({ callee }: Node): string {
  const named = callee as Node & { readonly property?: Node };
  const { name } = named.property ?? named;
  return typeof name === "string" ? name : "";
}

/** Returns the codes that an expression may evaluate to: words in lower case with hyphens or underscores. */
function codesOf(node: Node | undefined, resolve: Resolve = () => []): string[] {
  const texts = node === undefined || node.type === "TemplateLiteral" ? [] : textsOf(node, resolve) ?? [];
  return texts.length > 0 && texts.every(isCode) ? texts : [];
}

/** Codes of a single word. */
/** Words of that form that are not codes, but names of settings. */
const NO_CODES = new Set(["deny_read", "rw_paths"]);

const SHORT_CODES = new Set([
  "usage",
  "busy",
  "blocked",
  "throttled",
  "modeline",
  "network",
  "timeout",
  "authentication",
  "cancelled",
  "other",
  "leftovers",
]);

function isCode(text: string): boolean {
  return SHORT_CODES.has(text) || (/^[a-z0-9]+(?:[-_][a-z0-9]+)+$/.test(text) && !NO_CODES.has(text));
}

function isComparison({ type, operator }: Node): boolean {
  return type === "BinaryExpression" && operator !== "+";
}

/** True if a text reads like words for a person: two consecutive words, one of them in lower case. */
export function isSentence(text: string): boolean {
  const bare = text.replace(/\{[^}]*\}/g, " X ");
  if (CODE.test(text)) return false;
  return /(?:^|[\s("'])[A-Za-z][a-z']+[,;:]?\s+(?:X|[a-z]+)\b|\bX\s+[a-z]{2,}\b/.test(bare);
}

/** True if a text is a statement, unlike keys of two words or parts of a sentence. */
function saysSomething(text: string): boolean {
  return isSentence(text) && (/[.:?!…]$/.test(text) || text.trim().split(/\s+/).length >= 3);
}

/** Matches signs of code in another language: shell, expressions, profiles, Lua, JavaScript, HTTP. */
const CODE =
  /\$[0-9@{(]|\bexec \S|^\((?:allow|deny|param|version)\b|^\^|\(\?:|^HTTP\/|^\*\*|^\{repeat|=>|\breturn \{|\blocal \{|^event: |;;|^(?:Host|Connection): /;
