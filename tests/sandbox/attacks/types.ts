// What an attack is, and helpers for writing one.

import type { SandboxSettings } from "../../../config/settings.generated.ts";
import type { ToolInput } from "../../../tools/definition.ts";
import type { Ran, Scene } from "./scene.ts";

export type { Ran, Scene } from "./scene.ts";

/**
 * One try. What is given of `plant`, `shell`, `then`, `nextRun`, `calls` and `person` happens in this order; `won` is asked at the
 * end about the last one's output (that of all calls together).
 */
export interface Attack {
  readonly group: string;
  readonly name: string;
  /** What lies there before the sandbox is made: a cloned repository, what the person has. */
  readonly plant?: (scene: Scene) => void;
  /** A command inside the sandbox. */
  readonly shell?: (scene: Scene) => string;
  /** A second command, which starts when the first one is over and finds what that prepared for it. */
  readonly then?: (scene: Scene) => string;
  /** A command of the next run: its sandbox is made after everything before. */
  readonly nextRun?: (scene: Scene) => string;
  /** Calls of the file tools `read`, `write` and `edit`, in the same run. */
  readonly calls?: (scene: Scene) => readonly (readonly [tool: string, input: ToolInput])[];
  /** Calls of the same kind that begin once `shell` has made the file `started`: a race. */
  readonly beside?: (scene: Scene) => readonly (readonly [tool: string, input: ToolInput])[];
  /** What the person does afterwards, in the project and outside of every sandbox. */
  readonly person?: (scene: Scene) => string;
  /** Whether the attacker got what it wanted. */
  readonly won: (scene: Scene, ran: Ran) => boolean;
  readonly policy?: (scene: Scene) => Partial<SandboxSettings["policy"]>;
  /** @default "bwrap", without which nothing runs */
  readonly backend?: "auto";
  /** Variables of the run beside those of the scene. */
  readonly variables?: (scene: Scene) => Record<string, string>;
}

/** The content of a file, or null where there is none. */
export function text(path: string): string | null {
  try {
    return Deno.lstatSync(path).isFile ? Deno.readTextFileSync(path) : null;
  } catch {
    return null;
  }
}

export function there(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Whether a planted file of the scene is no longer what it was. */
export const changed = (path: string, name = path) => ({ root }: Scene) =>
  text(`${root}/${path}`) !== `text of ${name}\n`;

export const outsideChanged = ({ root }: Scene) =>
  text(`${root}/outside/file`) !== "text of outside/file\n" ||
  [...Deno.readDirSync(`${root}/outside`)].length !== 1 ||
  (Deno.statSync(`${root}/outside/file`).mode! & 0o777) === 0o777;

export const saysPwned = (_: Scene, { out }: Ran) => out.includes("PWNED");

export const alive = (pid: number) => {
  try {
    return !/^State:\s+[ZX]/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
};

/**
 * Whether a process with this argument goes on running on the machine. What was killed is still there until it gets to run once
 * more, which takes a while where much else runs; what survived sleeps for ten minutes.
 */
export function lives(mark: string): boolean {
  const deadline = performance.now() + 60_000;
  while (performance.now() < deadline) {
    const found = [...Deno.readDirSync("/proc")].some(({ name }) => {
      if (!/^\d+$/.test(name) || !alive(Number(name))) return false;
      try {
        return Deno.readTextFileSync(`/proc/${name}/cmdline`).split("\0").includes(mark);
      } catch {
        return false;
      }
    });
    if (!found) return false;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
  return true;
}

export function inGroup(group: string, attacks: readonly Omit<Attack, "group">[]): Attack[] {
  return attacks.map((attack) => ({ group, ...attack }));
}

export const DENO = `"${Deno.execPath()}" run -A --no-config --quiet`;
export const into = (path: string) => `echo PWNED > ${path}`;

/** Listens until the process ends: the folder of the socket goes with the scene. */
export function listenAt(path: string, reached: string[]): void {
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  const listener = Deno.listen({ transport: "unix", path });
  listener.unref();
  listener.accept().then((connection) => {
    reached.push(path);
    connection.close();
  }, () => {});
}
