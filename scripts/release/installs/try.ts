// Installs the package in one way, on a separate machine, and reports what works. Everything except installing runs
// without network.

import { type Finished, type Machine, type Programs, withMachine } from "./machine.ts";
import { type Publication, startRegistry } from "./registry.ts";
import type { Way } from "./ways.ts";

/** Parts that are tried, in this order. */
export const PARTS = ["install", "version", "demo", "library", "types", "upgrade", "remove"] as const;

export type Part = typeof PARTS[number];

/** The result of each part of the way: null if it works, else what went wrong. */
export type Findings = ReadonlyMap<Part, string | null>;

/** A script that uses each entry of the package and prints a line. */
const SCRIPT = `import { parse, proseOf } from "flemma";
import { parse as parseAlone } from "flemma/parser";
import { chatLanguage, chatParser } from "flemma/lezer";
const bytes = new TextEncoder().encode("@You:\\nHello *you*\\n");
const [prose] = await proseOf(parse(bytes).turns[0]);
console.log(parseAlone(bytes).turns[0].role, prose.tree.length, chatParser.parse("@You:\\n").type.name, chatLanguage.name);
`;
const SCRIPT_PRINTS = "You 11 Document chat\n";

/** A program for a compiler that uses each entry, with a use that the types must reject. */
const TYPED = `import { openChat, type Stop } from "flemma";
import { chatLanguage, chatParser } from "flemma/lezer";
import { type Chat, parse } from "flemma/parser";
export const name: string = chatLanguage.name + chatParser.parse("").type.name;
const chat: Chat = parse(new Uint8Array());
export const length: number = chat.tree.length;
export async function run(): Promise<Stop | null> {
  const opened = await openChat("a.chat");
  return opened.ok ? await opened.value.advance() : null;
}
// @ts-expect-error Turns are not text.
export const text: string = chat.turns;
`;
const FILES = { "script.js": SCRIPT, "typed.ts": TYPED };
const COMPILER_FLAGS =
  "--strict --noEmit --module nodenext --target es2022 --lib es2022,esnext.disposable,dom";

export interface Trial {
  /** The version to install, then the one to upgrade to. */
  readonly publications: readonly [Publication, ...Publication[]];
  /** The commands of the machine. */
  readonly programs: Programs;
  /** The URL of the registry for all other packages. */
  readonly upstream: string;
  /** The parts to try after installing. @default all parts of the way */
  readonly parts?: readonly Part[];
}

export async function tryWay(
  way: Way,
  { publications, programs, upstream, parts = PARTS }: Trial,
): Promise<Findings> {
  const offered: Publication[] = [publications[0]];
  await using registry = startRegistry(offered, upstream);
  const place = { programs, registry: registry.address, bare: way.bare ?? false };
  return await withMachine(place, async (machine) => {
    const findings = new Map<Part, string | null>();
    for (const [name, text] of Object.entries({ ...way.files, ...FILES })) {
      await Deno.writeTextFile(`${machine.project}/${name}`, text);
    }
    for (const part of PARTS.filter((part) => parts.includes(part) && isIn(way, part))) {
      if (part === "upgrade") offered.push(publications[1]!);
      findings.set(part, await TRIALS[part](machine, way, offered.at(-1)!.manifest.version));
      if (findings.get("install") !== null) break;
    }
    return findings;
  });
}

function isIn(way: Way, part: Part): boolean {
  const words = { library: way.script, types: way.compiler, upgrade: way.upgrade, remove: way.remove };
  return !Object.hasOwn(words, part) || words[part as keyof typeof words] !== undefined;
}

/** Functions that try each part; each returns null if the part works. */
const TRIALS: Readonly<
  Record<Part, (machine: Machine, way: Way, version: string) => Promise<string | null>>
> = {
  async install(machine, way) {
    for (const line of way.install) {
      const fault = failed(await machine.run(line.split(" ")));
      if (fault !== null) return fault;
    }
    return null;
  },
  async version(machine, way, version) {
    const words = `${way.start} --version`.split(" ");
    return unless(await machine.run(words, { offline: true }), `flemma ${version}\n`);
  },
  async demo(machine, way) {
    return demoFault(await machine.run(`${way.start} demo`.split(" "), { offline: true }), way);
  },
  async library(machine, way) {
    return unless(await machine.run(`${way.script} script.js`.split(" "), { offline: true }), SCRIPT_PRINTS);
  },
  async types(machine, way) {
    const words = `${way.compiler} ${COMPILER_FLAGS} typed.ts`.split(" ");
    return unless(await machine.run(words, { offline: true }), "");
  },
  async upgrade(machine, way, version) {
    // Removing these caches simulates that days have passed, because package managers cache registry responses for
    // minutes.
    for (const kept of [".cache", ".bun/install/cache"]) {
      await Deno.remove(`${machine.home}/${kept}`, { recursive: true }).catch((error) => {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      });
    }
    return failed(await machine.run(way.upgrade!.split(" "))) ?? await TRIALS.version(machine, way, version);
  },
  async remove(machine, way) {
    return failed(await machine.run(way.remove!.split(" "), { offline: true })) ?? await restOf(machine);
  },
};

function failed(finished: Finished): string | null {
  return finished.code === 0 ? null : describe(finished);
}

/** Returns null if a program printed exactly this text and nothing else. */
function unless(finished: Finished, out: string): string | null {
  if (finished.code === 0 && finished.out === out && finished.error === "") return null;
  return describe(finished);
}

/**
 * Returns what went wrong in the demo. The demo checks itself that its test finally passes, and prints how its
 * commands run.
 */
function demoFault(finished: Finished, { bare = false }: Way): string | null {
  const isConfined = finished.out.includes("Commands run inside the sandbox");
  return finished.code === 0 && isConfined === !bare ? null : describe(finished);
}

function describe({ code, out, error }: Finished): string {
  return `exit code ${code}\n${out}${error}`;
}

/** Returns what is left of the package where it was linked; null if nothing is. */
async function restOf({ home }: Machine): Promise<string | null> {
  const left: string[] = [];
  for await (const path of filesBelow(home)) {
    if (/\/(\.?bin|node_modules)\/flemma(\.\w+)?$/.test(path)) left.push(path.slice(home.length + 1));
  }
  return left.length === 0 ? null : `left over: ${left.join(", ")}`;
}

/** Lists all files below a folder, except caches and stores, which package managers clear themselves. */
async function* filesBelow(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    yield path;
    if (isDirectory && !/^(\.npm|\.cache|\.?store|cache|\.pnpm|\.pnpm-store)$/.test(name)) {
      yield* filesBelow(path);
    }
  }
}
