// Reads the definitions of tool files. A host loads each content once; later runs use the cache and start no host.

import { sha256 } from "../../base/hash.ts";
import { isObject } from "../../base/is_object.ts";
import { replaceSmallFile } from "../../base/files.ts";
import { MOST_OF_CODE, readRegular } from "../../base/system/regular_file.ts";
import { stateFolder } from "../../base/folders.ts";
import type { Environment } from "../../base/environment.ts";
import { fileUri } from "../../base/paths.ts";
import { problemLine, thrownText } from "../../base/problem.ts";
import { sealCode, type SealedCode } from "../../config/code/imports.ts";
import { prepareValidator } from "../validate.ts";
import { apiNamesOf } from "./api_names.ts";
import type { ToolFile } from "./discover.ts";
import type { Hosts } from "./hosts.ts";
import { membersOf, type Read, readDefinition } from "./read_definition.ts";

/** Increased when the cached data changes its meaning. */
const FORMAT = 3;
/** Maximum number of cached definitions. Some are of files that are missing now but may return. */
const MOST_KEPT = 200;
/** Seconds that loading a file may take. */
const LOADING = 10;

/** Reads the definition of a file from the cache, or by loading it in a host. */
export class Definitions {
  readonly #environment: Environment;
  readonly #hosts: Hosts;
  #cached: Map<string, Read> | null = null;
  #news = false;

  constructor(environment: Environment, hosts: Hosts) {
    this.#environment = environment;
    this.#hosts = hosts;
  }

  /** The definition, and the code that it was read from; null for a file without code. */
  async of(file: ToolFile): Promise<{ readonly read: Read; readonly code: SealedCode | null }> {
    if (file.kind === "definition") return { read: await definitionIn(file), code: null };
    try {
      const code = await sealCode(file.path, this.#environment.home);
      this.#hosts.addNames(await apiNamesOf(code.files));
      return { read: await this.#known(file, await keyOf(file, code)), code };
    } catch (thrown) {
      return { read: { broken: `it cannot be read: ${thrownText(thrown)}`, name: file.base }, code: null };
    }
  }

  /** Returns the definition from the cache. If it is not cached, loads the file. */
  async #known(file: ToolFile, key: string): Promise<Read> {
    const kept = (await this.#all()).get(key);
    if (kept !== undefined) return kept;
    const { read, lasts } = await this.#load(file);
    if (lasts) {
      (await this.#all()).set(key, read);
      this.#news = true;
    }
    return read;
  }

  /** Saves new definitions; a failure only slows the next run. */
  async keep(): Promise<void> {
    if (!this.#news || this.#cached === null) return;
    this.#news = false;
    const entries = [...this.#cached].slice(-MOST_KEPT);
    const folder = stateFolder(this.#environment);
    try {
      await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
      const bytes = new TextEncoder().encode(JSON.stringify({ version: FORMAT, entries }));
      await replaceSmallFile(this.#path, bytes, { durable: false });
    } catch {
      // If the state folder is not writable, the code that has to write there reports it.
    }
  }

  get #path(): string {
    return `${stateFolder(this.#environment)}/tool_files.json`;
  }

  async #all(): Promise<Map<string, Read>> {
    return this.#cached ??= new Map(await readCached(this.#path));
  }

  /** Loads a file in a host. `lasts` is true if loading the same content again would give the same result. */
  async #load(file: ToolFile): Promise<{ readonly read: Read; readonly lasts: boolean }> {
    const broken = (cause: string, lasts: boolean) => ({ read: { broken: cause, name: file.base }, lasts });
    const outcome = await this.#hosts.once("sandbox", (host) => {
      const late = setTimeout(() => void host.end("late"), LOADING * 1000);
      const { final } = host.ask({ do: "describe", module: fileUri(file.path) });
      return final.finally(() => clearTimeout(late));
    });
    if (!outcome.ok) {
      const cause = withoutDot(lowerFirst(problemLine(outcome.problem)));
      return { read: { broken: cause, name: file.base, notAsked: true }, lasts: false };
    }
    const final = outcome.value;
    if (final.is === "gone") {
      return broken(
        final.cause === "late" ? `it was not loaded within ${LOADING} seconds` : final.cause,
        false,
      );
    }
    if (final.is === "broken") return broken(final.cause, !/network|dns|fetch|cache/i.test(final.cause));
    if (final.is !== "described") return broken("its host answered a different request", false);
    return { read: await checked(readDefinition(final.members, file.base)), lasts: true };
  }
}

async function definitionIn(file: ToolFile): Promise<Read> {
  try {
    const data: unknown = JSON.parse(new TextDecoder().decode(await readRegular(file.path, MOST_OF_CODE)));
    if (!isObject(data)) return { broken: "it does not contain an object", name: file.base };
    const { execute: _none, ...members } = data;
    return await checked(readDefinition(membersOf(members), file.base));
  } catch (thrown) {
    return { broken: `it cannot be read: ${thrownText(thrown)}`, name: file.base };
  }
}

/** Marks a file as broken if its schema is invalid. */
async function checked(read: Read): Promise<Read> {
  if ("broken" in read) return read;
  const { name, input_schema } = read.definition;
  const prepared = await prepareValidator({ name, input_schema });
  return prepared.ok ? read : { broken: withoutDot(lowerFirst(prepared.problem.message)), name };
}

/** Hash of everything that the definition may depend on: the file, its name, and its imports by path. */
async function keyOf({ base }: ToolFile, { hash }: SealedCode): Promise<string> {
  return await sha256([FORMAT, base, hash].join("\n"));
}

async function readCached(path: string): Promise<[string, Read][]> {
  try {
    const content: unknown = JSON.parse(await Deno.readTextFile(path));
    if (!isObject(content) || content.version !== FORMAT || !Array.isArray(content.entries)) return [];
    return content.entries as [string, Read][];
  } catch {
    // A missing or unreadable file is loaded again each time.
    return [];
  }
}

function withoutDot(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

function lowerFirst(sentence: string): string {
  return sentence.slice(0, 1).toLowerCase() + sentence.slice(1);
}
