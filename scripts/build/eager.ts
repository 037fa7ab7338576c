// Marks the functions that every start calls, so that the engine compiles them with the file instead of one by one.
//
// The runtime keeps the compiled code of a module in its cache before the module runs. What is compiled at the first
// call, which is nearly everything, is then compiled again in every process. An engine compiles a function at once when a
// parenthesis stands before it.

import { parse } from "@babel/parser";

/** Where functions end in a file, and where those that end there start, in characters; as the engine reports them. */
export type Called = ReadonlyMap<number, ReadonlySet<number>>;

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

interface FunctionNode extends Node {
  readonly body: Node;
  readonly id?: { readonly name: string } | null;
}

/**
 * The code of a module with parentheses around the functions that were called. It does the same: functions that are
 * declared at the top come to stand at the head as variables, since a declaration cannot stand in parentheses.
 *
 * Methods stay as they are; nothing can be written before them.
 */
export function compiledEagerly(code: string, called: Called): string {
  const { body } = parse(code, { sourceType: "module" }).program as unknown as { body: readonly Node[] };
  const insertions: { readonly at: number; readonly text: string }[] = [];
  const mark = (node: Node) => {
    if (!isCalled(node as FunctionNode, called)) return;
    insertions.push({ at: node.start, text: "(" }, { at: node.end, text: ")" });
  };
  const hoisted = new Set<Node>();
  for (const node of body) {
    if (isDeclaredFunction(node) && isCalled(node, called)) hoisted.add(node);
    visit(node, mark);
  }
  insertions.sort((a, b) => a.at - b.at);
  const between = (from: number, to: number) => inserted(code, insertions, from, to);
  let head = "";
  let rest = "";
  let reached = 0;
  for (const node of hoisted) {
    const { name } = (node as FunctionNode).id!;
    rest += between(reached, node.start);
    head += `var ${name}=(${between(node.start, node.end).replace(DECLARED, "$1")});`;
    reached = node.end;
  }
  return head + rest + between(reached, code.length);
}

/** A declaration up to its name. */
const DECLARED = /^((?:async )?function\*?) ?[\w$]+/;

function isDeclaredFunction(node: Node): node is FunctionNode {
  return node.type === "FunctionDeclaration";
}

/** Whether the engine met the function: it reports where the parameters begin, or where an arrow function does. */
function isCalled({ start, end, body }: FunctionNode, called: Called): boolean {
  const starts = called.get(end);
  if (starts === undefined) return false;
  for (const each of starts) if (each >= start && each < body.start) return true;
  return false;
}

/** Calls `found` with every function that is an expression. */
function visit(value: unknown, found: (node: Node) => void): void {
  if (Array.isArray(value)) {
    for (const each of value) visit(each, found);
    return;
  }
  if (typeof value !== "object" || value === null || typeof (value as Node).type !== "string") return;
  const node = value as Node;
  if (node.type === "FunctionExpression" || node.type === "ArrowFunctionExpression") found(node);
  for (const [key, inner] of Object.entries(node)) if (key !== "loc" && key !== "extra") visit(inner, found);
}

/** The code from one place to another with what is inserted there. */
function inserted(
  code: string,
  insertions: readonly { readonly at: number; readonly text: string }[],
  from: number,
  to: number,
): string {
  let text = "";
  let reached = from;
  for (const { at, text: more } of insertions) {
    // What is inserted where a function ends belongs to it, and what is inserted where the next begins to that.
    if (at < from || at > to || (at === from && more === ")") || (at === to && more === "(")) continue;
    text += code.slice(reached, at) + more;
    reached = at;
  }
  return text + code.slice(reached, to);
}
