// Which room may import which, and that no modules import each other in a circle.

/** For each room, the rooms below it. What is not listed is forbidden. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  parser: ["base"],
  lua: ["config", "parser", "base"],
  config: ["lua", "parser", "base"],
  sandbox: ["config", "parser", "base"],
  tools: ["sandbox", "config", "parser", "base"],
  prompt: ["lua", "config", "parser", "base"],
  providers: ["prompt", "config", "parser", "base"],
  cycle: ["providers", "prompt", "tools", "sandbox", "config", "parser", "base"],
  agent: ["cycle", "providers", "prompt", "tools", "sandbox", "config", "parser", "base"],
  commands: ["agent", "cycle", "providers", "prompt", "tools", "sandbox", "config", "lua", "parser", "base"],
  editors: [
    "commands",
    "agent",
    "cycle",
    "providers",
    "prompt",
    "tools",
    "sandbox",
    "config",
    "parser",
    "base",
  ],
  "cli.ts": ["commands", "config", "base"],
  "mod.ts": ["agent", "cycle", "providers", "prompt", "tools", "sandbox", "config", "parser", "base"],
};

/** One import of one module: where it points and whether it survives to run time. */
export interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

/** The relative imports of a module's text, re-exports and dynamic imports included. */
export function importsOf(text: string): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const statements = code.matchAll(
    /\b(import|export)\s+(type\s+)?(?:[\w*{][^"';]*?\s+from\s+)?"(\.[^"]+)"|\bimport\(\s*"(\.[^"]+)"/g,
  );
  return [...statements].map(([, , typeWord, specifier, dynamic]) => ({
    specifier: (specifier ?? dynamic)!,
    typeOnly: typeWord !== undefined,
  }));
}

/** Sentences about every forbidden import and every circle among `modules` (path from the root → text). */
export function layerFaults(modules: ReadonlyMap<string, string>): string[] {
  const faults: string[] = [];
  const graph = new Map<string, string[]>();
  for (const [path, text] of modules) {
    const room = roomOf(path);
    const targets: string[] = [];
    for (const { specifier, typeOnly } of importsOf(text)) {
      const target = resolve(path, specifier);
      if (!modules.has(target)) {
        // Data imports (JSON and the like) have no layer of their own.
        if (/\.(ts|js|mjs)$/.test(target)) {
          faults.push(`${path} imports ${target}, which does not exist in a room`);
        }
        continue;
      }
      const below = roomOf(target);
      if (below !== room && !(ROOMS[room] ?? []).includes(below)) {
        faults.push(`${path} imports ${target}: ${room} may not use ${below}`);
      }
      if (!typeOnly) targets.push(target);
    }
    graph.set(path, targets);
  }
  return [...faults, ...circles(graph)];
}

/** Reads every module of the rooms below `root` and checks it. */
export async function checkTree(root: string): Promise<string[]> {
  const modules = new Map<string, string>();
  for (const room of Object.keys(ROOMS)) await collect(root, room, modules);
  return layerFaults(modules);
}

async function collect(root: string, path: string, modules: Map<string, string>): Promise<void> {
  const full = `${root}/${path}`;
  if (path.endsWith(".ts")) {
    if (await exists(full)) modules.set(path, await Deno.readTextFile(full));
    return;
  }
  if (!(await exists(full))) return;
  for await (const entry of Deno.readDir(full)) {
    if (entry.isDirectory || entry.name.endsWith(".ts")) {
      await collect(root, `${path}/${entry.name}`, modules);
    }
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function roomOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.indexOf("/")) : path;
}

function resolve(from: string, specifier: string): string {
  const parts = from.split("/").slice(0, -1);
  for (const part of specifier.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}

function circles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (path: string): void => {
    const seen = trail.indexOf(path);
    if (seen >= 0) {
      found.push(`circle: ${[...trail.slice(seen), path].join(" -> ")}`);
      return;
    }
    if (done.has(path)) return;
    trail.push(path);
    for (const target of graph.get(path) ?? []) visit(target);
    trail.pop();
    done.add(path);
  };
  for (const path of graph.keys()) visit(path);
  return found;
}
