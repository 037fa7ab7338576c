// Which room may import which, which part of a room which other part, and that no modules import each other in a
// circle, not even by their types.

/** For each room, the rooms below it. What is not listed is forbidden. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  parser: ["base"],
  lua: ["base"],
  config: ["lua", "parser", "base"],
  sandbox: ["config", "base"],
  tools: ["sandbox", "config", "base"],
  prompt: ["config", "lua", "parser", "base"],
  providers: ["prompt", "config", "base"],
  cycle: ["providers", "prompt", "tools", "config", "parser", "base"],
  agent: ["cycle", "providers", "prompt", "tools", "sandbox", "config", "parser", "base"],
  editors: ["agent", "cycle", "tools", "sandbox", "config", "parser", "base"],
  commands: [
    "editors",
    "agent",
    "cycle",
    "providers",
    "sandbox",
    "config",
    "parser",
    "base",
  ],
  "cli.ts": ["commands"],
  "mod.ts": ["agent", "cycle", "providers", "prompt", "tools", "sandbox", "config", "parser", "base"],
};

/**
 * The floors inside a room, from the top: its own files and its folders by name. What stands on one floor may use what
 * stands on lower ones, and a folder its own files; two that share a floor know nothing of each other.
 */
export const FLOORS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  parser: [
    ["mod.ts"],
    ["json.ts", "prose.ts", "utf16.ts"],
    ["document.ts"],
    ["view", "edits"],
    ["tree"],
    ["text"],
    ["scan"],
    ["types.ts"],
  ],
  lua: [
    ["engine.ts"],
    ["library"],
    ["vm"],
    ["interpreter.generated.ts"],
  ],
  config: [
    ["load.ts", "frontmatter.ts"],
    ["document"],
    ["sources"],
    ["layers"],
    ["schema"],
    ["settings.ts"],
    ["types.ts"],
  ],
  sandbox: [
    ["mod.ts"],
    ["api.ts", "status.ts"],
    ["sandbox.ts"],
    ["backends", "protect"],
    ["policy"],
    ["process", "network"],
    ["paths"],
    ["types.ts"],
  ],
  tools: [
    ["mod.ts"],
    ["builtin", "skills", "vellum", "mcp"],
    ["approval"],
    ["context.ts", "preview.ts"],
    ["run.ts"],
    ["registry.ts", "validate.ts", "overflow.ts"],
    ["truncate.ts"],
    ["definition.ts"],
  ],
  prompt: [
    ["mod.ts"],
    ["evaluate.ts"],
    ["template"],
    ["attach.ts"],
    ["file_log.ts", "file_references.ts", "blank.ts"],
    ["types.ts"],
  ],
  providers: [
    ["registry.ts"],
    ["anthropic", "replay", "openai", "vertex", "chat_completions"],
    ["request", "http"],
    ["usage.ts"],
    ["models.ts"],
    ["types.ts"],
  ],
  cycle: [
    ["mod.ts"],
    ["cycle.ts"],
    ["press_outcome.ts"],
    ["execute", "send"],
    ["plan"],
    ["storage"],
    ["refusals.ts", "final_block.ts", "call_hash.ts"],
    ["sentences.ts"],
    ["types.ts"],
  ],
  agent: [
    ["mod.ts"],
    ["open.ts", "new_chat.ts"],
    ["session.ts"],
    ["runtime.ts", "send_only.ts", "views"],
    ["tools.ts", "sender.ts", "notices.ts", "written.ts", "stranger.ts", "sandbox.ts"],
    ["settings.ts"],
    ["types.ts"],
  ],
  commands: [
    ["main.ts"],
    ["load.ts"],
    ["setup"],
    ["sandbox"],
    ["settings"],
    ["document"],
    ["host.ts"],
    ["invocation.ts"],
    ["io", "line"],
    ["version.ts"],
  ],
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
    for (const { specifier } of importsOf(text)) {
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
      const upwards = below === room ? floorFault(room, path, target) : null;
      if (upwards !== null) faults.push(upwards);
      targets.push(target);
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

/** Why a file may not use another one of its room; null when it may. */
function floorFault(room: string, from: string, to: string): string | null {
  const floors = FLOORS[room];
  if (floors === undefined) return null;
  const part = (path: string) => path.split("/")[1]!;
  const floorOf = (path: string) => floors.findIndex((parts) => parts.includes(part(path)));
  if (part(from) === part(to)) return null;
  for (const path of [from, to]) {
    if (floorOf(path) < 0) return `${path} stands on no floor of ${room}: add ${part(path)} to FLOORS`;
  }
  if (floorOf(from) < floorOf(to)) return null;
  return `${from} imports ${to}: in ${room}, ${part(from)} may not use ${part(to)}`;
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
