// What a program for Linux says of the machine that it needs.

/** Debian's names of architectures, by the number that a program has. */
const ARCHITECTURES: Readonly<Record<number, string>> = { 0x3e: "amd64", 0xb7: "arm64" };

export interface Needs {
  /** As Debian calls it. */
  readonly architecture: string;
  /** The newest version of the C library that it asks for, such as `2.27`. */
  readonly glibc: string;
}

/** @throws When it is no program for Linux with glibc, on a machine that is supported. */
export async function needsOf(path: string): Promise<Needs> {
  const bytes = await Deno.readFile(path);
  const isElf = bytes[0] === 0x7f && new TextDecoder().decode(bytes.subarray(1, 4)) === "ELF";
  const architecture = isElf ? ARCHITECTURES[bytes[0x12]! + 256 * bytes[0x13]!] : undefined;
  if (architecture === undefined) throw new Error(`${path} is no program for Linux on x86_64 or arm64`);
  const versions = new Set(
    new TextDecoder("latin1").decode(bytes).match(/GLIBC_2\.\d+/g)?.map((name) => Number(name.slice(8))),
  );
  if (versions.size === 0) throw new Error(`${path} asks for no glibc`);
  return { architecture, glibc: `2.${Math.max(...versions)}` };
}
