// What the library's documentation promises: every export has some, names no type that is not exported, and its examples run.

import { ROOT, run } from "./root.ts";

/** Whether `deno doc --lint` finds nothing in the library. The part for hosts of Lezer is about types of theirs, which it cannot tell. */
export async function isDocumented(): Promise<boolean> {
  return await run(Deno.execPath(), ["doc", "--lint", "mod.ts", "parser/library.ts"]) === 0;
}

/** The modules whose documentation holds examples, and the pages whose code blocks are whole programs. */
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
  return [...found.sort(), "docs/replay.md"];
}

function hasExample(text: string): boolean {
  return /^\s*\* ```ts$/m.test(text);
}
