// Where a path really leads, also when its end does not exist yet.

/** Links followed before a path counts as leading nowhere; the limit of the kernel. */
const MAX_LINKS = 40;

/**
 * The absolute path without links that `path` stands for, seen from `cwd` (sandbox section 4). Links are followed
 * component by component, the last one included, and `..` is taken after the links before it. Components that do
 * not exist, or that may not be looked at, are kept by their text, so a dangling link gives its target.
 *
 * `null` when the path leads nowhere at all: more than 40 links, or a NUL character in it.
 */
export function realPath(path: string, cwd: string): string | null {
  if (path.includes("\0")) return null;
  const absolute = path.startsWith("/") ? path : `${cwd}/${path}`;
  const pending = absolute.split("/").reverse();
  const real: string[] = [];
  let links = 0;
  while (pending.length > 0) {
    const component = pending.pop();
    if (component === undefined || component === "" || component === ".") continue;
    if (component === "..") {
      real.pop();
      continue;
    }
    const candidate = `/${[...real, component].join("/")}`;
    const target = linkTarget(candidate);
    if (target === null) {
      real.push(component);
      continue;
    }
    if (++links > MAX_LINKS) return null;
    if (target.startsWith("/")) real.length = 0;
    pending.push(...target.split("/").reverse());
  }
  return `/${real.join("/")}`;
}

/** Whether `path` is `folder` or lies below it; both absolute and without a final slash. */
export function isInside(path: string, folder: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

/** The folder a real path lies in; the root lies in itself. */
export function parentFolder(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/** Replaces a leading `~` that stands alone or before a slash. */
export function expandHome(path: string, home: string): string {
  if (path === "~") return home;
  return path.startsWith("~/") ? `${home}${path.slice(1)}` : path;
}

function linkTarget(path: string): string | null {
  try {
    return Deno.lstatSync(path).isSymlink ? Deno.readLinkSync(path) : null;
  } catch {
    return null; // Missing or out of sight: the text of the component is all there is.
  }
}
