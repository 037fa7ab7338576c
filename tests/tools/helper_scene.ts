// A project with a real sandbox whose tools work on files through a helper.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import type { RunSandbox } from "../../sandbox/mod.ts";
import { builtinTools } from "../../tools/builtin/mod.ts";
import { createContext } from "../../tools/context.ts";
import type { DiskAccess, ExecutionResult } from "../../tools/definition.ts";
import { FileHelper } from "../../tools/files/file_helper.ts";
import { runTool } from "../../tools/run.ts";
import { completeInput } from "../../tools/validate.ts";

const tools = new Map(builtinTools().map((tool) => [tool.name, tool]));

/** The tools of a run. */
export interface Tools {
  readonly sandbox: RunSandbox;
  readonly disk: DiskAccess;
  run(name: string, input: Record<string, unknown>, signal?: AbortSignal): Promise<ExecutionResult>;
  output(name: string, input: Record<string, unknown>): Promise<string>;
  error(name: string, input: Record<string, unknown>): Promise<string>;
  /** How long calls may take from now on; thirty seconds at first. */
  callsMayTake(seconds: number): void;
}

/** Has tools work on files through a helper behind this sandbox, which is ended afterwards. */
export async function withHelper(
  sandbox: RunSandbox,
  document: string,
  body: (tools: Tools) => Promise<void>,
): Promise<void> {
  const disk = new FileHelper({ sandbox, program: (name) => sandbox.host.program(name) });
  let seconds = 30;
  let calls = 0;
  const run: Tools["run"] = (name, input, signal = new AbortController().signal) => {
    const definition = tools.get(name);
    assert.ok(definition);
    const context = createContext({
      definition,
      toolId: `call_${++calls}`,
      document,
      settings: { tools: { ...DEFAULT_SETTINGS.tools, default_timeout: seconds } },
      environment: sandbox.host.environment,
      sandbox,
      signal,
      disk,
    });
    return runTool(definition, completeInput(definition, input), context);
  };
  try {
    await body({
      sandbox,
      disk,
      run,
      output: async (name, input) => {
        const { success, output, error } = await run(name, input);
        assert.ok(success, error);
        return String(output);
      },
      error: async (name, input) => {
        const { success, output, error } = await run(name, input);
        assert.ok(!success, String(output));
        return error ?? "";
      },
      callsMayTake: (given) => seconds = given,
    });
  } finally {
    await sandbox.endWorker();
  }
}

/** What the helper of these tools is started with, which tells it from every other companion. */
export async function askedFor(
  sandbox: RunSandbox,
  disk: DiskAccess,
): Promise<Parameters<RunSandbox["startWorker"]>> {
  const { startWorker: worker } = sandbox;
  const asked = Promise.withResolvers<Parameters<RunSandbox["startWorker"]>>();
  sandbox.startWorker = (...given) => {
    asked.resolve(given);
    return worker.apply(sandbox, given);
  };
  try {
    await disk.perform("names", { folder: "/", most: 1 }, new AbortController().signal);
    return await asked.promise;
  } finally {
    sandbox.startWorker = worker;
  }
}
