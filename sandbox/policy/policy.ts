// Resolves the person's settings into a finished policy.

import { isSeen, WHOLE_VIEW } from "./view.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import { DEFAULT_SETTINGS, type SandboxSettings } from "../../config/settings.generated.ts";
import type { ResourceLimits } from "../../config/values.ts";
import { expandPath, type PathContext } from "../paths/expand.ts";
import { homeHooks } from "./hooks.ts";
import { PROTECT_WORDS } from "../../config/schema/sandbox_words.ts";
import { parseHostRules } from "../network/rules.ts";
import { signInsFolder } from "../../base/folders.ts";
import { isInside } from "../../base/paths.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { runtimeFolders } from "../process/runtime_folders.ts";
import { cachePaths, privateCaches } from "./private_caches.ts";
import { SECRET_PATHS } from "./secrets.ts";
import { SOCKET_GROUPS } from "./sockets.ts";
import { mistakenEntry, unknownUrn } from "./entries.ts";
import { broadPaths, type WritablePaths, writablePaths } from "./writable.ts";
import { type ShownFile, shownFiles } from "./tool_caches.ts";
import type { Policy } from "../types.ts";

/** A policy that remembers the origin of each path. `rw_paths` has the paths of `writable`, in the same order. */
export interface ResolvedPolicy extends Required<Policy>, WritablePaths {
  /** The folder of private caches, as a real path; null if commands cannot write there, or use the person's own. */
  readonly caches: string | null;
  /** Links in that folder that show the person's configuration. */
  readonly shown: readonly ShownFile[];
  /** Names of the socket groups that stay reachable, in addition to the paths in `sockets`. */
  readonly socketGroups: readonly string[];
  /**
   * Hidden paths after expansion. Links in them are not resolved, because commands must not remove a link on the way to
   * a hidden path.
   */
  readonly hiddenAsked: readonly string[];
  /** The words of `protect` in the policy, such as `$git`. */
  readonly protectWords: readonly string[];
  /**
   * Further paths to protect, after expansion: absolute or relative to the working directory, with links not resolved.
   */
  readonly protectAsked: readonly string[];
  /** The paths in the home folder that words of `protect` stand for, in the same form as `protectAsked`. */
  readonly protectHome: readonly string[];
}

/**
 * Expands, resolves, sorts and de-duplicates the paths of a policy. No path has to exist. `protect` is left empty,
 * because only the caller that creates the sandbox knows what to protect.
 *
 * Fails with `unknown-urn`, `bad-host-rule`, `bad-limit` or `unknown-protect-word`. After a failure, no command may be
 * wrapped, and no path is writable or readable.
 *
 * @param settings the sandbox settings
 * @param context document and environment that paths are expanded with
 * @returns the policy, with the origin of each path
 */
export function resolvePolicy(
  settings: Pick<SandboxSettings, "policy"> & Partial<Pick<SandboxSettings, "home_caches">>,
  context: PathContext,
): Outcome<ResolvedPolicy> {
  const snapshot = new FsSnapshot();
  const { rw_paths, network, allow_privileged, limits } = settings.policy;
  const { cwd } = context.environment;
  const { environment } = context;
  const own = settings.home_caches === "shared" ? null : privateCaches(environment);
  const found = writablePaths(rw_paths, cachePaths(own, environment), context, snapshot);
  if (!found.ok) return found;
  const { writable } = found.value;
  const hidden = expandList(
    "deny_read",
    settings.policy.deny_read ?? [],
    context,
    (entry) => entry === "$secrets" ? [...SECRET_PATHS, ...runtimeFolders(context.environment)] : null,
  );
  if (!hidden.ok) return hidden;
  const hiddenPaths = [...hidden.value.paths, signInsFolder(environment)];
  const socketGroups = (settings.policy.sockets ?? []).filter((entry) => Object.hasOwn(SOCKET_GROUPS, entry));
  const sockets = expandList(
    "sockets",
    settings.policy.sockets ?? [],
    context,
    (entry) => socketGroups.includes(entry) ? [] : null,
  );
  if (!sockets.ok) return sockets;
  const protect = protectLists(settings.policy.protect ?? DEFAULT_SETTINGS.sandbox.policy.protect, context);
  if (!protect.ok) return protect;
  const allow = typeof network === "boolean" ? [] : network.allow;
  const rules = parseHostRules(allow);
  if (!rules.ok) return rules;
  const checked = checkedLimits(limits ?? {});
  if (!checked.ok) return checked;
  const folder = own === null ? null : realPath(own, cwd, snapshot);
  const caches = folder !== null && writable.some(({ path }) => isInside(folder, path)) ? folder : null;
  const visible = {
    deny_read: realPaths(hiddenPaths, cwd, snapshot),
    rw_paths: writable.map(({ path }) => path),
    covered: found.value.covered,
  };
  return success({
    ...found.value,
    caches,
    shown: caches === null ? [] : shownFiles(caches, environment).filter(({ target }) => {
      const real = realPath(target, cwd, snapshot);
      return real !== null && isVisible(real, visible);
    }),
    rw_paths: visible.rw_paths,
    network: network === true,
    network_allow: allow,
    allow_privileged,
    protect: [],
    deny_read: visible.deny_read,
    hiddenAsked: hiddenPaths,
    sockets: realPaths(sockets.value.paths, cwd, snapshot),
    block_unix_sockets: settings.policy.block_unix_sockets === true,
    limits: checked.value,
    socketGroups,
    ...protect.value.lists,
    notices: [
      ...found.value.notices,
      ...hidden.value.notices,
      ...sockets.value.notices,
      ...protect.value.notices,
      ...broadPaths(writable, context, snapshot),
    ],
  });
}

interface Expanded {
  /** Expanded paths: absolute, or relative to the working directory. Links are not resolved. */
  readonly paths: readonly string[];
  readonly notices: readonly Problem[];
}

/** Lists whose entries restrict commands. If such an entry has no effect, this is always reported. */
const RESTRICTS: ReadonlySet<string> = new Set(["deny_read", "protect"]);

/**
 * Expands the entries of one list. If an entry is a word, `words` returns the entries that the word means; otherwise
 * null.
 */
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
  // A misspelled `$git` must not count as an unset variable that protects nothing. Variables are in upper case.
  const odd = entries.find((entry) => /^\$[a-z]+$/.test(entry) && !known(entry));
  if (odd !== undefined) {
    return failure(
      "unknown-protect-word",
      `sandbox.policy.protect contains ${odd}, which does not name a list of paths.`,
      `Use ${PROTECT_WORDS.join(", ")} or a path.`,
    );
  }
  const words = entries.filter(known);
  const asked = expandList("protect", entries.filter((entry) => !known(entry)), context, () => null);
  if (!asked.ok) return asked;
  const home = expandList(
    "protect",
    words.flatMap((word) => homeHookPaths(word, context)),
    context,
    () => null,
  );
  if (!home.ok) return home;
  return success({
    lists: { protectWords: words, protectAsked: asked.value.paths, protectHome: home.value.paths },
    notices: asked.value.notices,
  });
}

function homeHookPaths(word: string, { environment }: PathContext): string[] {
  const { XDG_DATA_HOME } = environment.variables;
  const data = XDG_DATA_HOME?.startsWith("/") ? XDG_DATA_HOME : "~/.local/share";
  return (homeHooks()[word] ?? []).map((path) => path.replace(/^\$DATA(?=\/)/, () => data));
}

/**
 * Real paths without duplicates. A path that leads nowhere is left out, because commands cannot reach anything through
 * it.
 */
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

/**
 * Checks the names and values of limits. If a limit is misspelled or invalid, the person must not believe that it is
 * effective.
 */
function checkedLimits(limits: ResourceLimits): Outcome<ResourceLimits> {
  for (const [name, value] of Object.entries(limits)) {
    if (!LIMIT_NAMES.some((known) => known === name)) {
      return failure(
        "bad-limit",
        `sandbox.policy.limits has no member "${name}".`,
        `Use ${LIMIT_NAMES.join(", ")}.`,
      );
    }
    if (!Number.isSafeInteger(value) || value < 1) {
      return failure("bad-limit", `sandbox.policy.limits.${name} must be a whole number above 0.`);
    }
  }
  return success({ ...limits });
}

/** True if a real path is outside every hidden path, or if a longer writable path contains it. */
export function isVisible(
  real: string,
  { deny_read, rw_paths, covered }: Pick<ResolvedPolicy, "deny_read" | "rw_paths" | "covered">,
): boolean {
  return isSeen(real, { ...WHOLE_VIEW, hidden: deny_read, shown: [...rw_paths, ...covered] });
}
