// Checks a value against the settings shape and rewrites short forms, so that layers merge plain trees.

import { nearest } from "./nearest.ts";
import { ALIASES, SETTINGS_SHAPE, type Shape } from "./schema.ts";

/** One mistake in a settings tree: where (dotted keys) and what, as one sentence. */
export interface Mistake {
  readonly path: readonly string[];
  /** The mistake is in the key itself rather than in its value. */
  readonly atKey: boolean;
  readonly message: string;
}

export interface Checked {
  /** The tree without aliases, short forms and editor keys. Only to be used when there is no mistake. */
  readonly tree: Readonly<Record<string, unknown>>;
  readonly mistakes: readonly Mistake[];
}

/** Checks a whole settings tree (frontmatter-config 5.2): every mistake is listed, nothing is repaired. */
export function checkSettings(value: unknown): Checked {
  const mistakes: Mistake[] = [];
  if (value === null || value === undefined) return { tree: {}, mistakes };
  if (!isPlainObject(value)) {
    mistakes.push({
      path: [],
      atKey: false,
      message: `expected a mapping of settings, found ${kindOf(value)}`,
    });
    return { tree: {}, mistakes };
  }
  const names = { ...SETTINGS_SHAPE.members, ...aliasShapes() };
  const tree: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const shape = names[key];
    if (shape === undefined) {
      mistakes.push({ path: [key], atKey: true, message: unknownKey(key, names) });
      continue;
    }
    const checked = check(shape, member, [key], mistakes);
    if (checked === undefined) continue;
    const alias = SETTINGS_SHAPE.members[key] === undefined ? ALIASES[key] : undefined;
    // An alias gives way to the real key, wherever in the file that stands.
    if (alias) overlay(tree, nest(alias, checked), true);
    else overlay(tree, { [key]: checked }, false);
  }
  checkPresetNames(tree, mistakes);
  return { tree, mistakes };
}

function check(shape: Shape, value: unknown, path: readonly string[], mistakes: Mistake[]): unknown {
  const wrong = (expected: string, hint = ""): undefined => {
    mistakes.push({
      path,
      atKey: false,
      message: `"${path.join(".")}" expects ${expected}, found ${kindOf(value)}${hint}`,
    });
    return undefined;
  };
  if (shape.kind === "editor") return undefined;
  if (shape.kind === "free") return value;
  if (value === null && "nullable" in shape && shape.nullable) return null;
  switch (shape.kind) {
    case "boolean":
      return typeof value === "boolean" ? value : wrong("true or false");
    case "string":
      return typeof value === "string" ? value : wrong("a string");
    case "number":
      return typeof value === "number" && Number.isFinite(value) ? value : wrong("a number");
    case "integer": {
      const least = shape.min;
      const fits = typeof value === "number" && Number.isInteger(value) &&
        (least === undefined || value >= least);
      return fits
        ? value
        : wrong(least === undefined ? "a whole number" : `a whole number of at least ${least}`);
    }
    case "strings":
      return Array.isArray(value) && value.every((item) => typeof item === "string")
        ? value
        : wrong("a list of strings");
    case "word":
      return typeof value === "string" && shape.words.includes(value)
        ? value
        : wrong(`one of ${shape.words.join(", ")}`, suggestion(value, shape.words));
    case "custom":
      return shape.accepts(value) ? value : wrong(shape.expected, suggestion(value, shape.words ?? []));
    case "object": {
      const object = isPlainObject(value) ? value : shape.short?.(value);
      if (object === undefined) return wrong("a mapping");
      const result: Record<string, unknown> = {};
      for (const [key, member] of Object.entries(object)) {
        const inner = Object.hasOwn(shape.members, key) ? shape.members[key] : shape.others;
        if (inner === undefined) {
          mistakes.push({ path: [...path, key], atKey: true, message: unknownKey(key, shape.members, path) });
          continue;
        }
        const checked = check(inner, member, [...path, key], mistakes);
        if (checked !== undefined) result[key] = checked;
      }
      return result;
    }
  }
}

function checkPresetNames(tree: Readonly<Record<string, unknown>>, mistakes: Mistake[]): void {
  const tools = tree.tools as { presets?: object } | undefined;
  const homes = [[["presets"], tree.presets], [["tools", "presets"], tools?.presets]] as const;
  for (
    const [path, name] of homes.flatMap(([path, home]) =>
      Object.keys(home ?? {}).map((name) => [path, name] as const)
    )
  ) {
    if (!name.startsWith("$")) {
      mistakes.push({
        path: [...path, name],
        atKey: true,
        message: `the preset name "${name}" must begin with $; did you mean "$${name}"?`,
      });
    }
  }
}

function unknownKey(
  key: string,
  members: Readonly<Record<string, unknown>>,
  path: readonly string[] = [],
): string {
  const near = nearest(key, Object.keys(members));
  const elsewhere = near === null ? placesOf(key) : [];
  const hint = near !== null
    ? `; did you mean "${[...path, near].join(".")}"?`
    : elsewhere.length > 0
    ? `; it belongs to "${elsewhere.join('" or "')}"`
    : "";
  return `unknown key "${[...path, key].join(".")}"${hint}`;
}

/** Where a leaf name exists in the tree, for keys put at the wrong depth. */
function placesOf(name: string, shape: Shape = SETTINGS_SHAPE, path: readonly string[] = []): string[] {
  if (shape.kind !== "object") return [];
  return Object.entries(shape.members).flatMap(([key, member]) => [
    ...(key === name ? [[...path, key].join(".")] : []),
    ...placesOf(name, member, [...path, key]),
  ]);
}

function aliasShapes(): Record<string, Shape> {
  const shapes: Record<string, Shape> = {};
  for (const [alias, path] of Object.entries(ALIASES)) {
    let shape: Shape = SETTINGS_SHAPE;
    for (const key of path) shape = shape.kind === "object" ? shape.members[key]! : shape;
    shapes[alias] = shape;
  }
  return shapes;
}

function suggestion(value: unknown, words: readonly string[]): string {
  const near = typeof value === "string" ? nearest(value, words) : null;
  return near === null ? "" : `; did you mean "${near}"?`;
}

function nest(path: readonly string[], value: unknown): Record<string, unknown> {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Record<string, unknown>;
}

/** Lays `upper` over `target` in place: mappings merge, everything else replaces (unless `keep`). */
export function overlay(
  target: Record<string, unknown>,
  upper: Readonly<Record<string, unknown>>,
  keep = false,
): Record<string, unknown> {
  for (const [key, value] of Object.entries(upper)) {
    const below = target[key];
    if (isPlainObject(below) && isPlainObject(value)) target[key] = overlay({ ...below }, value, keep);
    else if (!keep || below === undefined) target[key] = value;
  }
  return target;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
