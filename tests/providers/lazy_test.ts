// Only the selected provider is loaded: the names of all of them do not delay the start.

import assert from "node:assert/strict";

interface Graph {
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly isDynamic?: boolean;
      readonly code?: { readonly specifier?: string };
    }[];
  }[];
}

const ROOT = new URL("../../", import.meta.url).href;

/** Paths of the modules that come with one without a dynamic import. */
async function comingWith(path: string): Promise<ReadonlySet<string>> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--config", new URL("deno.json", ROOT).pathname, new URL(path, ROOT).pathname],
  }).output();
  const { modules }: Graph = JSON.parse(new TextDecoder().decode(stdout));
  const by = new Map(modules.map((module) => [module.specifier, module]));
  const reached = new Set<string>();
  const visit = (specifier: string): void => {
    if (reached.has(specifier)) return;
    reached.add(specifier);
    for (const { isDynamic, code } of by.get(specifier)?.dependencies ?? []) {
      if (isDynamic !== true && code?.specifier !== undefined) visit(code.specifier);
    }
  };
  visit(new URL(path, ROOT).href);
  return new Set([...reached].map((specifier) => specifier.replace(ROOT, "")));
}

Deno.test("the registry of providers loads no provider, and no provider loads another", async () => {
  const folders = (
    paths: ReadonlySet<string>,
  ) => [
    ...new Set(
      [...paths].flatMap((path) =>
        /^providers\/(anthropic|openai|google|chat_completions)\//.exec(path)?.[1] ?? []
      ),
    ),
  ];
  assert.deepEqual(folders(await comingWith("providers/registry.ts")), []);
  assert.deepEqual(folders(await comingWith("providers/openai/provider.ts")), ["openai"]);
  assert.deepEqual(folders(await comingWith("providers/google/provider.ts")), ["google"]);
  assert.deepEqual(folders(await comingWith("providers/chat_completions/moonshot.ts")), ["chat_completions"]);
  assert.deepEqual(folders(await comingWith("providers/anthropic/provider.ts")), ["anthropic"]);
});

Deno.test("a command that resolves no provider does not load the table of vendors", async () => {
  const commands = [
    "run/advance",
    "read/status/status",
    "read/check",
    "write/approve",
    "write/new",
    "read/usage",
  ];
  for (const path of ["cli.ts", ...commands.map((name) => `commands/${name}.ts`)]) {
    const coming = await comingWith(path);
    assert.ok(coming.size > 5, path);
    assert.ok(!coming.has("providers/vendors.ts"), path);
  }
  assert.ok((await comingWith("providers/registry.ts")).has("providers/vendors.ts"));
});
