// The ways to install the package, as a table: what users type, and how they start the program.

import type { Tool } from "./tools.ts";

export interface Way {
  readonly name: string;
  /** Tools of the machine: a Node with a package manager. */
  readonly tools: readonly Tool[];
  /** What the user types, as on the installation page; each line is a list of words. */
  readonly install: readonly string[];
  /** Files of the project, created before the installation. */
  readonly files?: Readonly<Record<string, string>>;
  /** The words of a command before `--version` and `demo`. */
  readonly start: string;
  /** The words before a JavaScript file that imports the package; omitted if only the command is installed. */
  readonly script?: string;
  /** The command of the TypeScript compiler, if it is installed together with flemma. */
  readonly compiler?: string;
  /** What the user types to upgrade. */
  readonly upgrade?: string;
  /** What the user types to uninstall. */
  readonly remove?: string;
  /** True if the machine has no bubblewrap and almost no system programs. */
  readonly bare?: boolean;
}

const PROJECT = {
  "package.json": '{ "name": "mine", "version": "1.0.0", "private": true, "type": "module" }\n',
};

/** What a project needs to use the whole library. */
const WITH = "@codemirror/language typescript@6.0.3";

export const WAYS: readonly Way[] = [
  ...([["node20", "npm10"], ["node22", "npm10"], ["node24", "npm11"]] as const).map((tools): Way => ({
    name: "npm, in a project",
    tools,
    files: PROJECT,
    install: [`npm install flemma ${WITH}`],
    start: "npx --no-install flemma",
    script: "node",
    compiler: "npx --no-install tsc",
    remove: "npm uninstall flemma",
  })),
  ...([["node20", "npm10"], ["node22", "npm10"], ["node24", "npm12"]] as const).map((tools): Way => ({
    name: "npm, globally",
    tools,
    install: ["npm install -g flemma"],
    start: "flemma",
    upgrade: "npm install -g flemma@latest",
    remove: "npm uninstall -g flemma",
  })),
  {
    name: "npm, globally, without scripts",
    tools: ["node22", "npm10"],
    install: ["npm install -g --ignore-scripts flemma"],
    start: "flemma",
    remove: "npm uninstall -g flemma",
  },
  {
    name: "npm, with Node and npm alone on the PATH",
    tools: ["node20", "npm10"],
    bare: true,
    install: ["npm install -g flemma"],
    start: "flemma",
    remove: "npm uninstall -g flemma",
  },
  {
    name: "npx, without an install",
    tools: ["node24", "npm11"],
    install: ["npx --yes flemma --version"],
    start: "npx --yes --offline flemma",
  },
  ...([["node20", "pnpm10"], ["node24", "pnpm12"]] as const).map((tools): Way => ({
    name: "pnpm, in a project",
    tools,
    files: PROJECT,
    install: [`pnpm add flemma ${WITH}`],
    start: "pnpm exec flemma",
    script: "node",
    compiler: "pnpm exec tsc",
    remove: "pnpm remove flemma",
  })),
  ...([["node20", "pnpm10"], ["node24", "pnpm12"]] as const).map((tools): Way => ({
    name: "pnpm, globally",
    tools,
    install: ["pnpm add -g flemma"],
    start: "flemma",
    upgrade: "pnpm add -g flemma@latest",
    remove: "pnpm remove -g flemma",
  })),
  {
    name: "Yarn with archives",
    tools: ["node22", "yarn4"],
    files: { ...PROJECT, "yarn.lock": "" },
    install: [`yarn add flemma ${WITH}`],
    start: "yarn flemma",
    script: "yarn node",
    compiler: "yarn tsc",
    remove: "yarn remove flemma",
  },
  ...(["node-modules", "pnpm"] as const).map((linker): Way => ({
    name: `Yarn, nodeLinker: ${linker}`,
    tools: ["node24", "yarn4"],
    files: { ...PROJECT, "yarn.lock": "", ".yarnrc.yml": `nodeLinker: ${linker}\n` },
    install: [`yarn add flemma ${WITH}`],
    start: "yarn flemma",
    script: "node",
    compiler: "yarn tsc",
    remove: "yarn remove flemma",
  })),
  {
    name: "Yarn 1, in a project",
    tools: ["node20", "yarn1"],
    files: PROJECT,
    install: [`yarn add flemma ${WITH}`],
    start: "yarn --offline --silent flemma",
    script: "node",
    compiler: "yarn --offline --silent tsc",
    remove: "yarn remove flemma",
  },
  {
    name: "Yarn 1, globally",
    tools: ["node20", "yarn1"],
    install: ["yarn global add flemma"],
    start: "flemma",
    upgrade: "yarn global add flemma@latest",
    remove: "yarn global remove flemma",
  },
  {
    name: "Bun, in a project",
    tools: ["bun1"],
    files: PROJECT,
    install: [`bun add flemma ${WITH}`],
    start: "bun run flemma",
    script: "bun",
    compiler: "bun --bun run tsc",
    remove: "bun remove flemma",
  },
  {
    name: "Bun, globally",
    tools: ["bun1"],
    install: ["bun add -g flemma"],
    start: "flemma",
    upgrade: "bun add -g flemma@latest",
    remove: "bun remove -g flemma",
  },
];
