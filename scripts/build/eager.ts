// Marks the functions that every start calls, so that the engine compiles them with the file instead of one by one.
//
// The runtime caches the compiled code of a module before the module runs. Nearly everything else is compiled at its
// first call, again in every process. An engine compiles a function immediately if a parenthesis precedes it.

import { parse } from "@babel/parser";
import { HELPER, Methods } from "./methods.ts";
import { type Called, type Edit, isCalled, type Node } from "./nodes.ts";

interface FunctionNode extends Node {
  readonly body: Node;
  readonly id?: { readonly name: string } | null;
}

/**
 * Returns the code of a module with parentheses around the called functions. Its behavior is unchanged: functions
 * declared at the top level become variables at the head, since a declaration cannot be in parentheses, and methods
 * become functions that are assigned to their class.
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
  // At one offset, ends come before beginnings, and inner functions end before outer ones.
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

/** Returns the order of several edits at one offset. */
function rank({ text }: Edit): number {
  return text.startsWith(")") ? 0 : 1;
}

/** Matches a declaration up to its name. */
const DECLARED = /^((?:async )?function\*?) ?[\w$]+/;

function isDeclaredFunction(node: Node): node is FunctionNode {
  return node.type === "FunctionDeclaration";
}

/** Calls `found` with every function expression, and reports every node to `methods`. */
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

/** Returns the code of a range after its edits. */
function edited(code: string, edits: readonly Edit[], from: number, to: number): string {
  let text = "";
  let reached = from;
  for (const edit of edits) {
    const ends = edit.text.startsWith(")");
    // An edit at the end of a function belongs to that function, and an edit at the beginning of the next function
    // belongs to the next one.
    if (edit.from < from || edit.to > to || (edit.from === from && ends) || (edit.from === to && !ends)) {
      continue;
    }
    text += code.slice(reached, edit.from) + edit.text;
    reached = edit.to;
  }
  return text + code.slice(reached, to);
}
