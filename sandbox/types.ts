// Public types of the sandbox: policy, backends, prepared commands, and the `Sandbox` that tools work with.

import type { Environment } from "../base/environment.ts";
import type { Outcome, Problem } from "../base/problem.ts";
import type { ResourceLimits } from "../config/values.ts";

/** The part of a policy that decides what a path shows: its content, nothing, or an empty folder. All paths are real. */
export interface PathView {
  /**
   * Hidden paths. Of the paths here and in `shown` that contain a given path, the longest decides whether it is
   * visible.
   */
  readonly hidden: readonly string[];
  /** Writable paths, and paths that are hidden and then shown again. */
  readonly shown: readonly string[];
  /** Folders of runtime sockets. Commands see an empty folder in their place. */
  readonly replaced: readonly string[];
  /** Paths inside the folders of `replaced` that stay visible, because the policy names them. */
  readonly kept: readonly string[];
}

/** A finished policy: every path is absolute, real and listed once. */
export interface Policy {
  /** Real paths that commands can write to. */
  readonly rw_paths: readonly string[];
  /** True if commands have full network access. Also false if only the hosts of `network_allow` are reachable. */
  readonly network: boolean;
  /** True if commands may gain rights through setuid programs. */
  readonly allow_privileged: boolean;
  /** Real paths that stay read-only inside writable folders. */
  readonly protect: readonly string[];
  /** Hosts that are reachable through the proxy while `network` is false. */
  readonly network_allow?: readonly string[];
  /** Real paths that cannot be read. The longest match among these and `rw_paths` decides. */
  readonly deny_read?: readonly string[];
  /** Real paths of sockets that stay reachable. */
  readonly sockets?: readonly string[];
  /** True if commands are denied every socket of the host that has a path. */
  readonly block_unix_sockets?: boolean;
  /** Resource limits of one command. */
  readonly limits?: ResourceLimits;
}

/** A hidden path. An empty file or an empty folder is mounted over it. */
export interface HiddenPath {
  /** Real path. */
  readonly path: string;
  /** True if the path is a folder. */
  readonly folder: boolean;
}

/** A policy that can be mounted now: every path in it exists. */
export interface MountablePolicy extends Required<Policy> {
  /**
   * Writable paths inside other writable paths. They cannot be replaced, and are mounted again if an empty folder
   * covers them.
   */
  readonly inner: readonly string[];
  /** Hidden paths that exist. */
  readonly hidden: readonly HiddenPath[];
  /** Symbolic links on the way to protected paths. */
  readonly links: readonly string[];
  /**
   * Protected paths that are compared after a command and restored, because the backend cannot keep them read-only. If
   * absent, there are none.
   */
  readonly held?: readonly string[];
  /** Those of `held` that are too large to be restored completely. */
  readonly partly?: readonly string[];
  /** Sockets that are masked. */
  readonly masked: readonly string[];
  /** Folders of runtime sockets. An empty folder is mounted over each. */
  readonly runtime: readonly string[];
  /** True if commands are refused new local sockets, as far as this machine can filter system calls. */
  readonly refuses_sockets: boolean;
  /**
   * True if another process could replace a path while it is being mounted: a command of another run, or another user.
   * If so, a script inside the sandbox checks the mounts before the command begins.
   */
  readonly unsteady: boolean;
}

/** Settings of one backend, from `sandbox.backends.NAME`. Each backend defines its own keys. */
export type BackendConfig = Readonly<Record<string, unknown>>;

/** The machine and the run a backend works for. */
export interface Host {
  /** Working directory, home folder and environment variables of the run. */
  readonly environment: Environment;
  /** True if commands run as the superuser. */
  readonly root: boolean;
  /** True if this machine looks like a container. Only remedies in messages depend on it. */
  readonly container: boolean;
  /** Finds a program, once per name. Returns an absolute path that no command inside the sandbox can replace. */
  program(name: string): Outcome<string>;
  /** Reports a problem to the person. The same problem is reported once. */
  notice(problem: Problem): void;
  /** Returns the network namespace that commands without full network access share; null if each has its own. */
  sharedNetwork?(): SharedNetwork | null;
}

/** A network namespace of a run. */
export interface SharedNetwork {
  /** Words before a command that starts in the namespace. */
  readonly enter: readonly string[];
  /** Returns a port for a relay, another one each time. */
  takePort(): number;
}

/** Wraps a command according to a policy. Names and order follow the same rules as approval resolvers. */
export interface Backend {
  /**
   * Checks whether the backend is installed; whether it works is for the probe to find out. A failure means that it is
   * absent, and with `auto` commands may run without a sandbox. If this function throws, no command runs, because it is
   * unknown whether the backend is installed.
   */
  available(config: BackendConfig, host: Host): Outcome<void> | Promise<Outcome<void>>;
  /**
   * Returns the argument list for a policy and a command. Pure: it has no effects, and its result depends only on its
   * arguments.
   */
  wrap(policy: Policy, config: BackendConfig, inner: readonly string[]): Outcome<string[]>;
  /** Prepares what a real run needs beyond `wrap`. If absent, the list of `wrap` is run unchanged. */
  prepare?(
    policy: MountablePolicy,
    config: BackendConfig,
    inner: readonly string[],
    host: Host,
  ): Promise<Outcome<BackendPreparation>>;
  /** Runs a no-op command under exactly this policy. If absent, flemma wraps and runs `/bin/sh -c :`. */
  probe?(policy: Policy, config: BackendConfig): Promise<Outcome<void>>;
  /**
   * After a failed probe, returns reduced settings for another probe. If that probe succeeds, the run uses them. Null
   * if nothing is left to try.
   */
  retry?(config: BackendConfig, problem: Problem): BackendConfig | null;
  /** Sentences for status: what protects commands under these settings, and what does not. */
  hardening?(policy: Policy, config: BackendConfig, host: Host): readonly string[];
  /** Version of the program behind the backend, for status. Null if unknown. */
  version?(config: BackendConfig, host: Host): Promise<string | null>;
  /** Backends with a higher priority are tried first. @default 50 */
  readonly priority?: number;
  /** One sentence for status. */
  readonly description?: string;
  /**
   * True if the backend itself confines commands. A backend that does not is skipped if an earlier backend failed for
   * a reason that may be temporary.
   * @default true
   */
  readonly confines?: boolean;
  /**
   * True if the backend cannot keep protected paths in writable folders read-only. They are then compared after a
   * command and restored.
   * @default false
   */
  readonly repairs?: boolean;
  /** What the backend does not cover under this policy. If absent, it covers the whole policy. */
  coverage?(policy: MountablePolicy): Promise<Outcome<BackendCoverage>>;
}

/** What a backend covers of a policy. */
export interface BackendCoverage {
  /** `exact`: files are as safe as with mounts. `repaired`: protected files are compared and restored after a command. */
  readonly kind: "exact" | "repaired";
  /** Version of the kernel interface. */
  readonly abi: number;
  /** What commands can do although the policy forbids it. A sentence for each topic. */
  readonly notCovered: readonly string[];
}

/** The backend failed before the command could start. */
export interface SetupFailure extends Problem {
  /** The code of the problem, which is always the same. */
  readonly code: "sandbox-setup-failed";
  /** The cause alone, worded as the end of a sentence. Absent if unknown. */
  readonly cause?: string;
  /** The refused part, if the backend may work without it: `proc` or `seccomp`. */
  readonly part?: string;
  /** Everything the backend wrote to standard error. */
  readonly stderr: string;
  /** One short sentence for a tool result: nothing ran, and whether a retry may help. */
  readonly forModel: string;
  /** True if the same set-up may succeed at the next attempt. @default false */
  readonly isPassing?: true;
}

/** Options for preparing a command. */
export interface PrepareOptions {
  /**
   * True if the command itself reads a line of standard input first, and exits if there is none.
   * @default false
   */
  readonly waits?: boolean;
  /**
   * True for a command that lives while other calls run. File tools that run apart from commands do not wait for it.
   * @default false
   */
  readonly background?: boolean;
}

/** How a process ended. */
export interface ExitStatus {
  /** The exit code, or 128 plus the number of the signal that ended the process. */
  readonly code: number;
  /** Name of the signal that ended the process, or null. */
  readonly signal: string | null;
}

/** Options for starting a process. */
export interface SpawnOptions {
  /** Absolute working directory. */
  readonly cwd: string;
  /** The complete environment of the child process. It inherits nothing else. */
  readonly env: Readonly<Record<string, string>>;
  /** Bytes for standard input, or a stream that is read while the process lives. If absent, it is `/dev/null`. */
  readonly stdin?: Uint8Array | ReadableStream<Uint8Array>;
  /** True if standard input stays open for `Running.input`. Only possible without a gate. @default false */
  readonly keepInput?: boolean;
}

/** A child process that leads its own session and process group. */
export interface Running {
  /** Process id; also the id of its process group and session. */
  readonly pid: number;
  /** Standard input of the process. Present if `keepInput` was set. */
  readonly input?: WritableStream<Uint8Array>;
  /** Standard output of the process. */
  readonly stdout: ReadableStream<Uint8Array>;
  /** Standard error of the process. */
  readonly stderr: ReadableStream<Uint8Array>;
  /** Settles when the leader ends. Other processes of its group may live until `kill`. Never rejects. */
  readonly status: Promise<ExitStatus>;
  /**
   * Ends the whole group: SIGTERM first, SIGKILL for what is left after 2 seconds. Also ends processes that outlive the
   * leader. Resolves when the group is gone or SIGKILL was sent. May be called repeatedly.
   */
  kill(): Promise<void>;
  /**
   * Sends SIGTERM to the command and everything it started, but not to the processes of the sandbox around it, and waits
   * for their end, at most this many milliseconds. Call `kill` afterwards.
   */
  endGently(milliseconds: number): Promise<void>;
}

/** A command that is ready to start. It can tell a failed set-up of the sandbox from a failed command. */
export interface PreparedCommand {
  /** The argument list to run. Equals the inner command if no backend wraps it. */
  readonly argv: readonly string[];
  /** True if a backend wraps the command. */
  readonly wrapped: boolean;
  /**
   * Starts the command. Call this once. The command waits until its start is recorded: if this program is killed later,
   * another run can end the command and repair what it did. If this program is killed before the record is written, the
   * command never runs.
   */
  start(options: SpawnOptions): Outcome<Running>;
  /**
   * Records that the caller, not `start`, is about to run the argument list.
   *
   * @param end ends the caller's process immediately. It is called if the command writes something that git outside
   * the sandbox would run; without it, this is repaired after the command.
   */
  handOut(end?: () => void): Outcome<void>;
  /**
   * Returns the set-up failure of the backend after the command ended, or null if the command itself ran. A process
   * that was killed, for instance by a timeout, is not a set-up failure.
   *
   * @param stderr what the backend wrote before the command took over
   * @param signal name of the signal that ended the process, if any
   */
  setupFailure(stderr: string, signal?: string | null): Promise<SetupFailure | null>;
  /**
   * True if the set-up failed because a socket vanished before its mask was mounted, so that nothing ran. The same
   * argument list can then be run again; `start` does so itself. Absent if that cannot happen.
   */
  mayRunAgain?(): boolean;
  /**
   * Returns what the result must say in addition to its output, or null. Call after the command ended. If absent, there
   * is never anything to add.
   *
   * @param output the end of its output
   * @param failed the text of the command, if it failed
   */
  note?(output: string, failed?: { readonly command: string }): string | null;
  /** Removes everything that preparing created. Always call once. */
  dispose(): Promise<void>;
}

/** A process whose standard streams are pipes. */
export interface PipedProcess {
  /** Id of the process. */
  readonly pid: number;
  /** Standard input. */
  readonly stdin: WritableStream<Uint8Array<ArrayBuffer>>;
  /** Standard output. */
  readonly stdout: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Standard error. */
  readonly stderr: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** How the process ended. */
  readonly status: Promise<{ readonly code: number; readonly signal: string | null }>;
}

/** A command as a backend prepares it. */
export interface BackendPreparation extends Omit<PreparedCommand, "wrapped" | "start" | "handOut"> {
  /** The argument list without names that differ between runs. */
  readonly fingerprint: readonly string[];
  /**
   * Returns a variant of `argv` with which the command begins only after a line feed on standard input. If the input
   * ends before that, the command never begins. With `piped`, the rest of the input belongs to the command; with
   * `empty`, the command gets no input.
   */
  readonly gated?: (kind: "empty" | "piped") => readonly string[];
  /**
   * Returns a process that was started ahead and becomes the command when it gets the text; null if none was. The command
   * waits as that of `gated`, or does not wait if the kind is null.
   */
  readonly takeStarted?: (kind: "empty" | "piped" | null, options: SpawnOptions) => {
    readonly child: PipedProcess;
    readonly text: Uint8Array;
  } | null;
  /** Value that the processes carry in their environment, to find them after this program is gone. */
  readonly mark?: string;
  /**
   * True if the command, started as process `outside`, would end if this program were killed now. Absent if that
   * cannot be known, or if it holds from the first moment.
   */
  readonly isTied?: (outside: number) => boolean;
  /** The hosts that the command was refused, as `host:port`. Absent if that is not known. */
  readonly refusedHosts?: () => readonly string[];
}

/** A helper process of flemma in the sandbox of commands: same mounts, system calls and rights, without their limits. */
export interface SandboxWorker {
  /** True if a backend wraps the process. */
  readonly wrapped: boolean;
  /** Writes to its standard input. The process exits after this is closed. */
  readonly input: WritableStreamDefaultWriter<Uint8Array>;
  /** Standard output of the process. */
  readonly output: ReadableStream<Uint8Array>;
  /**
   * Settles when the process is gone. The value is the failure of the backend, or null if the process itself ran. Never
   * rejects.
   */
  readonly ended: Promise<SetupFailure | null>;
  /** Ends the process. */
  kill(): Promise<void>;
}

/** What a file tool does within this program. */
export type FileAccess = "read" | "write";

/** A file tool that waits for commands to end. */
export interface FileTurn {
  /** Real paths that the tool writes. Called again after each wait. */
  paths(): readonly string[];
  /**
   * True if commands cannot redirect the work to other files, because a sandbox worker does it, or because it keeps the
   * folders open. Such work waits only for commands of this run, which may change the content of the files.
   *
   * @default false
   */
  readonly runsApart?: boolean;
  /** Aborts the wait. */
  readonly signal: AbortSignal;
  /** Called when the tool has to wait for a command. `whose` names the run of that command. */
  waiting(whose: "this run" | "another run"): void;
}

/** The sandbox of one run of one document. Its policy is fixed at creation. */
export interface Sandbox {
  /** True if commands are wrapped at all. */
  readonly enabled: boolean;
  /** The policy, or the reason why it cannot be resolved. */
  policy(): Outcome<Policy>;
  /** Returns the name of the working backend, or the reason why none works. The backend is probed once. */
  available(): Promise<Outcome<string>>;
  /** Wraps a command. If this fails, nothing may run. */
  prepare(inner: readonly string[], options?: PrepareOptions): Promise<Outcome<PreparedCommand>>;
  /** True if tools may write to this absolute path. Independent of the backend. */
  isPathWritable(path: string): boolean;
  /** True if an absolute path stays read-only for tools, existing or not. If absent, only what `policy` protects does. */
  isProtected?(path: string): boolean;
  /** True if tools may read this absolute path. Independent of the backend. */
  isPathReadable(path: string): boolean;
  /**
   * The program that obeys the file at a path when the person starts it. flemma asks before it writes such a file. Null
   * for every other file. If absent, there are no such files.
   */
  watchedBy?(path: string): string | null;
  /**
   * Runs `work` of a file tool while no command lives that could replace the files. If absent, it runs immediately.
   *
   * @throws the reason of the signal, if it aborts during the wait
   */
  betweenCommands?<T>(access: FileAccess, turn: FileTurn, work: () => Promise<T>): Promise<T>;
  /**
   * Returns the sandbox worker of the run. Starts it on first use, and again if it ended or its sandbox would be
   * different now. Runs it without a sandbox if this machine has none. If absent, there is never a worker.
   *
   * @param argv command of the worker, always the same
   */
  startWorker?(
    argv: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<Outcome<SandboxWorker>>;
  /** Returns which paths are visible, as data for a worker. If absent, every path is visible. */
  pathView?(): PathView;
  /**
   * The symbolic link on the way to a path that a command could have made and that leads outside the writable paths, or
   * null. A tool must not write through it. If absent, there is never one.
   */
  strayLink?(path: string): string | null;
  /**
   * Environment variables that tools keep although they name sockets, because the policy keeps those sockets. If
   * absent, there are none.
   */
  socketVariables?(): readonly string[];
  /**
   * Additional environment variables of commands, unless `tools.env.pass` names the person's own. If absent, there are
   * none.
   */
  addedVariables?(): Readonly<Record<string, string>>;
  /**
   * What was done to files after commands since the last call of this function, as sentences. The result of the call
   * must contain them, because the model expects the files as its commands left them. If absent, nothing is done.
   */
  takeRepaired?(): readonly string[];
  /** Notices for the person, such as skipped paths or commands without a sandbox. Each appears once. */
  notices(): readonly Problem[];
}
