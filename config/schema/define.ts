// Building blocks of the settings schema: keys with types and allowed layers, and groups of keys.

import type { Layer } from "../types.ts";

/** Type of a value. `expected` of a custom type completes the sentence "expects …". */
export type Type =
  | { readonly is: "boolean" }
  | { readonly is: "string" }
  | { readonly is: "number"; readonly min?: number }
  | { readonly is: "integer"; readonly min?: number }
  | { readonly is: "word"; readonly words: readonly string[] }
  | { readonly is: "list"; readonly item: Type }
  /** A table whose names are not fixed. The table is one value: layers do not merge its members. */
  | { readonly is: "map"; readonly of: Type }
  | { readonly is: "any" }
  | {
    readonly is: "custom";
    /** TypeScript type of an accepted value; names refer to config/values.ts. */
    readonly ts: string;
    readonly expected: string;
    accepts(value: unknown): boolean;
    readonly words?: readonly string[];
    /** True if a wrong value could be a secret, which messages must not show. */
    readonly isSecret?: true;
    /** Members of a value that is a table, so that each wrong member gets its own message. */
    readonly members?: Readonly<Record<string, Type>>;
    /** Adds details about a refused value, as the end of the sentence. */
    hint?(value: unknown): string | undefined;
    /** Returns the valid word for a refused value, if any. */
    suggest?(value: unknown): string | undefined;
    readonly json: Readonly<Record<string, unknown>>;
  };

/**
 * Kind of change that only restricts rights. Any other change may widen them. `earlier`: the words of the type are ordered
 * by the rights that they give, the fewest first.
 */
export type Narrowing = "true" | "false" | "earlier" | "lower" | "remove" | "append" | "subset" | "restrict";

export interface SettingKey {
  readonly node: "key";
  readonly type: Type;
  /** The default; if absent, there is no value. */
  readonly default?: unknown;
  /** True if `null` (no value) is allowed. */
  readonly optional?: boolean;
  readonly who: readonly Layer[];
  /**
   * True if the key names a program, a file to load or a place to write. A project may set the key only if `loads` is
   * true.
   */
  readonly host?: boolean;
  /** Values that count only in the person's own settings, because they weaken what other values grant. */
  readonly personal?: readonly unknown[];
  /** True if the value names a code file to load. */
  readonly loads?: boolean;
  /** The direction of changes that only restrict, for untrusted project files and `documentNarrows`. */
  readonly narrows?: Narrowing;
  readonly zeroIsUnlimited?: boolean;
  /** True if frontmatter may only restrict the value. */
  readonly documentNarrows?: boolean;
  /** True if a project may only restrict the value, even if it is trusted. */
  readonly projectNarrows?: boolean;
  /** True if the key takes effect unchanged even from an untrusted project file. */
  readonly neutral?: boolean;
  /** Expands a short form before the type is checked. */
  readonly long?: (value: unknown) => unknown;
  /** True if the value is one value whose members can be read and written separately. */
  readonly record?: boolean;
  /** True if a function is accepted in place of the list. */
  readonly callable?: boolean;
  /** TypeScript type of the resolved value, if it differs from the type of the written value. */
  readonly ts?: string;
  readonly doc: string;
  readonly since: string;
}

export interface Group {
  readonly node: "group";
  readonly members: Readonly<Record<string, Node>>;
  /** Node of the members whose names are not fixed. */
  readonly others?: Node;
  /**
   * If a single value was written in place of the group's table, expands the value to a table; undefined if that is not
   * possible.
   */
  readonly short?: (value: unknown) => Readonly<Record<string, unknown>> | undefined;
  /** True if the person's table switches the group on (`enabled`) unless it says otherwise. */
  readonly isOnWhenWritten?: boolean;
  /** Suggests what to write instead of an invalid single value. */
  readonly hint?: (value: unknown) => string | undefined;
  /** The list that the group itself represents (`tools`, `skills`). */
  readonly list?: SettingKey;
  /** True if members are presets: a name that begins with `$` is then a preset's name and not an operator. */
  readonly presets?: boolean;
  /** Aliases of members, each with the path below this group. */
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
  /** What resolved settings contain of the group: every member, what layers wrote, or nothing. @default every member */
  readonly holds?: "written" | "nothing";
  /** Name of the group's TypeScript type; absent for an unnamed type. */
  readonly ts?: string;
  /** Type in config/values.ts of what the group contains in addition to its members. */
  readonly adds?: string;
  readonly doc: string;
}

export type Node = SettingKey | Group;

const ALL: readonly Layer[] = ["G", "P", "R", "M", "C"];
/**
 * Layers for keys that name programs, files to load or places to write: only the person may set them (a project is
 * checked separately).
 */
const HOST: readonly Layer[] = ["G", "P", "C"];

const SINCE = "0.1.0";

export const BOOLEAN: Type = { is: "boolean" };
export const STRING: Type = { is: "string" };
export const STRINGS: Type = { is: "list", item: STRING };
export const natural = (min = 0): Type => ({ is: "integer", min });
export const word = (...words: string[]): Type => ({ is: "word", words });

/** The person's own command: a shell command line, or a program and its arguments. */
export const COMMAND: Type = {
  is: "custom",
  ts: "string | readonly string[]",
  expected: "a shell command line, or a list of program and arguments",
  accepts: (value) =>
    Array.isArray(value)
      ? value.length > 0 && value.every((word) => typeof word === "string") && value[0] !== ""
      : typeof value === "string" && value.trim() !== "",
  json: {
    anyOf: [{ type: "string", minLength: 1 }, { type: "array", items: { type: "string" }, minItems: 1 }],
  },
};

type Rest = Partial<Omit<SettingKey, "node" | "type" | "doc">>;

/** A key that every layer may set. */
export function key(type: Type, doc: string, rest: Rest = {}): SettingKey {
  return { node: "key", type, doc, who: ALL, since: SINCE, ...rest };
}

/** A key that only the person may set. */
export function hostKey(type: Type, doc: string, rest: Rest = {}): SettingKey {
  return key(type, doc, { who: HOST, host: true, ...rest });
}

/** A key that the global file, a trusted project and the command line may set. */
export function policyKey(type: Type, doc: string, rest: Rest = {}): SettingKey {
  return key(type, doc, { who: ["G", "P", "C"], ...rest });
}

/** A key such as a model parameter, which any layer may set without trust. */
export function neutralKey(type: Type, doc: string, rest: Rest = {}): SettingKey {
  return key(type, doc, { neutral: true, ...rest });
}

export function group(
  doc: string,
  members: Readonly<Record<string, Node>>,
  rest: Partial<Omit<Group, "node" | "members" | "doc">> = {},
): Group {
  return { node: "group", doc, members, ...rest };
}
