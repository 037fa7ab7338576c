// The Nodes and package managers used to install flemma, each in a pinned version.

import pinned from "./tools/package.json" with { type: "json" };
import { installPinned } from "./pinned.ts";

/** Programs in packages of `tools/package.json`: scripts for Node, or native programs. */
const TOOLS = {
  node20: { node: "node20/bin/node" },
  node22: { node: "node22/bin/node" },
  node24: { node: "node24/bin/node" },
  npm10: { npm: "npm10/bin/npm-cli.js", npx: "npm10/bin/npx-cli.js" },
  npm11: { npm: "npm11/bin/npm-cli.js", npx: "npm11/bin/npx-cli.js" },
  npm12: { npm: "npm12/bin/npm-cli.js", npx: "npm12/bin/npx-cli.js" },
  pnpm10: { pnpm: "pnpm10/bin/pnpm.cjs" },
  pnpm12: { pnpm: "@pnpm/exe.linux-x64/pnpm" },
  yarn1: { yarn: "yarn1/bin/yarn.js" },
  yarn4: { yarn: "yarn4/bin/yarn.js" },
  bun1: { bun: "@oven/bun-linux-x64/bin/bun" },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

export type Tool = keyof typeof TOOLS;

export function versionOf(tool: Tool): string {
  const [path = ""] = Object.values<string>(TOOLS[tool]);
  const name = path.split("/").slice(0, path.startsWith("@") ? 2 : 1).join("/");
  const version = Object.entries<string>(pinned.dependencies).find(([known]) => known === name)![1];
  return version.slice(version.lastIndexOf("@") + 1);
}

/** Returns the commands of tools, each with the path of its program. */
export async function programsOf(tools: readonly Tool[]): Promise<Record<string, string>> {
  const folder = await packages();
  return Object.fromEntries(
    tools.flatMap((tool) =>
      Object.entries<string>(TOOLS[tool]).map(([command, path]) => [command, `${folder}/${path}`])
    ),
  );
}

async function packages(): Promise<string> {
  installed ??= installPinned(new URL("tools/", import.meta.url), "installs");
  return `${await installed}/node_modules`;
}

let installed: Promise<string> | undefined;
