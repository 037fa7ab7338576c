// Positions of faults in a text: at the keys as written, or at another spelling of the key.

import type { Catalog } from "../schema/catalog.ts";
import { canonicalPath } from "../schema/keys.ts";
import type { SettingFault } from "../types.ts";
import type { SourceTree } from "./yaml.ts";

/**
 * Finds positions in one text. For a fault that is found late, only the canonical key is known, but the text may
 * contain an alias or a dotted name.
 *
 * @param below keys of the text that contain the settings
 */
export class KeyPositions {
  readonly #tree: SourceTree;
  readonly #catalog: Catalog;
  readonly #below: readonly string[];
  #all: ReadonlySet<string> | null = null;
  #known: ReadonlyMap<string, readonly string[]> | null = null;

  constructor(tree: SourceTree, catalog: Catalog, below: readonly string[] = []) {
    this.#tree = tree;
    this.#catalog = catalog;
    this.#below = below;
  }

  /** Returns `LINE:COL`; the beginning of the text if the key was not written. */
  of(fault: SettingFault): string {
    const written = this.#isWritten(fault.written)
      ? fault.written!
      : this.#spelling(fault.key) ?? fault.written ?? [];
    return this.#tree.place({ ...fault, written: [...this.#below, ...written] });
  }

  /** Returns `LINE:COL` of a key or an item of its list in any spelling; null if the text does not contain it. */
  ofKey(key: string, item?: unknown): string | null {
    const written = this.#spelling(key);
    return written === null ? null : this.#tree.place({
      code: "config_ignored_value",
      severity: "warning",
      key,
      message: "",
      written: [...this.#below, ...written],
      ...(item === undefined ? {} : { item }),
    });
  }

  #isWritten(written: readonly string[] | undefined): boolean {
    this.#all ??= new Set(this.#tree.keys().map((written) => JSON.stringify(written)));
    return written !== undefined && this.#all.has(JSON.stringify([...this.#below, ...written]));
  }

  /** Returns the keys as written that lead to this key, or to its nearest ancestor in the text. */
  #spelling(key: string): readonly string[] | null {
    this.#known ??= this.#canonical();
    for (let at = key; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) {
      const written = this.#known.get(at);
      if (written !== undefined) return written;
    }
    return null;
  }

  #canonical(): ReadonlyMap<string, readonly string[]> {
    const found = new Map<string, readonly string[]>();
    for (const written of this.#tree.keys()) {
      if (!this.#below.every((name, at) => written[at] === name)) continue;
      const own = written.slice(this.#below.length);
      // `$set`, `$append` and similar operators are members of the key that they change.
      const keys = own.filter((name) => !["$set", "$append", "$prepend", "$remove"].includes(name));
      const path = keys.length === 0 ? null : canonicalPath(keys, this.#catalog);
      if (path !== null) found.set(path.join("."), own);
    }
    return found;
  }
}
