// Detection and resolution of module paths in settings.

/** True if a string names a TypeScript or JavaScript module rather than a tool, preset or backend. */
export function isModulePath(value: string): boolean {
  return /^(?:\.{1,2}\/|~\/|\/|file:)/.test(value) || /\.(?:ts|js|mjs)$/.test(value);
}

/** Returns the modules named by a value: the value itself, its items, or the `path` of items that are tables. */
export function modulesIn(value: unknown): string[] {
  return [value].flat().flatMap((item) => {
    const path = typeof item === "object" && item !== null ? (item as { path?: unknown }).path : item;
    return typeof path === "string" && isModulePath(path) ? [path] : [];
  });
}

/** Resolves a module path: relative paths start from `folder`, `~` means `home`. */
export function modulePath(value: string, folder: string, home: string): string {
  if (value.startsWith("file:")) return decodeURIComponent(new URL(value).pathname);
  const path = value.startsWith("~/") ? `${home}/${value.slice(2)}` : value;
  const absolute = path.startsWith("/") ? path : `${folder}/${path}`;
  const parts: string[] = [];
  for (const part of absolute.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
