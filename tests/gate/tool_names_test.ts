// No code decides by the name of a tool, and the search for such code finds every form it had.

import assert from "node:assert/strict";
import { ROOT } from "../../scripts/gate/root.ts";
import { NAMED_THERE, ROOMS_WITH_TOOLS, toolNameComparisons } from "../../scripts/gate/tool_names.ts";

function* modules(folder: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(`${ROOT}/${folder}`)) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* modules(path);
    else if (path.endsWith(".ts") && !path.endsWith(".generated.ts")) yield path;
  }
}

Deno.test("outside tool definitions and presets, no code compares the name of a tool", () => {
  const found: string[] = [];
  for (const path of ROOMS_WITH_TOOLS.flatMap((room) => [...modules(room)])) {
    if (NAMED_THERE.some((place) => path.startsWith(place))) continue;
    const text = Deno.readTextFileSync(`${ROOT}/${path}`);
    found.push(...toolNameComparisons(text).map((form) => `${path}: ${form}`));
  }
  assert.deepEqual(found, []);
});

Deno.test("each form of comparing the name of a tool is found, and other comparisons of strings are not", () => {
  for (
    const form of [
      'const HARMLESS = new Set(["read", "find", "grep"]);',
      'const HARMLESS = new Set([\n  "calculator",\n  "ls",\n]);',
      'if (call.name === "bash") return;',
      'if (name !== "edit" || other) return;',
      'return "write" === tool;',
      'const runs = (tool: string) => tool.toLowerCase() === "bash";',
      'return rule.tools.includes("read");',
      'const KINDS = {\n  bash: "execute",\n  read: "read",\n};',
      'switch (call.name) {\n  case "bash":',
    ]
  ) assert.equal(toolNameComparisons(form).length > 0, true, form);
  for (
    const form of [
      '// call.name === "bash"',
      'if (definition.files === "write") return;',
      'if (nameOf(shell) !== "bash") return;',
      'export type FileAccess = "read" | "write";',
      'const bare = ["sh", "bash", "cat"];',
      'Object.keys(tools).includes("x")',
      "switch (step.do) {",
    ]
  ) assert.deepEqual(toolNameComparisons(form), [], form);
});
