// The launcher of a command under Landlock: processes of its own that confine the command, start it, and end everything
// that the command started. It is bundled into launcher.generated.ts, so that every distribution has it.
//
// The guard starts a second process that confines itself and becomes the command, and stays until everything has ended.
// If the guard is killed, a shell in the guard's domain ends the rest. The second process can wait for its plan, because
// starting both takes longer than all the rest.

import {
  CACHE_VARIABLE,
  COMMAND_ROLE,
  GUARD_ROLE,
  type LauncherChecks,
  type LauncherPlan,
  type LauncherProxy,
  NOT_STARTED,
  OWN_CACHE_VARIABLE,
  REPORT_DESCRIPTOR,
  RUNTIME_ARGUMENTS,
  type WaitedStart,
  WAITS,
} from "./launcher_plan.ts";
import { LIMITS_SIGNALS } from "./landlock_plan.ts";

const libc = Deno.dlopen("libc.so.6", {
  syscall: { parameters: ["i64", "i64", "i64", "i64", "i64", "i64"], result: "i64" },
  // The same function with types that need no conversion, for calls that are made for every rule.
  openat2: { name: "syscall", parameters: ["i64", "i64", "buffer", "buffer", "i64"], result: "i64" },
  addRule: { name: "syscall", parameters: ["i64", "i64", "i64", "buffer", "i64"], result: "i64" },
  prctl: { parameters: ["i32", "u64", "u64", "u64", "u64"], result: "i32" },
  posix_spawn: {
    parameters: ["buffer", "buffer", "buffer", "buffer", "buffer", "buffer"],
    result: "i32",
  },
  posix_spawnattr_init: { parameters: ["buffer"], result: "i32" },
  posix_spawnattr_setflags: { parameters: ["buffer", "i16"], result: "i32" },
  posix_spawnattr_setsigdefault: { parameters: ["buffer", "buffer"], result: "i32" },
  posix_spawnattr_setsigmask: { parameters: ["buffer", "buffer"], result: "i32" },
  posix_spawn_file_actions_init: { parameters: ["buffer"], result: "i32" },
  posix_spawn_file_actions_adddup2: { parameters: ["buffer", "i32", "i32"], result: "i32" },
  waitpid: { parameters: ["i32", "buffer", "i32"], result: "i32" },
  waitLater: { name: "waitpid", parameters: ["i32", "buffer", "i32"], result: "i32", nonblocking: true },
  kill: { parameters: ["i32", "i32"], result: "i32" },
  getppid: { parameters: [], result: "i32" },
  pipe2: { parameters: ["buffer", "i32"], result: "i32" },
  write: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  open: { parameters: ["buffer", "i32"], result: "i32" },
  mkdir: { parameters: ["buffer", "u32"], result: "i32" },
  rename: { parameters: ["buffer", "buffer"], result: "i32" },
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  connect: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  listen: { parameters: ["i32", "i32"], result: "i32" },
  sendto: { parameters: ["i32", "buffer", "usize", "i32", "buffer", "u32"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
  fcntl: { parameters: ["i32", "i32", "i32"], result: "i32" },
  signal: { parameters: ["i32", "usize"], result: "usize" },
  read: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  chdir: { parameters: ["buffer"], result: "i32" },
  setenv: { parameters: ["buffer", "buffer", "i32"], result: "i32" },
  unsetenv: { parameters: ["buffer"], result: "i32" },
  execvpe: { parameters: ["buffer", "buffer", "buffer"], result: "i32" },
  __errno_location: { parameters: [], result: "pointer" },
}).symbols;

/** System calls. These numbers are the same on all supported architectures, except that of `capset`. */
const LANDLOCK_CREATE = 444;
const LANDLOCK_ADD = 445n;
const LANDLOCK_RESTRICT = 446;
const OPENAT2 = 437n;
const CLOSE_RANGE = 436;
const CAPSET = Deno.build.arch === "aarch64" ? 91 : 126;

/** Options of `prctl`. */
const SET_PDEATHSIG = 1;
const SET_SECCOMP = 22;
const DROP_FROM_BOUNDING_SET = 24;
const SET_SUBREAPER = 36;
const SET_NO_NEW_PRIVS = 38;

const SIGHUP = 1;
const SIGINT = 2;
const SIGKILL = 9;
const SIGPIPE = 13;
const SIGTERM = 15;

const EPERM = 1;
const EACCES = 13;
const O_WRONLY = 1;
const AF_INET = 2;
const SOCK_STREAM = 1;
const SOCK_DATAGRAM = 2;
const MSG_FASTOPEN = 0x20000000;
const ELOOP = 40;
const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000;
const NO_SYMLINKS = 4;
const AT_FDCWD = -100n;
const REFER = 1 << 13;
const F_SETFD = 2;
const FD_CLOEXEC = 1;
/** Flags of `posix_spawn`: signals as at the start of a program, and a session of its own. */
const SPAWN_FLAGS = 0x04 | 0x08 | 0x80;
/** Sizes of structures of the C library, in bytes, rounded up. */
const SPAWN_STRUCTURE = 512;
const SIGNAL_SET = 128;

const NEWLINE = 10;
const DIGIT = 48;

const encoder = new TextEncoder();
const text = (value: string): Uint8Array<ArrayBuffer> => encoder.encode(`${value}\0`);

function errno(): number {
  return new Deno.UnsafePointerView(libc.__errno_location()!).getInt32();
}

function addressOf(bytes: BufferSource): bigint {
  return Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes as Uint8Array<ArrayBuffer>)!);
}

function call(number: number, ...args: (number | bigint)[]): number {
  const [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n] = args.map(BigInt);
  return Number(libc.syscall(BigInt(number), a, b, c, d, e));
}

function prctl(option: number, a: bigint | number = 0, b: bigint | number = 0): number {
  return libc.prctl(option, BigInt(a), BigInt(b), 0n, 0n);
}

/** The command cannot be confined, so it must not run. The message is the end of a sentence. */
class NotConfined extends Error {}

/** Creates a set of rules. The sizes of the kernel's structure grew with its versions. */
function ruleset(abi: number, handled: number, refusesTcp: boolean, scope: number): number {
  const attributes = new BigUint64Array([BigInt(handled), refusesTcp ? 3n : 0n, BigInt(scope)]);
  const made = call(LANDLOCK_CREATE, addressOf(attributes), abi >= 6 ? 24 : abi >= 4 ? 16 : 8, 0);
  if (made < 0) throw new NotConfined(`Landlock refused the rules (error ${errno()})`);
  return made;
}

/** A link on the way would grant another path than the plan says. */
const HOW_TO_OPEN = new BigUint64Array([BigInt(O_PATH | O_CLOEXEC), 0n, BigInt(NO_SYMLINKS)]);
/** The kernel's structure of a rule: rights, descriptor. */
const RULE = new Uint8Array(12);
const RULE_VIEW = new DataView(RULE.buffer);
const BELOW_PATH = 1n;
const TO_PORT = 2n;
const CONNECT_TCP = 2n;

function addRule(rules: number, path: string, rights: number, needed: boolean): void {
  const size = BigInt(HOW_TO_OPEN.byteLength);
  const descriptor = Number(libc.openat2(OPENAT2, AT_FDCWD, text(path), HOW_TO_OPEN, size));
  if (descriptor < 0) {
    // Without capabilities, the command would not get there either.
    if (!needed || errno() === EACCES) return;
    throw new NotConfined(
      errno() === ELOOP ? `${path} was replaced by a symbolic link` : `the path ${path} no longer exists`,
    );
  }
  RULE_VIEW.setBigUint64(0, BigInt(rights), true);
  RULE_VIEW.setInt32(8, descriptor, true);
  const added = libc.addRule(LANDLOCK_ADD, BigInt(rules), BELOW_PATH, RULE, 0n);
  const error = errno();
  libc.close(descriptor);
  if (added < 0n && needed) throw new NotConfined(`Landlock refused a rule for ${path} (error ${error})`);
}

/** Grants TCP connections to a port, which is then reachable on every host. */
function addPort(rules: number, port: number): void {
  const rule = new Uint8Array(new BigUint64Array([CONNECT_TCP, BigInt(port)]).buffer);
  if (libc.addRule(LANDLOCK_ADD, BigInt(rules), TO_PORT, rule, 0n) < 0n) {
    throw new NotConfined(`Landlock refused a rule for the port of the proxy (error ${errno()})`);
  }
}

/**
 * A domain that only limits signals. It must grant moving files between folders, because a layer that does not grant
 * it refuses it.
 */
function signalDomain(abi: number): number {
  const rules = ruleset(abi, REFER, false, 2);
  addRule(rules, "/", REFER, true);
  return rules;
}

/** Drops all capabilities of this thread, and of all that it starts. Ambient ones go with the permitted ones. */
function dropCapabilities(): void {
  const last = Number(Deno.readTextFileSync("/proc/sys/kernel/cap_last_cap"));
  // Without the right to do this, `no_new_privs` has the same effect.
  for (let capability = 0; capability <= last; capability++) prctl(DROP_FROM_BOUNDING_SET, capability);
  const header = new Uint32Array([0x20080522, 0]);
  const none = new Uint32Array(6);
  if (call(CAPSET, addressOf(header), addressOf(none)) !== 0) {
    throw new NotConfined(`capabilities could not be dropped (error ${errno()})`);
  }
}

/** True if this thread is refused a signal to its parent, so that a signal to all processes reaches none outside. */
function cannotSignalParent(): boolean {
  return isRefused(() => libc.kill(libc.getppid(), 0), EPERM, () => {});
}

const status = new Int32Array(1);
const statusBytes = new Uint8Array(status.buffer);

/** Exit code of a process: its own, or 128 plus the number of the signal that ended it. */
function exitCode(): number {
  const [value = 0] = status;
  const signal = value & 0x7f;
  return signal === 0 ? (value >> 8) & 0xff : 128 + signal;
}

/**
 * Ends all descendants. They are those that this process may signal, if it has proved that it may signal nobody else;
 * otherwise they are looked up, and looked up again as long as there are any. Orphans become children of this process.
 */
function endDescendants(reachesNobodyElse: boolean): void {
  do {
    if (reachesNobodyElse) libc.kill(-1, SIGKILL);
    else for (const pid of descendantsOf(Deno.pid)) libc.kill(pid, SIGKILL);
  } while (libc.waitpid(-1, statusBytes, 0) > 0);
}

function descendantsOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const line = Deno.readTextFileSync(`/proc/${name}/stat`);
      parents.set(Number(name), Number(line.slice(line.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // The process has ended.
    }
  }
  const found = new Set([root]);
  for (let before = 0; before !== found.size;) {
    before = found.size;
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid);
  }
  found.delete(root);
  return [...found];
}

function pointers(parts: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new BigUint64Array([...parts.map(addressOf), 0n]).buffer);
}

/** The environment as it was given, also where it is not valid UTF-8. */
function environment(): Uint8Array<ArrayBuffer>[] {
  const bytes = Deno.readFileSync("/proc/self/environ");
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0, start);
    if (end < 0) break;
    parts.push(bytes.slice(start, end + 1));
    start = end + 1;
  }
  return parts;
}

/** The environment of the command: with its own cache folder of the runtime, if it has one. */
function commandEnvironment(): Uint8Array<ArrayBuffer>[] {
  const startsWith = (entry: Uint8Array, name: string) =>
    encoder.encode(`${name}=`).every((byte, at) => entry[at] === byte);
  return environment().filter((entry) => !startsWith(entry, CACHE_VARIABLE)).map((entry) =>
    startsWith(entry, OWN_CACHE_VARIABLE)
      ? entry.slice(OWN_CACHE_VARIABLE.length - CACHE_VARIABLE.length)
      : entry
  );
}

function report(line: string): void {
  const bytes = encoder.encode(`${line}\n`);
  libc.write(REPORT_DESCRIPTOR, bytes, BigInt(bytes.length));
}

/**
 * Starts a program in a session of its own, with the rights of this thread and with default signals.
 *
 * @param input descriptor of its standard input, for a program that shares no other descriptor; absent if it shares all
 * @returns the process id
 */
function start(program: string, args: readonly string[], input?: number): number {
  const attributes = new Uint8Array(SPAWN_STRUCTURE);
  libc.posix_spawnattr_init(attributes);
  const piped = new Uint8Array(SIGNAL_SET);
  piped[(SIGPIPE - 1) >> 3] = 1 << ((SIGPIPE - 1) & 7);
  libc.posix_spawnattr_setsigdefault(attributes, piped);
  libc.posix_spawnattr_setsigmask(attributes, new Uint8Array(SIGNAL_SET));
  libc.posix_spawnattr_setflags(attributes, SPAWN_FLAGS);
  let actions: Uint8Array<ArrayBuffer> | null = null;
  if (input !== undefined) {
    actions = new Uint8Array(SPAWN_STRUCTURE);
    libc.posix_spawn_file_actions_init(actions);
    for (const descriptor of [0, 1, 2]) libc.posix_spawn_file_actions_adddup2(actions, input, descriptor);
  }
  const pid = new Int32Array(1);
  const argv = [program, ...args].map(text);
  const variables = input === undefined ? environment() : [];
  const failed = libc.posix_spawn(
    new Uint8Array(pid.buffer),
    argv[0]!,
    actions,
    attributes,
    pointers(argv),
    pointers(variables),
  );
  if (failed !== 0) throw new NotConfined(`a process could not be started (error ${failed})`);
  return pid[0]!;
}

/** Waits for the end of its input, then ends every process that it may signal. Signals to a whole family do not end it. */
const LAST_GUARD = "trap '' TERM HUP INT; read -r _; kill -9 -1";

/**
 * Starts a shell that ends everything in this domain when this process has ended, however that happens. Commands cannot
 * signal it, because it is outside of their domain.
 */
function startLastGuard(): void {
  const ends = new Int32Array(2);
  if (libc.pipe2(new Uint8Array(ends.buffer), O_CLOEXEC) !== 0) throw new NotConfined("there is no pipe");
  start("/bin/sh", ["-c", LAST_GUARD], ends[0]!);
  libc.close(ends[0]!);
}

/**
 * Runs the guard of a command until everything has ended.
 *
 * @param owner the process that prepared the command
 * @param abi version of the kernel interface that the plan uses
 * @param rest the plan and the words of the command
 * @returns the command's exit code
 */
async function guard(parent: number, owner: number, abi: number, rest: readonly string[]): Promise<number> {
  prctl(SET_PDEATHSIG, SIGTERM);
  // The kernel sends no signal for a parent that ended before the request.
  if (libc.getppid() !== parent || libc.kill(owner, 0) !== 0) return NOT_STARTED;
  prctl(SET_SUBREAPER, 1);
  const scoped = abi >= LIMITS_SIGNALS;
  dropCapabilities();
  if (prctl(SET_NO_NEW_PRIVS, 1) !== 0) throw new NotConfined("no_new_privs is refused");
  if (scoped && call(LANDLOCK_RESTRICT, signalDomain(abi), 0) !== 0) {
    throw new NotConfined(`Landlock refused to confine the guard (error ${errno()})`);
  }
  const isAlone = scoped && cannotSignalParent();
  libc.fcntl(REPORT_DESCRIPTOR, F_SETFD, FD_CLOEXEC);
  if (isAlone) startLastGuard();
  libc.fcntl(REPORT_DESCRIPTOR, F_SETFD, 0);
  const command = start(Deno.execPath(), [...launcherArguments(), COMMAND_ROLE, `${Deno.pid}`, ...rest]);
  const stop = (signal: number) => {
    endDescendants(isAlone);
    report(`exit ${128 + signal}`);
    Deno.exit(128 + signal);
  };
  Deno.addSignalListener("SIGTERM", () => stop(SIGTERM));
  Deno.addSignalListener("SIGINT", () => stop(SIGINT));
  Deno.addSignalListener("SIGHUP", () => stop(SIGHUP));
  // Orphans of the command become children of this process, and are waited for too.
  while (await libc.waitLater(-1, statusBytes, 0) !== command);
  const code = exitCode();
  endDescendants(isAlone);
  report(`exit ${code}`);
  return code;
}

/** The arguments of the runtime that start this program again. */
function launcherArguments(): string[] {
  return [...RUNTIME_ARGUMENTS, new URL(import.meta.url).pathname];
}

/**
 * Reads a plan from standard input, and no further: a line with its length in bytes, and the plan. It is not in a file,
 * because the environment of a command can have secrets that other commands must not read. Null if the input ends before.
 */
function receivePlan(): string | null {
  const byte = new Uint8Array(1);
  let length = 0;
  for (;;) {
    if (Number(libc.read(0, byte, 1n)) <= 0) return null;
    if (byte[0] === NEWLINE) break;
    length = length * 10 + byte[0]! - DIGIT;
  }
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const rest = bytes.subarray(at);
    const count = Number(libc.read(0, rest, BigInt(rest.length)));
    if (count <= 0) return null;
    at += count;
  }
  return new TextDecoder().decode(bytes);
}

/** Reads a plan from a file and removes it, because it can hold the secret of a proxy. */
function takePlan(path: string): string {
  const plan = Deno.readTextFileSync(path);
  Deno.removeSync(path);
  return plan;
}

/** Enters the folder of a command, and returns its environment. The program is looked up as the command would do it. */
function enter({ cwd, variables }: WaitedStart): Uint8Array<ArrayBuffer>[] {
  if (libc.chdir(text(cwd)) !== 0) {
    throw new NotConfined(`the folder ${cwd} cannot be entered (error ${errno()})`);
  }
  const { PATH } = variables;
  if (PATH === undefined) libc.unsetenv(text("PATH"));
  else libc.setenv(text("PATH"), text(PATH), 1);
  return Object.entries(variables).map(([name, value]) => text(`${name}=${value}`));
}

/** Attempts to read the error of a refusal. */
const MOST_TRIES = 20;

/**
 * True if a call of the C library is refused with this error. It is tried again after any other error, because the
 * runtime can make calls of its own, and fail, before the error is read.
 *
 * @param undo called with a result that is not a failure
 */
function isRefused(
  attempt: () => number,
  wanted: number,
  undo: (result: number) => void = libc.close,
): boolean {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const result = attempt();
    if (result >= 0) {
      undo(result);
      return false;
    }
    if (errno() === wanted) return true;
  }
  return false;
}

/**
 * Tries what must be refused. A kernel or a filter around this program may accept the rules and not enforce them.
 *
 * @param stranger a process outside that must not get signals; null if signals are not limited
 * @returns what was not refused, or what was and should not be; null if everything is as planned
 */
function wrongResult(
  { unwritable, unreadable, families, movable }: LauncherChecks,
  stranger: number | null,
): string | null {
  if (!isRefused(() => libc.open(text(unwritable), O_WRONLY | O_CLOEXEC), EACCES)) {
    return `writing ${unwritable}`;
  }
  for (const path of unreadable) {
    if (!isRefused(() => libc.open(text(path), O_CLOEXEC), EACCES)) return `reading ${path}`;
  }
  for (const family of families) {
    if (!isRefused(() => libc.socket(family, SOCK_STREAM, 0), EPERM)) return `sockets of family ${family}`;
  }
  if (stranger !== null && !isRefused(() => libc.kill(stranger, 0), EPERM, () => {})) {
    return "signals to other processes";
  }
  if (movable === null) return null;
  const [from, to] = [`${movable}/a`, `${movable}/b`];
  for (const folder of [from, to]) libc.mkdir(text(folder), 0o700);
  libc.mkdir(text(`${from}/x`), 0o700);
  const isMoved = libc.rename(text(`${from}/x`), text(`${to}/x`)) === 0;
  return isMoved ? null : "its rules, but also refused to move files between folders";
}

/** An address of this machine, in the form of the kernel. */
function localAddress(port: number): Uint8Array<ArrayBuffer> {
  const address = new Uint8Array(16);
  address.set([AF_INET, 0, port >> 8, port & 0xff, 127, 0, 0, 1]);
  return address;
}

/** Like `wrongResult`, for the only way to the network. */
function wrongNetwork({ port }: LauncherProxy): string | null {
  const other = localAddress(port === 1 ? 2 : port - 1);
  const withTcp = (attempt: (socket: number) => number) => {
    const socket = libc.socket(AF_INET, SOCK_STREAM, 0);
    if (socket < 0) throw new NotConfined(`the network list cannot be used (error ${errno()})`);
    const result = attempt(socket);
    const error = errno();
    libc.close(socket);
    return { result, error };
  };
  // Each attempt gets a new socket, and the error is asked for again if the runtime has made a call of its own.
  const refuses = (attempt: (socket: number) => number, wanted: number) => {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { result, error } = withTcp(attempt);
      if (result >= 0) return false;
      if (error === wanted) return true;
    }
    return false;
  };
  if (!refuses((socket) => libc.connect(socket, other, other.length), EACCES)) return "other ports";
  if (!refuses((socket) => libc.listen(socket, 1), EPERM)) return "listening on a port";
  const one = new Uint8Array(1);
  const fast = (socket: number) => Number(libc.sendto(socket, one, 1n, MSG_FASTOPEN, other, other.length));
  if (!refuses(fast, EPERM)) return "connections by a flag";
  if (!isRefused(() => libc.socket(AF_INET, SOCK_DATAGRAM, 0), EPERM)) return "UDP";
  const own = localAddress(port);
  return withTcp((socket) => libc.connect(socket, own, own.length)).result === 0
    ? null
    : "its rules, but also refused the way to the proxy";
}

/** An environment with these variables in place of those with the same names. */
function withVariables(
  entries: readonly Uint8Array<ArrayBuffer>[],
  variables: Readonly<Record<string, string>>,
): Uint8Array<ArrayBuffer>[] {
  const names = Object.keys(variables).map((name) => encoder.encode(`${name}=`));
  return [
    ...entries.filter((entry) => !names.some((name) => name.every((byte, at) => entry[at] === byte))),
    ...Object.entries(variables).map(([name, value]) => text(`${name}=${value}`)),
  ];
}

/**
 * Confines this process and becomes the command. Returns only if that fails.
 *
 * @param from path of the plan, or `WAITS` if it comes on standard input
 */
function becomeCommand(parent: number, from: string, words: readonly string[]): void {
  prctl(SET_PDEATHSIG, SIGKILL);
  if (libc.getppid() !== parent) Deno.exit(NOT_STARTED);
  const received = from === WAITS ? receivePlan() : takePlan(from);
  // The process that started this one does not need it any more.
  if (received === null) Deno.exit(NOT_STARTED);
  const plan: LauncherPlan = JSON.parse(received);
  const { abi, handled, refusesTcp, rules, filter, checks, owner, group, start, proxy } = plan;
  const scoped = abi >= LIMITS_SIGNALS;
  const given = start === undefined ? commandEnvironment() : enter(start);
  const variables = proxy === null ? given : withVariables(given, proxy.variables);
  const argv = (start?.argv ?? words).map(text);
  const instructions = Uint8Array.from(filter);
  const program = new Uint8Array(16);
  const view = new DataView(program.buffer);
  view.setUint16(0, instructions.length / 8, true);
  view.setBigUint64(8, addressOf(instructions), true);
  const [argvPointers, variablePointers] = [pointers(argv), pointers(variables)];
  const inner = ruleset(abi, handled, refusesTcp, scoped ? 3 : 0);
  for (const { path, rights, needed } of rules) addRule(inner, path, rights, needed);
  if (proxy !== null) addPort(inner, proxy.port);
  // Earlier, the threads of this runtime would count.
  if (group !== null) join(group);
  // The runtime ignores this signal, and the command would inherit that.
  libc.signal(SIGPIPE, 0n);
  if (call(LANDLOCK_RESTRICT, inner, 0) !== 0) {
    throw new NotConfined(`Landlock refused to confine the command (error ${errno()})`);
  }
  if (prctl(SET_SECCOMP, 2, addressOf(program)) !== 0) {
    throw new NotConfined("the system call filter is refused");
  }
  const wrong = wrongResult(checks, scoped ? owner : null) ?? (proxy === null ? null : wrongNetwork(proxy));
  if (wrong !== null) throw new NotConfined(`the kernel did not refuse ${wrong}`);
  // Everything but the standard streams is closed when the command replaces this process.
  if (call(CLOSE_RANGE, 3, 0xffffffff, 4) !== 0) throw new NotConfined("open files cannot be closed");
  report("ready");
  libc.execvpe(argv[0]!, argvPointers, variablePointers);
  throw new NotConfined(`the program ${start?.argv[0] ?? words[0]} cannot be started inside the sandbox`);
}

/** Makes this process a member of a control group. */
function join(members: string): void {
  const descriptor = libc.open(text(members), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0 || libc.write(descriptor, encoder.encode("0"), 1n) !== 1n) {
    throw new NotConfined(`its number of processes could not be limited (error ${errno()})`);
  }
}

/** Runs the launcher, and exits as the command did. */
async function main(): Promise<never> {
  let code = NOT_STARTED;
  try {
    const [role, parent, ...rest] = Deno.args;
    if (role !== GUARD_ROLE) becomeCommand(Number(parent), rest[0]!, rest.slice(1));
    else code = await guard(Number(parent), Number(rest[0]), Number(rest[1]), rest.slice(2));
  } catch (thrown) {
    const cause = thrown instanceof Error ? thrown.message : String(thrown);
    report(`failed ${cause.replaceAll("\n", " ")}`);
  }
  Deno.exit(code);
}

await main();
