// What the sandbox promises to the rooms above it: a resolved policy, a wrapped command, an answer about a path.

import type { Environment } from "../base/environment.ts";
import type { Outcome, Problem } from "../base/problem.ts";
import type { ResourceLimits } from "../config/settings/sandbox.ts";

/** Real paths that decide whether what lies below them is seen under a policy. */
export interface PathView {
  /** Hidden (12.1); the longest of these and `shown` decides. */
  readonly hidden: readonly string[];
  /** Writable paths, and what was hidden and shown again. */
  readonly shown: readonly string[];
  /** Folders of runtime sockets, which empty ones take the place of (12.4). */
  readonly replaced: readonly string[];
  /** What in those was given back by name. */
  readonly kept: readonly string[];
}

/** A finished policy: every path absolute, real and de-duplicated (sandbox section 4). */
export interface Policy {
  /** Real paths that can be written to. */
  readonly rw_paths: readonly string[];
  /** Whether the network is open; false as well while only listed hosts are (`network_allow`). */
  readonly network: boolean;
  /** Whether commands may gain rights by setuid programs. */
  readonly allow_privileged: boolean;
  /** Real paths that stay read-only inside writable folders (S11). */
  readonly protect: readonly string[];
  /** The hosts that can be reached through the proxy while `network` is false (12.2). */
  readonly network_allow?: readonly string[];
  /** Real paths that cannot be read; the longest of these and `rw_paths` wins (12.1). */
  readonly deny_read?: readonly string[];
  /** Real paths of sockets that stay reachable (12.4). */
  readonly sockets?: readonly string[];
  /** Whether no socket of the host can be reached by path. */
  readonly block_unix_sockets?: boolean;
  /** What one command may use. */
  readonly limits?: ResourceLimits;
}

/** A path that is hidden, and what stands there: an empty file or an empty folder takes its place. */
export interface HiddenPath {
  /** Real path. */
  readonly path: string;
  /** Whether a folder stands there. */
  readonly folder: boolean;
}

/** A policy as it can be mounted at this moment: every path in it exists. */
export interface MountablePolicy extends Required<Policy> {
  /** Writable paths below other writable ones: nothing may take their place, and empty folders around them open again. */
  readonly inner: readonly string[];
  /** What is hidden. */
  readonly hidden: readonly HiddenPath[];
  /** Links on the way to protected paths. */
  readonly links: readonly string[];
  /** Sockets that are covered. */
  readonly masked: readonly string[];
  /** Folders of runtime sockets that empty ones take the place of. */
  readonly runtime: readonly string[];
  /**
   * Whether something that is not this program's own may exchange what is mounted while it is mounted: a command of another
   * run, or another user. Then what came of it is looked at from inside.
   */
  readonly unsteady: boolean;
}

/** Free settings of one backend, `sandbox.backends.NAME`. */
export type BackendConfig = Readonly<Record<string, unknown>>;

/** The machine and the run a backend works for. */
export interface Host {
  /** Directory, home and variables of the run. */
  readonly environment: Environment;
  /** Whether commands run as the superuser. */
  readonly root: boolean;
  /** Whether this machine looks like a container; only remedies depend on it. */
  readonly container: boolean;
  /** Finds a program once: an absolute path that nothing inside the sandbox can replace (S13). */
  program(name: string): Outcome<string>;
  /** Tells the person something; each thing once. */
  notice(problem: Problem): void;
}

/** Turns a policy and a command into another command. Same rules as approval resolvers for names and order. */
export interface Backend {
  /**
   * Presence only; whether it works is found out by the probe. A failure says that this backend is not here at all:
   * then commands may run bare under `auto`. One that throws is not known, and stops them.
   */
  available(config: BackendConfig, host: Host): Outcome<void> | Promise<Outcome<void>>;
  /** Pure: the argument list of sandbox 7.1 and nothing else. */
  wrap(policy: Policy, config: BackendConfig, inner: readonly string[]): Outcome<string[]>;
  /** What a real run needs beyond `wrap`; absent, the list of `wrap` is run as it is. */
  prepare?(
    policy: MountablePolicy,
    config: BackendConfig,
    inner: readonly string[],
    host: Host,
  ): Promise<Outcome<BackendPreparation>>;
  /** Runs an empty command under exactly this policy (S13). Absent: `/bin/sh -c :` is wrapped and run. */
  probe?(policy: Policy, config: BackendConfig): Promise<Outcome<void>>;
  /**
   * After a failed probe: the settings to probe with once more, which then hold for the run; null when there is
   * nothing left to try (12.6).
   */
  retry?(config: BackendConfig, problem: Problem): BackendConfig | null;
  /** What its commands are, or are not, protected by under these settings, in sentences for status. */
  hardening?(policy: Policy, config: BackendConfig, host: Host): readonly string[];
  /** Version of the program behind it, for status. */
  version?(config: BackendConfig, host: Host): Promise<string | null>;
  /** Who is tried first; higher goes before lower. @default 50 */
  readonly priority?: number;
  /** One sentence for status. */
  readonly description?: string;
  /**
   * Whether it stands around commands by itself. One that does not is passed over where a better one failed for a
   * reason that may pass.
   * @default true
   */
  readonly confines?: boolean;
}

/** A failure of the backend itself, before the command could start. */
export interface SetupFailure extends Problem {
  /** Always the same. */
  readonly code: "sandbox-setup-failed";
  /** The cause alone, as the end of a sentence, where the backend knows it. */
  readonly cause?: string;
  /** A word for what failed, where a backend may know another way: `proc` or `seccomp`. */
  readonly part?: string;
  /** Everything the backend said. */
  readonly stderr: string;
  /** One short sentence for a tool result: nothing ran, and trying again will not help. */
  readonly forModel: string;
}

/** What a command that is prepared does by itself. */
export interface PrepareOptions {
  /**
   * Whether the command itself reads a line of standard input before anything else, and ends where there is none.
   * @default false
   */
  readonly waits?: boolean;
}

/** How a process ended. */
export interface ExitStatus {
  /** Its exit code, or 128 and the number of the signal that ended it. */
  readonly code: number;
  /** The signal that ended it, or null. */
  readonly signal: string | null;
}

/** What a process is started with. */
export interface SpawnOptions {
  /** Absolute working directory. */
  readonly cwd: string;
  /** The complete environment of the child; nothing is inherited beside it. */
  readonly env: Readonly<Record<string, string>>;
  /** Bytes for standard input, or what is read from as long as the process lives; absent means `/dev/null`. */
  readonly stdin?: Uint8Array | ReadableStream<Uint8Array>;
  /** Whether standard input stays open, for `Running.input`. Without a gate only. @default false */
  readonly keepInput?: boolean;
}

/** A child process that leads a session and process group of its own. */
export interface Running {
  /** Also the id of the process group and of the session. */
  readonly pid: number;
  /** Its standard input, where that was to stay open. */
  readonly input?: WritableStream<Uint8Array>;
  /** What it writes to standard output. */
  readonly stdout: ReadableStream<Uint8Array>;
  /** What it writes to standard error. */
  readonly stderr: ReadableStream<Uint8Array>;
  /** Settles when the leader ends; others of its group may live on until `kill`. Never rejects. */
  readonly status: Promise<ExitStatus>;
  /**
   * Ends the whole group: SIGTERM, and SIGKILL for what is left 2 s later. Also ends what a leader that is gone
   * already left behind. Resolves when the group is gone or the final signal was sent. May be called repeatedly.
   */
  kill(): Promise<void>;
}

/** How a wrapped command is told apart from its own set-up (sandbox 6.3). */
export interface Prepared {
  /** The argument list to spawn; the inner one when nothing wraps it. */
  readonly argv: readonly string[];
  /** Whether a backend stands around the command. */
  readonly wrapped: boolean;
  /**
   * Starts it, once. It waits until it is written down who started it, so that the next run can end it and put right what
   * it did, should this program be killed; should it be killed before, the command never runs.
   */
  start(options: SpawnOptions): Outcome<Running>;
  /** Writes down that the list is about to be started by somebody else than `start`. */
  handOut(): Outcome<void>;
  /**
   * After the command ended: the set-up failure of the backend, or null when the command itself ran.
   * `stderr` is what the backend wrote before the command took over; `signal` is what ended the process, if
   * anything did. A process that was killed, by its timeout for instance, is no set-up failure.
   */
  setupFailure(stderr: string, signal?: string | null): Promise<SetupFailure | null>;
  /**
   * After the command ended: what its result has to say beyond its output, or null. Absent means there is never anything.
   */
  note?(output: string): string | null;
  /** Removes whatever preparing left behind. Call once, always. */
  dispose(): Promise<void>;
}

/** What a backend answers; `fingerprint` is the argument list without names that differ from run to run. */
export interface BackendPreparation extends Omit<Prepared, "wrapped" | "start" | "handOut"> {
  /** The argument list without names that differ from run to run. */
  readonly fingerprint: readonly string[];
  /**
   * The same, but the command begins when a line feed has come on standard input, and not at all when that ends before;
   * what follows on standard input is the command's. By the gate's kind: nothing follows, or something does.
   */
  readonly gated?: (kind: "empty" | "piped") => readonly string[];
  /** What its processes carry in their environment, by which they are found when whoever started them is gone. */
  readonly mark?: string;
  /**
   * Whether the command, started as this process, would end by now should this program be killed. Absent where that is not to
   * be had, or true from the first moment.
   */
  readonly isTied?: (outside: number) => boolean;
}

/**
 * A process of this program's own, behind the wall that commands have: the same mounts, system calls and rights, without their
 * limits.
 */
export interface SandboxWorker {
  /** Whether a backend stands around it. */
  readonly wrapped: boolean;
  /** To its standard input; once that is closed it ends by itself. */
  readonly input: WritableStreamDefaultWriter<Uint8Array>;
  /** Its standard output. */
  readonly output: ReadableStream<Uint8Array>;
  /** Settles when it is gone: with the failure of the backend, or with null when the process itself ran. Never rejects. */
  readonly ended: Promise<SetupFailure | null>;
  /** Ends it. */
  kill(): Promise<void>;
}

/** What a tool does with files in this program itself. */
export type FileAccess = "read" | "write";

/** The turn of such a tool, between commands. */
export interface FileTurn {
  /** Real paths of what is written, asked anew after each wait. */
  paths(): readonly string[];
  /**
   * Whether the work is done by a companion, or on folders that are held: then no command can lead it elsewhere, and only those
   * of this run are waited for, for what the files hold.
   *
   * @default false
   */
  readonly runsApart?: boolean;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
  /** Told that it has to wait for a command, and whose that is. */
  waiting(whose: "this run" | "another run"): void;
}

/** The sandbox of one run of one document; its policy is fixed when it is made. */
export interface Sandbox {
  /** Whether commands are wrapped at all. */
  readonly enabled: boolean;
  /** The policy; a failure when it cannot be worked out. */
  policy(): Outcome<Policy>;
  /** The probed answer, computed once: the backend's name, or why there is none. */
  available(): Promise<Outcome<string>>;
  /** Wraps a command; `ok: false` means nothing may run. */
  prepare(inner: readonly string[], options?: PrepareOptions): Promise<Outcome<Prepared>>;
  /** Whether tools may write to this absolute path (sandbox section 8). Does not depend on a backend. */
  isPathWritable(path: string): boolean;
  /** Whether tools may read this absolute path (12.1). Does not depend on a backend. */
  isPathReadable(path: string): boolean;
  /**
   * What would obey the file at a path when the person starts it: such a file is written only after a question. Null for
   * every other file; absent means there are none.
   */
  watchedBy?(path: string): string | null;
  /**
   * Does the work of a tool with files while no command lives that could exchange them. Rejects with the signal's reason when
   * it aborts before. Absent means at once.
   */
  betweenCommands?<T>(access: FileAccess, turn: FileTurn, work: () => Promise<T>): Promise<T>;
  /**
   * The companion of the run, started by the first who asks and anew where it is gone or its wall would be another one by now.
   * Where this machine has no sandbox to give, nothing stands around it. Absent means that there never is one.
   *
   * @param argv always the same
   */
  startWorker?(
    argv: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<Outcome<SandboxWorker>>;
  /** What is seen of the file system, as data for a companion to judge by. Absent means everything. */
  pathView?(): PathView;
  /**
   * The link on the way to a path that a command could have made and that leads to where no command may write; null when
   * there is none. Who writes there for a tool must not follow it. Absent means there never is one.
   */
  strayLink?(path: string): string | null;
  /**
   * Variables that stay in the environment of tools although they name sockets: the policy keeps those sockets
   * (12.4). Absent means none.
   */
  socketVariables?(): readonly string[];
  /** Variables that commands get besides, unless `tools.env.pass` names the person's own. Absent means none. */
  addedVariables?(): Readonly<Record<string, string>>;
  /** Notices for the person: skipped paths, running bare, and the like; each given once. */
  notices(): readonly Problem[];
}
