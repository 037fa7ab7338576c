// The backends that exist, by name and in the order in which they are tried (sandbox 6.1).

import { byBytes } from "../../base/bytes.ts";
import type { Backend } from "../types.ts";

const DEFAULT_PRIORITY = 50;

/** A backend as it is registered. */
export interface BackendEntry extends Backend {
  /** The name that settings use. */
  readonly name: string;
  /** Who is tried first; higher goes before lower. */
  readonly priority: number;
}

/** Backends by name. Same rules as the registry of approval resolvers (approval section 2). */
export class BackendRegistry {
  #entries = new Map<string, BackendEntry>();
  #generation = 0;

  /** Changes with every registration and removal; answers found under another value are void (6.2). */
  get generation(): number {
    return this.#generation;
  }

  /** Adds a backend; one of the same name is replaced, its priority too. Throws a `TypeError` for a bad name. */
  register(name: string, backend: Backend): void {
    if (name === "") throw new TypeError("A sandbox backend needs a name.");
    if (name.includes(".")) {
      throw new TypeError(`The name of a sandbox backend must not contain a dot: "${name}".`);
    }
    const { priority = DEFAULT_PRIORITY, description, confines } = backend;
    this.#entries.set(name, {
      name,
      priority,
      description,
      confines,
      available: backend.available.bind(backend),
      wrap: backend.wrap.bind(backend),
      prepare: backend.prepare?.bind(backend),
      probe: backend.probe?.bind(backend),
      retry: backend.retry?.bind(backend),
      hardening: backend.hardening?.bind(backend),
      version: backend.version?.bind(backend),
    });
    this.#generation++;
  }

  /** Removes a backend; true if it was there. */
  unregister(name: string): boolean {
    const known = this.#entries.delete(name);
    if (known) this.#generation++;
    return known;
  }

  /** The backend of that name; null when there is none. */
  get(name: string): BackendEntry | null {
    return this.#entries.get(name) ?? null;
  }

  /** Whether there is a backend of that name. */
  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** A copy, highest priority first, equal ones by name. */
  getAll(): BackendEntry[] {
    return [...this.#entries.values()].sort((a, b) => b.priority - a.priority || byBytes(a.name, b.name));
  }

  /** Number of backends. */
  count(): number {
    return this.#entries.size;
  }

  /** Takes all backends away. */
  clear(): void {
    if (this.#entries.size > 0) this.#generation++;
    this.#entries.clear();
  }
}
