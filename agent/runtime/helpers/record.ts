// What this machine knows of the helpers of one document, in the state folder. It belongs to the folder of the helpers,
// whatever the folder or the document is called.

import type { Environment } from "../../../base/environment.ts";
import { isThere, readJsonOrNull, replaceSmallFile } from "../../../base/files.ts";
import { sha256 } from "../../../base/hash.ts";
import { hasTexts, isCount, isObject } from "../../../base/is_object.ts";
import { parentOf } from "../../../base/paths.ts";
import { stateFolder } from "../../../cycle/storage/state_files.ts";
import { nameOfHelper } from "./names.ts";

/** A question that was asked, or is about to be. */
export interface RecordedQuestion {
  /** The call that asks: its id, the hash of its text, and how many calls of the document before it are the same. */
  readonly id: string;
  readonly hash: string;
  readonly nth: number;
  /** The turn of the helper's document from which on the question is written. */
  readonly turn: number;
}

/** A helper that this machine made. */
export interface KnownHelper {
  readonly asked: readonly RecordedQuestion[];
  /** The folder of its git worktree. @default it works in the folder of the document that asks */
  readonly worktree?: string;
}

/** The helpers of a document. */
export interface KnownHelpers {
  /** The folder of the helpers, and the document that asked them, when they were last used. */
  readonly folder: string;
  readonly caller: string;
  readonly helpers: Readonly<Record<string, KnownHelper>>;
}

/** Identifies the folder at a path; null if it is missing or a link. */
async function folderKey(path: string): Promise<string | null> {
  try {
    const { isDirectory, dev, ino, birthtime } = Deno.lstatSync(path);
    return isDirectory ? (await sha256(`${dev} ${ino} ${birthtime?.getTime()}`)).slice(0, 32) : null;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound || thrown instanceof Deno.errors.NotADirectory) return null;
    throw thrown;
  }
}

/** The records of this machine. */
export class HelperRecords {
  readonly #folder: string;

  constructor(environment: Environment) {
    this.#folder = `${stateFolder(environment)}/helpers`;
  }

  /** Returns the record of a folder; null if this machine did not make it. */
  async read(folder: string): Promise<KnownHelpers | null> {
    const key = await folderKey(folder);
    return key === null ? null : this.#at(`${key}.json`);
  }

  /** Records the helpers of a folder, durably. */
  async write(folder: string, known: KnownHelpers): Promise<void> {
    const key = await folderKey(folder);
    if (key === null) throw new Error(`${folder} is not a folder`);
    await Deno.mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const bytes = new TextEncoder().encode(JSON.stringify(known));
    await replaceSmallFile(`${this.#folder}/${key}.json`, bytes, { durable: true });
  }

  /** Returns all records. */
  all(): KnownHelpers[] {
    if (!isThere(this.#folder)) return [];
    return [...Deno.readDirSync(this.#folder)].filter(({ name }) => name.endsWith(".json"))
      .flatMap(({ name }) => this.#at(name) ?? []);
  }

  #at(name: string): KnownHelpers | null {
    const value = readJsonOrNull(`${this.#folder}/${name}`);
    return isRecord(value) ? value : null;
  }
}

function isRecord(value: unknown): value is KnownHelpers {
  return isObject(value) && hasTexts(value, ["folder", "caller"]) && isObject(value.helpers) &&
    Object.values(value.helpers).every(isHelper);
}

function isHelper(value: unknown): boolean {
  return isObject(value) && Array.isArray(value.asked) && value.asked.every(isAsked) &&
    (value.worktree === undefined || typeof value.worktree === "string");
}

function isAsked(value: unknown): boolean {
  return isObject(value) && hasTexts(value, ["id", "hash"]) && isCount(value.nth) && isCount(value.turn);
}

/** True if this machine made the helper at a path. */
export async function isRecorded(environment: Environment, path: string): Promise<boolean> {
  const known = await new HelperRecords(environment).read(parentOf(path));
  return known !== null && Object.hasOwn(known.helpers, nameOfHelper(path));
}
