// Prepares commands under Landlock, which needs no namespaces: the plan for the launcher, and the report whether it
// worked. Loaded only if this backend is used.

import { concat } from "../../base/bytes.ts";
import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { prepareHandles } from "../../base/system/libc.ts";
import { ownDeno } from "../../base/system/own_deno.ts";
import {
  allowsLocalSockets,
  type FileSystemFacts,
  type FolderEntry,
  type LandlockPlan,
  planLandlock,
  RIGHTS,
} from "../kernel/landlock_plan.ts";
import {
  CACHE_VARIABLE,
  GUARD_ROLE,
  type LauncherChecks,
  type LauncherPlan,
  type LauncherProxy,
  NO_CACHE,
  OWN_CACHE_VARIABLE,
  REPORT_DESCRIPTOR,
  RUNTIME_ARGUMENTS,
  WAITS,
} from "../kernel/launcher_plan.ts";
import { landlockVersion } from "../kernel/landlock_version.ts";
import { seccompFilter } from "../kernel/seccomp.ts";
import { type Ahead, startAhead, startAheadLater, takeWaiting } from "../kernel/waiting_launcher.ts";
import { PROXY_USER } from "../network/proxy.ts";
import { proxyVariables } from "../network/relay.ts";
import { readIfPresent } from "../policy/late_masks.ts";
import { withInnerScript } from "../process/inner_script.ts";
import { MARK, newMark } from "../process/marks.ts";
import { PrivateFiles } from "../process/private_files.ts";
import type { BackendPreparation, Host, MountablePolicy, SetupFailure } from "../types.ts";
import { type CommandProxy, limitedCommand, openProxy, type Parts, takeBack } from "./prepare.ts";
import { EMPTY_COMMAND } from "./probe.ts";

/** The files of the launcher, once they were needed. */
let launcherEntries: readonly (readonly [name: string, bytes: Uint8Array<ArrayBuffer>])[] | undefined;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;

/** A device that everybody may open, and that no rule grants. */
const UNGRANTED_DEVICE = "/dev/ptmx";

/** Checks whether the kernel has Landlock, and whether there is a Deno to start the launcher. */
export function isLandlockPresent(host: Host): Outcome<void> {
  const version = landlockVersion();
  if (!version.ok) return version;
  const runtime = launcherRuntime(host);
  // A Deno that must not be used, for instance because a command planted it, is not absent.
  return runtime.ok || runtime.problem.code !== "landlock-needs-deno" ? success(undefined) : runtime;
}

function launcherRuntime(host: Host): Outcome<string> {
  const own = ownDeno();
  const runtime = own === null ? host.program("deno") : success(own);
  if (runtime.ok || runtime.problem.code !== "program-not-found") return runtime;
  return failure(
    "landlock-needs-deno",
    `Landlock needs Deno. ${runtime.problem.message}`,
    "Install Deno, for example: npm install -g deno",
  );
}

/** The plan for a policy on this machine. */
export function planFor(policy: MountablePolicy): Outcome<LandlockPlan> {
  const abi = landlockVersion();
  return abi.ok ? planLandlock(policy, abi.value, FILES, policy.held) : abi;
}

const FILES: FileSystemFacts = {
  kindOf(path) {
    try {
      return kindOf(Deno.lstatSync(path));
    } catch {
      return null;
    }
  },
  entries(folder) {
    try {
      return [...Deno.readDirSync(folder)].map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
    } catch {
      return []; // Commands cannot list this folder either.
    }
  },
};

function kindOf({ isDirectory, isSymlink }: Deno.DirEntry | Deno.FileInfo): FolderEntry["kind"] {
  return isSymlink ? "link" : isDirectory ? "folder" : "file";
}

export async function prepareLandlock(
  policy: MountablePolicy,
  inner: readonly string[],
  host: Host,
): Promise<Outcome<BackendPreparation>> {
  const files = PrivateFiles.open(host.environment);
  if (!files.ok) return files;
  const parts: Parts = { files: files.value, undo: [] };
  const prepared = await assemble(policy, inner, host, parts);
  if (!prepared.ok) await takeBack(parts);
  return prepared;
}

async function assemble(
  policy: MountablePolicy,
  inner: readonly string[],
  host: Host,
  parts: Parts,
): Promise<Outcome<BackendPreparation>> {
  const plan = planFor(policy);
  if (!plan.ok) return plan;
  const runtime = launcherRuntime(host);
  if (!runtime.ok) return runtime;
  // Many protected paths are missing, and are looked up before and after the command.
  prepareHandles();
  const { files } = parts;
  const { LAUNCHER_SOURCE } = await import("../kernel/launcher.generated.ts");
  // Without the ending of its name, the runtime would compile the program first, which takes longer than all the rest.
  launcherEntries ??= [["launcher.js", new TextEncoder().encode(LAUNCHER_SOURCE)]];
  const program = `${files.constantFolder("launcher", launcherEntries)}/launcher.js`;
  const launcher = {
    start: [runtime.value, ...RUNTIME_ARGUMENTS, program, GUARD_ROLE],
    guardArguments: [`${Deno.pid}`, `${plan.value.abi}`],
  };
  if (inner !== EMPTY_COMMAND) startAhead(keyOf(launcher), () => waitingLauncher(launcher, host.environment));
  const limited = limitedCommand(policy, inner, host, parts);
  if (!limited.ok) return limited;
  const network = plan.value.proxied ? openNetwork(policy, host, parts) : success(null);
  if (!network.ok) return network;
  const blocksSockets = !allowsLocalSockets(policy);
  const filter = seccompFilter(Deno.build.arch, {
    blockUnixSockets: blocksSockets,
    blockHostSockets: true,
    refuseSetuid: host.root,
    alone: {
      blockNetwork: !policy.network,
      allowTcp: plan.value.proxied,
      refuseTruncate: plan.value.abi < 3,
    },
  })!;
  let status = files.fresh("status");
  // The file must be readable without the rules, and the command must not write it.
  const unwritable = files.fresh("unwritable");
  Deno.writeTextFileSync(unwritable, "", { createNew: true, mode: 0o600 });
  const movable = inner === EMPTY_COMMAND ? files.fresh("movable") : null;
  if (movable !== null) Deno.mkdirSync(movable, { mode: 0o700 });
  const writeRule = plan.value.rules.find(({ rights }) => (rights & RIGHTS.refer) !== 0);
  const checks: LauncherChecks = {
    unwritable,
    unreadable: FILES.kindOf(UNGRANTED_DEVICE) === "file" ? [UNGRANTED_DEVICE] : [],
    families: [
      ...(blocksSockets ? [AF_UNIX] : []),
      ...(policy.network ? [] : [plan.value.proxied ? AF_INET6 : AF_INET]),
    ],
    movable: writeRule === undefined ? null : movable,
  };
  const { abi, handled, refusesTcp, proxied, rules } = plan.value;
  const granted = checks.movable === null ? [] : [{ ...writeRule!, path: checks.movable }];
  const launcherPlan: LauncherPlan = {
    abi,
    handled,
    refusesTcp,
    rules: [...rules, ...granted],
    filter: [...filter],
    owner: Deno.pid,
    group: limited.value.group,
    checks,
    proxy: network.value?.proxy ?? null,
  };
  const mark = newMark();
  const planFile = files.fresh("plan");
  Deno.writeTextFileSync(planFile, JSON.stringify(launcherPlan), { createNew: true, mode: 0o600 });
  const argvOf = (command: readonly string[]) =>
    handOver({ ...launcher, status, mark }, [planFile, ...command]);
  return success({
    mark,
    isTied: () => readIfPresent(status).includes("ready\n"),
    argv: argvOf(limited.value.inner),
    gated: (kind) => argvOf(withInnerScript([], kind, limited.value.inner)),
    takeStarted: (kind, { cwd, env }) => {
      const waiting = takeWaiting(keyOf(launcher));
      if (waiting === null) return null;
      const argv = kind === null ? limited.value.inner : withInnerScript([], kind, limited.value.inner);
      const variables = { ...env, PWD: cwd, [MARK]: mark };
      status = waiting.status;
      parts.undo.push(() => {
        waiting.files.remove();
        startAheadLater(keyOf(launcher), () => waitingLauncher(launcher, host.environment));
      });
      const plan = new TextEncoder().encode(
        JSON.stringify({ ...launcherPlan, start: { argv, cwd, variables } }),
      );
      return { child: waiting.child, text: concat([new TextEncoder().encode(`${plan.length}\n`), plan]) };
    },
    // A rule is never refused because of what it names, so only the form of the plan matters.
    fingerprint: [
      runtime.value,
      JSON.stringify({ abi, handled, refusesTcp, proxied, checks: checks.families, source: program }),
      ...inner,
    ],
    refusedHosts: () => [...network.value?.refused ?? []],
    setupFailure: (stderr, signal) => Promise.resolve(failureIn(readIfPresent(status), stderr, signal)),
    dispose: () => takeBack(parts),
  });
}

/** Starts the proxy of a network list. Every program of this machine can reach its port, so it asks for a secret. */
function openNetwork(
  policy: MountablePolicy,
  host: Host,
  parts: Parts,
): Outcome<Pick<CommandProxy, "refused"> & { readonly proxy: LauncherProxy }> {
  const secret = crypto.randomUUID();
  const opened = openProxy(policy, host, parts, { secret });
  if (!opened.ok) return opened;
  const { refused, port } = opened.value;
  const variables = proxyVariables(`http://${PROXY_USER}:${secret}@127.0.0.1:${port}`);
  return success({
    refused,
    proxy: { port: port!, variables: { ...variables, NO_PROXY: "", no_proxy: "" } },
  });
}

/** How to start the launcher. */
interface Launcher {
  readonly start: readonly string[];
  /** The arguments after the id of the parent process. */
  readonly guardArguments: readonly string[];
}

/** How to start a launcher for the next command; null if it can have no private files. */
function waitingLauncher(launcher: Launcher, environment: Environment): Ahead | null {
  const files = PrivateFiles.open(environment);
  if (!files.ok) return null;
  const status = files.value.fresh("status");
  const argv = handOver({ ...launcher, status, mark: newMark() }, [WAITS]);
  return { argv, env: { PATH: environment.variables.PATH ?? "" }, status, files: files.value };
}

/** Launchers that are started alike can stand in for each other. */
function keyOf({ start, guardArguments }: Launcher): string {
  return [...start, ...guardArguments].join("\n");
}

/**
 * Wraps the launcher in a shell that opens the descriptor of the report and then becomes the launcher. Core dumps are
 * off. The whole process tree carries a mark, by which a later run finds it if this program is gone.
 */
function handOver(
  { start, guardArguments, status, mark }: Launcher & { readonly status: string; readonly mark: string },
  rest: readonly string[],
): string[] {
  const lines = [
    "ulimit -c 0",
    `export ${MARK}=${mark}`,
    `[ -z "\${${CACHE_VARIABLE}+x}" ] || export ${OWN_CACHE_VARIABLE}="$${CACHE_VARIABLE}"`,
    `export ${CACHE_VARIABLE}=${NO_CACHE}`,
    `set -C; exec ${REPORT_DESCRIPTOR}>"$0"; set +C`,
    ...start.map((_, at) => `a${at}=$1; shift`),
    `exec ${start.map((_, at) => `"$a${at}"`).join(" ")} "$PPID" "$@"`,
  ];
  return ["/bin/sh", "-c", lines.join("; "), status, ...start, ...guardArguments, ...rest];
}

/** Returns why the command did not run, or null if it did or was ended before. */
export function failureIn(
  report: string,
  stderr: string,
  signal: string | null | undefined,
): SetupFailure | null {
  const lines = report.split("\n");
  const failed = lines.find((line) => line.startsWith("failed "))?.slice("failed ".length);
  if (failed === undefined && (lines.some((line) => line.startsWith("exit ")) || signal)) return null;
  if (failed === undefined && signal === undefined && lines.includes("ready")) return null;
  const firstLine = stderr.split("\n").find((line) => line.trim() !== "")?.trim();
  const cause = failed ??
    (firstLine === undefined ? "the launcher ended without a message" : `the launcher said "${firstLine}"`);
  return {
    code: "sandbox-setup-failed",
    message: `The sandbox could not be set up, so the command did not run: ${cause}.`,
    cause: `${cause}.`,
    next: "To see what is missing: flemma sandbox status",
    stderr: failed === undefined ? stderr : `${stderr}landlock: ${failed}`,
    forModel:
      `The sandbox could not be set up (${cause}); nothing ran. Do not try again: the user must fix this.`,
  };
}
