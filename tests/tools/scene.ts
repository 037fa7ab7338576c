// A folder with a document in it, and contexts for tools that work there.

import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { success } from "../../base/problem.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { isInside } from "../../base/paths.ts";
import { spawn, type SpawnOptions } from "../../sandbox/process/spawn.ts";
import type { Sandbox } from "../../sandbox/types.ts";
import { createContext, type PluginContext } from "../../tools/context.ts";
import type { ExecutionResult, SeenFiles, ToolDefinition, ToolInput } from "../../tools/definition.ts";
import { builtinTools } from "../../tools/builtin/mod.ts";
import { runTool } from "../../tools/run.ts";
import { completeInput } from "../../tools/validate.ts";
import { removeFolder } from "../folder.ts";
import { testsWith } from "../tests_with.ts";

/** A sandbox that wraps nothing and lets tools write below the given real paths only; without any, everywhere. */
export function openSandbox(writable?: readonly string[]): Sandbox {
  const isPathWritable = (path: string): boolean => {
    const real = realPath(path, "/");
    return real !== null && (writable === undefined || writable.some((root) => isInside(real, root)));
  };
  const sandbox = {
    enabled: writable !== undefined,
    policy: () => success({ rw_paths: writable ?? [], network: true, allow_privileged: false, protect: [] }),
    available: () => Promise.resolve(success("none")),
    prepare: (inner: readonly string[]) =>
      Promise.resolve(success({
        argv: inner,
        wrapped: false,
        start: (options: SpawnOptions) => spawn(inner, options, { open: () => null }),
        handOut: () => success(undefined),
        setupFailure: () => Promise.resolve(null),
        dispose: () => Promise.resolve(),
      })),
    isPathWritable,
    isPathReadable: () => true,
    notices: () => [],
  };
  return sandbox;
}

export interface ContextChanges {
  readonly sandbox?: Sandbox;
  readonly tools?: Partial<Settings["tools"]>;
  readonly signal?: AbortSignal;
  readonly document?: string | null;
  readonly variables?: Readonly<Record<string, string>>;
  readonly onOutput?: (chunk: string) => void;
  readonly seen?: SeenFiles;
}

export class Scene {
  /** Real path of the folder the document lies in. */
  readonly folder: string;
  readonly document: string;

  constructor(folder: string) {
    this.folder = folder;
    this.document = `${folder}/talk.chat`;
  }

  path(name: string): string {
    return `${this.folder}/${name}`;
  }

  context(definition: ToolDefinition, changes: ContextChanges = {}): PluginContext {
    return createContext({
      definition,
      toolId: "call_1",
      document: changes.document === undefined ? this.document : changes.document,
      settings: { tools: { ...DEFAULT_SETTINGS.tools, ...changes.tools } },
      environment: {
        cwd: this.folder,
        home: `${this.folder}/home`,
        variables: changes.variables ??
          { PATH: Deno.env.get("PATH") ?? "", HOME: `${this.folder}/home`, TMPDIR: `${this.folder}/tmp` },
      },
      sandbox: changes.sandbox ?? openSandbox(),
      signal: changes.signal ?? new AbortController().signal,
      onOutput: changes.onOutput,
      seen: changes.seen,
    });
  }

  /** Runs a built-in tool as the cycle does. */
  run(name: string, input: ToolInput, changes: ContextChanges = {}): Promise<ExecutionResult> {
    const definition = builtinTools({ ...DEFAULT_SETTINGS.tools, ...changes.tools })
      .find((tool) => tool.name === name);
    if (definition === undefined) throw new Error(`there is no built-in tool ${name}`);
    return runTool(definition, completeInput(definition, input), this.context(definition, changes));
  }

  /** The output of a call that must succeed. */
  async output(name: string, input: ToolInput, changes: ContextChanges = {}): Promise<string> {
    const result = await this.run(name, input, changes);
    if (!result.success) throw new Error(`${name} failed: ${result.error}`);
    return String(result.output);
  }

  /** The error of a call that must fail. */
  async error(name: string, input: ToolInput, changes: ContextChanges = {}): Promise<string> {
    const result = await this.run(name, input, changes);
    if (result.success) throw new Error(`${name} succeeded: ${result.output}`);
    return result.error ?? "";
  }
}

/** Makes a scene for one test and takes it away afterwards. */
export async function inScene(test: (place: Scene) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "flemma-tools-" }));
  const place = new Scene(folder);
  await Deno.writeTextFile(place.document, "@You:\nhello\n");
  try {
    await test(place);
  } finally {
    await removeFolder(folder);
  }
}

/** Defines a test that runs in `inScene`. */
export const testInScene = testsWith(inScene);
