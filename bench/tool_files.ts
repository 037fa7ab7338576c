// The cost of a call of a tool file: the first, for which a sandboxed host starts, and later ones.

import { chatInMemory } from "../agent/open.ts";
import { DEFAULT_SETTINGS } from "../config/settings.generated.ts";
import { createSandbox } from "../sandbox/mod.ts";
import { createContext } from "../tools/context.ts";
import { type Callee, callFile } from "../tools/vellum/call.ts";
import { fileUri } from "../base/paths.ts";
import { Hosts } from "../tools/vellum/hosts.ts";
import type { Bench, Figure } from "./harness.ts";

const ROUNDS = 9;
const CALLS = 100;
/** Maximum milliseconds over the unsandboxed call, for the first and each later one. */
const GOALS = { first: 250, later: 10 } as const;

const CODE = "export default { execute: (input) => ({ content: String(input.at) }) };\n";

const bench: Bench = {
  name: "tools",
  about: `calls of a tool file in the sandbox: median of ${ROUNDS} first calls and of ${CALLS} later ones`,
  async run(): Promise<readonly Figure[]> {
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "flemma-bench-" }));
    try {
      for (const name of ["home", "place", "state"]) Deno.mkdirSync(`${folder}/${name}`);
      Deno.writeTextFileSync(`${folder}/home/echo.js`, CODE);
      const first: number[] = [];
      const later: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const { call, close } = callsIn(folder);
        first.push(await timed(() => call(0)));
        for (let at = 1; at <= CALLS; at++) later.push(await timed(() => call(at)));
        await close();
      }
      return [
        { case: "first call", value: median(first), unit: "ms", goal: GOALS.first },
        { case: "later call", value: median(later), unit: "ms", goal: GOALS.later },
        { case: "bash for comparison", value: await bash(folder), unit: "ms" },
      ];
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};
export default bench;

function callsIn(folder: string) {
  const environment = environmentOf(folder);
  const sandbox = createSandbox({
    settings: DEFAULT_SETTINGS.sandbox,
    environment,
    document: null,
    protect: [],
  });
  const hosts = new Hosts({ environment, sandbox, cwd: environment.cwd, env: () => environment.variables });
  const callee: Callee = {
    definition: {
      name: "echo",
      description: "",
      input_schema: { type: "object" },
      risk: "low",
      category: null,
      target: "sandbox",
      exclusive: false,
      runs: true,
      more: {},
    },
    module: fileUri(`${folder}/home/echo.js`),
    timeout: 60,
  };
  const call = async (at: number) => {
    const context = createContext({
      definition: { name: "echo" },
      toolId: `c${at}`,
      document: null,
      settings: DEFAULT_SETTINGS,
      environment,
      sandbox,
      signal: new AbortController().signal,
    });
    const result = await callFile(hosts, callee, { at }, context);
    if (result.output !== String(at)) throw new Error(`the call gave ${JSON.stringify(result)}`);
  };
  return { call, close: () => hosts.close() };
}

/** Median cost of a command that does nothing, in the same place. */
async function bash(folder: string): Promise<number> {
  const text = "@You:\nGo.\n\n@Assistant:\n\n**Tool Use:** `bash` (`c1`)\n\n```json\n" +
    `{"label":"nothing","command":":","timeout":null}\n\`\`\`\n`;
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const opened = await chatInMemory(new TextEncoder().encode(text), { environment: environmentOf(folder) });
    if (!opened.ok) throw new Error(opened.problem.message);
    await using session = opened.value;
    times.push(await timed(() => session.execute("c1")));
  }
  return median(times);
}

function environmentOf(folder: string) {
  const variables = {
    PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
    HOME: `${folder}/home`,
    XDG_STATE_HOME: `${folder}/state`,
    DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
  };
  return { cwd: `${folder}/place`, home: `${folder}/home`, variables };
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await act();
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}
