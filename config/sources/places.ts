// Where in a text a fault is: at the keys as they were written, or at whatever spelling of its key the text has.

import type { Catalog } from "../schema/catalog.ts";
import { canonicalPath } from "../schema/keys.ts";
import type { Fault } from "../types.ts";
import type { SourceTree } from "./yaml.ts";

/**
 * Finds places in one text. A fault that was found late knows only the canonical key, and the text may have an alias or
 * a dotted name for it.
 *
 * @param below keys of the text that the settings stand below
 */
export class Places {
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

  /** `LINE:COL`; the beginning of the text when nothing of it was written. */
  of(fault: Fault): string {
    const written = this.#isWritten(fault.written)
      ? fault.written!
      : this.#spelling(fault.key) ?? fault.written ?? [];
    return this.#tree.place({ ...fault, written: [...this.#below, ...written] });
  }

  /** `LINE:COL` of a key, or of an item of its list, in whatever spelling; null when the text does not have it. */
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

  /** The keys as written that mean this one, or the nearest one above it. */
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
      // Operators stand at the key they change.
      const keys = own.filter((name) => !["$set", "$append", "$prepend", "$remove"].includes(name));
      const path = keys.length === 0 ? null : canonicalPath(keys, this.#catalog);
      if (path !== null) found.set(path.join("."), own);
    }
    return found;
  }
}
