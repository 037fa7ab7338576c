// A document in a folder of real files, evaluated as in a run: frontmatter, templates, parts.

import assert from "node:assert/strict";
import { DEFAULT_LIMITS, type LuaLimits } from "../../lua/vm/budget.ts";
import { BUILTIN_NAMES } from "../../lua/library/names.ts";
import { documentSettings } from "../../config/frontmatter.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { parse } from "../../parser/mod.ts";
import { evaluateChat } from "../../prompt/evaluate.ts";
import { luaSession } from "../../prompt/template/document_lua.ts";
import type { Part, Prompt } from "../../prompt/types.ts";

export interface Scene {
  readonly prompt: Prompt;
  /** The folder of document and files; gone when the scene is handed out. */
  readonly folder: string;
  /** What the first block printed. */
  readonly printed: readonly string[];
  /** `code line` of every diagnostic, errors with an exclamation mark, infos with a question mark. */
  readonly reported: readonly string[];
}

export async function scene(
  chat: string,
  files: Readonly<Record<string, string | Uint8Array>> = {},
  limits: Partial<LuaLimits> = {},
): Promise<Scene> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "flemma-scene-" }));
  try {
    for (const [name, content] of Object.entries(files)) {
      await Deno.mkdir(`${folder}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
      if (typeof content === "string") await Deno.writeTextFile(`${folder}/${name}`, content);
      else await Deno.writeFile(`${folder}/${name}`, content);
    }
    const environment = { cwd: folder, home: folder, variables: {} };
    const loaded = await loadSettingsLayers({ environment, noConfig: true });
    assert.ok(loaded.ok);
    const parsed = parse(new TextEncoder().encode(chat));
    const document = `${folder}/talk.chat`;
    const printed: string[] = [];
    const print = (line: string) => printed.push(line);
    const lua = luaSession({ document, environment, print, limits: { ...DEFAULT_LIMITS, ...limits } });
    const first = await documentSettings({
      loaded: loaded.value,
      frontmatter: parsed.frontmatter,
      runLua: lua.run,
      reserved: BUILTIN_NAMES,
    });
    const { variables, diagnostics, settings } = first;
    const prompt = await evaluateChat(parsed, {
      document,
      environment,
      frontmatter: { variables, diagnostics, lua },
      settings,
    });
    const reported = prompt.diagnostics.map(({ code, start, severity }) =>
      `${code} ${start ?? "-"}${severity === "error" ? "!" : severity === "info" ? "?" : ""}`
    );
    return { prompt, folder, printed, reported };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Texts joined, other parts as their kind in angle brackets. */
export function flat(parts: readonly Part[] | undefined): string {
  return (parts ?? []).map((part) => part.kind === "text" ? part.text : `<${part.kind}>`).join("");
}

/** The flat text of the document's You message number `index`. */
export function userText({ prompt }: Scene, index = 0): string {
  return flat(prompt.history.filter(({ role }) => role === "user")[index]?.parts);
}
