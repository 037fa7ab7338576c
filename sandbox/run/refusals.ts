// Finds out, after a command failed, whether the sandbox refused it something, and names the setting that changes it.
//
// The sentence states a fact about the policy, and only if a message of the command names a path, socket or host that
// the policy denies. An error that would also occur outside the sandbox gets no sentence.

import type { Environment } from "../../base/environment.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { expandHome, isInside, parentOf } from "../../base/paths.ts";
import { mayWrite } from "../../base/system/libc.ts";
import { isVisible } from "../policy/policy.ts";
import type { MountablePolicy } from "../types.ts";
import { refusedSocket, type SocketsRefused } from "./refused_sockets.ts";

/** A failed command, and what the sandbox did not allow it. */
export interface FailedCommand {
  /** The end of the output of the command. */
  readonly output: string;
  /** The text of the command, in the syntax of a shell. */
  readonly command: string;
  /** Absolute working folder. */
  readonly cwd: string;
  readonly environment: Environment;
  readonly policy: MountablePolicy & Pick<SocketsRefused, "socketGroups">;
  /** Real path of the document; null if there is none. */
  readonly document: string | null;
  /** Hosts that the proxy refused, as `host:port`. */
  readonly refusedHosts: readonly string[];
  /** True if commands run as the superuser. */
  readonly root: boolean;
}

/** Number of characters at the end of the output that are searched. */
const MOST_OUTPUT = 64 * 1024;
/** Number of characters at both ends of a line that are searched. An endless line must not take endless time. */
const LINE_END = 500;
/** Maximum number of folders that are considered, of those that a command enters. */
const MOST_FOLDERS = 8;
/** Maximum number of paths, or of hosts, that the sentence names. */
const MOST_NAMED = 3;

const READ_ONLY = /read-only file system|\bEROFS\b|\b(?:os error|errno) 30\b/i;
const BUSY = /device or resource busy|\bEBUSY\b|\b(?:os error|errno) 16\b/i;
const DENIED =
  /permission denied|operation not permitted|\bEACCES\b|\bEPERM\b|\b(?:os error|errno) (?:1|13)\b/i;
const MISSING = /no such file or directory|\bENOENT\b|\b(?:os error|errno) 2\b/i;
const ANY = new RegExp([READ_ONLY, BUSY, DENIED, MISSING].map(({ source }) => source).join("|"), "i");

/** What programs say about a temporary file whose path they do not name. */
const TEMPORARY = /\btemp(?:orary)? file|mkstemp|tmpfile/i;

/** What resolvers and clients say without a network. */
const NO_NETWORK =
  /could not resolve|couldn't resolve|temporary failure in name resolution|name or service not known|\bEAI_AGAIN\b|\bENOTFOUND\b|network is unreachable|\bENETUNREACH\b|failed to lookup address|no such host|dns error/i;

/** What programs say to a superuser without capabilities. */
const NO_CAPABILITY =
  /^mount: .*permission denied|(?:chown|chgrp|ownership|mount|mknod|unshare)\b.*operation not permitted|operation not permitted.*(?:chown|chgrp|mount|mknod|unshare)/im;

/** One line for the result of a failed command; null if the sandbox refused it nothing that its output names. */
export function refusalNote(failed: FailedCommand): string | null {
  const command = { ...failed, output: shortLines(failed.output.slice(-MOST_OUTPUT)) };
  const sentence = refusedHosts(command) ?? socketSentence(command) ?? refusedPaths(command) ??
    noNetwork(command) ?? noCapability(command);
  return sentence === null ? null : `[${sentence}]`;
}

function shortLines(text: string): string {
  return text.split("\n")
    .map((line) => line.length > 2 * LINE_END ? `${line.slice(0, LINE_END)} ${line.slice(-LINE_END)}` : line)
    .join("\n");
}

function refusedHosts({ refusedHosts }: FailedCommand): string | null {
  if (refusedHosts.length === 0) return null;
  return `The sandbox refused a connection to ${listed(refusedHosts)}. ` +
    "To allow it, the user can add the host to sandbox.policy.network.allow.";
}

/** Reason why commands are denied access to a path. */
type Refusal = "hidden" | "protected" | "document" | "mounted" | "read-only" | "owner";

function refusedPaths(command: FailedCommand): string | null {
  const snapshot = new FsSnapshot();
  const found = new Map<Refusal, Set<string>>();
  for (const line of command.output.split("\n")) {
    if (!ANY.test(line)) continue;
    for (const path of pathsIn(line, command, snapshot)) {
      const refusal = refusalOf(path, line, command, snapshot);
      if (refusal === null) continue;
      const named = refusal === "hidden" ? hiddenAt(path, command)! : path;
      found.set(refusal, (found.get(refusal) ?? new Set()).add(named));
      break;
    }
  }
  for (const [refusal, paths] of found) return SENTENCES[refusal](listed([...paths]));
  return null;
}

const SENTENCES: Readonly<Record<Refusal, (paths: string) => string>> = {
  hidden: (paths) => `The sandbox hides ${paths}. The user can change that with sandbox.policy.deny_read.`,
  protected: (paths) =>
    `In the sandbox, ${paths} cannot be changed, because other programs run it or read settings from it. ` +
    "The user can change it, or the setting sandbox.policy.protect.",
  document: (paths) => `In the sandbox, ${paths} cannot be changed, because it is this conversation.`,
  mounted: (paths) =>
    `In the sandbox, ${paths} can be changed but not moved or removed, because it is an entry of ` +
    "sandbox.policy.rw_paths.",
  "read-only": (paths) =>
    `In the sandbox, ${paths} is read-only. To allow writing, the user can add a folder to ` +
    "sandbox.policy.rw_paths.",
  owner: (paths) =>
    `In the sandbox, root has only the rights of others for files of other users, such as ${paths}. ` +
    "Run flemma as their owner, or set sandbox.policy.allow_privileged, which confines nothing.",
};

function refusalOf(
  path: string,
  line: string,
  command: FailedCommand,
  snapshot: FsSnapshot,
): Refusal | null {
  const { policy, document, root } = command;
  const hidden = hiddenAt(path, command);
  if (hidden !== null) {
    // In a hidden folder, existing files look missing, too.
    return DENIED.test(line) || (MISSING.test(line) && path !== hidden) || READ_ONLY.test(line)
      ? "hidden"
      : null;
  }
  const writable = policy.rw_paths.some((entry) => isInside(path, entry));
  const isProtected = policy.protect.some((entry) => isInside(path, entry));
  if (BUSY.test(line)) {
    if (path === document) return "document";
    if (policy.rw_paths.includes(path)) return "mounted";
    return isProtected || policy.protect.some((entry) => isInside(entry, path)) ? "protected" : null;
  }
  if (READ_ONLY.test(line)) {
    if (path === document) return "document";
    if (writable) return isProtected ? "protected" : null;
    return mayWriteOutside(path, snapshot) ? "read-only" : null;
  }
  const info = snapshot.lstat(path);
  const isForeign = root && !policy.allow_privileged && info !== null && info.uid !== null && info.uid !== 0;
  return DENIED.test(line) && isForeign && ((info.mode ?? 0o7) & 0o6) !== 0o6 ? "owner" : null;
}

/** The hidden path that contains a path; null if the path is visible. */
function hiddenAt(path: string, { policy }: FailedCommand): string | null {
  const around = policy.hidden.filter((entry) => isInside(path, entry.path));
  if (around.length === 0 || isVisible(path, { ...policy, covered: policy.inner })) return null;
  return around.reduce((a, b) => a.path.length > b.path.length ? a : b).path;
}

/** True if this user could write to the path without the sandbox. */
function mayWriteOutside(path: string, snapshot: FsSnapshot): boolean {
  // In these folders, a writable path of the policy has no effect.
  if (/^\/(?:proc|sys|dev)(?:\/|$)/.test(path)) return false;
  let at = path;
  while (!snapshot.has(at) && at !== "/") at = parentOf(at);
  return mayWrite(at) === true;
}

/** Real paths that a line of output may mean, those closest to the error first. */
function pathsIn(line: string, { command, cwd, environment }: FailedCommand, snapshot: FsSnapshot): string[] {
  const text = withoutProgram(line.replaceAll("unix://", "").replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, " "));
  const error = text.search(ANY);
  const distance = (at: number, name: string) => at < error ? error - at - name.length : 10_000 + at;
  const names = NAMES.flatMap((pattern) => [...text.matchAll(pattern)]).map((
    { 0: match, 1: name = "", index },
  ) => ({
    name: name.trim(),
    at: distance(index + match.indexOf(name), name),
  })).filter(({ name }) => name !== "");
  names.sort((a, b) => a.at - b.at);
  // Such messages do not say where the file would be.
  if (TEMPORARY.test(text)) names.push({ name: environment.variables.TMPDIR || "/tmp", at: Infinity });
  // The last folder that the command entered is the most likely one, so it comes first.
  const bases = [cwd, ...foldersOf(command, cwd)].reverse();
  const absolute = [...new Set(names.map(({ name }) => name))].flatMap((name) => {
    const path = expandHome(name, environment.home);
    return path.startsWith("/") ? [path] : bases.map((base) => `${base}/${path}`);
  });
  return absolute.map((path) => realPath(path, "/", snapshot)).filter((path) => path !== null);
}

/** How messages write a path: in quotes, as a word with a slash, or directly before the error. */
const NAMES: readonly RegExp[] = [
  /['"`‘“]([^'"`’”]+)['"`’”]/g,
  /([^\s'"`‘’“”:,;()[\]]*\/[^\s'"`‘’“”:,;()[\]]*)/g,
  new RegExp(`(?:^|:\\s+)([^:'"\`‘’“”]+):\\s+(?=${ANY.source})`, "gi"),
  new RegExp(`([^\\s:'"\`‘’“”]+):\\s+(?=${ANY.source})`, "gi"),
];

/** Removes the name of the program from a message such as `/bin/bash: line 1: NAME: ERROR`. */
function withoutProgram(text: string): string {
  return text.replace(/^[^:'"`]*?:\s+(?:(?:line )?\d+:\s+)?(?=.*:\s)/i, "");
}

/** Absolute paths of the folders that a command enters, in order. */
function foldersOf(command: string, cwd: string): string[] {
  const entered = command.matchAll(/(?:^|[\s;&|(])(cd|pushd|-C)\s+(["']?)([^\s"';&|)]+)\2/g);
  const folders: string[] = [];
  let at = cwd;
  for (const [, how, , folder = ""] of entered) {
    const path = folder.startsWith("/") ? folder : `${at}/${folder}`;
    if (how !== "-C") at = path;
    if (folders.push(path) === MOST_FOLDERS) break;
  }
  return folders;
}

function socketSentence({ output, environment, policy }: FailedCommand): string | null {
  const refused = refusedSocket(output, environment, policy);
  return refused === null ? null : `In the sandbox, commands cannot reach ${refused.what}. ` +
    `To allow it, the user can add ${refused.entry} to sandbox.policy.sockets.`;
}

function noNetwork({ output, policy }: FailedCommand): string | null {
  if (policy.network) return null;
  const lines = output.split("\n").filter((line) => NO_NETWORK.test(line));
  if (lines.length === 0) return null;
  return policy.network_allow.length === 0
    ? "Commands in the sandbox have no network. The user can change that with sandbox.policy.network."
    : "Commands in the sandbox reach only the hosts of sandbox.policy.network.allow, and only through the proxy in " +
      "HTTPS_PROXY. The user can change that list.";
}

function noCapability({ output, policy, root }: FailedCommand): string | null {
  if (!root || policy.allow_privileged || !NO_CAPABILITY.test(output)) return null;
  return "In the sandbox, root has no capabilities, so it cannot change owners or mount. " +
    "The setting sandbox.policy.allow_privileged would change that, but confines nothing.";
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED);
  const more = names.length - shown.length;
  return more === 0 ? shown.join(", ") : `${shown.join(", ")} and ${more} more`;
}
