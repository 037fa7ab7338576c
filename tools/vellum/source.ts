// Tool files as a source of tools: each is found, described and registered separately.

import type { Environment } from "../../base/environment.ts";
import { fileUri } from "../../base/paths.ts";
import type { Problem } from "../../base/problem.ts";
import { changeSince, type SealedCode, unfollowedSentence } from "../../config/code/imports.ts";
import type { ExecutionResult, Registration } from "../definition.ts";
import type { RegisterTool, ToolSource } from "../registration/types.ts";
import { callFile } from "./call.ts";
import { Definitions } from "./definitions.ts";
import type { Discovered, ToolFile } from "./discover.ts";
import type { Hosts } from "./hosts.ts";
import type { FileDefinition, Read } from "./read_definition.ts";

/** Number of files described in parallel, each in a separate process. */
const AT_ONCE = 4;

/** Inputs for finding and running tool files. */
export interface FilesPlace {
  readonly found: Discovered;
  readonly environment: Environment;
  readonly hosts: Hosts;
  /** The setting `tools.file_timeout`, in seconds. */
  readonly timeout: number;
  /** Tools that a file may replace. */
  readonly override: readonly string[];
  /** Categories to offer; null offers all. */
  readonly categories: readonly string[] | null;
  /** True if another source has a tool with this name. */
  has(name: string): boolean;
  /** Called with problems; none of them stops anything. */
  warn(problem: Problem): void;
  /** Returns why the person's agreement to a file does not cover its present code, as a sentence; null if it does. */
  refusal(path: string): Promise<string | null>;
}

/** Returns the tool files of some folders as a source. */
export function fileSource(place: FilesPlace): ToolSource {
  return {
    name: "the tool folders",
    // Enough to load several files one after the other.
    timeout: 60,
    // A file may replace an existing tool only if the person lists it.
    mayHave: (name) => place.override.includes(name) || !place.has(name),
    async resolve(register) {
      await registerFiles(place, register);
    },
  };
}

async function registerFiles(place: FilesPlace, register: RegisterTool): Promise<void> {
  const { found: { files, warnings }, environment, hosts } = place;
  const warn = (message: string) => place.warn({ code: "tool-file", message });
  warnings.forEach(warn);
  const definitions = new Definitions(environment, hosts);
  const reads = await inTurns(files, (file) => definitions.of(file));
  await definitions.keep();
  const taken = new Map<string, string>();
  for (const [at, { read, code }] of reads.entries()) {
    const file = files[at]!;
    const name = "broken" in read ? read.name : read.definition.name;
    const broken = "broken" in read ? brokenSentence(file, read) : null;
    if (broken !== null) warn(broken);
    if (name === "") continue;
    const other = taken.get(name);
    if (other !== undefined) {
      if (broken === null) {
        warn(`The tool file ${file.path} is not used: ${other} already provides a tool ${name}.`);
      }
      continue;
    }
    if (place.has(name) && !place.override.includes(name)) {
      if (broken === null) {
        warn(
          `The tool file ${file.path} is not used: a tool ${name} already exists. ` +
            `To use the file instead, list the name in tools.override.`,
        );
      }
      continue;
    }
    taken.set(name, file.path);
    if ("broken" in read) register(brokenTool(name, file.path, brokenSentence(file, read)));
    else {
      for (const warning of read.warnings) warn(`The tool file ${file.path}: ${warning}.`);
      if (read.definition.target === "host") {
        // Only files of the person reach this line, because a file of a project with such an import cannot be trusted.
        for (const each of code?.unfollowed.slice(0, 1) ?? []) {
          warn(
            `${
              unfollowedSentence(each)
            } Its tool runs outside the sandbox, and changes of that import are not noticed.`,
          );
        }
      }
      register(toolOf(read.definition, file, code, place));
    }
  }
}

/** A tool that cannot run: an old document that calls it learns why. */
function brokenTool(name: string, file: string, error: string): Registration {
  return {
    name,
    file,
    fault: error,
    enabled: false,
    input_schema: { type: "object" },
    execute: () => ({ success: false, error }),
  };
}

function brokenSentence({ path }: ToolFile, { broken, notAsked }: Extract<Read, { broken: string }>): string {
  return `The tool file ${path} ${notAsked ? "cannot be used" : "is broken"}: ${broken}.`;
}

function toolOf(
  definition: FileDefinition,
  file: ToolFile,
  code: SealedCode | null,
  place: FilesPlace,
): Registration {
  const { name, description, input_schema, risk, category, target, runs, more } = definition;
  const { categories, hosts, timeout } = place;
  const isWanted = categories === null || category !== null && categories.includes(category);
  const callee = { definition, module: fileUri(file.path), timeout };
  return {
    ...more,
    name,
    description,
    input_schema,
    file: file.path,
    ...(risk === null ? {} : { risk }),
    ...(category === null ? {} : { category }),
    runs: target === "sandbox" ? "inside" : "outside",
    enabled: (more.enabled ?? true) && isWanted,
    exclusive: definition.exclusive,
    async: true,
    execute: async (input, context): Promise<ExecutionResult> => {
      if (!runs) return unimplemented(name);
      const refusal = await place.refusal(file.path) ??
        await changeSince(file.path, code?.hash, place.environment.home);
      return refusal === null
        ? await callFile(hosts, callee, input, context)
        : { success: false, error: refusal };
    },
  };
}

function unimplemented(name: string): ExecutionResult {
  return { success: false, error: `The tool ${name} has no implementation.` };
}

async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
