// What is mounted where, and which folder of which file system a path really is: the same inside a sandbox as outside.

/** One mount, as `/proc/PID/mountinfo` has it. */
export interface Mount {
  readonly id: number;
  readonly parent: number;
  /** Major and minor number of the file system, `8:1`. */
  readonly device: string;
  /** Path inside that file system of what is mounted. */
  readonly root: string;
  /** Where it is mounted. */
  readonly point: string;
}

/** Reads a table; lines that are none are left out. */
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

/** The mount that a path without links lies on: found from the root on down, as the kernel looks a path up. */
export function mountOf(path: string, table: readonly Mount[]): Mount | null {
  const ids = new Set(table.map(({ id }) => id));
  let at = table.find(({ point, parent }) => point === "/" && !ids.has(parent)) ??
    table.find(({ point }) => point === "/");
  if (at === undefined) return null;
  for (;;) {
    let next: Mount | undefined;
    for (const mount of table) {
      if (mount.parent !== at.id || mount.id === at.id || !holds(mount.point, path)) continue;
      // The outermost is met first; of several at one point only the first hangs on the mount around.
      if (next === undefined || mount.point.length < next.point.length) next = mount;
    }
    if (next === undefined) return at;
    at = next;
  }
}

/**
 * `DEVICE ROOT POINT` of what mounting a path onto itself has to give, in the spelling of the table; null when the path
 * lies on no mount.
 */
export function ownMount(path: string, table: readonly Mount[]): string | null {
  const mount = mountOf(path, table);
  if (mount === null) return null;
  const rest = path === mount.point ? "" : mount.point === "/" ? path : path.slice(mount.point.length);
  const root = mount.root === "/" ? rest || "/" : `${mount.root}${rest === "/" ? "" : rest}`;
  return `${mount.device} ${escaped(root)} ${escaped(path)}`;
}

function holds(point: string, path: string): boolean {
  return point === "/" || path === point || path.startsWith(`${point}/`);
}

/** As the kernel writes a path into its tables. */
export function escaped(path: string): string {
  return path.replace(/[ \t\n\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`);
}

function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits) => String.fromCharCode(parseInt(digits, 8)));
}
