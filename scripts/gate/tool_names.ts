// Finds code that compares the name of a tool with the names of the program's own: rights are properties of definitions.

import { BUILTIN_TOOLS } from "../../config/rules/builtin_tools.generated.ts";

/** Rooms where a text that looks like the name of a tool is one. */
export const ROOMS_WITH_TOOLS: readonly string[] = [
  "agent",
  "commands",
  "config",
  "cycle",
  "editors",
  "prompt",
  "render",
  "tools",
];

/** Where names of tools belong: their definitions, the presets that list them, and what reads words of the shell. */
export const NAMED_THERE: readonly string[] = [
  "tools/builtin/",
  "tools/approval/presets.ts",
  "tools/approval/shell/",
  "config/layers/presets.ts",
];

const NAMES = BUILTIN_TOOLS.map(({ name }) => name).join("|");
const NAME = `["'](?:${NAMES})["']`;
const HOLDER = String.raw`\b(?:name|tool|toolName|tool_name)(?:\.toLowerCase\(\))?`;
const FORMS: readonly RegExp[] = [
  new RegExp(`${HOLDER}\\s*[!=]==?\\s*${NAME}`, "g"),
  new RegExp(`${NAME}\\s*[!=]==?\\s*(?:\\w+\\.)*${HOLDER}`, "g"),
  new RegExp(`\\b(?:tools|names|excluded)\\.(?:includes|has)\\(\\s*${NAME}`, "g"),
  // A list of two of them is a list of tools, and so are the keys of a table of words.
  new RegExp(`\\[\\s*${NAME},\\s*${NAME}`, "g"),
  new RegExp(`\\b(?:${NAMES}): ["']\\w+["'],\\s*(?:${NAMES}): ["']\\w+["']`, "g"),
  new RegExp(`\\bswitch\\s*\\((?:\\w+\\.)*${HOLDER}\\)[^}]*?\\bcase ${NAME}`, "g"),
];

/** The comparisons in a module, as they are written. */
export function toolNameComparisons(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  return FORMS.flatMap((form) => [...code.matchAll(form)].map(([found]) => found.trim()));
}
