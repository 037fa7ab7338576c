// Converts methods to a form that can be marked: parenthesized functions that are assigned to the class when it is
// created. Nothing can be written before a method, and half of what a start calls are methods.

import { type Called, type Edit, isCalled, type Node } from "./nodes.ts";

/** A member of a class or an object. */
interface Member extends Node {
  readonly kind: string;
  readonly static?: boolean;
  readonly computed?: boolean;
  readonly async: boolean;
  readonly generator: boolean;
  readonly key: Node & {
    readonly name?: string;
    readonly value?: unknown;
    readonly id?: { readonly name: string };
  };
  readonly body: Node;
}

interface ClassNode extends Node {
  readonly superClass: Node | null;
  readonly body: { readonly body: readonly Member[] };
}

/** Code that defines a method on a class as the language does. It is added to the head of a file with such classes. */
export const HELPER = 'var $give=((t,k,n,v)=>Object.defineProperty(t,n,k==="value"?' +
  "{value:v,writable:!0,configurable:!0}:{[k]:v,configurable:!0}));";

/** Converts called methods of classes and objects to parenthesized functions. */
export class Methods {
  readonly edits: Edit[] = [];
  /** True if a class needs `HELPER`. */
  helped = false;
  readonly #code: string;
  readonly #called: Called;
  #classes = 0;
  /** New names of private methods, of the innermost class last. */
  readonly #renamed: (ReadonlyMap<string, string> | null)[] = [];
  /** Private names of each enclosing class. */
  readonly #private: ReadonlySet<string>[] = [];

  constructor(code: string, called: Called) {
    this.#code = code;
    this.#called = called;
  }

  /** Called for each node before and after its content. */
  enter(node: Node): void {
    if (isClass(node)) this.#class(node);
    else if (node.type === "ObjectMethod") this.#ofObject(node as Member);
    else if (node.type === "PrivateName") {
      this.#name(node as Node & { readonly id: { readonly name: string } });
    }
  }

  leave(node: Node): void {
    if (!isClass(node)) return;
    this.#renamed.pop();
    this.#private.pop();
  }

  #class(node: ClassNode): void {
    const members = node.body.body;
    const unit = ++this.#classes;
    const renamed = new Map<string, string>();
    this.#private.push(new Set(members.flatMap(({ key }) => key?.id?.name ?? [])));
    this.#renamed.push(renamed);
    // Code that runs while the class is created could miss a method that is assigned later.
    if (members.some(runsEarly)) return;
    for (const member of members) {
      if (!isMethod(member) || !isCalled(member, this.#called) || usesSuper(member.body)) continue;
      const own = member.key.id?.name;
      // A subclass may have private methods of the same name.
      if (own !== undefined && (node.superClass !== null || member.static === true)) continue;
      if (own !== undefined) {
        const pair = members.filter(({ key }) => key?.id?.name === own).length > 1;
        if (pair || asksForBrand(node, own)) continue;
        renamed.set(own, `$${unit}_${own}`);
      }
      const name = own === undefined ? nameOf(member) : renamed.get(own)!;
      if (name === null) continue;
      this.helped = true;
      const target = member.static === true ? "this" : "this.prototype";
      const kind = member.kind === "method" ? "value" : member.kind;
      const head = `static{$give(${target},"${kind}",${JSON.stringify(name)},(${functionWord(member)}`;
      this.edits.push({ from: member.start, to: this.#parameters(member), text: head });
      this.edits.push({ from: member.end, to: member.end, text: "))}" });
    }
  }

  #ofObject(member: Member): void {
    if (member.kind !== "method" || member.computed === true || !isCalled(member, this.#called)) return;
    if (usesSuper(member.body)) return;
    const key = this.#code.slice(member.key.start, member.key.end);
    const head = `${key}:(${functionWord(member)}`;
    this.edits.push({ from: member.start, to: this.#parameters(member), text: head });
    this.edits.push({ from: member.end, to: member.end, text: ")" });
  }

  /** A use of a private name; its declaration is rewritten with the whole head of its method. */
  #name({ start, end, id }: Node & { readonly id: { readonly name: string } }): void {
    const at = this.#private.findLastIndex((names) => names.has(id.name));
    const name = at < 0 ? undefined : this.#renamed[at]?.get(id.name);
    const used = this.#code[start - 1] === ".";
    if (name !== undefined && used) this.edits.push({ from: start, to: end, text: name });
  }

  /** Returns the offset at which the parameters of a method begin. */
  #parameters({ key }: Member): number {
    return this.#code.indexOf("(", key.end);
  }
}

function isClass(node: Node): node is ClassNode {
  return node.type === "ClassDeclaration" || node.type === "ClassExpression";
}

function isMethod({ type, kind, computed }: Member): boolean {
  return (type === "ClassMethod" || type === "ClassPrivateMethod") && kind !== "constructor" &&
    computed !== true;
}

/** True if a member runs code when its class is created. */
function runsEarly(member: Member): boolean {
  if (member.type === "StaticBlock") return true;
  if (member.static !== true || !("value" in member)) return false;
  return found(member.value, ({ type }) => type === "CallExpression" || type === "NewExpression");
}

/** Returns the name of a method in the source; null for a computed one. */
function nameOf({ key }: Member): string | null {
  if (key.type === "Identifier") return key.name!;
  return key.type === "StringLiteral" ? String(key.value) : null;
}

function functionWord({ async, generator }: Member): string {
  return `${async ? "async " : ""}function${generator ? "*" : ""}`;
}

/** True if a method uses `super`, which only a real method can do. */
function usesSuper(body: Node): boolean {
  return found(body, ({ type }) => type === "Super");
}

/** True if code tests `#name in object`, or reads the name from an object that may not be of this class. */
function asksForBrand(node: Node, name: string): boolean {
  return found(
    node,
    (each) =>
      each.type === "BinaryExpression" && (each.left as Node).type === "PrivateName" &&
      (each.left as Node & { readonly id: { readonly name: string } }).id.name === name,
  );
}

function found(value: unknown, test: (node: Node) => boolean): boolean {
  if (Array.isArray(value)) return value.some((each) => found(each, test));
  if (typeof value !== "object" || value === null || typeof (value as Node).type !== "string") return false;
  if (test(value as Node)) return true;
  return Object.entries(value).some(([key, inner]) => key !== "loc" && key !== "extra" && found(inner, test));
}
