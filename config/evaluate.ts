// Evaluates a document's first block: JSON and YAML here, Lua by the engine that is handed in.

import type { Frontmatter } from "../parser/types.ts";
import { isObject, kindOf } from "./check.ts";
import { draftLayer } from "./draft.ts";
import { effectiveSettings } from "./effective.ts";
import type { DocumentSettings, FrontmatterDiagnostic, FrontmatterOptions } from "./frontmatter.ts";
import { nearest } from "./nearest.ts";
import type { ChunkProblem, Fault, LayerDraft } from "./operations.ts";
import type { Catalog } from "./catalog.ts";
import { thrownText } from "./problem.ts";
import { writeTree } from "./tree.ts";

interface BlockResult {
  readonly variables: Readonly<Record<string, unknown>> | null;
  readonly problems: readonly ChunkProblem[];
  /** The line of the file a fault is in, where the language tells. */
  readonly lineOf?: (fault: Fault) => number | undefined;
}

const LANGUAGES = ["lua", "json", "yaml", "yml"];

export async function evaluate(
  options: FrontmatterOptions & { readonly frontmatter: Frontmatter },
): Promise<DocumentSettings> {
  const { loaded, frontmatter, runLua } = options;
  const { catalog } = loaded;
  const language = frontmatter.language.toLowerCase();
  const draft = draftLayer({ layer: "M", others: loaded.logs, catalog, lua: language === "lua" });
  const result = await run();
  const logs = draft.operations.length === 0 ? loaded.logs : placed(loaded.logs, draft.log);
  const { denied, approved } = loaded.settings.tools;
  const effective = effectiveSettings(logs, { catalog, denied, approved });
  const problems: ChunkProblem[] = [
    ...result.problems,
    ...[...draft.finish(), ...draft.warnings].map((fault) => located(fault, result.lineOf)),
    // What the other layers got wrong was told when they were loaded.
    ...effective.faults.filter((fault) => fault.layer === "M").map(problemOf),
  ];
  const unique = problems.filter((problem, at) =>
    problems.findIndex((other) => other.message === problem.message && other.line === problem.line) === at
  );
  return {
    settings: effective.settings,
    variables: result.variables ?? {},
    diagnostics: unique.map((problem) => diagnosticOf(frontmatter, problem)),
    logs,
  };

  async function run(): Promise<BlockResult> {
    switch (language) {
      case "lua":
        if (runLua !== undefined) return await runLua(frontmatter.code, draft);
        return {
          variables: null,
          problems: [{
            code: "frontmatter_lua_unavailable",
            severity: "error",
            message: "the first block is Lua, which is not evaluated here",
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
        message: `the first block is in "${frontmatter.language}"; it can be lua, json or yaml`,
        ...(near === null ? {} : { suggestion: near }),
      }],
    };
  }
}

function placed(logs: DocumentSettings["logs"], log: DocumentSettings["logs"][number]) {
  const rank = (layer: string) => "DGPRMC".indexOf(layer);
  return [...logs, log].sort((a, b) => rank(a.layer) - rank(b.layer));
}

type DataOptions = FrontmatterOptions & { readonly loaded: { readonly catalog: Catalog } };

function runJson(code: string, draft: LayerDraft, options: DataOptions): BlockResult {
  let value: unknown;
  try {
    value = JSON.parse(code);
  } catch (thrown) {
    const at = /position (\d+)/.exec(thrownText(thrown))?.[1];
    const line = at === undefined ? undefined : code.slice(0, Number(at)).split("\n").length + 1;
    return {
      variables: {},
      problems: [{
        code: "frontmatter_json_syntax",
        severity: "error",
        // The place that the message ends with is counted from the block's own first line.
        message: `the first block is not valid JSON: ${
          thrownText(thrown).replace(/ in JSON at position .*$/s, "")
        }`,
        ...(line === undefined ? {} : { line }),
      }],
    };
  }
  return runData(value, draft, options, () => undefined);
}

async function runYaml(
  frontmatter: Frontmatter,
  draft: LayerDraft,
  options: DataOptions,
): Promise<BlockResult> {
  const { parseSource } = await import("./source.ts");
  const parsed = await parseSource(frontmatter.code);
  if (!parsed.ok) {
    return {
      variables: {},
      problems: parsed.lines.map(({ line, message }) => ({
        code: "frontmatter_yaml_syntax",
        severity: "error",
        message: `the first block is not valid YAML: ${message}`,
        line: line + 1,
      })),
    };
  }
  const { tree } = parsed;
  if (tree.value === null) return { variables: {}, problems: [] };
  const lineOf = (fault: Fault) =>
    Number(tree.place({ ...fault, written: ["flemma", ...fault.written ?? []] }).split(":")[0]) + 1;
  return runData(tree.value, draft, options, lineOf);
}

/** Member `flemma` is settings, every other one a template variable (4.1). */
function runData(
  value: unknown,
  draft: LayerDraft,
  options: DataOptions,
  lineOf: (fault: Fault) => number | undefined,
): BlockResult {
  if (!isObject(value)) {
    return {
      variables: {},
      problems: [{
        code: "frontmatter_not_object",
        severity: "warning",
        message: `the first block holds ${kindOf(value)} instead of an object, so it says nothing`,
      }],
    };
  }
  const problems: ChunkProblem[] = [];
  const { flemma, ...members } = value;
  const kept: [string, unknown][] = [];
  for (const [name, member] of Object.entries(members)) {
    if (member === null) continue;
    if (options.reserved?.has(name)) {
      problems.push({
        code: "config_ignored_value",
        severity: "warning",
        key: name,
        message: `the variable "${name}" has the name of a built-in one of templates and is left out`,
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
  // Made from entries, so that no name is special.
  return { variables: Object.fromEntries(kept), problems, lineOf };
}

function located(fault: Fault, lineOf: BlockResult["lineOf"]): ChunkProblem {
  const line = fault.line ?? lineOf?.(fault);
  return { ...problemOf(fault), ...(line === undefined ? {} : { line }) };
}

function problemOf({ code, severity, key, message, suggestion, line }: Fault): ChunkProblem {
  return {
    code,
    severity,
    message,
    key,
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(line === undefined ? {} : { line }),
  };
}

/** A finding as a diagnostic of the whole block. */
function diagnosticOf(frontmatter: Frontmatter, problem: ChunkProblem): FrontmatterDiagnostic {
  const { code, severity, message, line, key, suggestion } = problem;
  const sentence = message.slice(0, 1).toUpperCase() + message.slice(1);
  return {
    code,
    type: code.startsWith("config_") ? "config" : code.startsWith("file_") ? "file" : "frontmatter",
    severity,
    message: `${sentence}${/[.?!]$/.test(sentence) ? "" : "."}`,
    start: frontmatter.start,
    end: frontmatter.end,
    ...(line === undefined ? {} : { line }),
    ...(key === undefined ? {} : { key }),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}
