// Tells once of each type of content that this program does not know, because what it holds is not in the document.

import type { Effect } from "../types.ts";

export class UnknownTypes {
  readonly #told = new Set<string>();

  /** The notice about a type, the first time that it is met. */
  tell(what: "block" | "part" | "item", type: unknown): Effect[] {
    const name = typeof type === "string" && type !== "" ? type : "without a name";
    if (this.#told.has(name)) return [];
    this.#told.add(name);
    const message = `The reply holds ${what === "item" ? "an" : "a"} ${what} of the type ${
      JSON.stringify(name.slice(0, 80))
    }, which this program does not know; it is left out.`;
    return [{ kind: "notice", message }];
  }
}
