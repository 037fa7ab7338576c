// Remembers the last versions of a buffer, for commands that an editor sent before it knew the current one.

import type { Chat } from "../../parser/types.ts";

/** Number of earlier versions that are remembered. */
const MOST_VERSIONS = 16;

interface EarlierVersion {
  readonly version: number;
  readonly chat: Chat;
  /** True if only our edits led to the next version. */
  readonly isOurs: boolean;
}

export class EarlierVersions {
  /** Newest last. */
  #versions: readonly EarlierVersion[] = [];

  /** Remembers a version that another one replaces now. */
  add(earlier: EarlierVersion): void {
    this.#versions = [...this.#versions, earlier].slice(-MOST_VERSIONS);
  }

  /** Returns the text of an earlier version; null if that version is not remembered. */
  chatAt(version: number): Chat | null {
    return this.#versions.findLast((each) => each.version === version)?.chat ?? null;
  }

  /** True if only our edits led from an earlier version to the current one. */
  isOursSince(version: number): boolean {
    const from = this.#versions.findLastIndex((each) => each.version === version);
    return from >= 0 && this.#versions.slice(from).every(({ isOurs }) => isOurs);
  }
}
