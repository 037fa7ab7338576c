// What is registered: the names that settings may speak of. The rooms above know; here it is only data.

import { BUILTIN_TOOLS } from "../rules/builtin_tools.generated.ts";
import type { Group } from "./define.ts";

export interface ToolFact {
  readonly name: string;
  /** Whether it is offered without being asked for. @default true */
  readonly enabled?: boolean;
}

export interface Catalog {
  /** In order of registration. */
  readonly tools: readonly ToolFact[];
  /** Whether sources may have more tools than are listed: whether a name is one's is then settled when they have answered. */
  readonly open?: boolean;
  /** Further tables of parameters by provider, for providers from elsewhere. */
  readonly providers?: Readonly<Record<string, Group>>;
  /** Backends of the sandbox from elsewhere. */
  readonly backends?: readonly string[];
}

/** What this program brings along, for callers that have no registry at hand. */
export const BUILTIN_CATALOG: Catalog = {
  tools: BUILTIN_TOOLS,
};

/** Backends of the sandbox that this program brings along. */
export const BUILTIN_BACKENDS: readonly string[] = ["bwrap", "seatbelt", "container"];
