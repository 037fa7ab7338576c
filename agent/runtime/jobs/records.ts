// Records of background jobs in the state folder, where no command can reach them. They say who owns a job, and keep the
// result of a job that the document could not take.

import type { Environment } from "../../../base/environment.ts";
import { isMissing, readJsonOrNull, removeIfThere, replaceSmallFile } from "../../../base/files.ts";
import { stateFolder } from "../../../base/folders.ts";
import { hasTexts, isObject } from "../../../base/is_object.ts";
import type { Chat } from "../../../parser/types.ts";
import { documentJobs } from "../../../parser/view/jobs.ts";
import { type ProgramProcess, programState, thisProgram } from "../../../sandbox/process/leftovers.ts";

/** The result of a job that has ended. */
export interface JobEnd {
  readonly content: string;
  readonly error: boolean;
  /** True if the job was stopped or lost, so that the result of its call becomes an error, too. */
  readonly cut: boolean;
}

/** What is recorded about a job. */
export interface JobRecord extends ProgramProcess {
  readonly job: string;
  /** Real path of the document. */
  readonly document: string;
  /** The call that started the job. */
  readonly call: string;
  readonly command: string;
  /** Time of the start, as `2026-11-28T12:00:00.000Z`. */
  readonly since: string;
  /** Its result; null while it runs. */
  readonly end: JobEnd | null;
  /** True if the document has the result. */
  readonly delivered: boolean;
}

/** Days after which the record of a delivered or lost job is removed. */
const KEPT_DAYS = 30;

function folderOf(environment: Environment): string {
  return `${stateFolder(environment)}/jobs`;
}

/** Ids are file names, and a document may name anything. */
const ID = /^job_[a-z0-9]{5,20}$/;

function recordPath(environment: Environment, job: string): string {
  return `${folderOf(environment)}/${job}.json`;
}

/** Path of the file with the output of a job. */
export function outputPath(environment: Environment, job: string): string {
  return `${folderOf(environment)}/${job}.txt`;
}

/** Creates the record of a job of this process that is about to start. */
export async function createJobRecord(
  environment: Environment,
  given: Pick<JobRecord, "job" | "document" | "call" | "command">,
): Promise<JobRecord> {
  await Deno.mkdir(folderOf(environment), { recursive: true, mode: 0o700 });
  await removeOld(environment);
  const record = {
    ...thisProgram(),
    ...given,
    since: new Date().toISOString(),
    end: null,
    delivered: false,
  };
  await writeJobRecord(environment, record);
  return record;
}

/** Writes a record durably. Throws errors of the file system. */
export async function writeJobRecord(environment: Environment, record: JobRecord): Promise<void> {
  const text = new TextEncoder().encode(JSON.stringify(record));
  await replaceSmallFile(recordPath(environment, record.job), text, { durable: true });
}

export async function removeJobRecord(environment: Environment, job: string): Promise<void> {
  await removeIfThere(recordPath(environment, job));
}

/** Returns the record of a job; null if this machine has none. */
export function readJobRecord(environment: Environment, job: string): JobRecord | null {
  if (!ID.test(job)) return null;
  const value = readJsonOrNull(recordPath(environment, job));
  return isRecord(value) && value.job === job ? value : null;
}

/** A job whose result is not in its document. */
export interface JobView {
  readonly job: string;
  /** The call that started it. */
  readonly call: string;
  readonly command: string;
  readonly state: Exclude<JobState, "delivered">;
  /** The process that runs or ran it; null if unknown. */
  readonly pid: number | null;
  /** Time of the start in UTC; null if unknown. */
  readonly since: string | null;
}

/** Returns the jobs that a document names and whose results it does not have. Jobs that no machine knows are lost. */
export function openJobsOf(environment: Environment, document: string, chat: Chat): readonly JobView[] {
  return documentJobs(chat).filter(({ finished }) => !finished).flatMap(({ id, result }): JobView[] => {
    const record = readJobRecord(environment, id);
    if (record === null) {
      return [{ job: id, call: result.id, command: "", state: "lost", pid: null, since: null }];
    }
    const { call, command, since, owner: { pid } } = record;
    const state = stateOf(record);
    if (state === "delivered" && record.document === document) return [];
    return [{ job: id, call, command, state: state === "delivered" ? "lost" : state, pid, since }];
  });
}

/** State of a recorded job: `elsewhere` if another machine may run it. */
type JobState = "running" | "ended" | "delivered" | "lost" | "elsewhere";

export function stateOf(record: JobRecord): JobState {
  if (record.delivered) return "delivered";
  if (record.end !== null) return "ended";
  const state = programState(record);
  return state === "runs" ? "running" : state === "gone" ? "lost" : "elsewhere";
}

function names(environment: Environment): string[] {
  try {
    return Array.from(Deno.readDirSync(folderOf(environment)), ({ name }) => name)
      .flatMap((name) => name.endsWith(".json") ? [name.slice(0, -".json".length)] : []);
  } catch (thrown) {
    if (isMissing(thrown)) return [];
    throw thrown;
  }
}

async function removeOld(environment: Environment): Promise<void> {
  const oldest = Date.now() - KEPT_DAYS * 24 * 3600 * 1000;
  for (const job of names(environment)) {
    const record = readJobRecord(environment, job);
    if (record === null || new Date(record.since).getTime() > oldest) continue;
    const state = stateOf(record);
    if (state !== "delivered" && state !== "lost") continue;
    await removeJobRecord(environment, job);
    await removeIfThere(outputPath(environment, job));
  }
}

function isRecord(value: unknown): value is JobRecord {
  return isObject(value) && hasTexts(value, TEXTS) && !Number.isNaN(Date.parse(String(value.since))) &&
    isObject(value.owner) && Number.isSafeInteger(value.owner.pid) &&
    (value.end === null || isEnd(value.end)) && typeof value.delivered === "boolean";
}

const TEXTS = ["job", "document", "call", "command", "since", "machine"];

function isEnd(value: unknown): boolean {
  return isObject(value) && typeof value.content === "string" && typeof value.error === "boolean" &&
    typeof value.cut === "boolean";
}
