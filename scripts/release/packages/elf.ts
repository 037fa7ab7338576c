// Reads the machine requirements of a Linux program.

/** Debian's names of architectures, by ELF machine number. */
const ARCHITECTURES: Readonly<Record<number, string>> = { 0x3e: "amd64", 0xb7: "arm64" };

export interface Needs {
  /** Debian's name of the architecture. */
  readonly architecture: string;
  /** The newest required version of the C library, such as `2.27`. */
  readonly glibc: string;
}

/** @throws if it is not a program for Linux with glibc, on a supported machine */
export async function needsOf(path: string): Promise<Needs> {
  const bytes = await Deno.readFile(path);
  const isElf = bytes[0] === 0x7f && new TextDecoder().decode(bytes.subarray(1, 4)) === "ELF";
  const architecture = isElf ? ARCHITECTURES[bytes[0x12]! + 256 * bytes[0x13]!] : undefined;
  if (architecture === undefined) throw new Error(`${path} is not a program for Linux on x86_64 or arm64`);
  const versions = new Set(
    new TextDecoder("latin1").decode(bytes).match(/GLIBC_2\.\d+/g)?.map((name) => Number(name.slice(8))),
  );
  if (versions.size === 0) throw new Error(`${path} does not use glibc`);
  return { architecture, glibc: `2.${Math.max(...versions)}` };
}
