// Keeps sign-ins at MCP servers: their tokens in the system's keyring, or in a file that is hidden from commands.

import type { Environment } from "../../base/environment.ts";
import { isNoFile, readOrNull, removeIfThere, replaceSmallFile } from "../../base/files.ts";
import { signInsFolder } from "../../base/folders.ts";
import { quickHash } from "../../base/hash.ts";
import { isObject } from "../../base/is_object.ts";
import type { Settings } from "../../config/settings.generated.ts";
import { type Keyring, NO_KEY, systemKeyring } from "../../providers/keys/keyring.ts";
import type { HelperPlace } from "../../providers/keys/types.ts";
import type { SignIn, SignInStore } from "../../tools/mcp/sign_in/types.ts";

/** Whose sign-in it is: the person's own server, or one that a project defines in a file. */
export interface SignInOwner {
  readonly name: string;
  readonly url: string;
  /** Path of the project's file; null for a server of the person's settings. */
  readonly file: string | null;
}

/** What may be shown about a sign-in. */
export interface KnownSignIn extends SignInOwner {
  readonly issuer: string;
  readonly scope: string | null;
  /** Time at which the access token expires, in milliseconds; null if unknown. */
  readonly expires_at: number | null;
  /** Scopes that the server asked for since then. */
  readonly wanted: readonly string[];
  /** Where the tokens are. */
  readonly kept: "keyring" | "file";
}

/** A file of a sign-in: what may be shown, and where the tokens are. */
interface Entry extends KnownSignIn {
  /** Name of the entry in the keyring. */
  readonly service: string;
  /** Earlier entries in the keyring that could not be removed yet. */
  readonly left?: readonly string[];
  /** The sign-in, if no keyring has it. */
  readonly secret?: SignIn;
}

/** The result of removing a sign-in. */
export interface RemovedSignIn {
  /** False if there was none. */
  readonly removed: boolean;
  /** Entries that are still in the keyring, and why. */
  readonly left: readonly string[];
  readonly reason: string;
}

/** Kind of the entry in keyrings. */
const KIND = "access_token";

/** Returns whose server a name in the settings is. */
export function signInOwner(
  { personal_servers: personal, servers_file: file }: Pick<
    Settings["tools"],
    "personal_servers" | "servers_file"
  >,
  name: string,
  url: string,
): SignInOwner {
  return { name, url, file: personal.includes(name) ? null : file ?? "" };
}

/** Keeps the sign-in of one owner. */
export class SignIns implements SignInStore {
  readonly #owner: SignInOwner;
  readonly #environment: Environment;
  readonly #helpers: () => HelperPlace;
  readonly #path: string;

  constructor(owner: SignInOwner, environment: Environment, helpers: () => HelperPlace) {
    this.#owner = owner;
    this.#environment = environment;
    this.#helpers = helpers;
    this.#path = `${signInsFolder(environment)}/${quickHash(JSON.stringify([owner.file, owner.url]))}.json`;
  }

  async read(): Promise<SignIn | null> {
    const entry = await this.#entry();
    if (entry === null) return null;
    if (entry.kept === "file") return entry.secret ?? null;
    const answer = await this.#keyring()?.lookup(entry.service, KIND) ??
      { reason: "no keyring is available" };
    if ("output" in answer) return JSON.parse(answer.output) as SignIn;
    if (answer.reason === NO_KEY) return null;
    throw new Error(`the keyring failed: ${answer.reason}`);
  }

  async write(signIn: SignIn): Promise<void> {
    await this.keep(signIn, null);
  }

  /** Replaces the sign-in after the person consented, and forgets what the server asked for before. */
  async keep(signIn: SignIn, wanted: readonly string[] | null = []): Promise<KnownSignIn["kept"]> {
    const { issuer, resource, client, scope, expires_at } = signIn;
    const { name, url, file } = this.#owner;
    const before = await this.#entry();
    const about = [issuer, resource, client.client_id, file];
    const service = `mcp:${new URL(url).host}:${quickHash(JSON.stringify(about))}`;
    const keyring = this.#keyring();
    // A keyring that refuses counts as none.
    const problem = await keyring?.store(service, KIND, JSON.stringify(signIn));
    const kept = problem === null ? "keyring" : "file";
    const old = keyringEntries(before).filter((each) => kept === "file" || each !== service);
    const entry: Entry = {
      name,
      url,
      file,
      issuer,
      scope,
      expires_at,
      wanted: wanted ?? before?.wanted ?? [],
      kept,
      service,
      ...(old.length === 0 ? {} : { left: old }),
      ...(kept === "file" ? { secret: signIn } : {}),
    };
    await this.#save(entry);
    if (old.length > 0) {
      const { left } = await this.#clear(old);
      if (left.length < old.length) await this.#save({ ...entry, left });
    }
    return kept;
  }

  async remove(): Promise<boolean> {
    return (await this.removeAll()).removed;
  }

  /** Removes the sign-in on this machine in any case, and from the keyring if that works. */
  async removeAll(): Promise<RemovedSignIn> {
    const entry = await this.#entry();
    const cleared = await this.#clear(keyringEntries(entry));
    if (entry !== null) await removeIfThere(this.#path);
    return { removed: entry !== null, ...cleared };
  }

  /** Removes entries from the keyring; returns those that are still there, and why. */
  async #clear(services: readonly string[]): Promise<Omit<RemovedSignIn, "removed">> {
    const keyring = services.length === 0 ? null : this.#keyring();
    const left: string[] = [];
    let reason = "No keyring is available.";
    for (const service of services) {
      const removed = await keyring?.remove(service, KIND);
      if (removed?.ok === true) continue;
      left.push(service);
      if (removed !== undefined) reason = removed.problem.message;
    }
    return { left, reason };
  }

  async wanted(): Promise<readonly string[]> {
    return (await this.#entry())?.wanted ?? [];
  }

  async want(scopes: readonly string[]): Promise<void> {
    await this.alone(async () => {
      const entry = await this.#entry();
      if (entry === null) return;
      const wanted = [...new Set([...entry.wanted, ...scopes])];
      if (wanted.length > entry.wanted.length) await this.#save({ ...entry, wanted });
    });
  }

  /** The lock is the system's lock on an open file, which ends with its holder. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    await Deno.mkdir(signInsFolder(this.#environment), { recursive: true, mode: 0o700 });
    const file = await Deno.open(`${this.#path}.lock`, { create: true, write: true, mode: 0o600 });
    try {
      await file.lock(true);
      return await work();
    } finally {
      file.close();
    }
  }

  async #save(entry: Entry): Promise<void> {
    await Deno.mkdir(signInsFolder(this.#environment), { recursive: true, mode: 0o700 });
    await replaceSmallFile(this.#path, new TextEncoder().encode(`${JSON.stringify(entry)}\n`), {
      durable: true,
    });
  }

  /** Different owners can have files of the same name, so the owner in the file decides. */
  async #entry(): Promise<Entry | null> {
    const entry = await readEntry(this.#path);
    return entry?.url === this.#owner.url && entry.file === this.#owner.file ? entry : null;
  }

  #keyring(): Keyring | null {
    return systemKeyring(this.#helpers().environment);
  }
}

/** Returns the entries of a sign-in in the keyring. */
function keyringEntries(entry: Entry | null): string[] {
  if (entry === null) return [];
  return [...new Set([...entry.left ?? [], ...(entry.kept === "keyring" ? [entry.service] : [])])];
}

/** Members that every entry has. */
const TEXTS = ["name", "url", "issuer", "kept", "service"];

/** A damaged file counts as none: the person signs in again. */
async function readEntry(path: string): Promise<Entry | null> {
  try {
    const bytes = await readOrNull(path);
    const value: unknown = bytes === null ? null : JSON.parse(new TextDecoder().decode(bytes));
    const isEntry = isObject(value) && TEXTS.every((name) => typeof value[name] === "string") &&
      Array.isArray(value.wanted);
    return isEntry ? value as unknown as Entry : null;
  } catch (thrown) {
    if (thrown instanceof SyntaxError || isNoFile(thrown)) return null;
    throw thrown;
  }
}

/** Lists all sign-ins, without their tokens, in the order of their names. */
export async function knownSignIns(environment: Environment): Promise<KnownSignIn[]> {
  const folder = signInsFolder(environment);
  const found: KnownSignIn[] = [];
  try {
    for await (const { name } of Deno.readDir(folder)) {
      const entry = name.endsWith(".json") ? await readEntry(`${folder}/${name}`) : null;
      if (entry === null) continue;
      const { secret: _, service: __, left: ___, ...known } = entry;
      found.push(known);
    }
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
  return found.sort((a, b) => a.name < b.name ? -1 : 1);
}
