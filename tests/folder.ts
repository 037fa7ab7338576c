// Temporary folders and programs for tests that run programs, and checks of what the machine allows.

import type { Environment } from "../base/environment.ts";
import { testsWith } from "./tests_with.ts";

/**
 * A fresh, empty, real folder. It lies outside of `/tmp`, which every sandbox makes writable: there, what is refused and
 * what is allowed would look the same.
 */
export async function freshFolder(prefix: string): Promise<string> {
  return await Deno.makeTempDir({ dir: await Deno.realPath("/var/tmp"), prefix });
}

/** Runs `body` with a fresh folder of that kind, and takes it away afterwards. */
export async function inFolder<T>(body: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = await freshFolder("flemma-test-");
  try {
    return await body(folder);
  } finally {
    await removeFolder(folder);
  }
}

/** Defines a test that runs in `inFolder`. */
export const testInFolder = testsWith(inFolder<void>);

export interface StatePlace {
  readonly folder: string;
  /** Home is the folder, and state lies below it. */
  readonly environment: Environment;
}

/** Runs `body` in a folder that keeps its own state. */
export async function withState(body: (place: StatePlace) => Promise<void>): Promise<void> {
  await inFolder((folder) =>
    body({
      folder,
      environment: { cwd: folder, home: folder, variables: { XDG_STATE_HOME: `${folder}/state` } },
    })
  );
}

/** Defines a test that runs in `withState`. */
export const testWithState = testsWith(withState);

/** Whether a small file system can be mounted in a namespace of its own here. */
export async function mayMount(): Promise<boolean> {
  try {
    const args = ["-Urm", "mount", "-t", "tmpfs", "none", "/mnt"];
    return (await new Deno.Command("unshare", { args, stderr: "null" }).output()).success;
  } catch {
    // No such program.
    return false;
  }
}

/** Tries to take a folder away in which a process that was told to end may still write its last. */
const TRIES = 500;

/** Takes away a folder of programs that may not all be over. */
export async function removeFolder(folder: string): Promise<void> {
  for (let tries = 1;; tries++) {
    try {
      return await Deno.remove(folder, { recursive: true });
    } catch (error) {
      const filled = error instanceof Error && "code" in error && error.code === "ENOTEMPTY";
      if (!filled || tries === TRIES) throw error;
      await new Promise((done) => setTimeout(done, 10));
    }
  }
}

/**
 * Writes a program that can be run at once. Another process writes it: tests run beside each other in threads of one process,
 * and a child that one of them starts just then would hold the file open for writing, whereupon nobody can run it.
 */
export function writeProgram(path: string, text: string): void {
  const script = 'printf %s "$2" > "$1" && chmod 755 "$1"';
  const { success, stderr } = new Deno.Command("/bin/sh", { args: ["-c", script, "sh", path, text] })
    .outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** Where Deno keeps what it fetched and compiled, for programs that are started without the variables of these tests. */
export function denoFolder(): string {
  const { DENO_DIR, XDG_CACHE_HOME, HOME } = Deno.env.toObject();
  return DENO_DIR ?? `${XDG_CACHE_HOME ?? `${HOME}/.cache`}/deno`;
}

/** Returns the open descriptors of this process that lead into a folder. Other tests open and close others. */
export function descriptorsInto(folder: string): string[] {
  return [...Deno.readDirSync("/proc/self/fd")].flatMap(({ name }) => {
    try {
      const path = Deno.readLinkSync(`/proc/self/fd/${name}`);
      return path.startsWith(`${folder}/`) || path === folder ? [path] : [];
    } catch {
      return []; // It was closed meanwhile.
    }
  });
}

/**
 * Runs `body` while this process has the open file at a path a second time, as a process has it that is just being
 * started.
 */
export async function withCopyOf<T>(path: string, body: () => T | Promise<T>): Promise<T> {
  const libc = Deno.dlopen("libc.so.6", {
    dup: { parameters: ["i32"], result: "i32" },
    close: { parameters: ["i32"], result: "i32" },
  });
  const found = [...Deno.readDirSync("/proc/self/fd")].find(({ name }) => {
    try {
      return Deno.readLinkSync(`/proc/self/fd/${name}`) === path;
    } catch {
      return false; // It was closed meanwhile.
    }
  });
  const copy = libc.symbols.dup(Number(found!.name));
  try {
    return await body();
  } finally {
    libc.symbols.close(copy);
    libc.close();
  }
}
