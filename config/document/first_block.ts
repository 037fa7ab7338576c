// Evaluates a document's frontmatter: JSON and YAML directly, Lua by the given engine.

import { isObject } from "../../base/is_object.ts";
import type { Diagnostic, Frontmatter, Preamble } from "../../parser/types.ts";
import { kindOf } from "../schema/check.ts";
import { draftLayer } from "../layers/draft.ts";
import { effectiveSettings } from "../layers/effective.ts";
import { type LayerLog, sortLogs } from "../layers/log.ts";
import type { Loaded } from "../sources/find.ts";
import type { Settings } from "../settings.generated.ts";
import { nearest } from "../../base/names.ts";
import { wholeSentence } from "../../base/problem.ts";
import type { ChunkProblem, LayerDraft, RunChunk, SettingFault } from "../types.ts";
import type { Catalog } from "../schema/catalog.ts";
import { parseJson } from "../sources/json.ts";
import { MOST_FINDINGS } from "../types.ts";
import { KeyPositions } from "../sources/places.ts";
import type { SourceTree } from "../sources/yaml.ts";
import { findMisplacedBlocks } from "./misplaced_block.ts";
import { idleSettings, mentionsSettings } from "./idle_settings.ts";
import { settingsWord } from "../schema/words.ts";
import { writeTree } from "../layers/write_tree.ts";

/** A diagnostic of the frontmatter, with details for editors. */
export interface FrontmatterDiagnostic extends Diagnostic {
  /** The key with the error. */
  readonly key?: string;
  /** The closest valid word. */
  readonly suggestion?: string;
  /** Line of the error, 1-based, if known; `start` and `end` span the whole block. */
  readonly line?: number;
}

/** Evaluated frontmatter: settings of one document, and variables of its templates. */
export interface FirstBlock {
  /** The effective settings of the document, with all other layers. */
  readonly settings: Settings;
  /** Template variables by name. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Problems in the frontmatter. */
  readonly diagnostics: readonly FrontmatterDiagnostic[];
}

export interface DocumentSettings extends FirstBlock {
  /** All layers, including the document's. */
  readonly logs: readonly LayerLog[];
}

export interface FrontmatterOptions {
  readonly loaded: Loaded;
  readonly frontmatter: Frontmatter | null;
  /** Text before the first message, except the frontmatter. Such text may be misplaced frontmatter. @default none */
  readonly preamble?: Preamble | null;
  /** Runs a Lua block. If absent, a Lua block is an error, because its restrictions would be unknown. */
  readonly runLua?: RunChunk;
  /** Names of the template environment that a variable may not replace. */
  readonly reserved?: ReadonlySet<string>;
}

interface BlockResult {
  readonly variables: Readonly<Record<string, unknown>> | null;
  readonly problems: readonly ChunkProblem[];
  /** Returns the line of a fault in the file, if the language provides it. */
  readonly lineOf?: (fault: SettingFault) => number | undefined;
}

/** Maximum length of a message in characters, because a block may raise texts of any length. */
const LONGEST_MESSAGE = 1000;

const LANGUAGES = ["lua", "json", "yaml", "yml"];

type BlockOptions = FrontmatterOptions & { readonly frontmatter: Frontmatter };

export async function evaluateFrontmatter(options: BlockOptions): Promise<DocumentSettings> {
  const { loaded, frontmatter } = options;
  const { catalog } = loaded;
  const lua = frontmatter.language.toLowerCase() === "lua";
  const draft = draftLayer({ layer: "M", others: loaded.logs, catalog, lua });
  const result = await resultOf(options, draft);
  const logs = draft.operations.length === 0 ? loaded.logs : sortLogs([...loaded.logs, draft.log]);
  const { denied, approved, untrusted_servers: untrusted, servers_file: serversFile } = loaded.settings.tools;
  const effective = effectiveSettings(logs, { catalog, denied, untrusted, serversFile, approved });
  const problems: ChunkProblem[] = [
    ...result.problems,
    ...idleVariables(result.variables ?? {}, frontmatter),
    ...[...draft.finish(), ...draft.warnings].map((fault) => located(fault, result.lineOf)),
    // Faults of other layers are left out, because they were reported when these layers were loaded.
    ...effective.faults.filter((fault) => fault.layer === "M").map(problemOf),
  ];
  const unique = new Map(problems.map((problem) => [`${problem.line} ${problem.message}`, problem]));
  return {
    settings: effective.settings,
    variables: result.variables ?? {},
    diagnostics: [...unique.values()].map((problem) => diagnosticOf(frontmatter, problem)),
    logs,
  };
}

function idleVariables(
  variables: Readonly<Record<string, unknown>>,
  { code, language }: Frontmatter,
): ChunkProblem[] {
  return idleSettings(variables, code, language.toLowerCase() === "lua").map((problem) => ({
    ...problem,
    ...(problem.line === undefined ? {} : { line: problem.line + 1 }),
  }));
}

async function resultOf(options: BlockOptions, draft: LayerDraft): Promise<BlockResult> {
  const { frontmatter, runLua } = options;
  const language = frontmatter.language.toLowerCase();
  switch (language) {
    case "lua":
      if (runLua !== undefined) return await runLua(frontmatter.code, draft);
      return {
        variables: null,
        problems: [{
          code: "frontmatter_lua_unavailable",
          severity: "error",
          message: "the frontmatter is in Lua, which cannot be evaluated here",
        }],
      };
    case "json":
      return runJson(frontmatter.code, draft, options);
    case "yaml":
    case "yml":
      return await runYaml(frontmatter, draft, options);
  }
  const near = nearest(language, LANGUAGES);
  return {
    variables: {},
    problems: [{
      code: "frontmatter_unknown_language",
      severity: "error",
      message: `the frontmatter is in "${frontmatter.language}"; use lua, json or yaml`,
      ...(near === null ? {} : { suggestion: near }),
    }],
  };
}

/** Reports text before the first message that looks like settings but is not in frontmatter. */
export function reportMisplaced(preamble: Preamble, hasBlock: boolean): FrontmatterDiagnostic[] {
  return findMisplacedBlocks(preamble, hasBlock).map(({ end, ...problem }) =>
    diagnosticOf({ start: problem.line, end }, problem)
  );
}

type DataOptions = FrontmatterOptions & { readonly loaded: { readonly catalog: Catalog } };

function runJson(code: string, draft: LayerDraft, options: DataOptions): BlockResult {
  const parsed = parseJson(code);
  if (!parsed.ok) return broken("JSON", parsed.problem);
  return runData(parsed.value.value, draft, options, lineIn(parsed.value, options.loaded.catalog));
}

/** Finds the line of a fault below `flemma` in the file, whose first line is the fence. */
function lineIn(tree: SourceTree, catalog: Catalog): (fault: SettingFault) => number {
  const places = new KeyPositions(tree, catalog, ["flemma"]);
  return (fault) => Number(places.of(fault).split(":")[0]) + 1;
}

type BrokenLines = readonly { readonly line: number; readonly message: string }[];

function broken(language: "JSON" | "YAML", lines: BrokenLines): BlockResult {
  return {
    variables: {},
    problems: lines.slice(0, MOST_FINDINGS).map(({ line, message }) => ({
      code: `frontmatter_${language.toLowerCase()}_syntax`,
      severity: "error",
      message: `the frontmatter is not valid ${language}: ${message}`,
      line: line + 1,
    })),
  };
}

async function runYaml(
  frontmatter: Frontmatter,
  draft: LayerDraft,
  options: DataOptions,
): Promise<BlockResult> {
  const { parseSource } = await import("../sources/yaml.ts");
  const parsed = await parseSource(frontmatter.code);
  if (!parsed.ok) return broken("YAML", parsed.problem);
  const { value: tree } = parsed;
  if (tree.value === null) return { variables: {}, problems: [] };
  return runData(tree.value, draft, options, lineIn(tree, options.loaded.catalog));
}

/** Treats the member `flemma` as settings, and all others as template variables. */
function runData(
  value: unknown,
  draft: LayerDraft,
  options: DataOptions,
  lineOf: (fault: SettingFault) => number | undefined,
): BlockResult {
  if (!isObject(value)) {
    const meant = mentionsSettings(value);
    return {
      variables: {},
      problems: [{
        code: "frontmatter_not_object",
        severity: meant ? "error" : "warning",
        message: `the frontmatter contains ${kindOf(value)} instead of an object, so it has no effect${
          meant ? "; write settings below the member flemma" : ""
        }`,
      }],
    };
  }
  const problems: ChunkProblem[] = [];
  const { flemma, ...members } = value;
  const kept: [string, unknown][] = [];
  for (const [name, member] of Object.entries(members)) {
    // Null is not a variable, but it may be a misplaced setting.
    if (member === null && settingsWord(name) === null) continue;
    if (options.reserved?.has(name)) {
      problems.push({
        code: "config_ignored_value",
        severity: "warning",
        key: name,
        message: `the variable "${name}" is ignored, because templates have a built-in variable of that name`,
      });
    } else kept.push([name, member]);
  }
  if (flemma !== undefined && flemma !== null) {
    if (isObject(flemma)) {
      const faults = writeTree(draft, flemma, { catalog: options.loaded.catalog, nullIsAbsent: true });
      problems.push(...faults.map((fault) => located(fault, lineOf)));
    } else {
      problems.push({
        code: "frontmatter_flemma_not_object",
        severity: "error",
        message: `"flemma" expects an object of settings, found ${kindOf(flemma)}`,
        key: "flemma",
      });
    }
  }
  // `fromEntries` is used, because it treats no name specially.
  return { variables: Object.fromEntries(kept), problems, lineOf };
}

function located(fault: SettingFault, lineOf: BlockResult["lineOf"]): ChunkProblem {
  const line = fault.line ?? lineOf?.(fault);
  return { ...problemOf(fault), ...(line === undefined ? {} : { line }) };
}

function problemOf({ code, severity, key, message, suggestion, line }: SettingFault): ChunkProblem {
  return {
    code,
    severity,
    message,
    key,
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(line === undefined ? {} : { line }),
  };
}

function diagnosticOf(
  frontmatter: Pick<Frontmatter, "start" | "end">,
  problem: ChunkProblem,
): FrontmatterDiagnostic {
  const { code, severity, line, key, suggestion } = problem;
  const message = problem.message.length > LONGEST_MESSAGE
    ? `${problem.message.slice(0, LONGEST_MESSAGE)}…`
    : problem.message;
  return {
    code,
    type: code.startsWith("config_") ? "config" : code.startsWith("file_") ? "file" : "frontmatter",
    severity,
    message: wholeSentence(message),
    start: frontmatter.start,
    end: frontmatter.end,
    ...(line === undefined ? {} : { line }),
    ...(key === undefined ? {} : { key }),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}
