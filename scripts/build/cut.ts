// Cuts a program that was bundled into one text into files, so that each module stands in exactly one of them.
//
// A bundler that makes one file for each late import makes dozens, and each costs more than what it leaves out; one that
// makes several bundles repeats in each what they share. Here the files are named, and which modules go where follows.

import { parse } from "@babel/parser";

/** One file of a program. */
export interface Piece {
  readonly name: string;
  /**
   * Modules that are loaded late and bring this file in: paths from the root of the project, or a folder with `/` at its
   * end for all of them in it that no file names.
   */
  readonly roots: readonly string[];
  /** Files that are there whenever this one is, so that it may use what stands in them. @default none */
  readonly on?: readonly string[];
}

/** The text of each file, by its name, and how other programs get at a module: the file and an expression over it. */
export interface Cut {
  readonly texts: ReadonlyMap<string, string>;
  /** The modules of each file. */
  readonly modules: ReadonlyMap<string, readonly string[]>;
  /** A late import of a root from elsewhere, as an expression; `folder` is the way to the files. */
  importOf(root: string, folder: string): string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** A late import as the bundler writes it: `Promise.resolve().then(() => (init_x(), x_exports))`. */
interface Late {
  readonly start: number;
  readonly end: number;
  readonly init: string;
  readonly exports: string;
}

/** A place of the bundle where something else is to stand. */
interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A statement at the top of the bundle. */
interface Statement {
  readonly start: number;
  readonly end: number;
  readonly module: string;
  readonly declares: readonly string[];
  /** Names of the top that it uses, but for those of its late imports. */
  readonly uses: ReadonlySet<string>;
  readonly late: readonly Late[];
  /** In order, and beside the late imports. */
  readonly replacements: readonly Replacement[];
}

/** What stands in no module: the bundler's own helpers. */
const HELPERS = "";

/**
 * Cuts a bundle in which every module comes to life only when it is asked for.
 *
 * A module that several files need, of which none has the other, goes to the nearest file that all of them stand on.
 *
 * @param bundle not minified, a text in which a line `// PATH` stands before the statements of each module
 * @param paths the modules, as those lines name them
 * @param pieces the first one is the ground of all others; each after those that it stands on
 * @throws When a module cannot stand in one file alone, a root is loaded late by nothing, or a folder matches none.
 */
export function cut(bundle: string, paths: ReadonlySet<string>, pieces: readonly Piece[]): Cut {
  const code = withPlainHelper(bundle);
  const statements = statementsOf(code, paths);
  const graph = new Graph(statements);
  const owners = ownersOf(graph, pieces);
  const ownerOf = (name: string) => owners.get(graph.moduleOf(name)!)!;
  const exported = new Map(pieces.map(({ name }) => [name, new Map<string, string>()]));
  const shared = (name: string) => {
    const names = exported.get(ownerOf(name))!;
    const alias = names.get(name) ?? `${ownerOf(name)[0]}${names.size.toString(36)}`;
    names.set(name, alias);
    return alias;
  };
  const lateImport = ({ init, exports }: Pick<Late, "init" | "exports">, folder: string) =>
    `import("${folder}/${ownerOf(exports)}.js").then((m)=>(m.${shared(init)}(),m.${shared(exports)}))`;
  const bodies = new Map<string, string>();
  for (const { name } of pieces) {
    const there = new Set([name, ...standsOn(name, pieces)]);
    const needed = new Set<string>();
    let body = "";
    for (const { start, end, module, uses, late, replacements } of statements) {
      if (owners.get(module) !== name) continue;
      for (const used of uses) needed.add(used);
      const replaced = [...replacements];
      for (const each of late) {
        if (there.has(ownerOf(each.exports))) needed.add(each.init).add(each.exports);
        else replaced.push({ start: each.start, end: each.end, text: lateImport(each, ".") });
      }
      let reached = start;
      for (const each of replaced.sort((a, b) => a.start - b.start)) {
        body += code.slice(reached, each.start) + each.text;
        reached = each.end;
      }
      body += `${code.slice(reached, end)}\n`;
    }
    let imports = "";
    for (const other of there) {
      const names = [...needed].filter((used) => ownerOf(used) === other);
      if (other === name || names.length === 0) continue;
      imports += `import {${names.map((used) => `${shared(used)} as ${used}`)}} from "./${other}.js";\n`;
    }
    bodies.set(name, imports + body);
  }
  const importOf = (root: string, folder: string) => lateImport(graph.late.get(root)!, folder);
  for (const root of graph.late.keys()) importOf(root, ".");
  const texts = new Map<string, string>();
  for (const [name, body] of bodies) {
    const names = Array.from(exported.get(name)!, ([own, alias]) => `${own} as ${alias}`);
    texts.set(name, names.length === 0 ? body : `${body}export {${names}};\n`);
  }
  const modules = new Map(
    pieces.map(({ name }) => [name, [...graph.modules].filter((each) => owners.get(each) === name)]),
  );
  return { texts, modules, importOf };
}

/** Which module uses which, and which it loads late. */
class Graph {
  readonly modules = new Set<string>();
  readonly uses = new Map<string, Set<string>>();
  readonly loads = new Map<string, Set<string>>();
  /** How each module that is loaded late is brought to life. */
  readonly late = new Map<string, Late>();
  readonly #declared = new Map<string, string>();

  constructor(statements: readonly Statement[]) {
    for (const { module, declares } of statements) {
      this.modules.add(module);
      for (const name of declares) this.#declared.set(name, module);
    }
    for (const { module, uses, late } of statements) {
      const used = this.uses.get(module) ?? new Set();
      for (const name of uses) used.add(this.#declared.get(name)!);
      this.uses.set(module, used);
      const loaded = this.loads.get(module) ?? new Set();
      for (const each of late) {
        const target = this.#declared.get(each.exports)!;
        loaded.add(target);
        this.late.set(target, each);
      }
      this.loads.set(module, loaded);
    }
  }

  moduleOf(name: string): string | undefined {
    return this.#declared.get(name);
  }
}

/** The file of each module. */
function ownersOf(graph: Graph, pieces: readonly Piece[]): ReadonlyMap<string, string> {
  const roots = rootsOf(graph, pieces);
  const rootFile = new Map([...roots].flatMap(([name, all]) => [...all].map((root) => [root, name])));
  for (;;) {
    const reached = new Map<string, ReadonlySet<string>>();
    for (const { name } of pieces) {
      const below = standsOn(name, pieces).map((each) => reached.get(each)!);
      const own = new Set<string>();
      const visit = (module: string) => {
        if (own.has(module) || below.some((set) => set.has(module))) return;
        own.add(module);
        for (const next of graph.uses.get(module) ?? []) visit(next);
        for (const next of graph.loads.get(module) ?? []) if (!rootFile.has(next)) visit(next);
      };
      for (const root of roots.get(name)!) visit(root);
      reached.set(name, own);
    }
    const owners = new Map<string, string>();
    const shared: string[] = [];
    for (const module of graph.modules) {
      const by = pieces.filter(({ name }) => reached.get(name)!.has(module)).map(({ name }) => name);
      if (by.length > 1) roots.get(groundOf(by, pieces))!.add(module), shared.push(module);
      else if (by.length === 1) owners.set(module, by[0]!);
    }
    if (shared.length === 0) return owners;
  }
}

/** The roots of each file. */
function rootsOf(graph: Graph, pieces: readonly Piece[]): Map<string, Set<string>> {
  const late = [...graph.late.keys()];
  const named = new Set(pieces.flatMap(({ roots }) => roots));
  const roots = new Map<string, Set<string>>();
  for (const { name, roots: own } of pieces) {
    const all = own.flatMap((root) =>
      root.endsWith("/")
        ? late.filter((each) => each.startsWith(root) && !named.has(each))
        : graph.late.has(root)
        ? [root]
        : []
    );
    const missed = own.filter((root) => !all.some((each) => each === root || each.startsWith(root)));
    if (missed.length > 0) {
      throw new Error(
        `nothing loads ${missed.join(" or ")} late: mend the files of the program or the import`,
      );
    }
    roots.set(name, new Set(all));
  }
  const [first] = pieces;
  roots.get(first!.name)!.add(HELPERS);
  return roots;
}

/** The nearest file on which all of these stand, or that is one of them. */
function groundOf(names: readonly string[], pieces: readonly Piece[]): string {
  const common = pieces.filter(({ name }) =>
    names.every((each) => each === name || standsOn(each, pieces).includes(name))
  );
  const nearest = common.at(-1);
  if (nearest === undefined) throw new Error(`${names.join(" and ")} stand on no file in common`);
  return nearest.name;
}

/** All files that are there when this one is, from the ground up. */
function standsOn(name: string, pieces: readonly Piece[]): string[] {
  const found = new Set<string>();
  const visit = (each: string) => {
    for (const below of pieces.find((piece) => piece.name === each)?.on ?? []) {
      found.add(below);
      visit(below);
    }
  };
  visit(name);
  return pieces.map((piece) => piece.name).filter((each) => found.has(each));
}

function statementsOf(code: string, paths: ReadonlySet<string>): Statement[] {
  const { program, comments } = parse(code, { sourceType: "module" }) as unknown as {
    program: { body: readonly Node[] };
    comments: readonly (Node & { readonly value: string })[];
  };
  const heads = comments
    .map(({ start, value }) => ({ start, path: value.trim() }))
    .filter(({ start, path }) => paths.has(path) && (start === 0 || code[start - 1] === "\n"));
  const nodes = program.body.filter(({ type }) => type !== "ExportNamedDeclaration");
  const top = new Set(nodes.flatMap(declaredBy));
  let at = -1;
  return nodes.map((node) => {
    while (at + 1 < heads.length && heads[at + 1]!.start < node.start) at++;
    const uses = new Set<string>();
    const late: Late[] = [];
    look(node, top, uses, late);
    const module = at < 0 ? HELPERS : heads[at]!.path;
    const { start, end } = node;
    return { start, end, module, declares: declaredBy(node), uses, late, replacements: plainStarts(node) };
  });
}

const NAMED_START = "(0, fn[__getOwnPropNames(fn)[0]])(fn = 0)";

/**
 * The bundler names what brings a module to life, `init_x = __esm({ "PATH"() {…} })`, for those who look for time spent.
 * Methods are compiled late whatever is known of them (`eager.ts`), so plain functions take their place.
 */
function withPlainHelper(bundle: string): string {
  if (!bundle.includes(NAMED_START)) throw new Error("the bundler's helper `__esm` is not what it was");
  return bundle.replace(NAMED_START, "fn(fn = 0)");
}

function plainStarts(node: Node): Replacement[] {
  if (node.type !== "VariableDeclaration") return [];
  return (node.declarations as readonly { init: Node | null }[]).flatMap(({ init }) => {
    if (init?.type !== "CallExpression" || (init.callee as Node).name !== "__esm") return [];
    const [given] = init.arguments as readonly Node[];
    const [start] = given!.properties as readonly Node[];
    const body = start!.body as Node;
    return [
      { start: given!.start, end: body.start, text: "() => " },
      { start: body.end, end: given!.end, text: "" },
    ];
  });
}

/** The names that a statement at the top declares. */
function declaredBy(node: Node): string[] {
  if (node.type === "ImportDeclaration") {
    return (node.specifiers as readonly { local: { name: string } }[]).map(({ local }) => local.name);
  }
  if (node.type === "VariableDeclaration") {
    return (node.declarations as readonly { id: Node }[]).flatMap(({ id }) => namesIn(id));
  }
  const { id } = node as unknown as { id?: { name: string } | null };
  return id ? [id.name] : [];
}

/** The names of a pattern. */
function namesIn(pattern: Node): string[] {
  const names = new Set<string>();
  look(pattern, null, names, []);
  return [...names];
}

/**
 * Collects the names that are used, keys of objects and members apart, and late imports. The bundler gives no inner
 * variable the name of one at the top, so a name says which it is.
 *
 * @param top the names that count; null for all
 */
function look(value: unknown, top: ReadonlySet<string> | null, uses: Set<string>, late: Late[]): void {
  if (Array.isArray(value)) {
    for (const each of value) look(each, top, uses, late);
    return;
  }
  if (typeof value !== "object" || value === null || typeof (value as Node).type !== "string") return;
  const node = value as Node;
  if (node.type === "PrivateName") return;
  const loaded = lateImportIn(node);
  if (loaded !== null) {
    late.push(loaded);
    return;
  }
  if (node.type === "Identifier") {
    const name = node.name as string;
    if (top === null || top.has(name)) uses.add(name);
    return;
  }
  const key = node.computed === true ? null : KEYS[node.type];
  for (const [name, inner] of Object.entries(node)) {
    if (name !== key && name !== "loc" && name !== "extra" && !name.endsWith("Comments")) {
      look(inner, top, uses, late);
    }
  }
}

/** What of a node is a name that no variable has. */
const KEYS: Readonly<Record<string, string>> = {
  MemberExpression: "property",
  OptionalMemberExpression: "property",
  ObjectProperty: "key",
  ObjectMethod: "key",
  ClassMethod: "key",
  ClassProperty: "key",
};

function lateImportIn(node: Node): Late | null {
  if (node.type !== "CallExpression") return null;
  const { callee, arguments: given } = node as unknown as { callee: Node; arguments: readonly Node[] };
  const [then] = given;
  if (callee.type !== "MemberExpression" || then?.type !== "ArrowFunctionExpression") return null;
  const parts = (then.body as Node).expressions as readonly Node[] | undefined;
  if (parts?.length !== 2 || parts[0]!.type !== "CallExpression" || parts[1]!.type !== "Identifier") {
    return null;
  }
  const init = (parts[0]!.callee as Node).name;
  const exports = parts[1]!.name;
  const isLate = typeof init === "string" && typeof exports === "string" && isResolved(callee.object as Node);
  return isLate ? { start: node.start, end: node.end, init, exports } : null;
}

/** Whether it is `Promise.resolve()`. */
function isResolved(node: Node): boolean {
  if (node.type !== "CallExpression" || (node.arguments as readonly Node[]).length > 0) return false;
  const { object, property } = node.callee as unknown as { object?: Node; property?: Node };
  return object?.name === "Promise" && property?.name === "resolve";
}
