// The last tool list of a server and the protocol that it spoke, kept in the state folder. Requests offer tools from it,
// so that a slow server does not change a request.

import { mayBeThere, readOrNull, removeIfThere, replaceSmallFile } from "../../base/files.ts";
import type { Environment } from "../../base/environment.ts";
import { stateFolder } from "../../base/folders.ts";
import { quickHash, sha256 } from "../../base/hash.ts";
import { isObject } from "../../base/is_object.ts";
import { parentOf } from "../../base/paths.ts";
import type { McpServer } from "../../config/settings.generated.ts";
import type { ProtocolEra } from "./connection.ts";

/** Ending of the file that marks a failed start. */
const FAILED = ".failed";

/** What a server said last. */
export interface KnownServer {
  readonly tools: readonly unknown[];
  /** The protocol that the server spoke; null if unknown. */
  readonly era: ProtocolEra | null;
}

/** The cached list of one server under one set of settings, since other settings may start another program. */
export class CachedList {
  readonly #file: Promise<string>;

  constructor(name: string, settings: McpServer, environment: Environment) {
    const { include: _i, exclude: _e, timeout: _t, start_timeout: _s, enabled: _n, ...what } = settings;
    this.#file = sha256(JSON.stringify(what)).then((hash) =>
      `${stateFolder(environment)}/mcp/${quickHash(name)}${hash.slice(0, 32)}.json`
    );
  }

  /** The list, and the protocol of the server; null if none is cached, or if it cannot be read. */
  async read(): Promise<KnownServer | null> {
    const bytes = await readOrNull(await this.#file);
    if (bytes === null) return null;
    try {
      const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
      // Earlier versions stored the list alone.
      if (Array.isArray(value)) return { tools: value, era: null };
      if (!isObject(value) || !Array.isArray(value.tools)) return null;
      return { tools: value.tools, era: value.era === "legacy" || value.era === "modern" ? value.era : null };
    } catch {
      // The cached file is incomplete, so the server is asked again.
      return null;
    }
  }

  /** Replaces the cached list. */
  async write(listed: KnownServer): Promise<void> {
    const file = await this.#file;
    await Deno.mkdir(parentOf(file), { recursive: true, mode: 0o700 });
    await replaceSmallFile(file, new TextEncoder().encode(JSON.stringify(listed)), { durable: false });
    await removeIfThere(`${file}${FAILED}`);
  }

  /** True if the server did not start when it was asked last. */
  async hasFailed(): Promise<boolean> {
    return mayBeThere(`${await this.#file}${FAILED}`);
  }

  /** Remembers that the server did not start. If this cannot be saved, the next run waits in full again. */
  async noteFailure(): Promise<void> {
    const file = `${await this.#file}${FAILED}`;
    try {
      await Deno.mkdir(parentOf(file), { recursive: true, mode: 0o700 });
      await Deno.writeTextFile(file, "", { mode: 0o600 });
    } catch {
      // The failure itself is reported.
    }
  }
}
