// The built-in tools.

import { DEFAULT_SETTINGS, type ToolSettings } from "../../config/settings.generated.ts";
import type { BuiltinTool } from "../definition.ts";
import { bashTool } from "./bash.ts";
import { calculatorAsyncTool, calculatorTool } from "./calculator/calculator.ts";
import { editTool } from "./edit.ts";
import { readTool } from "./read/read.ts";
import { findTool } from "./search/find.ts";
import { grepTool } from "./search/grep.ts";
import { jobTools } from "./jobs.ts";
import { lsTool } from "./search/ls.ts";
import { writeTool } from "./write.ts";

/** Settings of the built-in tools; their descriptions name the limits. */
export type BuiltinSettings = Pick<ToolSettings, "truncate" | "default_timeout" | "named" | "jobs">;

/** Creates all built-in tools. Schemas and descriptions depend only on the settings. */
export function builtinTools(settings: BuiltinSettings = DEFAULT_SETTINGS.tools): BuiltinTool[] {
  const { truncate, default_timeout, named, jobs } = settings;
  const limits = { maxLines: truncate.max_lines, maxBytes: truncate.max_bytes };
  return [
    bashTool({ truncate, defaultTimeout: default_timeout, jobs: jobs.enabled }),
    readTool(limits),
    editTool({ replaceAll: named.edit?.replace_all === true }),
    writeTool(),
    lsTool(limits),
    findTool(limits),
    grepTool(limits),
    calculatorTool({ enabled: named.calculator?.enabled !== false }),
    calculatorAsyncTool(),
    ...(jobs.enabled ? jobTools() : []),
  ];
}
