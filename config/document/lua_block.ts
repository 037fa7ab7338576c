// Execution of Lua frontmatter: settings go to the draft, globals become template variables, and errors become problems
// with their line.

import type { ChunkOutcome, ChunkProblem, LayerDraft } from "../types.ts";
import type { Cell, HostFunction, Raised } from "../../lua/vm/cell.ts";
import type { Engine } from "../../lua/engine.ts";
import { IncludeFault, UndefinedName } from "../../lua/library/fault.ts";
import { SettingsFaults } from "./lua_options.ts";
import { nearest } from "../../base/names.ts";
import { Options } from "./lua_options.ts";
import { toValue } from "../../lua/vm/values.ts";

const CHUNK = "frontmatter";
/** Number of steps charged for a printed line in addition to its length, because people have to scroll past it. */
const STEPS_PER_LINE = 1000;

export interface BlockOptions {
  readonly filename: string | null;
  readonly print: (line: string) => void;
  readonly include: HostFunction;
}

/** Result of a block: the outcome for the settings, and the registry slot of its variables. */
export interface LuaBlockResult {
  readonly outcome: ChunkOutcome;
  readonly variables: number | null;
}

export function runBlock(
  { cell, library }: Engine,
  code: string,
  draft: LayerDraft,
  options: BlockOptions,
): LuaBlockResult {
  let syntax: ChunkProblem | null = null;
  let variables: number | null = null;
  let exported: Record<string, unknown> = {};
  let known: string[] = [];
  const raised = cell.evaluate(() => {
    const settings = new Options(cell, library, draft);
    const environment = library.environment({
      filename: options.filename,
      print: printer(options.print),
      include: options.include,
      pushFlemma: () => settings.pushFlemma(),
    });
    known = [...environment.builtins];
    // The code gets one extra line in front, because the block's first line of code is line 2 of the file.
    const fault = cell.load(`\n${code}`, CHUNK);
    if (fault !== null) {
      syntax = {
        code: "frontmatter_lua_syntax",
        severity: "error",
        message: `the frontmatter is not valid Lua: ${fault.message}`,
        ...(fault.line === null ? {} : { line: fault.line }),
      };
      return 0;
    }
    library.bind(environment);
    cell.callFunction(0, 1);
    settings.checkReturned();
    settings.checkFlemma(environment.reference);
    library.pushDefined(environment);
    exported = record(toValue(cell, -1));
    variables = cell.keep();
    return 0;
  });
  if (syntax !== null) return { outcome: { variables: null, problems: [syntax] }, variables: null };
  if (raised === null) return { outcome: { variables: exported, problems: [] }, variables };
  return { outcome: { variables: null, problems: problemsOf(raised, known) }, variables: null };
}

/** Creates `print` as in Lua: `tostring` of each argument, separated by tabs. */
function printer(print: (line: string) => void): HostFunction {
  return (cell: Cell) => {
    const texts: string[] = [];
    for (let index = 1, count = cell.top(); index <= count; index++) {
      cell.pushToString(index);
      texts.push(cell.text(-1) ?? "");
      cell.pop(1);
    }
    const line = texts.join("\t");
    cell.spend(STEPS_PER_LINE + line.length);
    print(line);
    return 0;
  };
}

function problemsOf(raised: Raised, known: readonly string[]): readonly ChunkProblem[] {
  const { detail, message } = raised;
  const at = raised.frames.find((frame) => frame.chunk === CHUNK)?.line;
  const line = at === undefined ? {} : { line: at };
  if (detail instanceof SettingsFaults) {
    return detail.faults.map(({ code, severity, key, message, suggestion }) => ({
      code,
      severity,
      key,
      message,
      ...(suggestion === undefined ? {} : { suggestion }),
      ...line,
    }));
  }
  if (detail instanceof UndefinedName) {
    const near = nearest(detail.variable, known);
    return [{
      code: "frontmatter_undefined_variable",
      severity: "error",
      message,
      ...(near === null ? {} : { suggestion: near }),
      ...line,
    }];
  }
  if (detail instanceof IncludeFault && detail.code === "file_not_found") {
    return [{ code: detail.code, severity: "error", message, ...line }];
  }
  // `^` binds tighter than `+` and `-`, so Lua applied it to the strings next to it instead of the list.
  const hint = /attempt to pow a 'string'/i.test(message)
    ? '; put the part with ^ in parentheses, as in (list ^ "x") + "y"'
    : "";
  const fullMessage = raised.limit ? `the frontmatter was stopped: ${message}` : message + hint;
  return [{ code: "frontmatter_runtime", severity: "error", message: fullMessage, ...line }];
}

function record(value: unknown): Record<string, unknown> {
  // A table without members is converted to an empty list.
  return Array.isArray(value) ? {} : value as Record<string, unknown>;
}
