// Finds violations of the tables in layers.ts: forbidden imports, circular imports, modules without a place, crowded
// folders.

import { FLOORS, INSIDE, MOST_ENTRIES, ROOMS, UNSORTED } from "./layers.ts";
import { type House, readHouse } from "./module_graph.ts";

/** Returns sentences about all violations below `root`, an absolute path without a final slash. */
export async function checkTree(root: string): Promise<string[]> {
  return houseFaults(await readHouse(root));
}

/**
 * Returns sentences about every module without a place, every forbidden import, every circular import and every
 * crowded folder.
 */
export function houseFaults({ modules, folders }: House): string[] {
  return [
    ...new Set([...modules.keys()].map(placeFault).filter((fault) => fault !== null)),
    ...[...modules].flatMap(([path, targets]) =>
      targets.map((target) => importFault(path, target, modules)).filter((fault) => fault !== null)
    ),
    ...circles(modules),
    ...crowds(folders),
  ];
}

/** Returns why a module is in a place that is not allowed; null if the place is allowed. */
function placeFault(path: string): string | null {
  const [room = "", part] = path.split("/");
  if (!Object.hasOwn(ROOMS, room)) return `${room} is no room: add it to ROOMS`;
  if (part === undefined) return null;
  return floorOf(path) < 0 ? `${path} stands on no floor of ${room}: add ${part} to FLOORS` : null;
}

/** Returns why one module may not import another file; null if it may. */
function importFault(path: string, target: string, modules: House["modules"]): string | null {
  if (!modules.has(target)) {
    // Files of data have no layer. Any other file that is not a module of a room is a fault, whatever its extension.
    return target.endsWith(".json") ? null : `${path} imports ${target}, which does not exist in a room`;
  }
  const [room, below] = [roomOf(path), roomOf(target)];
  if (below !== room && !ROOMS[room]?.includes(below)) {
    return `${path} imports ${target}: ${room} may not use ${below}`;
  }
  const closed = Object.keys(INSIDE).find((folder) => isIn(target, folder) && !isIn(path, folder));
  if (closed !== undefined && !INSIDE[closed]!.some((place) => isIn(path, place))) {
    return `${path} imports ${target}: ${closed} is closed to ${path.replace(/\/[^/]*$/, "")}`;
  }
  return below === room ? floorFault(path, target) : null;
}

/** Returns why a file may not import another file of its room; null if it may. */
function floorFault(path: string, target: string): string | null {
  const [from, to] = [partOf(path), partOf(target)];
  if (from === to || FLOORS[roomOf(path)] === undefined) return null;
  const [upper, lower] = [floorOf(path), floorOf(target)];
  // A file without a floor is reported separately.
  if (upper < 0 || lower < 0 || upper < lower) return null;
  return `${path} imports ${target}: in ${roomOf(path)}, ${from} may not use ${to}`;
}

function roomOf(path: string): string {
  return path.split("/")[0]!;
}

/** Returns the file or folder directly in a room that contains a path. */
function partOf(path: string): string | undefined {
  return path.split("/")[1];
}

/** Returns the floor of a path in its room, counted from the top; -1 if it has none. */
function floorOf(path: string): number {
  return FLOORS[roomOf(path)]?.findIndex((parts) => parts.includes(partOf(path)!)) ?? -1;
}

function isIn(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}

function circles(modules: House["modules"]): string[] {
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
    for (const target of modules.get(path) ?? []) visit(target);
    trail.pop();
    done.add(path);
  };
  for (const path of modules.keys()) visit(path);
  return found;
}

function crowds(folders: House["folders"]): string[] {
  return [...folders]
    .filter(([folder, entries]) => entries > MOST_ENTRIES && !UNSORTED.some((place) => isIn(folder, place)))
    .map(([folder, entries]) =>
      `${folder} has ${entries} entries: sort it, ${MOST_ENTRIES} are enough for a folder`
    );
}
