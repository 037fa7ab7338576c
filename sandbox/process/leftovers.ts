// Records of live commands, which every process of this user can read. Finds the records that a killed run left
// behind.

import type { Environment } from "../../base/environment.ts";
import { stateFolder } from "../../base/folders.ts";
import { findMarked } from "./marks.ts";
import { processEntry, processTable } from "./process_table.ts";

/** Identity of a process that no later process with the same id shares. */
export interface ProcessId {
  readonly pid: number;
  /** Start time of the process, in the kernel's unit. */
  readonly started: string;
}

/** What a later run must know about a command if the program that started it is gone. */
export interface CommandRecord {
  readonly machine: string;
  /** The process of the program that started the command. */
  readonly owner: ProcessId;
  /** The leader of its process group. */
  readonly leader: ProcessId;
  /** Real paths it can write to; empty if nothing confines it. */
  readonly writable: readonly string[];
  /** The mark that its processes carry. Absent if they can be found without it. */
  readonly mark?: string;
  /** State to restore after the command, a `Before` without its snapshot; null if there is nothing to restore. */
  readonly before: unknown;
}

export interface Recorded extends CommandRecord {
  readonly file: string;
  /**
   * True if the machine was restarted since the record was written. Then none of its processes runs, whatever the ids
   * say.
   */
  readonly earlier: boolean;
}

/** The folder of the records. No command can reach it, and it survives a crash of the machine. */
function folderOf(environment: Environment): string {
  return `${stateFolder(environment)}/started`;
}

/** The living process with this id, or null. */
export function identify(pid: number): ProcessId | null {
  const entry = processEntry(pid);
  return entry?.alive === true ? { pid, started: entry.started } : null;
}

/** True if exactly this process is running. */
export function isAlive({ pid, started }: ProcessId): boolean {
  return identify(pid)?.started === started;
}

/** A process of this program, on one of the machines that may share the state folder. */
export interface ProgramProcess {
  readonly machine: string;
  readonly owner: ProcessId;
}

/** Identifies this process. */
export function thisProgram(): ProgramProcess {
  return {
    machine: machineOf(),
    owner: thisProcess ??= identify(Deno.pid) ?? { pid: Deno.pid, started: "" },
  };
}

/** Whether a process of this program runs; `elsewhere` if another machine knows it. */
export function programState({ machine, owner }: ProgramProcess): "runs" | "gone" | "elsewhere" {
  const when = whenOf(machine, machineOf());
  if (when === "now") return isAlive(owner) ? "runs" : "gone";
  return when === "earlier" ? "gone" : "elsewhere";
}

/**
 * Records that a command is about to start. Throws errors of the file system: without the record, no later run would
 * end the command or repair what it did.
 *
 * @returns the file of the record
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
  // The caller serializes `before` once, because it is long and the same for many commands.
  const text = `${rest.slice(0, -1)},"before":${before}}`;
  // If a host starts the commands, the record names the process that prepared them. This process may have prepared
  // several commands, so the name of the record needs a random part.
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

/** Removes the record of a command that has ended. If the folder does not allow that, empties the file. */
export function removeRecord(file: string): void {
  try {
    Deno.removeSync(file);
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) Deno.truncateSync(file);
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
    return []; // No command was ever recorded in this folder.
  }
  const here = names.length === 0 ? "" : machineOf();
  return names.flatMap((name) => {
    const file = `${folder}/${name}`;
    const found = readRecord(file);
    const when = found === null ? "elsewhere" : whenOf(found.machine, here);
    // Records of another machine that shares this home folder are skipped, because nothing is known about its
    // processes.
    return found === null || when === "elsewhere" ? [] : [{ ...found, file, earlier: when === "earlier" }];
  });
}

/** The commands of other processes that live now. */
export function othersAlive(environment: Environment): Recorded[] {
  return othersUnsettled(environment).filter(({ leader }) => isAlive(leader));
}

/** The commands of other processes that live now, or whose changes their living owner has not repaired yet. */
function othersUnsettled(environment: Environment): Recorded[] {
  // This runs before every command. The file names show which records are our own, so only the other records are read.
  return readRecords(environment, (name) => !name.startsWith(`${Deno.pid}-`))
    .filter(({ owner, earlier }) => !earlier && isAlive(owner));
}

/** The commands of other runs, also of this process, whose changes are not repaired yet. */
export function othersUnsettledThan(own: ReadonlySet<string>, environment: Environment): Recorded[] {
  return records(environment).filter(({ owner, earlier, file }) =>
    !earlier && !own.has(file) && isAlive(owner)
  );
}

/** Records whose owner is gone: its commands may still run, and their changes were never repaired. */
export function findLeftRecords(environment: Environment): Recorded[] {
  return records(environment).filter(({ owner, earlier }) => earlier || !isAlive(owner));
}

/** Returns sentences about commands that killed runs left running. Changes nothing. */
export function describeLeftCommands(environment: Environment): string[] {
  return findLeftRecords(environment).filter((each) => survivors(each).length > 0)
    .map(({ leader, owner }) =>
      `process ${leader.pid}, a command of the killed run ${owner.pid}; the next advance ends it`
    );
}

/** Living processes in the session of a command, or with the mark of the command, even if its leader is gone. */
export function survivors(recorded: Recorded): number[] {
  if (recorded.earlier) return [];
  const { mark } = recorded;
  const group = groupLeft(recorded);
  const table = processTable();
  const session = group === null ? [] : table.filter(({ session, alive }) => alive && session === group);
  const carriers = mark === undefined ? [] : findMarked(mark, table);
  return [...new Set([...session.map(({ pid }) => pid), ...carriers])];
}

/**
 * The group id of a command. Null if another process has this id now, because then the group is gone. Also null if a
 * host started the command, because then its group is unknown.
 */
export function groupLeft({ owner, leader, earlier }: Recorded): number | null {
  if (earlier || leader.pid === owner.pid) return null;
  const now = identify(leader.pid);
  return now === null || now.started === leader.started ? leader.pid : null;
}

let machine: string | undefined;
let thisProcess: ProcessId | undefined;

/** Identifies this machine by host, boot and process namespace. Process ids are comparable only within these three. */
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
    return null; // The record is being written or removed now, or a crash truncated it before the command ran.
  }
}
