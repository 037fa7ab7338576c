// The policy in the form in which it can be mounted now: without missing paths, with sockets and hidden paths found.

import { isMissing } from "../../base/files.ts";
import type { Environment } from "../../base/environment.ts";
import { type Problem, thrownText } from "../../base/problem.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { makeInFolder, replaceByLink } from "../paths/open_folder.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { isSteady } from "../paths/steady.ts";
import type { ResolvedPolicy } from "../policy/policy.ts";
import type { Protection } from "./protect.ts";
import { isInside } from "../../base/paths.ts";
import { listeningSockets } from "../policy/listening.ts";
import { findSockets } from "../policy/sockets.ts";
import type { HiddenPath, MountablePolicy } from "../types.ts";

/** The policy for testing the machine: nothing writable, network on, nothing protected. */
export function emptyPolicy(allow_privileged: boolean): MountablePolicy {
  return {
    rw_paths: [],
    inner: [],
    network: true,
    network_allow: [],
    allow_privileged,
    protect: [],
    links: [],
    deny_read: [],
    hidden: [],
    sockets: [],
    runtime: [],
    masked: [],
    block_unix_sockets: false,
    refuses_sockets: false,
    limits: {},
    unsteady: false,
  };
}

/**
 * True if commands create no local sockets: by the setting, or because they have no network and the policy lists no
 * socket. Then a socket that appears later is out of reach too.
 */
export function refusesSockets(
  { block_unix_sockets, network, network_allow, sockets, socketGroups }: Pick<
    ResolvedPolicy,
    "block_unix_sockets" | "network" | "network_allow" | "sockets" | "socketGroups"
  >,
): boolean {
  const isOffline = !network && network_allow.length === 0;
  return block_unix_sockets || (isOffline && sockets.length === 0 && socketGroups.length === 0);
}

/**
 * Creates the folders of entries with `create: true`. Call this before taking a snapshot, so that the snapshot
 * contains the folders.
 */
export function makeAskedFolders({ create, caches, shown }: ResolvedPolicy): Problem[] {
  const notices: Problem[] = [];
  for (const path of create) makeFolder(path, notices);
  if (caches !== null) makeFolder(caches, notices);
  for (const { link, target } of shown) showFile(link, target, notices);
  return notices;
}

/** Links to a file of the person's configuration. A command may have put something else there. */
function showFile(link: string, target: string, notices: Problem[]): void {
  if (new FsSnapshot().linkTarget(link) === target) return;
  try {
    replaceByLink(link, target);
  } catch (thrown) {
    notices.push({
      code: "configuration-not-shown",
      message: `Commands do not see your ${target}: ${thrownText(thrown)}`,
      next: "To clear the caches of commands: flemma sandbox reset --caches",
    });
  }
}

/**
 * Keeps the existing paths of every list. Reports a missing writable path if the person listed it, but not one of the
 * default policy.
 */
export function mountablePolicy(
  policy: ResolvedPolicy,
  protection: Protection,
  environment: Environment,
  snapshot = new FsSnapshot(),
  listening: readonly string[] = listeningSockets(),
): { policy: MountablePolicy; notices: Problem[] } {
  const notices: Problem[] = [];
  const present = policy.writable.filter(({ path, entry, byDefault }) => {
    if (["/dev", "/proc"].some((hidden) => isInside(path, hidden))) notices.push(hiddenPath(path));
    const reason = snapshot.has(path) ? absence(path) : "does not exist";
    // A folder that will be created exists when a command runs.
    const expected = byDefault || policy.create.includes(path);
    if (reason !== null && !(expected && reason === "does not exist")) {
      notices.push(absentPath(path, entry, reason));
    }
    return reason === null;
  });
  const { runtime, masked, kept } = findSockets(environment, policy, snapshot, listening);
  const protect = protection.real.filter((path) => snapshot.has(path));
  const user = { uid: Deno.uid(), gid: Deno.gid() };
  return {
    policy: {
      rw_paths: present.map(({ path }) => path),
      inner: policy.covered.filter((path) => snapshot.has(path)),
      network: policy.network,
      network_allow: policy.network_allow,
      allow_privileged: policy.allow_privileged,
      protect,
      links: protection.links.map(({ path }) => path),
      deny_read: policy.deny_read,
      hidden: hiddenNow(policy.deny_read, snapshot),
      sockets: kept,
      runtime,
      masked,
      block_unix_sockets: policy.block_unix_sockets,
      refuses_sockets: refusesSockets(policy),
      limits: policy.limits,
      unsteady: !present.every(({ path }) => isSteady(path, user, snapshot)) ||
        !protect.every((path) => isSteady(path, user, snapshot)),
    },
    notices,
  };
}

/**
 * Returns the policy for a later command, without paths that have vanished since: mounting a missing path would fail.
 * Hidden paths that have appeared since are hidden too, unless a command could have made them as a trap.
 */
export function withoutVanished(policy: MountablePolicy, snapshot = new FsSnapshot()): MountablePolicy {
  const has = (path: string) => snapshot.has(path);
  const before = new Set(policy.hidden.map(({ path }) => path));
  const isTrap = (path: string) =>
    !before.has(path) && policy.rw_paths.some((writable) => isInside(path, writable));
  return {
    ...policy,
    rw_paths: policy.rw_paths.filter(has),
    inner: policy.inner.filter(has),
    protect: policy.protect.filter(has),
    hidden: hiddenNow(policy.deny_read.filter((path) => !isTrap(path)), snapshot),
    sockets: policy.sockets.filter(has),
    runtime: policy.runtime.filter(has),
    masked: policy.masked.filter(has),
  };
}

/**
 * Returns the policy without sockets that have vanished since, because mounting a missing path would fail. It is the
 * same object if none has.
 */
export function withoutVanishedSockets(
  policy: MountablePolicy,
  snapshot = new FsSnapshot(),
): MountablePolicy {
  const masked = policy.masked.filter((path) => snapshot.lstat(path)?.isSocket === true);
  const sockets = policy.sockets.filter((path) => snapshot.has(path));
  const isSame = masked.length === policy.masked.length && sockets.length === policy.sockets.length;
  return isSame ? policy : { ...policy, masked, sockets };
}

function hiddenNow(paths: readonly string[], snapshot: FsSnapshot): HiddenPath[] {
  return paths.flatMap((path) => {
    const info = snapshot.lstat(path);
    return info === null ? [] : [{ path, folder: info.isDirectory }];
  });
}

function makeFolder(path: string, notices: Problem[]): void {
  const snapshot = new FsSnapshot();
  const real = realPath(path, "/", snapshot) ?? path;
  if (snapshot.has(real)) return; // An entry may also be a file.
  try {
    makeInFolder(real);
  } catch {
    notices.push({
      code: "writable-path-not-made",
      message: `The writable path ${path} could not be created.`,
      next: "Create it yourself, or remove it from sandbox.policy.rw_paths.",
    });
  }
}

/** Returns why a path cannot be mounted, or null if it can. */
function absence(path: string): string | null {
  try {
    Deno.statSync(path);
    return null;
  } catch (thrown) {
    const missing = isMissing(thrown);
    return missing ? "does not exist" : "cannot be accessed";
  }
}

function absentPath(path: string, entry: string, reason: string): Problem {
  return {
    code: "writable-path-missing",
    message: `The writable path ${path} (from "${entry}") ${reason}, so commands run without it.`,
    next: "Create it, or write {path: …, create: true} in sandbox.policy.rw_paths.",
  };
}

function hiddenPath(path: string): Problem {
  return {
    code: "hidden-writable-path",
    message: `The writable path ${path} has no effect: the sandbox has its own /dev and /proc.`,
    next: "Remove it from sandbox.policy.rw_paths.",
  };
}
