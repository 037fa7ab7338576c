// The path functions of `vim.fn` and `vim.fs` for documents. They work on text only, without file system access.

/** The folders that path functions depend on. */
export interface LuaFolders {
  /** Absolute working directory. */
  readonly cwd: string;
  /** Absolute home folder. */
  readonly home: string;
}

/** Removes `.` and doubled slashes, and each `..` with the folder before it; a relative path stays relative. */
export function simplify(path: string): string {
  const absolute = path.startsWith("/");
  const steps: string[] = [];
  for (const step of path.split("/")) {
    if (step === "" || step === ".") continue;
    if (step === ".." && steps.length > 0 && steps.at(-1) !== "..") steps.pop();
    else if (step !== ".." || !absolute) steps.push(step);
  }
  const joined = steps.join("/");
  if (absolute) return `/${joined}`;
  const prefix = path.startsWith("./") ? "./" : "";
  return joined === "" ? "." : `${prefix}${joined}`;
}

/** Returns the absolute form of a path; `~` is the home folder. */
export function makeAbsolute(path: string, base: LuaFolders): string {
  const expanded = expandHome(path, base);
  return simplify(expanded.startsWith("/") ? expanded : `${base.cwd}/${expanded}`);
}

/** Returns a path with forward slashes, `~` expanded, simplified, and without a final slash. */
export function normalize(path: string, base: LuaFolders): string {
  const expanded = expandHome(path, base);
  return expanded === "" ? "" : simplify(expanded).replace(/^\.\//, "");
}

/** `fnamemodify`: applies `:p :h :t :r :e :~ :.` from left to right; null for any other modifier. */
export function modify(path: string, modifiers: string, base: LuaFolders): string | null {
  let result = path;
  let rest = modifiers;
  while (rest !== "") {
    const found = /^:([phtre~.])/.exec(rest);
    if (found === null) return null;
    result = applyModifier(result, found[1]!, base);
    rest = rest.slice(2);
  }
  return result;
}

function applyModifier(path: string, modifier: string, base: LuaFolders): string {
  const slash = path.lastIndexOf("/");
  const tail = path.slice(slash + 1);
  const dot = tail.lastIndexOf(".");
  switch (modifier) {
    case "p":
      return path === "" ? "" : makeAbsolute(path, base);
    case "h":
      return slash < 0 ? "." : slash === 0 ? "/" : path.slice(0, slash);
    case "t":
      return tail;
    case "r":
      return dot <= 0 ? path : path.slice(0, slash + 1 + dot);
    case "e":
      return dot <= 0 ? "" : tail.slice(dot + 1);
    case "~":
      return below(path, base.home, "~/") ?? path;
    default:
      return below(path, base.cwd, "") ?? path;
  }
}

function below(path: string, folder: string, prefix: string): string | null {
  return path.startsWith(`${folder}/`) ? `${prefix}${path.slice(folder.length + 1)}` : null;
}

function expandHome(path: string, base: LuaFolders): string {
  return path === "~" || path.startsWith("~/") ? `${base.home}${path.slice(1)}` : path;
}
