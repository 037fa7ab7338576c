// Reads the mount table, and finds the file system and the folder in it to which a path leads. Both are the same inside
// and outside a sandbox.

/** One mount, as in `/proc/PID/mountinfo`. */
export interface Mount {
  readonly id: number;
  readonly parent: number;
  /** Major and minor number of the file system, `8:1`. */
  readonly device: string;
  /** Path of the mounted folder inside its file system. */
  readonly root: string;
  readonly point: string;
}

/** Reads a table. Skips invalid lines. */
export function parseMountTable(text: string): Mount[] {
  return text.split("\n").flatMap((line) => {
    const [id, parent, device = "", root = "", point = ""] = line.split(" ");
    return point === "" ? [] : [{
      id: Number(id),
      parent: Number(parent),
      device,
      root: unescaped(root),
      point: unescaped(point),
    }];
  });
}

/** The mount that contains a path without links. Walks down from the root, as the kernel does. */
export function mountOf(path: string, table: readonly Mount[]): Mount | null {
  const ids = new Set(table.map(({ id }) => id));
  let at = table.find(({ point, parent }) => point === "/" && !ids.has(parent)) ??
    table.find(({ point }) => point === "/");
  if (at === undefined) return null;
  for (;;) {
    let next: Mount | undefined;
    for (const mount of table) {
      if (mount.parent !== at.id || mount.id === at.id || !holds(mount.point, path)) continue;
      // Of the mounts on the way to the path, the outermost one is entered first. If several mounts have the same mount
      // point, only the first of them is a child of the outer mount.
      if (next === undefined || mount.point.length < next.point.length) next = mount;
    }
    if (next === undefined) return at;
    at = next;
  }
}

/**
 * Returns the entry `DEVICE ROOT POINT` that mounting a path onto itself must produce, escaped as in the table; null
 * if no mount contains the path.
 */
export function ownMount(path: string, table: readonly Mount[]): string | null {
  const mount = mountOf(path, table);
  if (mount === null) return null;
  const rest = path === mount.point ? "" : mount.point === "/" ? path : path.slice(mount.point.length);
  const root = mount.root === "/" ? rest || "/" : `${mount.root}${rest === "/" ? "" : rest}`;
  return `${mount.device} ${escapeMountPath(root)} ${escapeMountPath(path)}`;
}

function holds(point: string, path: string): boolean {
  return point === "/" || path === point || path.startsWith(`${point}/`);
}

/** Escapes a path as the kernel does in its tables. */
export function escapeMountPath(path: string): string {
  return path.replace(/[ \t\n\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`);
}

function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits) => String.fromCharCode(parseInt(digits, 8)));
}
