// Registered names that settings may refer to, as data that other folders provide.

import { BUILTIN_TOOLS } from "../rules/builtin_tools.generated.ts";
import type { Group } from "./define.ts";

export interface ToolFact {
  readonly name: string;
  /** False if the tool is not offered by default. @default true */
  readonly enabled?: boolean;
}

export interface Catalog {
  /** Tools in order of registration. */
  readonly tools: readonly ToolFact[];
  /** True if sources may provide more tools than listed; such names are checked once the sources have answered. */
  readonly open?: boolean;
  readonly providers?: Readonly<Record<string, Group>>;
  readonly backends?: readonly string[];
}

/** The built-in names, for callers without a registry. */
export const BUILTIN_CATALOG: Catalog = {
  tools: BUILTIN_TOOLS,
};

export const BUILTIN_BACKENDS = ["bwrap", "landlock", "seatbelt", "container"] as const;
