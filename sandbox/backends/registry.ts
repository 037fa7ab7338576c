// The registered backends, by name and in the order they are tried.

import { byBytes } from "../../base/bytes.ts";
import type { Backend } from "../types.ts";
import { checkedFunctions } from "../answers.ts";

const DEFAULT_PRIORITY = 50;

/** A registered backend. */
export interface BackendEntry extends Backend {
  /** The name that settings use. */
  readonly name: string;
  /** Backends with a higher priority are tried first. */
  readonly priority: number;
}

/** Registry of backends by name. Follows the same rules as the registry of approval resolvers. */
export class BackendRegistry {
  #entries = new Map<string, BackendEntry>();
  #generation = 0;

  /** Changes with every registration and removal. Results found under another value are invalid. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Adds a backend, or replaces the one of the same name, including its priority.
   *
   * @throws {TypeError} if the name is empty or contains a dot
   */
  register(name: string, backend: Backend): void {
    if (name === "") throw new TypeError("A sandbox backend needs a name.");
    if (name.includes(".")) {
      throw new TypeError(`The name of a sandbox backend must not contain a dot: "${name}".`);
    }
    const { priority = DEFAULT_PRIORITY, description, confines, repairs } = backend;
    this.#entries.set(name, {
      name,
      priority,
      description,
      confines,
      repairs,
      ...checkedFunctions(backend),
    });
    this.#generation++;
  }

  /** Removes a backend. Returns true if it existed. */
  unregister(name: string): boolean {
    const known = this.#entries.delete(name);
    if (known) this.#generation++;
    return known;
  }

  /** The backend of that name, or null. */
  get(name: string): BackendEntry | null {
    return this.#entries.get(name) ?? null;
  }

  /** True if there is a backend of that name. */
  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** A copy of all backends, highest priority first, equal priorities by name. */
  getAll(): BackendEntry[] {
    return [...this.#entries.values()].sort((a, b) => b.priority - a.priority || byBytes(a.name, b.name));
  }

  /** Number of backends. */
  count(): number {
    return this.#entries.size;
  }

  /** Removes all backends. */
  clear(): void {
    if (this.#entries.size > 0) this.#generation++;
    this.#entries.clear();
  }
}
