// Prepares bubblewrap for this machine: descriptors, filter, proxy, limits, and the report whether the set-up worked.

import { failure, type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import { ownDeno } from "../../base/system/own_deno.ts";
import { bwrapArguments, type BwrapSettings, bwrapSettings } from "./bwrap.ts";
import { makeProcessGroup } from "./cgroup.ts";
import { classifySetupFailure, socketVanished } from "./failures.ts";
import { readMachine } from "./machine.ts";
import { limitOptions } from "./limits.ts";
import { mountArguments } from "./mounts.ts";
import { type ProxyPlace, type RunningProxy, startProxy } from "../network/proxy.ts";
import { RELAY_PORT, relayOptions, relaySource, withRelay } from "../network/relay.ts";
import { parseHostRules } from "../network/rules.ts";
import { removeEmptyFromFolder } from "../paths/open_folder.ts";
import {
  hasVanished,
  isLate,
  isWritable,
  type LateMasks,
  lateMasks,
  readIfPresent,
  WRITE_MASKS,
} from "../policy/late_masks.ts";
import { parseMountTable } from "../paths/mount_table.ts";
import {
  type InputGate,
  LONGEST_ARGUMENT,
  notSetUp,
  PROMISED_DESCRIPTOR,
  promisedMounts,
  withInnerScript,
} from "../process/inner_script.ts";
import { MARK, newMark } from "../process/marks.ts";
import { PrivateFiles } from "../process/private_files.ts";
import { endsWithOutside } from "../process/process_table.ts";
import { type FilterOptions, seccompFilter } from "../kernel/seccomp.ts";
import type { BackendConfig, BackendPreparation, Host, MountablePolicy } from "../types.ts";

/**
 * Descriptors of bubblewrap's report, the filter and the mounts. They are not above 9, because not all shells can open
 * higher ones.
 */
const STATUS_DESCRIPTOR = "9";
const FILTER_DESCRIPTOR = "8";
const MOUNTS_DESCRIPTOR = "7";
const MASKS_DESCRIPTOR = "5";

/**
 * Read-only mounts over kernel settings. The superuser owns these files by user id, so dropped capabilities do not
 * guard them: a command could name a program for the kernel to run outside the sandbox. Tested with bubblewrap 0.8,
 * which covers `/proc/sys` only if the folder itself is writable.
 */
const KERNEL_FILES: readonly string[] = ["/proc/sys", "/proc/sysrq-trigger"].flatMap((
  path,
) => ["--ro-bind-try", path, path]);

/**
 * Number of times that one argument list is run again after a socket vanished. A start takes about 20 ms. On a busy
 * machine, programs that open and close sockets all the time can undo several starts in a row.
 */
const MOST_RUNS_AGAIN = 20;

/** Number of checks after which processes that cannot be read are taken for living ones. */
const UNREADABLE_CHECKS = 6;

/** The longest path of a socket on Linux. */
const SOCKET_PATH_BYTES = 107;

/** What a preparation created. */
export interface Parts {
  readonly files: PrivateFiles;
  readonly undo: (() => void | Promise<void>)[];
}

export async function prepareBwrap(
  policy: MountablePolicy,
  config: BackendConfig,
  inner: readonly string[],
  host: Host,
): Promise<Outcome<BackendPreparation>> {
  const files = PrivateFiles.open(host.environment);
  if (!files.ok) return files;
  const parts: Parts = { files: files.value, undo: [] };
  const prepared = assemble(policy, config, inner, host, parts);
  if (!prepared.ok) await takeBack(parts);
  return prepared;
}

function assemble(
  policy: MountablePolicy,
  config: BackendConfig,
  inner: readonly string[],
  host: Host,
  parts: Parts,
): Outcome<BackendPreparation> {
  const settings = bwrapSettings(config);
  if (!settings.ok) return settings;
  const program = host.program(settings.value.path);
  if (!program.ok) return program;
  const filter = filterFile(policy, settings.value.seccomp, host, parts);
  if (!filter.ok) return filter;
  const network = openNetwork(policy, host, parts);
  if (!network.ok) return network;
  const limited = limitedCommand(policy, inner, host, parts);
  if (!limited.ok) return limited;

  const status = parts.files.fresh("status");
  const mounts = [...mountsOf(policy), ...ownedSshSettings(policy, host, parts)];
  const promised = promisedBy(policy, mounts);
  const isLong = promised.join("\n").length > LONGEST_ARGUMENT;
  const around = assembleArguments(policy, host, {
    settings: { ...settings.value, path: program.value },
    filtered: filter.value !== null,
    mounts,
    promised: isLong ? "descriptor" : promised,
    inner: limited.value.inner,
  });
  const options = network.value?.options ?? [];
  const shared = policy.network ? null : host.sharedNetwork?.() ?? null;
  const port = network.value?.port ?? RELAY_PORT;
  const list = (gate?: InputGate) => around(options, { gate, shared: shared !== null, port });
  const entered = (words: readonly string[]) => [...shared?.enter ?? [], ...words];
  const fileWith = (kind: string, text: string) => {
    const path = parts.files.fresh(kind);
    Deno.writeTextFileSync(path, text, { createNew: true, mode: 0o600 });
    return path;
  };
  const mark = newMark();
  const masks = lateMasks(policy, parts.files);
  let runsAgain = MOST_RUNS_AGAIN;
  let unreadable = 0;
  const descriptors = {
    status,
    masks,
    filter: filter.value,
    group: limited.value.group,
    mounts: fileWith("mounts", withMountsFile(list()).mounts.map((word) => `${word}\0`).join("")),
    promised: isLong ? fileWith("promised", promised.join("\n")) : null,
    mark,
  };
  return success({
    mark,
    isTied: (outside) => {
      const { inside } = readReport(status);
      if (inside === null) return false;
      // A process that is gone cannot be read either. The end of the other one is then known after some checks.
      return endsWithOutside(inside, outside, filter.value !== null) ?? ++unreadable >= UNREADABLE_CHECKS;
    },
    argv: handOver(entered(withMountsFile(list(), masks).short), descriptors),
    gated: (kind) => handOver(entered(withMountsFile(list(kind), masks).short), descriptors),
    fingerprint: withoutMasks(around(network.value?.lasting ?? []), policy),
    refusedHosts: () => [...network.value?.refused ?? []],
    setupFailure: async (stderr, signal) => {
      const found = await failureIn(readReport(status), stderr, signal, host);
      const hasNoPlace = found !== null && masks !== null && hasVanished(masks);
      return hasNoPlace ? socketVanished(stderr) : found;
    },
    mayRunAgain: () => {
      if (runsAgain === 0 || readReport(status).ran || masks === null || !hasVanished(masks)) return false;
      runsAgain--;
      unreadable = 0;
      // The next run must not find a report.
      removeIfPresent(status);
      return true;
    },
    dispose: async () => {
      for (const path of policy.masked) if (isWritable(path, policy)) await removeLeftover(path);
      await takeBack(parts);
    },
  });
}

/** Parts of the argument list in addition to the policy. */
interface ArgumentParts {
  readonly settings: BwrapSettings;
  readonly filtered: boolean;
  readonly mounts: readonly string[];
  /** The entries that the mounts must produce in the mount table. */
  readonly promised: readonly string[] | "descriptor";
  readonly inner: readonly string[];
}

/** The entries of the mount table to check before the command begins; none if nothing could replace a path. */
function promisedBy(policy: MountablePolicy, mounts: readonly string[]): string[] {
  if (!policy.unsteady) return [];
  return promisedMounts(
    [...policy.rw_paths.flatMap((path) => ["--bind", path, path]), ...mounts],
    parseMountTable(Deno.readTextFileSync("/proc/self/mountinfo")),
  );
}

/** How an argument list differs from the list that was tested. */
interface ArgumentOptions {
  readonly gate?: InputGate;
  /** True if the command starts in the network namespace of the run, so that it needs none of its own. */
  readonly shared?: boolean;
  /** Port of the relay. */
  readonly port?: number;
}

/** Returns a function that makes the argument list for given network options, with or without a gate. */
function assembleArguments(
  policy: MountablePolicy,
  host: Host,
  { settings, filtered, mounts, promised, inner }: ArgumentParts,
): (networkOptions: readonly string[], how?: ArgumentOptions) => string[] {
  // Otherwise the superuser would keep its capabilities in its own namespace and could mount everything writable
  // again.
  const confined = host.root && !policy.allow_privileged;
  return (networkOptions, { gate = "", shared = false, port = RELAY_PORT } = {}) => {
    const command = networkOptions.length > 0 ? withRelay(inner, port) : inner;
    const within = promised.length > 0 || gate !== "" ? withInnerScript(promised, gate, command) : command;
    return bwrapArguments(shared ? { ...policy, network: true } : policy, settings, within, {
      mounts,
      options: [
        ...(confined ? ["--cap-drop", "ALL"] : []),
        ...(confined && settings.proc ? KERNEL_FILES : []),
        ...["--json-status-fd", STATUS_DESCRIPTOR],
        ...(filtered ? ["--seccomp", FILTER_DESCRIPTOR] : []),
        ...networkOptions,
      ],
    });
  };
}

/**
 * Returns the list without the masks of sockets. Sockets come and go, and a mask over a file is never refused, so a test
 * of the list need not be repeated for them.
 */
function withoutMasks(list: readonly string[], { masked }: MountablePolicy): string[] {
  const isMask = (at: number) =>
    list[at] === "--ro-bind" && list[at + 1] === "/dev/null" && masked.includes(list[at + 2]!);
  return list.filter((_, at) => !isMask(at) && !isMask(at - 1) && !isMask(at - 2));
}

/** Policies are immutable, and most commands in a row use the same one. */
const mountsByPolicy = new WeakMap<MountablePolicy, readonly string[]>();

/** The mount arguments of a policy. */
export function mountsOf(policy: MountablePolicy): readonly string[] {
  let mounts = mountsByPolicy.get(policy);
  if (mounts === undefined) {
    mounts = mountArguments({
      writable: policy.rw_paths,
      inner: policy.inner,
      protect: policy.protect,
      links: policy.links,
      hidden: policy.hidden,
      empty: [
        ...policy.runtime.map((path) => ({ path })),
        ...(policy.limits.tmp_size === undefined ? [] : [{ path: "/tmp", size: policy.limits.tmp_size }]),
      ],
      masked: policy.masked.filter((path) => !isLate(path, policy)),
      late: policy.masked.filter((path) => isLate(path, policy)),
      kept: policy.sockets,
    });
    mountsByPolicy.set(policy, mounts);
  }
  return mounts;
}

/** The first argument after the mounts. The argument marks the end of the mounts. */
const FIRST_AFTER_MOUNTS = "--dev";

/**
 * Takes the mounts out of a list, because they may not fit on a command line. bubblewrap reads them from a descriptor
 * at the same position.
 */
function withMountsFile(
  list: readonly string[],
  masks: LateMasks | null = null,
): { short: string[]; mounts: string[] } {
  const [program = "", ...words] = list;
  const end = words.indexOf(FIRST_AFTER_MOUNTS);
  const late = masks === null ? [] : ["--args", MASKS_DESCRIPTOR];
  return {
    short: [program, "--args", MOUNTS_DESCRIPTOR, ...late, ...words.slice(end)],
    mounts: words.slice(0, end),
  };
}

/**
 * Wraps the list in a shell that opens the descriptors and then executes it, because Deno passes no descriptors on. The
 * report file must not exist yet: a process that can write to its folder could have put a link there. Core dumps are
 * off. The whole process tree carries a mark, by which a later run finds it if this program is gone.
 */
function handOver(
  wrapped: readonly string[],
  { status, filter, group, mounts, promised, masks, mark }: {
    status: string;
    filter: string | null;
    group: string | null;
    mounts: string;
    promised: string | null;
    masks: LateMasks | null;
    mark: string;
  },
): string[] {
  const lines = [
    "ulimit -c 0",
    `export ${MARK}=${mark}`,
    ...(group === null ? [] : [`echo $$ >"$1" || exit 125; shift`]),
    `set -C; exec ${STATUS_DESCRIPTOR}>"$0"; set +C`,
    `exec ${MOUNTS_DESCRIPTOR}<"$1"; shift`,
    ...(filter === null ? [] : [`exec ${FILTER_DESCRIPTOR}<"$1"; shift`]),
    ...(promised === null ? [] : [`exec ${PROMISED_DESCRIPTOR}<"$1"; shift`]),
    ...(masks === null ? [] : [`${WRITE_MASKS}; exec ${MASKS_DESCRIPTOR}<"$2"; shift 2`]),
    `exec "$@"`,
  ];
  return [
    ...["/bin/sh", "-c", lines.join("; "), status],
    ...(group === null ? [] : [group]),
    mounts,
    ...(filter === null ? [] : [filter]),
    ...(promised === null ? [] : [promised]),
    ...(masks === null ? [] : [masks.paths, masks.written]),
    ...wrapped,
  ];
}

const filters = new Map<string, Uint8Array<ArrayBuffer> | null>();

/** The filter for this machine, built once for each set of options. */
function filterFor(options: FilterOptions): Uint8Array<ArrayBuffer> | null {
  const key = JSON.stringify(options);
  let filter = filters.get(key);
  if (filter === undefined) filters.set(key, filter = seccompFilter(Deno.build.arch, options));
  return filter;
}

/** Path of the filter file for this machine; null if there is no filter, or if the kernel refused it. */
function filterFile(
  policy: MountablePolicy,
  wanted: boolean,
  host: Host,
  { files }: Parts,
): Outcome<string | null> {
  // Commands of a superuser who keeps privileges must be able to mount, so they get a filter only if sockets are to be
  // blocked.
  const privileged = host.root && policy.allow_privileged;
  const filter = (wanted && !privileged) || policy.block_unix_sockets
    ? filterFor({
      blockUnixSockets: policy.refuses_sockets,
      blockHostSockets: !policy.network,
      refuseSetuid: host.root && !privileged,
    })
    : null;
  if (filter !== null) return success(files.constant("seccomp", filter));
  if (!policy.block_unix_sockets) return success(null);
  return failure(
    "sockets-not-blocked",
    `Local sockets cannot be blocked: there is no system call filter for the architecture ${Deno.build.arch}.`,
    "Set sandbox.policy.block_unix_sockets to false.",
  );
}

/**
 * Removes the empty file that a mask leaves if its socket vanished before the mount; the file would keep the program
 * from listening there again. It removes only an empty file at a path where a socket was a moment ago, so nothing else
 * can be lost.
 */
async function removeLeftover(path: string): Promise<void> {
  try {
    const { isFile, size, uid } = Deno.lstatSync(path);
    if (isFile && size === 0 && uid === Deno.uid()) await removeEmptyFromFolder(path);
  } catch {
    // The file does not exist or is not accessible, so there is no leftover to remove.
  }
}

/** System-wide ssh settings. ssh rejects included files that neither its user nor root owns. */
const SSH_SETTINGS = "/etc/ssh/ssh_config.d";

/**
 * Returns mounts that cover the ssh settings with copies, for an ordinary user. In a user namespace, the superuser's
 * files belong to nobody, so ssh would stop with "Bad owner or permissions".
 */
function ownedSshSettings(policy: MountablePolicy, host: Host, { files }: Parts): string[] {
  if (host.root || policy.allow_privileged) return [];
  const texts = entriesOf(SSH_SETTINGS).flatMap(
    ({ name, isDirectory }): [name: string, text: Uint8Array][] => {
      if (isDirectory) return [];
      try {
        return [[name, Deno.readFileSync(`${SSH_SETTINGS}/${name}`)]];
      } catch {
        return []; // ssh cannot use unreadable files or dangling links either.
      }
    },
  );
  return texts.length === 0 ? [] : ["--ro-bind", files.constantFolder("ssh", texts), SSH_SETTINGS];
}

/** Entries of a folder; empty if it is missing or cannot be read. */
function entriesOf(folder: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(folder)];
  } catch {
    return [];
  }
}

/** Number of refused hosts of one command that are reported. */
const MOST_REFUSED = 50;

interface OpenedNetwork {
  /** Hosts that the proxy has refused so far, as `host:port`. */
  readonly refused: ReadonlySet<string>;
  readonly options: readonly string[];
  /** The options without the name of this command's socket, which differs between runs. */
  readonly lasting: readonly string[];
  /** Port of the relay. */
  readonly port: number;
}

/** A proxy that serves one command. */
export interface CommandProxy extends Pick<RunningProxy, "port"> {
  /** Hosts that it has refused so far, as `host:port`. */
  readonly refused: ReadonlySet<string>;
}

/** Starts the proxy for the network list of a command. */
export function openProxy(
  { network_allow }: MountablePolicy,
  host: Host,
  parts: Parts,
  place: ProxyPlace,
): Outcome<CommandProxy> {
  const rules = parseHostRules(network_allow);
  if (!rules.ok) return rules;
  const refused = new Set<string>();
  try {
    const proxy = startProxy({
      ...place,
      rules: rules.value,
      onRefusal: (problem, target) => {
        // A command may try thousands of hosts; the first ones tell enough.
        if (refused.size >= MOST_REFUSED) return;
        refused.add(target);
        host.notice(problem);
      },
    });
    parts.undo.push(() => proxy.close());
    return success({ port: proxy.port, refused });
  } catch (thrown) {
    return failure(
      "no-proxy",
      `The network list (sandbox.policy.network) cannot be enforced: ${thrownText(thrown)}.`,
    );
  }
}

/** Starts the proxy for a network list and returns what the relay needs; null if the policy has no list. */
function openNetwork(policy: MountablePolicy, host: Host, parts: Parts): Outcome<OpenedNetwork | null> {
  if (policy.network || policy.network_allow.length === 0) return success(null);
  if (policy.block_unix_sockets) {
    return failure(
      "network-list-needs-sockets",
      "A network list needs a local socket, which sandbox.policy.block_unix_sockets forbids.",
      "Set block_unix_sockets to false, or network to false.",
    );
  }
  // If flemma is a single file, its built-in Deno cannot run other programs, so an installed Deno has to run the relay.
  const own = ownDeno();
  const runtime = own === null ? host.program("deno") : success(own);
  if (!runtime.ok) {
    return failure(
      "network-list-needs-deno",
      `A network list needs Deno. ${runtime.problem.message}`,
      "Install Deno, or set sandbox.policy.network to true or false.",
    );
  }
  try {
    const program = parts.files.constant("relay", new TextEncoder().encode(relaySource()));
    const socket = shortPath(parts.files.fresh("p", 8), parts);
    const opened = openProxy(policy, host, parts, { path: socket });
    if (!opened.ok) return opened;
    const { refused } = opened.value;
    const port = host.sharedNetwork?.()?.takePort() ?? RELAY_PORT;
    const options = (path: string, at: number) =>
      relayOptions({ runtime: runtime.value, program, socket: path, port: at });
    return success({ options: options(socket, port), lasting: options("", RELAY_PORT), refused, port });
  } catch (thrown) {
    return failure(
      "no-proxy",
      `The network list (sandbox.policy.network) cannot be enforced: ${thrownText(thrown)}.`,
    );
  }
}

/**
 * Returns the path for a socket. If the given path is too long, for instance in a deeply nested home folder, this is a
 * path in a new temporary folder.
 */
function shortPath(path: string, parts: Parts): string {
  if (new TextEncoder().encode(path).length <= SOCKET_PATH_BYTES) return path;
  const folder = Deno.makeTempDirSync({ prefix: "flemma-" });
  parts.undo.push(() => Deno.removeSync(folder, { recursive: true }));
  return `${folder}/proxy`;
}

export interface LimitedCommand {
  readonly inner: readonly string[];
  /** File of the control group that the command joins, or null. */
  readonly group: string | null;
}

/** Puts the limits before the command. Fails if a requested limit cannot be enforced. */
export function limitedCommand(
  policy: MountablePolicy,
  inner: readonly string[],
  host: Host,
  parts: Parts,
): Outcome<LimitedCommand> {
  const options = limitOptions(policy.limits);
  if (options.length === 0) return success({ inner, group: null });
  const program = host.program("prlimit");
  if (!program.ok) return failure("limits-not-kept", program.problem.message, "Install util-linux.");
  const { processes } = policy.limits;
  let group: string | null = null;
  if (host.root && processes !== undefined) {
    // Three processes are added for the shell, bubblewrap, and the first process inside.
    const made = makeProcessGroup(processes + 3, parts.files);
    if (made === null) host.notice(PROCESSES_UNLIMITED);
    else {
      group = made.members;
      parts.undo.push(() => made.remove());
    }
  }
  return success({ inner: [program.value, ...options, "--", ...inner], group });
}

const PROCESSES_UNLIMITED: Problem = {
  code: "processes-not-limited",
  message: "The limit on processes does not apply to root, and no control group could be created instead.",
  next: "Run as an ordinary user.",
};

/** Removes everything that a preparation created. */
export async function takeBack({ files, undo }: Parts): Promise<void> {
  for (const step of undo.splice(0).reverse()) await step();
  files.remove();
}

interface Report {
  /** Process id of the first process inside, as seen outside; null before it exists. */
  readonly inside: number | null;
  /** True if the command ended. */
  readonly ran: boolean;
}

/** Returns why the set-up failed, judging by the report and the error output; null if the command ran or was killed. */
function failureIn(
  report: Report,
  stderr: string,
  signal: string | null | undefined,
  { container, root }: Host,
): ReturnType<BackendPreparation["setupFailure"]> {
  const classified = (text: string) =>
    Promise.resolve(classifySetupFailure(text, { container, root, machine: readMachine() }));
  const setupMessage = notSetUp(stderr);
  if (report.ran && setupMessage !== null) return classified(setupMessage);
  if (report.ran || signal) return Promise.resolve(null);
  // If it is unknown whether a signal ended the set-up: a set-up that created a child process and then wrote nothing
  // was probably killed, and this is not a failure.
  if (signal === undefined && report.inside !== null && stderr.trim() === "") return Promise.resolve(null);
  return classified(stderr);
}

/**
 * Reads the report. The report is empty if the file is missing, or if something else is in its place: reading that
 * could block.
 */
function readReport(path: string): Report {
  const text = readIfPresent(path);
  const inside = /"child-pid": *(\d+)/.exec(text)?.[1];
  return { inside: inside === undefined ? null : Number(inside), ran: text.includes('"exit-code"') };
}

function removeIfPresent(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
}
