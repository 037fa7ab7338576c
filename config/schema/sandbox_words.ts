// Words with a special meaning in lists of paths for the sandbox, and hints for misspelled entries.

import { nearest } from "../../base/names.ts";
import type { Type } from "./define.ts";

/** Entries that only `rw_paths` may contain. */
export const WRITABLE_WORDS = ["urn:flemma:caches"] as const;

export const HIDDEN_WORDS = ["$secrets"] as const;

export const PROTECT_WORDS = ["$git", "$project", "$shell", "$data"] as const;

/** Names of socket groups for `sockets`. */
const SOCKET_GROUP_NAMES = [
  "docker",
  "podman",
  "containerd",
  "crio",
  "lxd",
  "libvirt",
  "snapd",
  "systemd",
  "wsl",
  "tailscale",
  "system-bus",
  "session-bus",
  "ssh",
  "gpg",
  "tmux",
  "screen",
  "x11",
  "wayland",
  "nvim",
  "emacs",
  "kakoune",
  "vscode",
  "terminal",
] as const;

export type SocketGroupName = typeof SOCKET_GROUP_NAMES[number];

const URNS = ["urn:flemma:cwd", "urn:flemma:buffer:path"];

/** Hint for a lone `~`, which YAML reads as null. */
export const NO_HOME = 'in YAML, a lone ~ means null; write "~" in quotes';

interface Mistake {
  readonly hint: string;
  readonly suggestion?: string;
}

/**
 * Returns what makes an entry of a list of paths meaningless, or null. A misspelled word, variable or pattern would be
 * taken for the name of a file that does not exist, and would hide or open nothing.
 */
export function pathMistake(entry: string, words: readonly string[] = []): Mistake | null {
  if (words.includes(entry)) return null;
  // The sandbox ignores it with a notice, so that documents of newer versions of flemma.nvim can be read.
  if (entry === "urn:flemma:store") return null;
  if (entry.startsWith("urn:")) {
    const known = [...URNS, ...words.filter((word) => word.startsWith("urn:"))];
    return known.includes(entry) ? null : mistake("unknown URN", entry, known);
  }
  const variable = /^\$([A-Za-z_][\w-]*)$/.exec(entry)?.[1];
  if (variable !== undefined) {
    const word = words.find((each) => plainly(each) === plainly(entry));
    if (word !== undefined) return { hint: "use lower case", suggestion: word };
    // Variables are in upper case, so an unknown lower-case word means nothing.
    return /[a-z]/.test(variable) ? mistake("no list has this name", entry, words) : null;
  }
  if (/^\$\{[A-Za-z_]\w*:-.+\}$/s.test(entry)) return null;
  if (/^(?:\$HOME|\$\{HOME\})(?=\/|$)/.test(entry)) {
    return { hint: "write ~ for your home folder", suggestion: entry.replace(/^(?:\$HOME|\$\{HOME\})/, "~") };
  }
  const braced = /^\$\{([A-Za-z_]\w*)\}$/.exec(entry)?.[1];
  if (braced !== undefined) return { hint: "write a variable without braces", suggestion: `$${braced}` };
  if (/^\$|\$\{/.test(entry)) {
    return { hint: "a variable must be the whole entry, as $NAME or ${NAME:-path}; write the full path" };
  }
  if (/^~[^/]/.test(entry)) return { hint: "only ~ and ~/… mean a home folder" };
  if (/[*?]|\[.*\]/.test(entry)) {
    return { hint: "patterns are not supported here; name the file or its folder" };
  }
  const bare = words.find((word) => word === `$${entry}`);
  return bare === undefined
    ? null
    : { hint: `for a folder of that name, write ./${entry}`, suggestion: bare };
}

/**
 * Returns what makes an entry of a list of sockets meaningless, or null. An entry is a group name, or a path with a
 * slash.
 */
export function socketMistake(entry: string): Mistake | null {
  const names: readonly string[] = SOCKET_GROUP_NAMES;
  if (names.includes(entry)) return null;
  if (entry.startsWith("$") && names.includes(entry.slice(1))) {
    return { hint: "group names have no $", suggestion: entry.slice(1) };
  }
  if (/^[$~]|^urn:|\//.test(entry)) return pathMistake(entry);
  const near = nearest(entry, names);
  return near === null
    ? { hint: `write a socket as a path, or one of the groups ${names.join(", ")}` }
    : { hint: "unknown socket group", suggestion: near };
}

/** Type of a list item that is a path or one of the words. */
export function pathItem(words: readonly string[], expected: string, wrong = pathMistake): Type {
  const found = (value: unknown) => typeof value === "string" ? wrong(value, words) : null;
  return {
    is: "custom",
    ts: "string",
    expected,
    accepts: (value) => typeof value === "string" && value !== "" && found(value) === null,
    hint: (value) => value === null ? NO_HOME : found(value)?.hint,
    suggest: (value) => found(value)?.suggestion,
    json: { type: "string" },
  };
}

function mistake(hint: string, entry: string, words: readonly string[]): Mistake {
  const near = nearest(entry, words);
  return near === null ? { hint } : { hint, suggestion: near };
}

function plainly(word: string): string {
  return word.toLowerCase();
}
