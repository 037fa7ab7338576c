// Marks the functions that every start calls, so that the engine compiles them with the file instead of one by one.
//
// The runtime keeps the compiled code of a module in its cache before the module runs. What is compiled at the first
// call, which is nearly everything, is then compiled again in every process. An engine compiles a function at once when a
// parenthesis stands before it.

import { parse } from "@babel/parser";
import { HELPER, Methods } from "./methods.ts";
import { type Called, type Edit, isCalled, type Node } from "./nodes.ts";

interface FunctionNode extends Node {
  readonly body: Node;
  readonly id?: { readonly name: string } | null;
}

/**
 * The code of a module with parentheses around the functions that were called. It does the same: functions that are
 * declared at the top come to stand at the head as variables, since a declaration cannot stand in parentheses, and methods
 * become functions that their class is given.
 */
export function compiledEagerly(code: string, called: Called): string {
  const { body } = parse(code, { sourceType: "module" }).program as unknown as { body: readonly Node[] };
  const methods = new Methods(code, called);
  const edits: Edit[] = [];
  const hoisted: FunctionNode[] = [];
  for (const node of body) {
    if (isDeclaredFunction(node) && isCalled(node, called)) hoisted.push(node);
    visit(node, methods, (inner) => {
      if (!isCalled(inner, called)) return;
      edits.push({ from: inner.start, to: inner.start, text: "(" }, {
        from: inner.end,
        to: inner.end,
        text: ")",
      });
    });
  }
  edits.push(...methods.edits);
  // What ends at a place stands before what begins there, and what begins inside of it ends before it.
  edits.sort((a, b) => a.from - b.from || rank(a) - rank(b));
  const between = (from: number, to: number) => edited(code, edits, from, to);
  let head = methods.helped ? HELPER : "";
  let rest = "";
  let reached = 0;
  for (const node of hoisted) {
    rest += between(reached, node.start);
    head += `var ${node.id!.name}=(${between(node.start, node.end).replace(DECLARED, "$1")});`;
    reached = node.end;
  }
  return head + rest + between(reached, code.length);
}

/** Where of several edits at one place each stands. */
function rank({ text }: Edit): number {
  return text.startsWith(")") ? 0 : 1;
}

/** A declaration up to its name. */
const DECLARED = /^((?:async )?function\*?) ?[\w$]+/;

function isDeclaredFunction(node: Node): node is FunctionNode {
  return node.type === "FunctionDeclaration";
}

/** Calls `found` with every function that is an expression, and tells of every node. */
function visit(value: unknown, methods: Methods, found: (node: FunctionNode) => void): void {
  if (Array.isArray(value)) {
    for (const each of value) visit(each, methods, found);
    return;
  }
  if (typeof value !== "object" || value === null || typeof (value as Node).type !== "string") return;
  const node = value as Node;
  if (node.type === "FunctionExpression" || node.type === "ArrowFunctionExpression") {
    found(node as FunctionNode);
  }
  methods.enter(node);
  for (const [key, inner] of Object.entries(node)) {
    if (key !== "loc" && key !== "extra") visit(inner, methods, found);
  }
  methods.leave(node);
}

/** The code from one place to another after its edits. */
function edited(code: string, edits: readonly Edit[], from: number, to: number): string {
  let text = "";
  let reached = from;
  for (const edit of edits) {
    const ends = edit.text.startsWith(")");
    // What is written where a function ends belongs to it, and what is written where the next begins to that.
    if (edit.from < from || edit.to > to || (edit.from === from && ends) || (edit.from === to && !ends)) {
      continue;
    }
    text += code.slice(reached, edit.from) + edit.text;
    reached = edit.to;
  }
  return text + code.slice(reached, to);
}
