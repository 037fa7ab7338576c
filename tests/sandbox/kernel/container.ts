// Becomes a program as in a container: without capabilities, and with a system call filter that refuses namespaces and
// mounts as the default profiles of container engines do.

const libc = Deno.dlopen("libc.so.6", {
  prctl: { parameters: ["i32", "u64", "u64", "u64", "u64"], result: "i32" },
  execvp: { parameters: ["buffer", "buffer"], result: "i32" },
}).symbols;

const ARM = Deno.build.arch === "aarch64";
/** mount, umount2, pivot_root, unshare, setns, and the mount calls that are numbered alike everywhere. */
const REFUSED = [...ARM ? [40, 39, 41, 97, 268] : [165, 166, 155, 272, 308], 428, 429, 430, 431, 432, 442];
const CLONE = ARM ? 220 : 56;
const CLONE3 = 435;
const NEW_NAMESPACES = 0x7e020000;

const [LOAD, EQUAL, ANY_BIT, ANSWER] = [0x20, 0x15, 0x45, 0x06];
const [ALLOW, EPERM, ENOSYS] = [0x7fff0000, 0x00050001, 0x00050026];
const instructions: [code: number, yes: number, no: number, value: number][] = [[LOAD, 0, 0, 0]];
for (const number of REFUSED) instructions.push([EQUAL, 0, 1, number], [ANSWER, 0, 0, EPERM]);
instructions.push([EQUAL, 0, 1, CLONE3], [ANSWER, 0, 0, ENOSYS]);
instructions.push([EQUAL, 0, 3, CLONE], [LOAD, 0, 0, 16], [ANY_BIT, 0, 1, NEW_NAMESPACES], [
  ANSWER,
  0,
  0,
  EPERM,
]);
instructions.push([ANSWER, 0, 0, ALLOW]);

const filter = new Uint8Array(instructions.length * 8);
const view = new DataView(filter.buffer);
for (const [at, [code, yes, no, value]] of instructions.entries()) {
  view.setUint16(at * 8, code, true);
  view.setUint8(at * 8 + 2, yes);
  view.setUint8(at * 8 + 3, no);
  view.setUint32(at * 8 + 4, value, true);
}
const addressOf = (bytes: Uint8Array<ArrayBuffer>) => Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
const program = new Uint8Array(16);
const header = new DataView(program.buffer);
header.setUint16(0, instructions.length, true);
header.setBigUint64(8, addressOf(filter), true);

Deno.env.set("DENO", Deno.execPath());
const words = Deno.args.map((word) => new TextEncoder().encode(`${word}\0`));
const argv = new Uint8Array(new BigUint64Array([...words.map(addressOf), 0n]).buffer);
if (libc.prctl(38, 1n, 0n, 0n, 0n) !== 0 || libc.prctl(22, 2n, addressOf(program), 0n, 0n) !== 0) {
  throw new Error("the filter is refused");
}
libc.execvp(words[0]!, argv);
throw new Error(`${Deno.args[0]} cannot be started`);
