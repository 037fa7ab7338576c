// The words the settings schema is written in: keys with types and authorities, and groups of keys.

import type { Layer } from "../types.ts";

/** What a value may be. `expected` of a custom type completes the sentence "expects …". */
export type Type =
  | { readonly is: "boolean" }
  | { readonly is: "string" }
  | { readonly is: "number"; readonly min?: number }
  | { readonly is: "integer"; readonly min?: number }
  | { readonly is: "word"; readonly words: readonly string[] }
  | { readonly is: "list"; readonly item: Type }
  /** One value with free names; no member-wise merge between layers. */
  | { readonly is: "map"; readonly of: Type }
  | { readonly is: "any" }
  | {
    readonly is: "custom";
    /** The TypeScript type of a value that is accepted; names are those of config/values.ts. */
    readonly ts: string;
    readonly expected: string;
    accepts(value: unknown): boolean;
    readonly words?: readonly string[];
    /** What a value that is a table may hold: each member that is wrong is told by itself. */
    readonly members?: Readonly<Record<string, Type>>;
    /** Says more about a refused value, as the end of the sentence. */
    hint?(value: unknown): string | undefined;
    /** The right word for a refused value, where there is one. */
    suggest?(value: unknown): string | undefined;
    /** JSON Schema of the accepted values. */
    readonly json: Readonly<Record<string, unknown>>;
  };

/** The direction that only takes rights away; anything else widens. */
export type Narrowing = "true" | "false" | "lower" | "remove" | "append" | "restrict";

export interface Key {
  readonly node: "key";
  readonly type: Type;
  /** The default; absent = no value. */
  readonly default?: unknown;
  /** Whether `null` (no value) may be set. */
  readonly optional?: boolean;
  /** The layers allowed to set it. */
  readonly who: readonly Layer[];
  /** Names a program, a file to load or a place to write: a project may set it only where `loads`. */
  readonly host?: boolean;
  /** Its value names a file of code to load. */
  readonly loads?: boolean;
  /** The narrowing direction, for untrusted project files and for `documentNarrows`. */
  readonly narrows?: Narrowing;
  /** Zero stands for no limit. */
  readonly zeroIsUnlimited?: boolean;
  /** Frontmatter may only set the narrowing direction. */
  readonly documentNarrows?: boolean;
  /** Works from an untrusted project file as it stands. */
  readonly neutral?: boolean;
  /** Turns a short form into the long one, before the type is checked. */
  readonly long?: (value: unknown) => unknown;
  /** One value whose members can be read and written alone. */
  readonly record?: boolean;
  /** A function may stand for the list. */
  readonly callable?: boolean;
  /** The TypeScript type of the resolved value, where it is not that of the written one. */
  readonly ts?: string;
  /** Shown to a person. */
  readonly doc: string;
  readonly since: string;
}

export interface Group {
  readonly node: "group";
  readonly members: Readonly<Record<string, Node>>;
  /** What members with free names are. */
  readonly others?: Node;
  /** Turns a bare value into the object it stands for; undefined when it stands for none. */
  readonly short?: (value: unknown) => Readonly<Record<string, unknown>> | undefined;
  /** What to write instead of a bare value that stands for none. */
  readonly hint?: (value: unknown) => string | undefined;
  /** The list the group itself is (`tools`, `skills`). */
  readonly list?: Key;
  /** Members are presets: a name that begins with `$` is a name here, not an operator. */
  readonly presets?: boolean;
  /** Short names of members: alias → path below this group. */
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
  /** What settings hold of it: every member, what layers wrote, or nothing in this place. @default every member */
  readonly holds?: "written" | "nothing";
  /** The name of its TypeScript type; without it the type has none. */
  readonly ts?: string;
  /** The type in config/values.ts of what it holds besides its members. */
  readonly adds?: string;
  readonly doc: string;
}

export type Node = Key | Group;

const ALL: readonly Layer[] = ["G", "P", "R", "M", "C"];
/** Programs, files to load, places to write: the person only (P is judged apart). */
const HOST: readonly Layer[] = ["G", "P", "C"];

const SINCE = "0.1.0";

export const BOOLEAN: Type = { is: "boolean" };
export const STRING: Type = { is: "string" };
export const STRINGS: Type = { is: "list", item: STRING };
export const natural = (min = 0): Type => ({ is: "integer", min });
export const word = (...words: string[]): Type => ({ is: "word", words });

/** A command of the person's own: a line of shell, or a program and its arguments. */
export const COMMAND: Type = {
  is: "custom",
  ts: "string | readonly string[]",
  expected: "a line of shell, or a list of a program and its arguments",
  accepts: (value) =>
    Array.isArray(value)
      ? value.length > 0 && value.every((word) => typeof word === "string") && value[0] !== ""
      : typeof value === "string" && value.trim() !== "",
  json: {
    anyOf: [{ type: "string", minLength: 1 }, { type: "array", items: { type: "string" }, minItems: 1 }],
  },
};

type Rest = Partial<Omit<Key, "node" | "type" | "doc">>;

/** A key every layer may set. */
export function key(type: Type, doc: string, rest: Rest = {}): Key {
  return { node: "key", type, doc, who: ALL, since: SINCE, ...rest };
}

/** A key of the person alone. */
export function hostKey(type: Type, doc: string, rest: Rest = {}): Key {
  return key(type, doc, { who: HOST, host: true, ...rest });
}

/** A key of the global file, a trusted project and the command line. */
export function policyKey(type: Type, doc: string, rest: Rest = {}): Key {
  return key(type, doc, { who: ["G", "P", "C"], ...rest });
}

/** Model parameters and the like: they work from anywhere and need no trust. */
export function neutralKey(type: Type, doc: string, rest: Rest = {}): Key {
  return key(type, doc, { neutral: true, ...rest });
}

export function group(
  doc: string,
  members: Readonly<Record<string, Node>>,
  rest: Partial<Omit<Group, "node" | "members" | "doc">> = {},
): Group {
  return { node: "group", doc, members, ...rest };
}
