// The cost of the sandbox for a file tool: calls through the sandbox worker of a run compared with the same calls in
// this process, in alternating pairs.

import { inFolder } from "../tests/folder.ts";
import { plant, projectSandbox } from "../tests/sandbox/fixture.ts";
import { DEFAULT_SETTINGS } from "../config/settings.generated.ts";
import { builtinTools } from "../tools/builtin/mod.ts";
import { createContext } from "../tools/context.ts";
import type { DiskAccess, ToolInput } from "../tools/definition.ts";
import { FileHelper } from "../tools/files/file_helper.ts";
import { runTool } from "../tools/run.ts";
import { completeInput } from "../tools/validate.ts";
import type { Bench, Figure } from "./harness.ts";

const PAIRS = 200;
/** Maximum additional milliseconds per call through the worker. */
const GOAL = 2;

const CALLS: Readonly<Record<string, ToolInput>> = {
  read: { path: "a.txt" },
  write: { path: "b.txt", content: "x" },
  ls: { path: "src" },
  find: { pattern: "*.ts" },
  grep: { pattern: "f7", path: "src" },
};

const bench: Bench = {
  name: "files",
  about:
    `one call of a file tool through the sandboxed helper, and the extra time compared with this process: medians of ${PAIRS} pairs`,
  async run(): Promise<readonly Figure[]> {
    const figures: Figure[] = [];
    await inFolder(async (root) => {
      const sources = Array.from({ length: 50 }, (_, at) => `project/src/f${at}.ts`);
      plant(
        root,
        "project/notes.chat",
        "project/a.txt",
        ...sources,
        "project/.git/hooks/",
        "project/.git/config",
      );
      const sandbox = projectSandbox(root);
      await sandbox.available();
      const disk = new FileHelper({ sandbox, program: (name) => sandbox.host.program(name) });
      const call = async (name: string, through?: DiskAccess): Promise<number> => {
        const definition = builtinTools().find((tool) => tool.name === name)!;
        const context = createContext({
          definition,
          toolId: name,
          document: `${root}/project/notes.chat`,
          settings: { tools: DEFAULT_SETTINGS.tools },
          environment: sandbox.host.environment,
          sandbox,
          signal: new AbortController().signal,
          disk: through,
        });
        const started = performance.now();
        const { success, error } = await runTool(
          definition,
          completeInput(definition, CALLS[name]!),
          context,
        );
        if (!success) throw new Error(error);
        return performance.now() - started;
      };
      try {
        figures.push({
          case: "the first call, which starts the helper",
          value: await call("read", disk),
          unit: "ms",
        });
        for (const name of Object.keys(CALLS)) {
          const through: number[] = [];
          const more: number[] = [];
          for (let pair = 0; pair < PAIRS; pair++) {
            const here = await call(name);
            const there = await call(name, disk);
            through.push(there);
            more.push(there - here);
          }
          figures.push({ case: `${name}, through the helper`, value: median(through), unit: "ms" });
          figures.push({ case: `${name}, extra time`, value: median(more), unit: "ms", goal: GOAL });
        }
      } finally {
        await sandbox.endWorker();
      }
    });
    return figures;
  },
};

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]!;
}

export default bench;
