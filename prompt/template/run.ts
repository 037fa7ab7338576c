// Execution of a document's templates, message by message in one environment, with diagnostics for each tag.

import { fileFinding, type FileFlaw } from "../attach.ts";
import type { Cell, HostFunction, Raised } from "../../lua/vm/cell.ts";
import type { Engine } from "../../lua/engine.ts";
import type { LuaEnvironment } from "../../lua/library/library.ts";
import { IncludeFault, UndefinedName } from "../../lua/library/fault.ts";
import type { LuaSession } from "../../config/document/lua_session.ts";
import { pushValue } from "../../lua/vm/values.ts";
import { nearest } from "../../base/names.ts";
import type { Chat, Diagnostic, Segment, TemplateSegment, Turn } from "../../parser/types.ts";
import { type ChunkLine, compileChunk, quoteOf, sourceOf } from "./compile.ts";
import { type Emitted, emitValue, outputOf, print } from "./output.ts";
import { fenceAround, fencesOf, isTag } from "./quoted.ts";
import { compileTags, type Settled, type TagFault, tagToText, type Template } from "./settle.ts";

export interface TurnOutput {
  /** Pieces of output in order; empty if the message failed. */
  readonly pieces: readonly Emitted[];
  /** Segments of the message, to which the pieces refer by index. Text replaces each tag that is not run. */
  readonly segments: readonly Segment[];
  readonly diagnostics: readonly TemplateDiagnostic[];
}

/** A diagnostic about a tag, with names for editors. */
export interface TemplateDiagnostic extends Diagnostic {
  readonly role?: string;
  readonly variable?: string;
  readonly suggestion?: string;
}

interface Run {
  readonly turn: Turn;
  readonly template: Template;
  isQuoted(segment: Segment | undefined): boolean;
  /** Indexes of failed expressions in closed fences. */
  readonly failed: Set<number>;
}

export class Templates {
  readonly #engine: Engine;
  readonly #environment: LuaEnvironment | Raised;
  #diagnostics: TemplateDiagnostic[] = [];

  /**
   * Runs all messages in `environment`. If there was not enough memory to create it, `environment` is an error, which
   * each message raises.
   */
  private constructor(engine: Engine, environment: LuaEnvironment | Raised) {
    this.#engine = engine;
    this.#environment = environment;
  }

  /**
   * Starts in the Lua cell of the frontmatter. All messages share one budget of steps and one environment. The
   * environment contains the variables of Lua frontmatter; without Lua frontmatter, it contains the given variables.
   */
  static async start(
    session: LuaSession,
    variables: Readonly<Record<string, unknown>>,
  ): Promise<Templates> {
    const [engine, makeInclude] = await Promise.all([session.engine(), session.options.loadInclude()]);
    const { cell, library } = engine;
    const { filename } = session.options;
    let environment: LuaEnvironment | null = null;
    const raised = cell.evaluate(() => {
      environment = library.environment({ filename, print, include: makeInclude(engine, filename) });
      if (session.variables === null) pushValue(cell, variables);
      else cell.pushKept(session.variables);
      library.define(environment);
      return 0;
    });
    outputOf(cell).open();
    if (environment === null && raised === null) throw new Error("the work did not run");
    return new Templates(engine, environment ?? raised!);
  }

  /** Runs one message. Problems become diagnostics; after one of severity error the message has no output. */
  run(turn: Turn, chat: Pick<Chat, "slice" | "text">): TurnOutput {
    this.#diagnostics = [];
    const environment = this.#environment;
    if ("limit" in environment) {
      this.#reportTurn(environment, turn, turn.segments);
      return { pieces: [], segments: turn.segments, diagnostics: this.#diagnostics };
    }
    const template: Template = {
      segments: turn.segments,
      fences: fencesOf(turn.segments, (from, to) => chat.slice(from, to)),
      name: chunkName(turn),
      source: ({ place }) => chat.text(place.from, place.to),
    };
    const { pieces, segments } = this.#runTemplate(turn, template, environment);
    // Each flaw is reported once, because a loop may include one file many times.
    const flaws = new Map(outputOf(this.#engine.cell).flawed.splice(0).map(({ path, flaw }) => [path, flaw]));
    for (const [path, flaw] of flaws) this.#reportFlaw(path, flaw);
    return { pieces, segments, diagnostics: this.#diagnostics };
  }

  /**
   * Runs the tags of a message. If code in a closed fence fails, it becomes text, and the message runs again with the
   * variables restored.
   */
  #runTemplate(
    turn: Turn,
    template: Template,
    environment: LuaEnvironment,
  ): Pick<TurnOutput, "pieces" | "segments"> {
    const { cell } = this.#engine;
    const output = outputOf(cell);
    const left = new Set<number>();
    const isQuoted = (segment: Segment | undefined) =>
      isTag(segment) && !segment.raw && fenceAround(template.fences, segment) !== undefined;
    const variables = template.segments.some((segment) => segment.kind === "code" && isQuoted(segment))
      ? this.#keepVariables(environment)
      : null;
    for (;;) {
      const run: Run = { turn, template, isQuoted, failed: new Set() };
      let settled: Settled | null = null;
      let pieces: readonly Emitted[] = [];
      // All messages share one budget of steps, so this call does not begin a new one.
      const raised = cell.enter((inner) => {
        settled = compileTags(inner, template, left);
        const { segments, chunk } = settled;
        if (chunk === null) return 0;
        const call = () => this.#call(run, segments, environment);
        pieces = output.gather(call);
        return 0;
      });
      // The compiled segments show where an error occurred. In these segments, a tag that failed only when it ran is
      // still a tag.
      const compiled = (settled as Settled | null)?.segments ?? turn.segments;
      const at = raised === null || raised.limit ? undefined : this.#place(raised, turn, compiled)?.index;
      if (at !== undefined && variables !== null && isQuoted(compiled[at])) {
        left.add(at);
        this.#diagnostics = [];
        this.#restoreVariables(environment, variables);
        continue;
      }
      if (variables !== null) cell.release(variables);
      for (const fault of (settled as Settled | null)?.faults ?? []) this.#reportSyntax(fault, turn);
      if (raised !== null) {
        pieces = [];
        this.#reportTurn(raised, turn, compiled);
      }
      const segments = withTexts(compiled, run);
      this.#reportLeft(turn, segments);
      return { pieces, segments };
    }
  }

  /** Calls the function on the stack, which outputs the message. */
  #call(run: Run, segments: readonly Segment[], environment: LuaEnvironment): void {
    const { cell, library } = this.#engine;
    library.bind(environment);
    cell.pushFunction((inner) => {
      const index = inner.number(1);
      addSegment(inner, run.turn, index, segments[index]);
      return 0;
    });
    cell.pushFunction(this.#show(run, environment.builtins));
    cell.callFunction(2, 0);
  }

  /** Copies the variables that code of the document has assigned. Returns null if there is not enough memory. */
  #keepVariables(environment: LuaEnvironment): number | null {
    const { cell, library } = this.#engine;
    let kept: number | null = null;
    cell.enter((inner) => {
      library.pushDefined(environment);
      kept = inner.keep();
      return 0;
    });
    return kept;
  }

  #restoreVariables(environment: LuaEnvironment, kept: number): void {
    const { cell, library } = this.#engine;
    cell.enter((inner) => {
      inner.pushKept(kept);
      library.define(environment);
      return 0;
    });
  }

  /** Outputs the value of an expression, or its source if it fails. */
  #show(run: Run, known: ReadonlySet<string>): HostFunction {
    const { turn } = run;
    return (cell: Cell) => {
      const index = cell.number(1);
      const segment = turn.segments[index];
      if (segment?.kind !== "expression") return 0;
      const output = outputOf(cell);
      let pieces: readonly Emitted[] = [];
      // The protected call has its own stack, so the function is stored outside.
      cell.setTop(2);
      const expression = cell.keep();
      const raised = cell.enter((inner) => {
        // If the expression fails, discard what it printed.
        pieces = output.gather(() => {
          inner.pushKept(expression);
          inner.callFunction(0, 1);
          emitValue(inner, -1);
        });
        return 0;
      });
      cell.release(expression);
      if (raised?.limit) {
        cell.pushNil();
        cell.raiseTop();
      }
      if (raised === null) {
        for (const piece of pieces) {
          if (piece.kind === "text") output.addText(cell, piece.text);
          else output.add(cell, piece);
        }
      } else if (run.isQuoted(segment)) {
        run.failed.add(index);
        addSegment(cell, turn, index, segment);
      } else {
        this.#reportExpression(raised, turn, segment, known);
        output.addText(cell, sourceOf(segment));
      }
      return 0;
    };
  }

  #reportExpression(
    { detail, message }: Raised,
    turn: Turn,
    segment: TemplateSegment,
    known: ReadonlySet<string>,
  ): void {
    const place = {
      start: segment.place.start,
      end: segment.place.end,
      startCol: segment.startCol,
      endCol: segment.endCol,
      role: turn.role,
    };
    const fullMessage = `${sourceOf(segment)} of the @${turn.role} message is sent unchanged: ${message}.`;
    if (detail instanceof UndefinedName) {
      this.#diagnostics.push({
        code: "expression_undefined_variable",
        type: "expression",
        severity: "warning",
        message: fullMessage,
        ...place,
        variable: detail.variable,
        ...suggestionFor(detail.variable, known),
      });
    } else if (detail instanceof IncludeFault) {
      const isMild = detail.mild && detail.code === "file_not_found";
      this.#diagnostics.push({
        code: detail.code,
        type: typeOf(detail.code),
        severity: isMild ? "warning" : "error",
        message: isMild
          ? fullMessage
          : `${sourceOf(segment)} of the @${turn.role} message fails: ${message}.`,
        ...place,
        ...(detail.variable === undefined ? {} : { variable: detail.variable }),
      });
    } else {
      this.#diagnostics.push({
        code: "expression_runtime",
        type: "expression",
        severity: "warning",
        message: fullMessage,
        ...place,
      });
    }
  }

  /** Reports a message that ended early. Its output is lost, so the diagnostic is always an error. */
  #reportTurn(raised: Raised, turn: Turn, segments: readonly Segment[]): void {
    const { detail, message, limit } = raised;
    const place = this.#place(raised, turn, segments);
    const tag = place === null ? turn.segments.find(isTag) : turn.segments[place.index];
    const line = place?.line ?? tag?.place?.start ?? turn.place.start;
    const code = detail instanceof IncludeFault ? detail.code : "template_runtime";
    const variable = detail instanceof UndefinedName || detail instanceof IncludeFault
      ? detail.variable
      : undefined;
    this.#diagnostics.push({
      code,
      type: typeOf(code),
      severity: "error",
      message: limit
        ? `The templates of the @${turn.role} message were stopped: ${message}.`
        : `The code of the @${turn.role} message fails, so the message cannot be sent: ${message}.`,
      ...placeOf(tag, line),
      role: turn.role,
      ...(variable === undefined ? {} : { variable }),
    });
  }

  #place(raised: Raised, turn: Turn, segments: readonly Segment[]): ChunkLine | null {
    const frame = raised.frames.find((candidate) => candidate.chunk === chunkName(turn));
    return frame === undefined ? null : compileChunk(segments).lines[frame.line - 1] ?? null;
  }

  #reportSyntax({ segment, message, line }: TagFault, turn: Turn): void {
    this.#diagnostics.push({
      code: "template_syntax",
      type: "template",
      severity: "error",
      message: `${quoteOf(segment)} is a template tag but not valid Lua: ${message}. ` +
        "To send it unchanged, put it between {% raw %} and {% endraw %}.",
      ...placeOf(segment, line),
      role: turn.role,
    });
  }

  #reportLeft(turn: Turn, segments: readonly Segment[]): void {
    turn.segments.forEach((tag, index) => {
      if (!isTag(tag) || isTag(segments[index])) return;
      this.#diagnostics.push({
        code: "template_left_as_text",
        type: "template",
        severity: "info",
        message: `${quoteOf(tag)} is in a code fence and does not run as Lua, so it is sent unchanged.`,
        start: tag.place.start,
        end: tag.place.end,
        startCol: tag.startCol,
        endCol: tag.endCol,
        role: turn.role,
      });
    });
  }

  #reportFlaw(path: string, flaw: FileFlaw): void {
    const remedy = "If it contains text, set symbols.MIME to text/plain.";
    this.#diagnostics.push(fileFinding(path, flaw, remedy));
  }
}

/** Returns the length of the text that a segment outputs. */
function lengthOf(segment: Segment | undefined): number {
  if (segment?.kind === "text") return segment.value.length;
  if (isTag(segment)) return segment.code.length;
  return segment?.kind === "tool_result" ? segment.content.length : 0;
}

/** Returns the segments, with text in place of each tag that failed in a fence. */
function withTexts(segments: readonly Segment[], { template, failed }: Run): readonly Segment[] {
  return segments.map((segment, index) =>
    failed.has(index) && isTag(segment) ? tagToText(segment, template) : segment
  );
}

function addSegment(cell: Cell, turn: Turn, index: number, segment: Segment | undefined): void {
  outputOf(cell).add(cell, { kind: "segment", turn: turn.index, index }, lengthOf(segment));
}

/**
 * Returns the position of a diagnostic about a line of a tag. The tag's columns are included if the tag begins or ends
 * on that line.
 */
function placeOf(
  tag: Segment | undefined,
  line: number,
): Pick<Diagnostic, "start" | "end" | "startCol" | "endCol"> {
  const place = { start: line, end: line };
  if (!isTag(tag) || tag.place.start !== line) return place;
  return { ...place, startCol: tag.startCol, ...(tag.place.end === line ? { endCol: tag.endCol } : {}) };
}

function chunkName(turn: Turn): string {
  return `message ${turn.index}`;
}

function typeOf(code: string): string {
  return code === "file_not_found" || code === "include_circular" ? "file" : "template";
}

function suggestionFor(name: string, known: Iterable<string>): { readonly suggestion?: string } {
  const near = nearest(name, known);
  return near === null ? {} : { suggestion: near };
}
