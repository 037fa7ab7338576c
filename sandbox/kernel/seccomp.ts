// A seccomp filter for system calls that no tool needs, as classic BPF instructions.

/** System call to refuse. If `argument` is absent, every call of that number is refused. */
interface Refusal {
  readonly call: number;
  /** Condition on the low 32 bits of one argument. The kernel does not read the other bits either. */
  readonly argument?: {
    readonly index: number;
    readonly test: "equals" | "differs" | "has bits";
    readonly value: number;
  };
  /** The error that the call returns. @default EPERM */
  readonly error?: number;
}

/** System call numbers of one architecture. Numbers from 424 on are the same everywhere. */
interface Architecture {
  /** The kernel's constant for the architecture in a filter, AUDIT_ARCH_…. */
  readonly audit: number;
  readonly ioctl: number;
  readonly socket: number;
  readonly socketpair: number;
  readonly truncate: number;
  readonly prlimit64: number;
  readonly listen: number;
  /** Calls that can connect a TCP socket by a flag, each with the position of the argument that holds it. */
  readonly sending: readonly (readonly [call: number, argument: number])[];
  readonly setpriority: number;
  readonly ioprio_set: number;
  /** Calls that set how a process is scheduled; the first argument is its id. */
  readonly scheduling: readonly number[];
  readonly refused: Readonly<Record<string, number>>;
  /** The calls that set a file's mode, each with the position of the argument that holds the mode. */
  readonly modes: readonly (readonly [call: number, argument: number])[];
  /** Calls from this number on belong to a second table and are all refused; null if there is none. */
  readonly secondTable: number | null;
}

const NEW_CALLS: Readonly<Record<string, number>> = {
  // io_uring creates sockets and opens files without the usual calls, and widens the attack surface of the kernel.
  io_uring_setup: 425,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
  open_tree_attr: 467,
};

/** Supported architectures, by `Deno.build.arch`. */
export const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x86_64: {
    audit: 0xc000003e,
    ioctl: 16,
    socket: 41,
    socketpair: 53,
    truncate: 76,
    prlimit64: 302,
    listen: 50,
    // sendto, sendmsg, sendmmsg.
    sending: [[44, 3], [46, 2], [307, 3]],
    setpriority: 141,
    ioprio_set: 251,
    // sched_setscheduler, sched_setparam, sched_setattr.
    scheduling: [144, 142, 314],
    refused: {
      mount: 165,
      umount2: 166,
      pivot_root: 155,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      bpf: 321,
      perf_event_open: 298,
      userfaultfd: 323,
      ...NEW_CALLS,
    },
    // chmod, fchmod, fchmodat, fchmodat2; open, openat, creat; mknod, mknodat.
    modes: [[90, 1], [91, 1], [268, 2], [452, 2], [2, 2], [257, 3], [85, 1], [133, 1], [259, 2]],
    secondTable: 0x40000000,
  },
  aarch64: {
    audit: 0xc00000b7,
    ioctl: 29,
    socket: 198,
    socketpair: 199,
    truncate: 45,
    prlimit64: 261,
    listen: 201,
    sending: [[206, 3], [211, 2], [269, 3]],
    setpriority: 140,
    ioprio_set: 30,
    scheduling: [119, 118, 274],
    refused: {
      mount: 40,
      umount2: 39,
      pivot_root: 41,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      bpf: 280,
      perf_event_open: 241,
      userfaultfd: 282,
      ...NEW_CALLS,
    },
    // fchmod, fchmodat, fchmodat2; openat; mknodat.
    modes: [[52, 1], [53, 2], [452, 2], [56, 3], [33, 2]],
    secondTable: null,
  },
};

const OPENAT2 = 437;
/** The setuid and setgid bits. */
const SET_ID = 0o6000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const PRIO_USER = 2;
const IOPRIO_WHO_USER = 3;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_NETLINK = 16;
const SOCK_STREAM = 1;
/** The bits of a socket's type that are not flags. */
const SOCKET_TYPE = 0xf;
const IPPROTO_TCP = 6;
/** Connects and sends in one step, which Landlock does not see. */
const MSG_FASTOPEN = 0x20000000;
/** The kind of netlink sockets that list interfaces and addresses. */
const NETLINK_ROUTE = 0;
/** A bit that the type of a datagram socket has, and the types of streams and sequenced packets do not have. */
const DATAGRAM = 2;
const AF_VSOCK = 40;

const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;

/** BPF instructions: load a word of the call's data, mask it, compare and jump, return. */
const LOAD = 0x20;
const AND = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_BITS = 0x45;
const RETURN = 0x06;

/** Offsets in `seccomp_data`: call number, architecture, low halves of the arguments. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argumentOffset = (index: number) => 16 + 8 * index;

interface Instruction {
  readonly code: number;
  /** Number of instructions to skip: `yes` if the comparison is true, `no` if it is false. */
  readonly yes?: number;
  readonly no?: number;
  readonly value: number;
}

export interface FilterOptions {
  /** Refuse local sockets, with a path or abstract. Connected pairs stay, except of datagrams. */
  readonly blockUnixSockets: boolean;
  /** Refuse vsock sockets to the host of a virtual machine: a network namespace does not block them. */
  readonly blockHostSockets: boolean;
  /**
   * Refuse setuid and setgid bits. The superuser needs this: a file marked so in a writable folder would give
   * everybody on the machine the superuser's rights.
   */
  readonly refuseSetuid: boolean;
  /** Additional rules where no namespaces separate commands from the machine. @default none */
  readonly alone?: {
    /** Refuse all sockets except local ones and those that list network interfaces. */
    readonly blockNetwork: boolean;
    /** Allow TCP over IPv4 nevertheless, to wherever Landlock allows it. Nothing can listen. @default false */
    readonly allowTcp?: boolean;
    /** Refuse to change the length of a file by its path: Landlock before ABI 3 does not. */
    readonly refuseTruncate: boolean;
  };
}

/**
 * The filter as bytes, 8 per instruction, for a little-endian machine; null for an unsupported architecture. Refused
 * calls fail with EPERM, those of another architecture or table with ENOSYS; no process is killed.
 *
 * `ptrace` and related calls stay allowed: the process namespace already hides everything outside, and debuggers and
 * leak checkers use them on their own children.
 */
export function seccompFilter(
  architecture: string,
  { blockUnixSockets, blockHostSockets, refuseSetuid, alone }: FilterOptions,
): Uint8Array<ArrayBuffer> | null {
  if (!Object.hasOwn(ARCHITECTURES, architecture)) return null;
  const numbers = ARCHITECTURES[architecture]!;
  const { audit, ioctl, socket, socketpair, refused, modes, secondTable } = numbers;
  const refusals: Refusal[] = [
    ...Object.values(refused).map((call) => ({ call })),
    { call: ioctl, argument: { index: 1, test: "equals", value: TIOCSTI } },
    { call: ioctl, argument: { index: 1, test: "equals", value: TIOCLINUX } },
    ...[...(blockUnixSockets ? [AF_UNIX] : []), ...(blockHostSockets ? [AF_VSOCK] : [])].map((family) => (
      { call: socket, argument: { index: 0, test: "equals", value: family } } as const
    )),
    // Pairs stay, but the ends of a datagram pair could be connected to other sockets.
    ...(blockUnixSockets
      ? [{ call: socketpair, argument: { index: 1, test: "has bits", value: DATAGRAM } } as const]
      : []),
    ...(refuseSetuid
      ? [
        ...modes.map((
          [call, index],
        ) => ({ call, argument: { index, test: "has bits", value: SET_ID } } as const)),
        // This call gets the file's mode through a pointer, and a filter cannot read memory. If the call fails with
        // ENOSYS, programs use the older call.
        { call: OPENAT2, error: ENOSYS },
      ]
      : []),
    // Limits and priorities of the person's other processes. A program changes its own with the id 0.
    ...(alone === undefined ? [] : [
      { call: numbers.prlimit64, argument: { index: 0, test: "differs", value: 0 } } as const,
      ...[numbers.setpriority, numbers.ioprio_set].map((
        call,
      ) => ({ call, argument: { index: 1, test: "differs", value: 0 } } as const)),
      // For a user, the id 0 means all processes of the own one.
      { call: numbers.setpriority, argument: { index: 0, test: "equals", value: PRIO_USER } } as const,
      { call: numbers.ioprio_set, argument: { index: 0, test: "equals", value: IOPRIO_WHO_USER } } as const,
      ...numbers.scheduling.map((call) => (
        { call, argument: { index: 0, test: "differs", value: 0 } } as const
      )),
    ]),
    ...(alone?.allowTcp
      ? [
        { call: numbers.listen },
        ...numbers.sending.map((
          [call, index],
        ) => ({ call, argument: { index, test: "has bits", value: MSG_FASTOPEN } } as const)),
      ]
      : []),
    ...(alone?.refuseTruncate ? [{ call: numbers.truncate }] : []),
  ];
  return encode([
    { code: LOAD, value: ARCHITECTURE },
    { code: JUMP_EQUAL, yes: 1, value: audit },
    { code: RETURN, value: ENOSYS },
    { code: LOAD, value: NUMBER },
    ...(secondTable === null
      ? []
      : [{ code: JUMP_AT_LEAST, no: 1, value: secondTable }, { code: RETURN, value: ENOSYS }]),
    ...refusals.flatMap(refusalInstructions),
    ...(alone?.blockNetwork ? alone.allowTcp ? onlyLocalAndTcp(socket) : onlyLocalSockets(socket) : []),
    { code: RETURN, value: ALLOW },
  ]);
}

/** Refuses sockets of all other families. Without a network namespace, nothing else keeps commands off the network. */
function onlyLocalSockets(socket: number): Instruction[] {
  return [
    { code: JUMP_EQUAL, no: 7, value: socket },
    { code: LOAD, value: argumentOffset(0) },
    { code: JUMP_EQUAL, yes: 4, value: AF_UNIX },
    { code: JUMP_EQUAL, no: 2, value: AF_NETLINK },
    { code: LOAD, value: argumentOffset(2) },
    { code: JUMP_EQUAL, yes: 1, value: NETLINK_ROUTE },
    { code: RETURN, value: EPERM },
    { code: LOAD, value: NUMBER },
  ];
}

/** Like `onlyLocalSockets`, but allows TCP over IPv4. */
function onlyLocalAndTcp(socket: number): Instruction[] {
  return [
    { code: JUMP_EQUAL, no: 14, value: socket },
    { code: LOAD, value: argumentOffset(0) },
    { code: JUMP_EQUAL, yes: 11, value: AF_UNIX },
    { code: JUMP_EQUAL, yes: 3, value: AF_INET },
    { code: JUMP_EQUAL, no: 8, value: AF_NETLINK },
    { code: LOAD, value: argumentOffset(2) },
    { code: JUMP_EQUAL, yes: 7, no: 6, value: NETLINK_ROUTE },
    { code: LOAD, value: argumentOffset(1) },
    { code: AND, value: SOCKET_TYPE },
    { code: JUMP_EQUAL, no: 3, value: SOCK_STREAM },
    { code: LOAD, value: argumentOffset(2) },
    { code: JUMP_EQUAL, yes: 2, value: 0 },
    { code: JUMP_EQUAL, yes: 1, value: IPPROTO_TCP },
    { code: RETURN, value: EPERM },
    { code: LOAD, value: NUMBER },
  ];
}

function refusalInstructions({ call, argument, error = EPERM }: Refusal): Instruction[] {
  if (argument === undefined) {
    return [{ code: JUMP_EQUAL, no: 1, value: call }, { code: RETURN, value: error }];
  }
  const comparison = argument.test === "has bits" ? JUMP_BITS : JUMP_EQUAL;
  return [
    { code: JUMP_EQUAL, no: 4, value: call },
    { code: LOAD, value: argumentOffset(argument.index) },
    { code: comparison, ...(argument.test === "differs" ? { yes: 1 } : { no: 1 }), value: argument.value },
    { code: RETURN, value: error },
    { code: LOAD, value: NUMBER },
  ];
}

function encode(instructions: readonly Instruction[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(8 * instructions.length);
  const view = new DataView(bytes.buffer);
  for (const [index, { code, yes = 0, no = 0, value }] of instructions.entries()) {
    view.setUint16(8 * index, code, true);
    view.setUint8(8 * index + 2, yes);
    view.setUint8(8 * index + 3, no);
    view.setUint32(8 * index + 4, value, true);
  }
  return bytes;
}
