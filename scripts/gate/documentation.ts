// Checks the library's documentation: every export is documented, uses only exported types, and its examples run.

import { ROOT, runCaptured } from "./root.ts";

/**
 * True if `deno doc --lint` finds nothing in the library. The part for hosts of Lezer uses types of other packages,
 * which the linter cannot check.
 */
export async function isDocumented(): Promise<boolean> {
  return await runCaptured(Deno.execPath(), [
    "doc",
    "--lint",
    "mod.ts",
    "advanced.ts",
    "parser/library.ts",
  ]) === 0;
}

/** Returns the pages for people, as paths below `root`: the README and all of `docs`. */
export async function documentationPages(root: string = ROOT): Promise<string[]> {
  const found = ["README.md"];
  const visit = async (folder: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(`${root}/${folder}`)) {
      if (isDirectory) await visit(`${folder}/${name}`);
      else if (name.endsWith(".md")) found.push(`${folder}/${name}`);
    }
  };
  await visit("docs");
  return found.sort();
}

/** Returns the modules with examples in their documentation, and the pages whose code blocks are whole programs. */
export async function exampleSources(root: string = ROOT): Promise<string[]> {
  const found: string[] = [];
  const visit = async (folder: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(`${root}/${folder}`)) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if (isDirectory && !/^(\.|tests$|scripts$|bench$|dist$|examples$|docs$|node_modules$)/.test(path)) {
        await visit(path);
      } else if (name.endsWith(".ts") && hasExample(await Deno.readTextFile(`${root}/${path}`))) {
        found.push(path);
      }
    }
  };
  await visit("");
  return [...found.sort(), "docs/reference/replay.md"];
}

function hasExample(text: string): boolean {
  return /^\s*\* ```ts$/m.test(text);
}
