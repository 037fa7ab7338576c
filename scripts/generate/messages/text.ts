// How a text in the source reads for a person: its words, with a name in braces for each inserted value.

/** A syntax tree node of Babel. */
export interface Node {
  readonly type: string;
  /** Start of the node's range in the source. */
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

/** Returns the direct children of a node, in the order of the source. */
export function children(node: Node): Node[] {
  return Object.entries(node)
    .filter(([name]) => name !== "loc" && !name.endsWith("Comments"))
    .flatMap(([, value]) => Array.isArray(value) ? value : [value])
    .filter(isNode)
    .sort((a, b) => a.start - b.start);
}

/** Looks up what a name refers to at a place: the value of a constant or the return values of a function. */
export type Resolve = (name: string, at: number) => readonly Node[];

/**
 * Returns the texts that an expression may evaluate to, or null if it is not a text. A conditional gives one per
 * branch.
 */
export function textsOf(node: Node, resolve: Resolve = () => []): string[] | null {
  switch (node.type) {
    case "StringLiteral":
      return [node.value as string];
    case "TemplateLiteral":
      return [templateText(node)];
    case "BinaryExpression": {
      if (node.operator !== "+") return null;
      const [left, right] = [node.left, node.right].map((side) => textsOf(side as Node));
      if (left === null && right === null) return null;
      return combined(left ?? [hole(node.left as Node)], right ?? [hole(node.right as Node)]);
    }
    case "ConditionalExpression": {
      const branches = [node.consequent, node.alternate].map((branch) => textsOf(branch as Node, resolve));
      return branches.every((texts) => texts === null) ? null : branches.flatMap((texts) => texts ?? []);
    }
    case "LogicalExpression": {
      const sides = [node.left, node.right].map((side) => textsOf(side as Node, resolve));
      return sides.every((texts) => texts === null) ? null : sides.flatMap((texts) => texts ?? []);
    }
    case "ParenthesizedExpression":
    case "TSAsExpression":
    case "TSNonNullExpression":
    case "AwaitExpression":
      return textsOf(node.expression as Node ?? node.argument as Node, resolve);
    case "Identifier":
      return resolved(resolve(node.name as string, node.start));
    case "CallExpression": {
      const { callee } = node as Node & { callee: Node };
      return callee.type === "Identifier" ? resolved(resolve(callee.name as string, callee.start)) : null;
    }
    default:
      return null;
  }
}

function resolved(found: readonly Node[]): string[] | null {
  const texts = found.flatMap((each) => textsOf(each) ?? []);
  return texts.length === 0 ? null : texts;
}

function combined(left: readonly string[], right: readonly string[]): string[] {
  return left.flatMap((before) => right.map((after) => before + after));
}

function templateText({ quasis, expressions }: Node): string {
  const texts = (quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked);
  return texts.map((text, at) => {
    const value = (expressions as Node[])[at];
    return value === undefined ? text : text + hole(value);
  }).join("");
}

/** Returns the placeholder of a value in a text: a choice of words, or a name in braces. */
export function hole(node: Node): string {
  if (node.type === "ConditionalExpression") {
    const branches = [node.consequent, node.alternate].map((branch) =>
      textsOf(branch as Node) ?? [hole(branch as Node)]
    );
    const [yes, no] = branches.map((texts) => texts.join("|"));
    return `[${yes}|${no}]`;
  }
  const texts = node.type === "CallExpression" ? commandText(node) : textsOf(node);
  if (texts !== null) return texts.join("|");
  return `{${nameOf(node)}}`;
}

/** Returns the command that a call such as `formatCommand("approve", file, id)` creates. */
function commandText({ callee, arguments: given }: Node): string[] | null {
  const [first] = given as Node[];
  const makes = isNode(callee) && callee.type === "Identifier" &&
    ["advised", "command"].includes(callee.name as string);
  if (!makes || first?.type !== "StringLiteral") return null;
  const ids = (given as Node[]).length > (callee.name === "advised" ? 2 : 1) ? " ID" : "";
  return [`flemma ${first.value as string} FILE${ids}`];
}

/** Functions that only change how a value is shown. */
const SHOWN = new Set([
  "visible",
  "String",
  "operands",
  "shown",
  "plain",
  "quoted",
  "capital",
  "cutToWidth",
  "Number",
]);
/** Methods that only change how a value is shown. */
const SHOWN_BY = new Set([
  "join",
  "map",
  "replace",
  "replaceAll",
  "trim",
  "slice",
  "toString",
  "filter",
  "sort",
  "toFixed",
]);

/** Returns a readable name for a value, from the author's identifiers. */
function nameOf(node: Node): string {
  switch (node.type) {
    case "Identifier":
      return spaced(node.name as string);
    case "MemberExpression":
    case "OptionalMemberExpression": {
      const property = node.property as Node;
      if (node.computed === true) return nameOf(node.object as Node);
      return property.name === "length" ? "number" : nameOf(property);
    }
    case "PrivateName":
      return nameOf(node.id as Node);
    case "CallExpression":
    case "OptionalCallExpression":
      return calledName(node.callee as Node, node.arguments as Node[]);
    case "ArrayExpression":
      return (node.elements as (Node | null)[]).map((each) => each === null ? "" : nameOf(each)).join(", ");
    case "SpreadElement":
    case "AwaitExpression":
      return nameOf(node.argument as Node);
    case "TSNonNullExpression":
    case "TSAsExpression":
      return nameOf(node.expression as Node);
    case "LogicalExpression":
    case "BinaryExpression":
      return nameOf((isNumber(node.left as Node) ? node.right : node.left) as Node);
    case "NumericLiteral":
      return String(node.value);
    default:
      return "…";
  }
}

function isNumber({ type }: Node): boolean {
  return type === "NumericLiteral";
}

function calledName(callee: Node, given: readonly Node[]): string {
  const [first] = given;
  if (callee.type === "Identifier") {
    if (callee.name === "thrownText") return "why";
    if (SHOWN.has(callee.name as string) && first !== undefined) return nameOf(first);
    return spaced(callee.name as string);
  }
  const { object, property } = callee as Node & { object?: Node; property?: Node };
  if (property === undefined || object === undefined) return "…";
  if (isNode(object) && object.name === "JSON" && first !== undefined) return nameOf(first);
  if (SHOWN_BY.has(property.name as string)) return nameOf(object);
  return nameOf(property);
}

/** Returns an identifier as words: `settingName` as `setting name`, `MAX_BYTES` as `max bytes`. */
function spaced(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, "$1 $2").replaceAll("_", " ").toLowerCase();
}
