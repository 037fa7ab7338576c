// The system functions of Deno that the library uses, over Node.
//
// The library calls Deno's functions for files, processes and locks. In a bundle for other runtimes, this object takes
// their place. What Node lacks throws `NotSupported`, and callers turn that into a problem with a remedy.

import { errors } from "./errors.ts";
import { files } from "./files.ts";
import { type NodeModules, nodeModules } from "./modules.ts";
import { network } from "./network.ts";
import { processes } from "./processes.ts";

const OPERATING_SYSTEMS: Readonly<Record<string, string>> = { win32: "windows" };
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "x86_64", arm64: "aarch64" };

/** Returns the system functions of this runtime: Deno's own, or those over Node; null if it has none. */
export function systemOfRuntime(): typeof Deno | null {
  if ("Deno" in globalThis) return globalThis.Deno;
  const node = nodeModules();
  return node === null ? null : systemOver(node);
}

function systemOver(node: NodeModules): typeof Deno {
  const { process, os, fs } = node;
  const stream = (descriptor: 0 | 1 | 2) => ({
    isTerminal: () =>
      (descriptor === 0 ? process.stdin : descriptor === 1 ? process.stdout : process.stderr).isTTY,
    writeSync: (bytes: Uint8Array) => fs.writeSync(descriptor, bytes),
    write: (bytes: Uint8Array) => Promise.resolve(fs.writeSync(descriptor, bytes)),
  });
  const system = {
    errors,
    SeekMode: { Start: 0, Current: 1, End: 2 },
    ...files(node),
    ...processes(node),
    ...network(node),
    build: {
      os: OPERATING_SYSTEMS[process.platform] ?? process.platform,
      arch: ARCHITECTURES[process.arch] ?? process.arch,
      standalone: false,
    },
    version: { deno: `(Node ${process.versions.node})` },
    env: {
      get: (name: string) => process.env[name],
      has: (name: string) => name in process.env,
      set: (name: string, value: string) => void (process.env[name] = value),
      delete: (name: string) => void delete process.env[name],
      toObject: () => ({ ...process.env }),
    },
    permissions: {
      // Node calls no foreign functions.
      querySync: ({ name }: { readonly name: string }) => ({ state: name === "ffi" ? "denied" : "granted" }),
    },
    pid: process.pid,
    ppid: process.ppid,
    args: process.argv.slice(2),
    mainModule: `file://${process.argv[1] ?? ""}`,
    stdin: stream(0),
    stdout: stream(1),
    stderr: stream(2),
    uid: () => process.getuid?.() ?? null,
    gid: () => process.getgid?.() ?? null,
    hostname: () => os.hostname(),
    cwd: () => process.cwd(),
    chdir: (folder: string) => process.chdir(folder),
    exit: (code?: number) => process.exit(code),
    execPath: () => process.execPath,
    packagedDeno: () => packagedDeno(node),
    unrefTimer: (timer: unknown) => (timer as { unref?(): void }).unref?.(),
    refTimer: (timer: unknown) => (timer as { ref?(): void }).ref?.(),
  };
  return system as unknown as typeof Deno;
}

/** Path of the Deno that the package manager installed with this package; null if it left it out. */
function packagedDeno({ module, process: { platform, arch } }: NodeModules): string | null {
  try {
    const library = platform === "linux" ? "-glibc" : "";
    return module.createRequire(import.meta.url).resolve(`@deno/${platform}-${arch}${library}/deno`);
  } catch {
    return null; // The package is optional.
  }
}
