// From the settings of a person to a finished policy: which paths are writable, and which entry said so.

import { isSeen, WHOLE_VIEW } from "./view.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import { DEFAULT_PROTECT, DEFAULT_RW_PATHS } from "../../config/defaults.ts";
import type { ResourceLimits, RwPath, SandboxSettings } from "../../config/settings/sandbox.ts";
import { expandPath, type PathContext } from "../paths/expand.ts";
import { HOME_HOOKS } from "./hooks.ts";
import { PROTECT_WORDS } from "../../config/schema/sandbox_words.ts";
import { parseHostRules } from "../network/rules.ts";
import { FsSnapshot, type Trace } from "../paths/fs_snapshot.ts";
import { realPath, traceLinks } from "../paths/real_path.ts";
import { linkInside } from "../paths/stray_link.ts";
import { isInside } from "../../base/paths.ts";
import { runtimeFolders } from "../process/runtime_folders.ts";
import { SECRET_PATHS } from "./secrets.ts";
import { SOCKET_GROUPS } from "./sockets.ts";
import type { Policy } from "../types.ts";

/** One writable path and where it came from. */
export interface WritablePath {
  /** Absolute and real; need not exist. */
  readonly path: string;
  /** The first entry that led to it, as it was written. */
  readonly entry: string;
  /** Whether that entry belongs to the default policy; such a path may be missing without a word. */
  readonly byDefault: boolean;
}

/** An entry that gave no writable path of its own. */
export interface DroppedEntry {
  /** The entry as it was written. */
  readonly entry: string;
  /** Completes the sentence "it was left out because …". */
  readonly reason: string;
}

/** A policy that remembers its origins. `rw_paths` holds the paths of `writable`, in the same order. */
export interface ResolvedPolicy extends Required<Policy> {
  /** The writable paths and the entries they come from. */
  readonly writable: readonly WritablePath[];
  /** Entries without effect. */
  readonly dropped: readonly DroppedEntry[];
  /** Real paths of entries that another writable path covers. */
  readonly covered: readonly string[];
  /** Names of the groups of sockets that stay reachable, beside the paths in `sockets`. */
  readonly socketGroups: readonly string[];
  /** Hidden paths as they were expanded, links kept: a link that leads there must not be taken away. */
  readonly hiddenAsked: readonly string[];
  /** Words of `protect` that hold, such as `$git`. */
  readonly protectWords: readonly string[];
  /** Further paths to protect, as they were expanded: absolute or relative to the working directory, links kept. */
  readonly protectAsked: readonly string[];
  /** The same of the words that stand for paths in the home folder. */
  readonly protectHome: readonly string[];
  /** Real paths that are to be made as folders before a command runs (`create: true`). */
  readonly create: readonly string[];
  /** Things to tell a person. */
  readonly notices: readonly Problem[];
}

/**
 * Expands, resolves, sorts and de-duplicates the paths of a policy (sandbox section 4, 12). Nothing has to exist.
 * `protect` is empty: who makes the sandbox knows what to protect.
 *
 * Fails with `unknown-urn`, `bad-host-rule`, `bad-limit` or `unknown-protect-word`; then nothing may be wrapped and
 * nothing is writable or readable.
 */
export function resolvePolicy(
  settings: Pick<SandboxSettings, "policy">,
  context: PathContext,
): Outcome<ResolvedPolicy> {
  const snapshot = new FsSnapshot();
  const { rw_paths, network, allow_privileged, limits } = settings.policy;
  const { cwd, home } = context.environment;
  const traced: TracedPath[] = [];
  const dropped: DroppedEntry[] = [];
  const notices: Problem[] = [];

  for (const item of rw_paths) {
    const { path: entry, create: wanted } = entryOf(item);
    const expansion = expandPath(entry, context);
    if (expansion.kind === "unknown-urn") return unknownUrn(entry);
    if (expansion.kind === "dropped") {
      dropped.push({ entry, reason: expansion.reason });
      if (expansion.mistake) notices.push(mistakenEntry(entry, expansion.reason));
      continue;
    }
    const trace = traceLinks(expansion.path, cwd, snapshot);
    if (trace === null) {
      const reason = "it leads through too many links, or holds a NUL character";
      dropped.push({ entry, reason });
      notices.push(mistakenEntry(entry, reason));
      continue;
    }
    const writable = { path: trace.path, entry, byDefault: DEFAULT_RW_PATHS.includes(entry) };
    traced.push({ writable, wanted, trace });
  }

  const { kept, astray } = withoutAstray(traced);
  for (const { writable: { entry }, reason } of astray) {
    dropped.push({ entry, reason });
    notices.push(mistakenEntry(entry, reason));
  }
  const create = kept.filter(({ wanted }) => wanted).map(({ trace }) => trace.path);
  const found = kept.map(({ writable }) => writable);
  const writable = withoutCovered(found, dropped);
  const hidden = expandList(
    "deny_read",
    settings.policy.deny_read ?? [],
    context,
    (entry) => entry === "$secrets" ? [...SECRET_PATHS, ...runtimeFolders(context.environment)] : null,
  );
  if (!hidden.ok) return hidden;
  const socketGroups = (settings.policy.sockets ?? []).filter((entry) => Object.hasOwn(SOCKET_GROUPS, entry));
  const sockets = expandList(
    "sockets",
    settings.policy.sockets ?? [],
    context,
    (entry) => socketGroups.includes(entry) ? [] : null,
  );
  if (!sockets.ok) return sockets;
  const protect = protectLists(settings.policy.protect ?? DEFAULT_PROTECT, context);
  if (!protect.ok) return protect;
  const allow = typeof network === "boolean" ? [] : network.allow;
  const rules = parseHostRules(allow);
  if (!rules.ok) return rules;
  const checked = checkedLimits(limits ?? {});
  if (!checked.ok) return checked;
  notices.push(...hidden.value.notices, ...sockets.value.notices, ...protect.value.notices);

  const realHome = realPath(home, cwd, snapshot);
  for (const { path, entry } of writable) {
    if (path === "/") notices.push(broadPath(entry, "the whole file system"));
    else if (path === realHome) notices.push(broadPath(entry, "your whole home folder"));
    else if (realHome !== null && isInside(realHome, path)) {
      notices.push(broadPath(entry, `${path}, which holds your home folder,`));
    }
  }
  return success({
    rw_paths: writable.map(({ path }) => path),
    network: network === true,
    network_allow: allow,
    allow_privileged,
    protect: [],
    deny_read: realPaths(hidden.value.paths, cwd, snapshot),
    hiddenAsked: hidden.value.paths,
    sockets: realPaths(sockets.value.paths, cwd, snapshot),
    block_unix_sockets: settings.policy.block_unix_sockets === true,
    limits: checked.value,
    socketGroups,
    ...protect.value.lists,
    covered: [...new Set(found.map(({ path }) => path))].filter((path) =>
      !writable.some((kept) => kept.path === path)
    ),
    writable,
    dropped,
    create,
    notices,
  });
}

interface Expanded {
  /** Absolute, or relative to the working directory; links are kept. */
  readonly paths: readonly string[];
  readonly notices: readonly Problem[];
}

/** Lists that take something away: an entry that comes to nothing is told, whatever the reason. */
const RESTRICTS: ReadonlySet<string> = new Set(["deny_read", "protect"]);

/** Expands the entries of one list; `words` answers with the entries a word stands for, or null. */
function expandList(
  setting: string,
  entries: readonly string[],
  context: PathContext,
  words: (entry: string) => readonly string[] | null,
): Outcome<Expanded> {
  const paths: string[] = [];
  const notices: Problem[] = [];
  for (const written of entries) {
    for (const entry of words(written) ?? [written]) {
      const expansion = expandPath(entry, context);
      if (expansion.kind === "unknown-urn") return unknownUrn(entry, setting);
      if (expansion.kind === "path") paths.push(expansion.path);
      else if (expansion.mistake || (RESTRICTS.has(setting) && entry === written)) {
        notices.push(mistakenEntry(entry, expansion.reason, setting));
      }
    }
  }
  return success({ paths, notices });
}

function protectLists(
  entries: readonly string[],
  context: PathContext,
): Outcome<{
  lists: Pick<ResolvedPolicy, "protectWords" | "protectAsked" | "protectHome">;
  notices: readonly Problem[];
}> {
  const known = (entry: string) => PROTECT_WORDS.some((word) => word === entry);
  // `$git` misspelt must not read as an unset variable that protects nothing; variables are written large.
  const odd = entries.find((entry) => /^\$[a-z]+$/.test(entry) && !known(entry));
  if (odd !== undefined) {
    return failure(
      "unknown-protect-word",
      `sandbox.policy.protect holds ${odd}, which stands for no list of paths.`,
      `Use ${PROTECT_WORDS.join(", ")} or a path.`,
    );
  }
  const words = entries.filter(known);
  const asked = expandList("protect", entries.filter((entry) => !known(entry)), context, () => null);
  if (!asked.ok) return asked;
  const home = expandList("protect", words.flatMap((word) => homeHooks(word, context)), context, () => null);
  if (!home.ok) return home;
  return success({
    lists: { protectWords: words, protectAsked: asked.value.paths, protectHome: home.value.paths },
    notices: asked.value.notices,
  });
}

function homeHooks(word: string, { environment }: PathContext): string[] {
  const { XDG_DATA_HOME } = environment.variables;
  const data = XDG_DATA_HOME?.startsWith("/") ? XDG_DATA_HOME : "~/.local/share";
  return (HOME_HOOKS[word] ?? []).map((path) => path.replace(/^\$DATA(?=\/)/, () => data));
}

/** Real paths without duplicates; what leads nowhere is left out, for nobody can reach it either. */
function realPaths(paths: readonly string[], cwd: string, snapshot: FsSnapshot): string[] {
  const real = paths.map((path) => realPath(path, cwd, snapshot)).filter((path) => path !== null);
  return [...new Set(real)].sort();
}

const LIMIT_NAMES: readonly (keyof ResourceLimits)[] = [
  "cpu_seconds",
  "memory",
  "file_size",
  "processes",
  "open_files",
  "tmp_size",
];

/** A limit that is misspelt or no number must not pass for one that holds. */
function checkedLimits(limits: ResourceLimits): Outcome<ResourceLimits> {
  for (const [name, value] of Object.entries(limits)) {
    if (!LIMIT_NAMES.some((known) => known === name)) {
      return failure(
        "bad-limit",
        `sandbox.policy.limits knows no "${name}".`,
        `Use ${LIMIT_NAMES.join(", ")}.`,
      );
    }
    if (!Number.isSafeInteger(value) || value < 1) {
      return failure("bad-limit", `sandbox.policy.limits.${name} must be a whole number above 0.`);
    }
  }
  return success({ ...limits });
}

function entryOf(item: RwPath): { path: string; create: boolean } {
  return typeof item === "string"
    ? { path: item, create: false }
    : { path: item.path, create: item.create === true };
}

/** Sorts by bytes and keeps only what no kept path covers; what falls out is added to `dropped`. */
function withoutCovered(found: readonly WritablePath[], dropped: DroppedEntry[]): WritablePath[] {
  const encoder = new TextEncoder();
  const kept: WritablePath[] = [];
  const sorted = found
    .map((writable, index) => ({ writable, index, bytes: encoder.encode(writable.path) }))
    .sort((a, b) => compareBytes(a.bytes, b.bytes) || a.index - b.index);
  for (const { writable } of sorted) {
    const cover = kept.find((other) => isInside(writable.path, other.path));
    if (cover === undefined) kept.push(writable);
    else dropped.push({ entry: writable.entry, reason: `${cover.entry} already covers ${writable.path}` });
  }
  return kept;
}

interface TracedPath {
  readonly writable: WritablePath;
  readonly wanted: boolean;
  readonly trace: Trace;
}

/**
 * Leaves out entries that lead, by a link inside a writable path, to where no other entry leads by itself: a command of an
 * earlier run could have made that link, and the next would write where nobody meant it to.
 */
function withoutAstray(
  traced: readonly TracedPath[],
): { kept: TracedPath[]; astray: { writable: WritablePath; reason: string }[] } {
  const roots = traced.map(({ trace }) => trace.path);
  const direct = traced.filter(({ trace }) => linkInside(trace, roots) === null)
    .map(({ trace }) => trace.path);
  const kept: TracedPath[] = [];
  const astray: { writable: WritablePath; reason: string }[] = [];
  for (const each of traced) {
    const link = linkInside(each.trace, roots);
    if (link === null || direct.some((path) => isInside(each.trace.path, path))) kept.push(each);
    else {
      const { writable, trace } = each;
      const reason = `it leads through the link ${link}, which commands could have made, to ${trace.path}; ` +
        "name that path itself";
      astray.push({ writable, reason });
    }
  }
  return { kept, astray };
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function unknownUrn(entry: string, setting = "rw_paths"): Outcome<never> {
  return failure(
    "unknown-urn",
    `The sandbox policy names ${entry}, which this program does not know; nothing is writable until that is mended.`,
    `Use urn:flemma:cwd or urn:flemma:buffer:path in sandbox.policy.${setting}.`,
  );
}

function mistakenEntry(entry: string, reason: string, setting = "rw_paths"): Problem {
  const writable = setting === "rw_paths";
  return {
    code: writable ? "writable-path-dropped" : "policy-path-dropped",
    message: `The ${writable ? "writable path" : "entry"} "${entry}" was left out because ${reason}.`,
    next: `Correct it in sandbox.policy.${setting}.`,
  };
}

function broadPath(entry: string, what: string): Problem {
  return {
    code: "broad-writable-path",
    message: `The entry "${entry}" makes ${what} writable inside the sandbox.`,
    next: "Start in the folder of the project, or list narrower paths in sandbox.policy.rw_paths.",
  };
}

/** Whether no hidden path, or a longer writable one, lies around a real path (12.1). */
export function isVisible(
  real: string,
  { deny_read, rw_paths, covered }: Pick<ResolvedPolicy, "deny_read" | "rw_paths" | "covered">,
): boolean {
  return isSeen(real, { ...WHOLE_VIEW, hidden: deny_read, shown: [...rw_paths, ...covered] });
}
