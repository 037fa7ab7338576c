// Finds exported names of the program that more than one module defines. Each name should have one home.

import { isOfProgram } from "./old_words.ts";
import type { Sources } from "./dead_exports.ts";

/** Names that modules of the same kind share, because they have the same interface. */
const SHARED: Readonly<Record<string, RegExp>> = {
  // `run` is the entry of each command.
  run: /^commands\//,
  // `buildRequest` is the entry of each provider whose API has its own form.
  buildRequest: /^providers\/\w+\/request\.ts$/,
  // These belong to the replayed APIs: how each answers, and what each refuses.
  replyFrames: /^providers\/replay\/(\w+\/)?frames\.ts$/,
  refusals: /^providers\/replay\/strict\/\w+\.ts$/,
};

/**
 * Returns exported names with several homes, each as `NAME: FILE, FILE`. The function expects the style of the
 * formatter.
 */
export function sharedExports(sources: Sources): string[] {
  const homes = new Map<string, Set<string>>();
  for (const [path, text] of sources) {
    if (!isOfProgram(path)) continue;
    const defined = text.matchAll(
      /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm,
    );
    for (const [, name] of defined) homes.set(name!, (homes.get(name!) ?? new Set()).add(path));
  }
  return [...homes]
    .filter(([name, paths]) => paths.size > 1 && ![...paths].every((path) => isShared(name, path)))
    .map(([name, paths]) => `${name}: ${[...paths].sort().join(", ")}`);
}

function isShared(name: string, path: string): boolean {
  return Object.hasOwn(SHARED, name) && SHARED[name]!.test(path);
}
