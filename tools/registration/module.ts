// Loads tools from a module. Its exports are tool definitions, or a source that finds definitions later.

import { fileUri } from "../../base/paths.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import type { Registration } from "../definition.ts";
import { sayDone } from "./sources.ts";
import type { ToolSource } from "./types.ts";

/** Tools of a module: a list, or a source that finds them later. */
export type ModuleTools =
  | { readonly definitions: readonly Registration[] }
  | { readonly source: ToolSource };

/**
 * Loads a tool module. Fails with `tool-module` if it does not load, or exports neither `resolve` nor `definitions`.
 *
 * @param path absolute path, which messages also use
 */
export async function loadModule(path: string): Promise<Outcome<ModuleTools>> {
  let module: Record<string, unknown>;
  try {
    module = await import(fileUri(path));
  } catch (thrown) {
    return failure("tool-module", `The tool module ${path} could not be loaded: ${thrownText(thrown)}`);
  }
  for (const holder of [module, module.default]) {
    if (typeof holder !== "object" || holder === null) continue;
    const { resolve, timeout, definitions } = holder as Record<string, unknown>;
    if (typeof resolve === "function") {
      // The function is called as a member of its module, with as many parameters as it declares.
      return success({
        source: {
          name: path,
          file: path,
          timeout: typeof timeout === "number" && timeout > 0 ? timeout : undefined,
          resolve: resolve.bind(holder),
        },
      });
    }
    if (Array.isArray(definitions)) return success({ definitions });
  }
  return failure(
    "tool-module",
    `The tool module ${path} exports neither resolve nor definitions.`,
    "Export a list named definitions, or a function resolve(register, done).",
  );
}

/**
 * Returns a source that loads a tool module when tools are first needed, with the timeout that the module asks for.
 *
 * @param changed returns why the code of the module must not be loaded, as a sentence; null if it has not changed since
 * the person's settings were read
 */
export function moduleSource(
  path: string,
  changed: (path: string) => Promise<string | null> = () => Promise.resolve(null),
): ToolSource {
  return {
    name: path,
    file: path,
    async resolve(register, done, within) {
      const change = await changed(path);
      if (change !== null) return done(change);
      const loaded = await loadModule(path);
      if (!loaded.ok) return done(sentence(loaded.problem.message, path));
      if ("source" in loaded.value) {
        const { resolve, timeout } = loaded.value.source;
        if (timeout !== undefined) within(timeout);
        const returned = await resolve(register, done, within);
        return sayDone(resolve) ? returned : done();
      }
      for (const definition of loaded.value.definitions) register(definition);
      done();
    },
  };
}

/** Removes the path from the sentence, since the name of the source already says it. */
function sentence(message: string, path: string): string {
  return message.replace(`The tool module ${path} `, "it ");
}
