// Runs the templates of a document, message after message in one environment, and tells what went wrong at which tag
// (chat-format 8.3).

import { type Unsent, unsentFile } from "../attach.ts";
import type { Cell, HostFunction, Raised } from "../../lua/vm/cell.ts";
import type { Engine } from "../../lua/engine.ts";
import type { LuaEnvironment } from "../../lua/library/library.ts";
import { IncludeFault, UndefinedName } from "../../lua/library/fault.ts";
import type { LuaSession } from "../../config/document/lua_session.ts";
import { pushValue } from "../../lua/vm/values.ts";
import { nearest } from "../../base/nearest.ts";
import type { Diagnostic, Segment, TemplateSegment, Turn } from "../../parser/types.ts";
import { compileChunk, expressionAlone, sourceOf } from "./compile.ts";
import { type Emitted, emitValue, outputOf, print } from "./output.ts";

/** What a message came to. */
export interface TurnOutput {
  /** In order; empty when the message failed. */
  readonly pieces: readonly Emitted[];
  readonly diagnostics: readonly TemplateDiagnostic[];
}

/** A diagnostic of a tag, with the names an editor can use. */
export interface TemplateDiagnostic extends Diagnostic {
  readonly role?: string;
  readonly variable?: string;
  readonly suggestion?: string;
}

/** The templates of one document in one run. */
export class Templates {
  readonly #engine: Engine;
  readonly #environment: LuaEnvironment | Raised;
  #diagnostics: TemplateDiagnostic[] = [];

  /** With `Raised`, nothing can run: not even the names of the environment found room. */
  private constructor(engine: Engine, environment: LuaEnvironment | Raised) {
    this.#engine = engine;
    this.#environment = environment;
  }

  /**
   * Starts in the cell of the document's block. All messages share one environment, which sees the variables of a Lua
   * block or, when there was none, the given ones; they also share one allowance (frontmatter-config 3.8).
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

  /** Runs one message. Problems are diagnostics; one of severity error means that the message yields nothing. */
  run(turn: Turn): TurnOutput {
    this.#diagnostics = [];
    const { cell } = this.#engine;
    const environment = this.#environment;
    let pieces: readonly Emitted[] = [];
    if ("limit" in environment) this.#reportTurn(environment, turn);
    else if (this.#areExpressions(turn)) {
      const output = outputOf(cell);
      // The allowance was opened at the start and is shared, so this is no evaluation of its own.
      const raised = cell.enter(() => {
        pieces = output.gather(() => this.#runChunk(turn, environment));
        return 0;
      });
      if (raised !== null) {
        pieces = [];
        this.#reportTurn(raised, turn);
      }
      for (const { path, unsent } of output.unsent.splice(0)) this.#reportUnsent(path, unsent);
    }
    return { pieces, diagnostics: this.#diagnostics };
  }

  /** False when one of the message's `{{ }}` is not even an expression: then nothing of it runs. */
  #areExpressions(turn: Turn): boolean {
    const { cell } = this.#engine;
    let failed = false;
    const raised = cell.enter(() => {
      for (const segment of turn.segments) {
        if (segment.kind !== "expression") continue;
        const fault = cell.load(expressionAlone(segment), chunkName(turn));
        if (fault === null) {
          cell.pop(1);
          continue;
        }
        failed = true;
        const line = Math.min(segment.place.end, segment.place.start + (fault.line ?? 1) - 1);
        this.#reportSyntax(fault.message, turn, line);
      }
      return 0;
    });
    if (raised !== null) this.#reportTurn(raised, turn);
    return !failed && raised === null;
  }

  #runChunk(turn: Turn, environment: LuaEnvironment): void {
    const { cell, library } = this.#engine;
    const chunk = compileChunk(turn.segments);
    const fault = cell.load(chunk.code, chunkName(turn), chunk.written);
    if (fault !== null) {
      const place = chunk.lines[(fault.line ?? 0) - 1] ?? chunk.lines.findLast((line) => line !== null);
      this.#reportSyntax(fault.message, turn, place?.line ?? turn.place.start);
      return;
    }
    library.bind(environment);
    cell.pushFunction((inner) => {
      const index = inner.number(1);
      outputOf(inner).add(
        inner,
        { kind: "segment", turn: turn.index, index },
        lengthOf(turn.segments[index]),
      );
      return 0;
    });
    cell.pushFunction(this.#show(turn, environment.builtins));
    cell.callFunction(2, 0);
  }

  /** Shows the value of an expression, or its source when it fails. */
  #show(turn: Turn, known: ReadonlySet<string>): HostFunction {
    return (cell: Cell) => {
      const segment = turn.segments[cell.number(1)];
      if (segment?.kind !== "expression") return 0;
      const output = outputOf(cell);
      let pieces: readonly Emitted[] = [];
      // The protected work has a stack of its own, so what it calls has to be kept outside.
      cell.setTop(2);
      const expression = cell.keep();
      const raised = cell.enter((inner) => {
        // What an expression prints is lost with it when it fails.
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
    const told = `${sourceOf(segment)} of the @${turn.role} message is sent as it stands: ${message}.`;
    if (detail instanceof UndefinedName) {
      this.#diagnostics.push({
        code: "expression_undefined_variable",
        type: "expression",
        severity: "warning",
        message: told,
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
        message: isMild ? told : `${sourceOf(segment)} of the @${turn.role} message fails: ${message}.`,
        ...place,
        ...(detail.variable === undefined ? {} : { variable: detail.variable }),
      });
    } else {
      this.#diagnostics.push({
        code: "expression_runtime",
        type: "expression",
        severity: "warning",
        message: told,
        ...place,
      });
    }
  }

  /** A message that ended early: everything of it is lost, so this is always an error. */
  #reportTurn(raised: Raised, turn: Turn): void {
    const { detail, message, limit } = raised;
    const chunk = compileChunk(turn.segments);
    const frame = raised.frames.find((candidate) => candidate.chunk === chunkName(turn));
    const place = frame === undefined ? null : chunk.lines[frame.line - 1] ?? null;
    const line = place?.line ?? turn.segments.find(isTag)?.place.start ?? turn.place.start;
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
        : `The code of the @${turn.role} message fails, so nothing of it can be sent: ${message}.`,
      start: line,
      end: line,
      role: turn.role,
      ...(variable === undefined ? {} : { variable }),
    });
  }

  #reportSyntax(message: string, turn: Turn, line: number): void {
    this.#diagnostics.push({
      code: "template_syntax",
      type: "template",
      severity: "error",
      message:
        `A tag of the @${turn.role} message is not valid Lua, so nothing of it can be sent: ${message}.`,
      start: line,
      end: line,
      role: turn.role,
    });
  }

  #reportUnsent(path: string, unsent: Unsent): void {
    const remedy = "Give symbols.MIME the value text/plain when it holds text.";
    this.#diagnostics.push(unsentFile(path, unsent, remedy));
  }
}

/** Length of the text that a segment puts out. */
function lengthOf(segment: Segment | undefined): number {
  if (segment?.kind === "text") return segment.value.length;
  return segment?.kind === "tool_result" ? segment.content.length : 0;
}

function isTag(segment: Segment): segment is TemplateSegment {
  return segment.kind === "expression" || segment.kind === "code";
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
