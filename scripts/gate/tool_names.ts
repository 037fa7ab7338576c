// Finds code that compares a tool's name with the program's own tool names: permissions are properties of definitions.

import { BUILTIN_TOOLS } from "../../config/rules/builtin_tools.generated.ts";

/** Rooms in which a string that equals a tool name refers to the tool. */
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

/** Places where tool names belong: their definitions, the presets that list them, and shell parsing. */
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
  // An array with two of these names is a list of tools, and so are the keys of an object of words.
  new RegExp(`\\[\\s*${NAME},\\s*${NAME}`, "g"),
  new RegExp(`\\b(?:${NAMES}): ["']\\w+["'],\\s*(?:${NAMES}): ["']\\w+["']`, "g"),
  new RegExp(`\\bswitch\\s*\\((?:\\w+\\.)*${HOLDER}\\)[^}]*?\\bcase ${NAME}`, "g"),
];

/** Returns the comparisons in a module, as written. */
export function toolNameComparisons(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  return FORMS.flatMap((form) => [...code.matchAll(form)].map(([found]) => found.trim()));
}
