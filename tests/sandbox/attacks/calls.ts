// Attacks: system calls that no tool needs.

import { type Attack, DENO, inGroup, type Ran, saysPwned, type Scene } from "./types.ts";

const NUMBERS: Readonly<
  Record<string, { ioctl: number; keyctl: number; addKey: number; bpf: number; socket: number }>
> = {
  x86_64: { ioctl: 16, keyctl: 250, addKey: 248, bpf: 321, socket: 41 },
  aarch64: { ioctl: 29, keyctl: 219, addKey: 217, bpf: 280, socket: 198 },
};
const numbers = NUMBERS[Deno.build.arch];
const call = (...args: number[]) => `${DENO} call.js ${args.join(" ")}`;
/** Refused by the filter, before the kernel looks at what the call is about. */
const notRefused = (_: Scene, { out }: Ran) => !/^(errno 1\n)+$/.test(out);

const calls = numbers === undefined ? [] : inGroup("calls", [
  {
    name: "typing into the terminal (TIOCSTI)",
    shell: () => call(numbers.ioctl, 0, 0x5412),
    won: notRefused,
  },
  {
    name: "pasting into the console (TIOCLINUX)",
    shell: () => call(numbers.ioctl, 0, 0x541c),
    won: notRefused,
  },
  {
    name: "typing into the terminal with a high half in the request (TIOCSTI)",
    shell: () => call(numbers.ioctl, 0, 2 ** 32 + 0x5412),
    won: notRefused,
  },
  {
    name: "key rings",
    shell: () => `${call(numbers.keyctl, 0, 0xfffffffd)}; ${call(numbers.addKey)}`,
    won: notRefused,
  },
  { name: "loading programs into the kernel (bpf)", shell: () => call(numbers.bpf, 0), won: notRefused },
  {
    name: "sockets to the host of a virtual machine, with the network off",
    shell: () => call(numbers.socket, 40, 1),
    won: notRefused,
    policy: () => ({ network: false }),
  },
  {
    name: "opening the person's terminal",
    shell: () => "echo x > /dev/tty && echo PWNED; cat <&0 | head -c1; tty",
    won: saysPwned,
  },
]);

export const CALLS: readonly Attack[] = calls;
