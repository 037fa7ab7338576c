// The filter for system calls: its bytes, run by a small model of the kernel's machine, and its real effect.

import assert from "node:assert/strict";
import { ARCHITECTURES, seccompFilter } from "../../../sandbox/kernel/seccomp.ts";
import { plant, projectSandbox, runInside } from "../fixture.ts";
import { inFolder } from "../../folder.ts";

const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;

interface Call {
  nr: number;
  arch: number;
  args?: (number | bigint)[];
}

/** Runs a filter over the description of a call, as the kernel lays it out on a little-endian machine. */
function evaluate(filter: Uint8Array, { nr, arch, args = [] }: Call): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, nr, true);
  data.setUint32(4, arch, true);
  for (const [index, value] of args.entries()) data.setBigUint64(16 + 8 * index, BigInt(value), true);
  const program = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  let accumulator = 0;
  for (let at = 0; at < filter.length / 8;) {
    const code = program.getUint16(8 * at, true);
    const yes = program.getUint8(8 * at + 2);
    const no = program.getUint8(8 * at + 3);
    const value = program.getUint32(8 * at + 4, true);
    at++;
    if (code === 0x20) accumulator = data.getUint32(value, true);
    else if (code === 0x54) accumulator &= value;
    else if (code === 0x15) at += accumulator === value ? yes : no;
    else if (code === 0x35) at += accumulator >= value ? yes : no;
    else if (code === 0x45) at += (accumulator & value) !== 0 ? yes : no;
    else if (code === 0x06) return value;
    else assert.fail(`unknown instruction ${code.toString(16)}`);
  }
  return assert.fail("the filter ran off its end");
}

function filterFor(
  architecture: string,
  blockUnixSockets = false,
  refuseSetuid = false,
  blockHostSockets = false,
): Uint8Array {
  const filter = seccompFilter(architecture, { blockUnixSockets, blockHostSockets, refuseSetuid });
  assert.ok(filter !== null);
  return filter;
}

/** Numbers by architecture, written down from the kernel's tables. */
const NUMBERS = {
  x86_64: {
    audit: 0xc000003e,
    refused: { mount: 165, umount2: 166, keyctl: 250, bpf: 321, userfaultfd: 323, move_mount: 429 },
    allowed: {
      read: 0,
      write: 1,
      openat: 257,
      clone: 56,
      execve: 59,
      ptrace: 101,
      unshare: 272,
      clone3: 435,
    },
    ioctl: 16,
    socket: 41,
    socketpair: 53,
    modes: {
      chmod: [90, 1],
      fchmod: [91, 1],
      fchmodat: [268, 2],
      openat: [257, 3],
      creat: [85, 1],
      mknodat: [259, 2],
    },
  },
  aarch64: {
    audit: 0xc00000b7,
    refused: { mount: 40, umount2: 39, keyctl: 219, bpf: 280, userfaultfd: 282, move_mount: 429 },
    allowed: {
      read: 63,
      write: 64,
      openat: 56,
      clone: 220,
      execve: 221,
      ptrace: 117,
      unshare: 97,
      clone3: 435,
    },
    ioctl: 29,
    socket: 198,
    socketpair: 199,
    modes: { fchmod: [52, 1], fchmodat: [53, 2], openat: [56, 3], mknodat: [33, 2] },
  },
};

for (
  const [architecture, { audit, refused, allowed, ioctl, socket, socketpair, modes }] of Object.entries(
    NUMBERS,
  )
) {
  const filter = filterFor(architecture);
  const answer = (nr: number, ...args: (number | bigint)[]) => evaluate(filter, { nr, arch: audit, args });

  Deno.test(`${architecture}: the filter refuses mounts, keys and kernel tracing, and ordinary calls pass`, () => {
    for (const [name, nr] of Object.entries(refused)) assert.equal(answer(nr), EPERM, name);
    for (const [name, nr] of Object.entries(allowed)) assert.equal(answer(nr), ALLOW, name);
    assert.equal(answer(0xffff), ALLOW, "calls that are newer than the filter pass");
  });

  Deno.test(`${architecture}: the filter refuses only requests that type into a terminal, whatever the high half of the argument contains`, () => {
    const TIOCGWINSZ = 0x5413;
    assert.equal(answer(ioctl, 0, 0x5412), EPERM);
    assert.equal(answer(ioctl, 0, 0x541c), EPERM);
    // The kernel reads 32 bits of it, so a high half must not hide the request.
    assert.equal(answer(ioctl, 0, 0x1_0000_5412n), EPERM);
    assert.equal(answer(ioctl, 0, TIOCGWINSZ), ALLOW);
    assert.equal(answer(ioctl, 0x5412, 0), ALLOW, "only the second argument counts");
  });

  Deno.test(`${architecture}: the filter refuses setting setuid bits if this is requested`, () => {
    const strict = filterFor(architecture, false, true);
    for (const [name, [nr = 0, index = 0]] of Object.entries(modes)) {
      const given = (filter: Uint8Array, mode: number) =>
        evaluate(filter, { nr, arch: audit, args: [...new Array<number>(index).fill(0), mode] });
      assert.equal(given(strict, 0o4755), EPERM, name);
      assert.equal(given(strict, 0o755), ALLOW, name);
      assert.equal(given(strict, 0o1777), ALLOW, name);
      assert.equal(given(filter, 0o4755), ALLOW, name);
    }
    // The ways around: a mode in memory, and rings.
    assert.equal(evaluate(strict, { nr: 437, arch: audit }), ENOSYS);
    assert.equal(evaluate(strict, { nr: 425, arch: audit }), EPERM);
    assert.equal(evaluate(filter, { nr: 437, arch: audit }), ALLOW);
  });

  Deno.test(`${architecture}: if the network is off, the filter refuses sockets to the host of a virtual machine`, () => {
    const blocking = filterFor(architecture, false, false, true);
    const blocked = (nr: number, ...args: number[]) => evaluate(blocking, { nr, arch: audit, args });
    assert.equal(answer(socket, 40), ALLOW);
    assert.equal(blocked(socket, 40), EPERM);
    for (const family of [1, 2, 10, 16]) assert.equal(blocked(socket, family), ALLOW, String(family));
    assert.equal(blocked(425), EPERM);
    assert.equal(blocked(ioctl, 0, 0x5412), EPERM);
  });

  Deno.test(`${architecture}: system calls of other architectures fail and are never read as calls of this one`, () => {
    for (const arch of [0x40000003, 0x40000028, 0, audit ^ 1]) {
      for (const nr of [0, refused.mount, ioctl]) assert.equal(evaluate(filter, { nr, arch }), ENOSYS);
    }
  });

  Deno.test(`${architecture}: the filter refuses local sockets only on request, and always io_uring, which could create them`, () => {
    const blocking = filterFor(architecture, true);
    const blocked = (nr: number, ...args: number[]) => evaluate(blocking, { nr, arch: audit, args });
    assert.equal(answer(socket, 1), ALLOW);
    assert.equal(blocked(socket, 1), EPERM);
    for (const family of [2, 10, 16]) assert.equal(blocked(socket, family), ALLOW, String(family));
    assert.equal(answer(425), EPERM);
    assert.equal(blocked(425), EPERM);
    // Streams and sequenced packets, with any flags; the ends of a datagram pair could be connected elsewhere.
    for (const type of [1, 5, 0x801, 0x80001, 0x80805]) {
      assert.equal(blocked(socketpair, 1, type), ALLOW, String(type));
    }
    for (const type of [2, 0x802, 0x80002, 3]) {
      assert.equal(blocked(socketpair, 1, type), EPERM, String(type));
      assert.equal(answer(socketpair, 1, type), ALLOW, String(type));
    }
    // What follows the comparison of an argument still sees the number of the call.
    assert.equal(blocked(ioctl, 0, 0x5412), EPERM);
  });
}

Deno.test("the second system call table of x86_64 (x32) is refused as a whole", () => {
  const filter = filterFor("x86_64", true);
  for (const nr of [0x40000000, 0x40000000 + 165, 0x40000000 + 41, 0x40000000 + 53, 0x40000200]) {
    assert.equal(evaluate(filter, { nr, arch: 0xc000003e, args: [1, 2] }), ENOSYS);
  }
  // The calls of a 32-bit program: socket, socketcall, socketpair.
  for (const nr of [359, 102, 360]) {
    assert.equal(evaluate(filter, { nr, arch: 0x40000003, args: [1] }), ENOSYS);
  }
  assert.equal(evaluate(filter, { nr: 0x3fffffff, arch: 0xc000003e }), ALLOW);
});

Deno.test("for an unknown architecture there is no filter; the name of an object property such as toString is unknown, too", () => {
  assert.deepEqual(Object.keys(ARCHITECTURES), ["x86_64", "aarch64"]);
  for (const name of ["riscv64", "toString", ""]) {
    assert.equal(
      seccompFilter(name, { blockUnixSockets: false, blockHostSockets: true, refuseSetuid: true }),
      null,
      name,
    );
  }
});

Deno.test("the system call filter blocks mounts and keys, while compilers, shells and pipes work", {
  ignore: !Object.hasOwn(ARCHITECTURES, Deno.build.arch),
}, () =>
  inFolder(async (root) => {
    plant(root, "project/");
    const sandbox = projectSandbox(root);
    const { out } = await runInside(
      sandbox,
      "grep Seccomp: /proc/self/status; unshare -Urm sh -c 'mount -t tmpfs none /mnt' 2>&1 | tail -1; " +
        "seq 3 | sort -r | tr '\\n' ' '; git --version | cut -c1-11",
    );
    assert.match(out, /^Seccomp:\t2\n/);
    assert.match(out, /(permission denied|not permitted)/i);
    assert.match(out, /3 2 1 git version/);
  }));

Deno.test("if local sockets are blocked, none can be created, and pipes and the network still work", {
  ignore: !Object.hasOwn(ARCHITECTURES, Deno.build.arch),
}, () =>
  inFolder(async (root) => {
    plant(root, "project/");
    const program =
      "try { await Deno.connect({ transport: 'unix', path: 'none' }); } catch (e) { console.log(e.name); }" +
      "Deno.listen({ hostname: '127.0.0.1', port: 0 }).close(); console.log('listened');";
    Deno.writeTextFileSync(`${root}/project/sockets.js`, program);
    const run = async (block_unix_sockets: boolean) =>
      (await runInside(
        projectSandbox(root, { policy: { block_unix_sockets } }),
        `"${Deno.execPath()}" run -A --no-config sockets.js; echo through | cat`,
      )).out;
    assert.equal(await run(false), "NotFound\nlistened\nthrough\n");
    assert.equal(await run(true), "PermissionDenied\nlistened\nthrough\n");
  }));

Deno.test("without namespaces, the filter allows only local sockets, and only a program's own limits and priority", () => {
  for (const [architecture, { audit }] of Object.entries(NUMBERS)) {
    const { socket, truncate, prlimit64, setpriority, ioprio_set, scheduling } = ARCHITECTURES[architecture]!;
    const none = { blockUnixSockets: false, blockHostSockets: false, refuseSetuid: false };
    const run = (nr: number, args: number[], alone?: { blockNetwork: boolean; refuseTruncate: boolean }) =>
      evaluate(seccompFilter(architecture, { ...none, alone })!, { nr, arch: audit, args });
    const strict = { blockNetwork: true, refuseTruncate: true };
    const loose = { blockNetwork: false, refuseTruncate: false };
    const cases: [call: number, args: number[], strict: number, loose: number][] = [
      [socket, [1, 1, 0], ALLOW, ALLOW], // Local.
      [socket, [2, 1, 0], EPERM, ALLOW], // TCP.
      [socket, [2, 2, 0], EPERM, ALLOW], // UDP.
      [socket, [10, 1, 262], EPERM, ALLOW], // Multipath TCP.
      [socket, [16, 3, 0], ALLOW, ALLOW], // Lists interfaces.
      [socket, [16, 3, 15], EPERM, ALLOW], // Device events.
      [socket, [17, 3, 0], EPERM, ALLOW], // Packets.
      [socket, [38, 5, 0], EPERM, ALLOW], // The kernel's ciphers.
      [socket, [40, 1, 0], EPERM, ALLOW], // The host of a virtual machine.
      [truncate, [], EPERM, ALLOW],
      [prlimit64, [0, 7], ALLOW, ALLOW],
      [prlimit64, [1, 7], EPERM, EPERM],
      [setpriority, [0, 0, 5], ALLOW, ALLOW],
      [setpriority, [0, 1, 5], EPERM, EPERM],
      [setpriority, [1, 0, 5], ALLOW, ALLOW], // The own process group.
      [setpriority, [2, 0, 5], EPERM, EPERM], // All processes of the user.
      [ioprio_set, [1, 0, 5], ALLOW, ALLOW],
      [ioprio_set, [1, 1, 5], EPERM, EPERM],
      [ioprio_set, [3, 0, 5], EPERM, EPERM],
      ...scheduling.flatMap((call): [number, number[], number, number][] => [
        [call, [0, 0], ALLOW, ALLOW],
        [call, [1, 0], EPERM, EPERM],
      ]),
    ];
    for (const [nr, args, whenStrict, whenLoose] of cases) {
      const name = `${architecture} ${nr} ${args}`;
      assert.equal(run(nr, args, strict), whenStrict, name);
      assert.equal(run(nr, args, loose), whenLoose, name);
      assert.equal(run(nr, args), ALLOW, `${name}, with namespaces`);
    }
    assert.equal(run(39, [], strict), run(39, []), "the calls after the last rule are unchanged");
  }
});

Deno.test("with a network list and without namespaces, the filter allows TCP over IPv4, but no listening and no other sockets", () => {
  for (const [architecture, { audit }] of Object.entries(NUMBERS)) {
    const { socket, socketpair, listen, sending, truncate } = ARCHITECTURES[architecture]!;
    const none = { blockUnixSockets: false, blockHostSockets: false, refuseSetuid: false };
    const filterOf = (allowTcp: boolean, more = {}) =>
      seccompFilter(architecture, {
        ...none,
        ...more,
        alone: { blockNetwork: true, allowTcp, refuseTruncate: true },
      })!;
    const FLAGS = 0x80800; // Not blocking, and closed by the next program.
    const cases: [name: string, call: number, args: (number | bigint)[], listed: number, off: number][] = [
      ["TCP", socket, [2, 1, 0], ALLOW, EPERM],
      ["TCP by its number", socket, [2, 1, 6], ALLOW, EPERM],
      ["TCP with flags", socket, [2, 1 | FLAGS, 6], ALLOW, EPERM],
      [
        "TCP with a high half, which the kernel does not read",
        socket,
        [
          0x1_0000_0002n,
          1n,
          0x1_0000_0000n,
        ],
        ALLOW,
        EPERM,
      ],
      ["UDP", socket, [2, 2, 0], EPERM, EPERM],
      ["UDP with flags", socket, [2, 2 | FLAGS, 17], EPERM, EPERM],
      ["raw packets", socket, [2, 3, 6], EPERM, EPERM],
      ["a sequenced type", socket, [2, 5, 0], EPERM, EPERM],
      ["multipath TCP", socket, [2, 1, 262], EPERM, EPERM],
      ["SCTP", socket, [2, 1, 132], EPERM, EPERM],
      ["a protocol in the high half", socket, [2n, 1n, 0x1_0000_0106n], EPERM, EPERM],
      ["IPv6", socket, [10, 1, 0], EPERM, EPERM],
      ["IPv6 datagrams", socket, [10, 2, 0], EPERM, EPERM],
      ["SMC", socket, [43, 1, 0], EPERM, EPERM],
      ["packets", socket, [17, 3, 0], EPERM, EPERM],
      ["a local socket", socket, [1, 1, 0], ALLOW, ALLOW],
      ["interfaces", socket, [16, 3, 0], ALLOW, ALLOW],
      ["device events", socket, [16, 3, 15], EPERM, EPERM],
      ["the host of a virtual machine", socket, [40, 1, 0], EPERM, EPERM],
      ["listening", listen, [3, 1], EPERM, ALLOW],
      ["truncate", truncate, [], EPERM, EPERM],
      ["a pair of sockets", socketpair, [1, 1, 0], ALLOW, ALLOW],
      ...sending.flatMap(([call, at]): [string, number, (number | bigint)[], number, number][] => {
        const args = (flags: number | bigint) => [...new Array<number>(at).fill(3), flags];
        return [
          [`${call}`, call, args(0x4000), ALLOW, ALLOW],
          [`${call} that connects`, call, args(0x20000000), EPERM, ALLOW],
          [`${call} that connects, among flags`, call, args(0xffff_ffff_6000_4040n), EPERM, ALLOW],
        ];
      }),
    ];
    for (const [name, nr, args, listed, off] of cases) {
      const run = (allowTcp: boolean) => evaluate(filterOf(allowTcp), { nr, arch: audit, args });
      assert.equal(run(true), listed, `${architecture}: ${name}`);
      assert.equal(run(false), off, `${architecture}: ${name}, without a network`);
    }
    const blocking = filterOf(true, { blockUnixSockets: true, blockHostSockets: true });
    const blocked = (...args: number[]) => evaluate(blocking, { nr: socket, arch: audit, args });
    assert.deepEqual([blocked(1, 1, 0), blocked(2, 1, 0), blocked(2, 2, 0)], [EPERM, ALLOW, EPERM]);
  }
});
