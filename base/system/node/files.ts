// Files as in Deno, over Node.

import { converted } from "./errors.ts";
import { fileInfo } from "./file_info.ts";
import { NodeFile } from "./node_file.ts";
import type { NodeModules } from "./modules.ts";

/** A path as Node takes it; Deno also takes the address of a file as text-like objects. */
type Path = string | URL;

interface WriteOptions {
  readonly append?: boolean;
  readonly create?: boolean;
  readonly createNew?: boolean;
  readonly mode?: number;
}

/** Flags of `open` for the options of Deno. */
function flagsOf(
  { constants }: NodeModules["fs"],
  options: Deno.OpenOptions,
): number {
  const { read = Object.keys(options).length === 0, write = false, append = false } = options;
  const { truncate = false, create = false, createNew = false } = options;
  const writes = write || append;
  if (!read && !writes) throw new TypeError("A file is opened for reading, writing or appending.");
  return (read && writes ? constants.O_RDWR : writes ? constants.O_WRONLY : constants.O_RDONLY) |
    (append ? constants.O_APPEND : 0) | (truncate ? constants.O_TRUNC : 0) |
    (create || createNew ? constants.O_CREAT : 0) | (createNew ? constants.O_EXCL : 0);
}

/** Functions for files. Their names, arguments, results and errors are those of Deno. */
export function files(node: NodeModules) {
  const { fs, os } = node;
  const { promises } = fs;

  const openSync = (path: Path, options: Deno.OpenOptions = { read: true }) =>
    new NodeFile(
      node,
      fs.openSync(path, flagsOf(fs, options), options.mode ?? 0o666),
      options.append === true,
    );
  const writeFlags = ({ append = false, create = true, createNew = false }: WriteOptions = {}) =>
    append
      ? { append: true, create, createNew }
      : { write: true, truncate: !createNew, create: create && !createNew, createNew };
  const writeFileSync = (path: Path, data: Uint8Array, options: WriteOptions = {}) => {
    const fd = fs.openSync(path, flagsOf(fs, writeFlags(options)), options.mode ?? 0o666);
    try {
      for (let done = 0; done < data.length;) done += fs.writeSync(fd, data, done);
      if (options.mode !== undefined) fs.fchmodSync(fd, options.mode);
    } finally {
      fs.closeSync(fd);
    }
  };
  const entry = (one: import("node:fs").Dirent): Deno.DirEntry => ({
    name: one.name,
    isFile: one.isFile(),
    isDirectory: one.isDirectory(),
    isSymlink: one.isSymbolicLink(),
  });
  const temporary = ({ dir = os.tmpdir(), prefix = "", suffix = "" }: Deno.MakeTempOptions = {}) =>
    `${dir}/${prefix}${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}${suffix}`;
  const bytesOf = (text: string) => new TextEncoder().encode(text);
  const decoded = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

  const sync = {
    statSync: (path: Path) => fileInfo(fs.statSync(path)),
    lstatSync: (path: Path) => fileInfo(fs.lstatSync(path)),
    openSync,
    readFileSync: (path: Path) => new Uint8Array(fs.readFileSync(path)),
    readTextFileSync: (path: Path) => decoded(fs.readFileSync(path)),
    writeFileSync,
    writeTextFileSync: (path: Path, text: string, options?: WriteOptions) =>
      writeFileSync(path, bytesOf(text), options),
    mkdirSync: (path: Path, options: Deno.MkdirOptions = {}) => {
      fs.mkdirSync(path, options);
    },
    removeSync: (path: Path, { recursive = false }: Deno.RemoveOptions = {}) => {
      // Deno removes an empty folder too, and fails if nothing is there.
      const isFolder = fs.lstatSync(path).isDirectory();
      if (recursive) fs.rmSync(path, { recursive: true });
      else if (isFolder) fs.rmdirSync(path);
      else fs.unlinkSync(path);
    },
    renameSync: fs.renameSync,
    copyFileSync: (from: Path, to: Path) => fs.copyFileSync(from, to),
    readLinkSync: (path: Path) => fs.readlinkSync(path),
    symlinkSync: (target: Path, path: Path) => fs.symlinkSync(target, path),
    linkSync: (target: string, path: string) => fs.linkSync(target, path),
    realPathSync: (path: Path) => fs.realpathSync.native(path),
    chmodSync: fs.chmodSync,
    chownSync: (path: Path, uid: number | null, gid: number | null) =>
      fs.chownSync(path, uid ?? -1, gid ?? -1),
    truncateSync: (path: string, length?: number) => fs.truncateSync(path, length),
    utimeSync: fs.utimesSync,
    makeTempDirSync: (options?: Deno.MakeTempOptions) => {
      const path = temporary(options);
      fs.mkdirSync(path, { mode: 0o700 });
      return path;
    },
    makeTempFileSync: (options?: Deno.MakeTempOptions) => {
      const path = temporary(options);
      fs.closeSync(fs.openSync(path, "wx", 0o600));
      return path;
    },
  };
  const async = {
    stat: async (path: Path) => fileInfo(await promises.stat(path)),
    lstat: async (path: Path) => fileInfo(await promises.lstat(path)),
    open: async (path: Path, options?: Deno.OpenOptions) => await Promise.resolve(openSync(path, options)),
    readFile: async (path: Path) => new Uint8Array(await promises.readFile(path)),
    readTextFile: async (path: Path) => decoded(await promises.readFile(path)),
    writeFile: async (path: Path, data: Uint8Array, options?: WriteOptions) =>
      await Promise.resolve(writeFileSync(path, data, options)),
    writeTextFile: async (path: Path, text: string, options?: WriteOptions) =>
      await Promise.resolve(writeFileSync(path, bytesOf(text), options)),
    mkdir: async (path: Path, options?: Deno.MkdirOptions) => {
      await promises.mkdir(path, options);
    },
    remove: async (path: Path, options?: Deno.RemoveOptions) =>
      await Promise.resolve(sync.removeSync(path, options)),
    rename: async (from: Path, to: Path) => await promises.rename(from, to),
    copyFile: async (from: Path, to: Path) => await promises.copyFile(from, to),
    readLink: async (path: Path) => await promises.readlink(path),
    symlink: async (target: Path, path: Path) => await promises.symlink(target, path),
    link: async (target: string, path: string) => await promises.link(target, path),
    realPath: async (path: Path) => await Promise.resolve(fs.realpathSync.native(path)),
    chmod: async (path: Path, mode: number) => await promises.chmod(path, mode),
    chown: async (path: Path, uid: number | null, gid: number | null) =>
      await promises.chown(path, uid ?? -1, gid ?? -1),
    utime: async (path: string, atime: number | Date, mtime: number | Date) =>
      await promises.utimes(path, atime, mtime),
    makeTempDir: async (options?: Deno.MakeTempOptions) =>
      await Promise.resolve(sync.makeTempDirSync(options)),
    makeTempFile: async (options?: Deno.MakeTempOptions) =>
      await Promise.resolve(sync.makeTempFileSync(options)),
  };
  const all = Object.fromEntries(
    Object.entries({ ...sync, ...async }).map(([name, work]) => [
      name,
      converted(work as (...args: unknown[]) => unknown),
    ]),
  ) as unknown as typeof sync & typeof async;
  return {
    ...all,
    readDirSync: (path: Path): Deno.DirEntry[] =>
      converted(() => fs.readdirSync(path, { withFileTypes: true }).map(entry))(),
    async *readDir(path: Path): AsyncIterable<Deno.DirEntry> {
      for (const one of await converted(() => promises.readdir(path, { withFileTypes: true }))()) {
        yield entry(one);
      }
    },
  };
}
