// Which commands live, as every process of this user can read it, and which of them a killed run left behind.

import type { Environment } from "../../base/environment.ts";
import { stateFolder } from "../../base/folders.ts";
import { marked } from "./marks.ts";
import { processEntry, processTable } from "./process_table.ts";

/** A process that cannot be mistaken for a later one of the same number. */
export interface ProcessId {
  readonly pid: number;
  /** When it was started, in the kernel's own count. */
  readonly started: string;
}

/** What has to be known of a command when whoever started it is gone. */
export interface CommandRecord {
  readonly machine: string;
  /** The program that started it. */
  readonly owner: ProcessId;
  /** The leader of its process group. */
  readonly leader: ProcessId;
  /** Real paths it can write to; empty when nothing confines it. */
  readonly writable: readonly string[];
  /** The mark that its processes carry; absent where something else holds them together. */
  readonly mark?: string;
  /** What is to be put right when it has ended, as `Before` without its look; null when there is nothing. */
  readonly before: unknown;
}

/** A record and the file it stands in. */
export interface Recorded extends CommandRecord {
  readonly file: string;
  /** Whether the machine was started anew since: then nothing of it runs, whatever the numbers say. */
  readonly earlier: boolean;
}

/** Where records lie: out of reach of every command, and still there after a crash of the machine. */
function folderOf(environment: Environment): string {
  return `${stateFolder(environment)}/started`;
}

/** The process with this number, or null when there is none. */
export function identify(pid: number): ProcessId | null {
  const entry = processEntry(pid);
  return entry?.alive === true ? { pid, started: entry.started } : null;
}

/** Whether that very process runs. */
export function isAlive({ pid, started }: ProcessId): boolean {
  return identify(pid)?.started === started;
}

/**
 * Writes down that a command is about to start; answers with the file. Throws what the file system throws: without the
 * record nobody would end the command or put right what it did.
 */
export function record(
  environment: Environment,
  leader: number,
  { writable, before, mark }: Pick<CommandRecord, "writable" | "mark"> & {
    /** As JSON. */ readonly before: string;
  },
): string {
  const folder = folderOf(environment);
  const id = identify(leader) ?? { pid: leader, started: "" };
  const own = thisProcess ??= identify(Deno.pid) ?? { pid: Deno.pid, started: "" };
  const rest = JSON.stringify({ machine: machineOf(), owner: own, leader: id, writable, mark });
  // It is long and the same for many commands, so it comes as text.
  const text = `${rest.slice(0, -1)},"before":${before}}`;
  // Of commands that somebody else starts, only who prepared them is known; there may be several.
  const file = `${folder}/${own.pid}-${id.pid}-${crypto.randomUUID().slice(0, 8)}`;
  const options = { createNew: true, mode: 0o600 };
  try {
    Deno.writeTextFileSync(file, text, options);
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    Deno.writeTextFileSync(file, text, options);
  }
  return file;
}

/** Removes a record; one that is gone already is fine. */
export function forget(file: string): void {
  try {
    Deno.removeSync(file);
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
}

/** Every record of this machine that can be read. */
export function records(environment: Environment): Recorded[] {
  return readRecords(environment, () => true);
}

function readRecords(environment: Environment, wanted: (name: string) => boolean): Recorded[] {
  const folder = folderOf(environment);
  let names: string[];
  try {
    names = Array.from(Deno.readDirSync(folder), ({ name }) => name).filter(wanted);
  } catch {
    return []; // No command was ever started here.
  }
  const here = names.length === 0 ? "" : machineOf();
  return names.flatMap((name) => {
    const file = `${folder}/${name}`;
    const found = readRecord(file);
    const when = found === null ? "elsewhere" : whenOf(found.machine, here);
    // Of another machine that shares this home, nothing can be said.
    return found === null || when === "elsewhere" ? [] : [{ ...found, file, earlier: when === "earlier" }];
  });
}

/** The commands of other processes that live now. */
export function othersAlive(environment: Environment): Recorded[] {
  // Asked before every command, so the names of our own are enough.
  return readRecords(environment, (name) => !name.startsWith(`${Deno.pid}-`)).filter((
    { owner, leader, earlier },
  ) => !earlier && isAlive(owner) && isAlive(leader));
}

/** The records whose owner is gone: what it started may still run, and what that did was never put right. */
export function leftBehind(environment: Environment): Recorded[] {
  return records(environment).filter(({ owner, earlier }) => earlier || !isAlive(owner));
}

/** What such a run left running, in sentences. Changes nothing. */
export function leftRunning(environment: Environment): string[] {
  return leftBehind(environment).filter((each) => survivors(each).length > 0)
    .map(({ leader, owner }) =>
      `process ${leader.pid}, a command of the run ${owner.pid} that was killed; the next advance ends it`
    );
}

/** The processes of a command's session, and those with its mark, that still run, whatever became of its leader. */
export function survivors(recorded: Recorded): number[] {
  if (recorded.earlier) return [];
  const { mark } = recorded;
  const group = groupLeft(recorded);
  const table = processTable();
  const session = group === null ? [] : table.filter(({ session, alive }) => alive && session === group);
  const carriers = mark === undefined ? [] : marked(mark, table);
  return [...new Set([...session.map(({ pid }) => pid), ...carriers])];
}

/**
 * The group of a command as a number that still means it; null when that belongs to another process, so the group is over, and
 * where somebody else started it, within who knows what group.
 */
export function groupLeft({ owner, leader, earlier }: Recorded): number | null {
  if (earlier || leader.pid === owner.pid) return null;
  const now = identify(leader.pid);
  return now === null || now.started === leader.started ? leader.pid : null;
}

let machine: string | undefined;
let thisProcess: ProcessId | undefined;

/** Host, boot and process namespace: numbers of processes mean something within these. */
function machineOf(): string {
  return machine ??= [Deno.hostname(), readOr("/proc/sys/kernel/random/boot_id").trim(), namespaceOf()].join(
    " ",
  );
}

function whenOf(recorded: string, now: string): "now" | "earlier" | "elsewhere" {
  if (recorded === now) return "now";
  const [host, boot] = recorded.split(" ");
  const [thisHost, thisBoot] = now.split(" ");
  return host === thisHost && boot !== thisBoot ? "earlier" : "elsewhere";
}

function namespaceOf(): string {
  try {
    return Deno.readLinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

function readOr(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}

function readRecord(file: string): CommandRecord | null {
  try {
    const { machine, owner, leader, writable, mark, before } = JSON.parse(Deno.readTextFileSync(file));
    const valid = typeof machine === "string" && typeof owner?.pid === "number" &&
      typeof leader?.pid === "number" && Array.isArray(writable);
    if (!valid) return null;
    return { machine, owner, leader, writable, before, ...(typeof mark === "string" ? { mark } : {}) };
  } catch {
    return null; // Being written or removed at this moment, or cut short by a crash before anything ran.
  }
}
