// Why a question to a helper is refused: depth, number of questions, cycles, names. Pure.

import { joinNames } from "../../../base/names.ts";
import type { Settings } from "../../../config/settings.generated.ts";
import type { ToolInput } from "../../../tools/definition.ts";
import { ASK_TOOL, isHelperName } from "./names.ts";

/** A question as the model asks it. */
export interface HelperQuestion {
  readonly question: string;
  /** Short name of an existing helper; null for a new one. */
  readonly document: string | null;
  /** Wanted name of a new helper; null for any. */
  readonly name: string | null;
  readonly preset: string | null;
  readonly files: readonly string[];
}

/** Reads an input that the tool's schema accepts. */
export function readQuestion(input: ToolInput): HelperQuestion {
  const text = (member: unknown) => typeof member === "string" && member !== "" ? member : null;
  const files = Array.isArray(input.files) ? input.files.filter((path) => typeof path === "string") : [];
  return {
    question: String(input.question ?? ""),
    document: text(input.document),
    name: text(input.name),
    preset: text(input.preset),
    files,
  };
}

/** Returns what is wrong with an input, as `pointer: what is wrong`. */
export function questionProblems(input: unknown): readonly string[] {
  const { question, document, name, preset, files, ...others } = input as Record<string, unknown>;
  const optional = Object.entries({ document, name, preset })
    .filter(([, value]) => value !== undefined && value !== null && typeof value !== "string");
  const isList = files === undefined || files === null ||
    (Array.isArray(files) && files.every((path) => typeof path === "string"));
  return [
    ...(typeof question === "string" && question.trim() !== "" ? [] : ["/question: must be a text"]),
    ...optional.map(([member]) => `/${member}: must be a text or null`),
    ...(isList ? [] : ["/files: must be a list of paths or null"]),
    ...Object.keys(others).slice(0, 3).map((key) => `/${key}: is not a parameter of this tool`),
  ];
}

/** Facts about the run that a question is refused by. */
export interface QuestionFacts {
  readonly bounds: Settings["subagents"];
  /** How many callers the asking document has. */
  readonly depth: number;
  /** Questions of this run before. */
  readonly asked: number;
  /** Names of the person's presets. */
  readonly presets: readonly string[];
}

/** Returns why a question is refused, for the model; null if it may be asked. */
export function refuseQuestion(
  { document, name, preset }: HelperQuestion,
  { bounds, depth, asked, presets }: QuestionFacts,
): string | null {
  if (depth >= bounds.depth) {
    return `${ASK_TOOL} is not possible here: helpers may be ${bounds.depth} deep (subagents.depth). ` +
      "Do the work yourself.";
  }
  if (document !== null && name !== null) {
    return "Give either document, to continue a helper, or name, for a new one, not both.";
  }
  for (const [member, given] of [["document", document], ["name", name]] as const) {
    if (given !== null && !isHelperName(given)) {
      return `The ${member} "${given}" is not a name of a helper: use 1 to 40 of the characters a-z, 0-9 and -.`;
    }
  }
  if (document !== null && preset !== null) {
    return `The helper ${document} keeps its preset; leave preset out to continue it.`;
  }
  if (preset !== null && !presets.includes(preset)) {
    return `There is no preset "${preset}". ${
      presets.length === 0
        ? "The user has no presets: leave preset out."
        : `There are: ${joinNames(presets)}.`
    }`;
  }
  if (asked >= bounds.max_calls) {
    return `This run has asked helpers ${asked} times, which is the limit (subagents.max_calls). ` +
      "Finish without further questions, or tell the user what is left.";
  }
  return null;
}

/** Returns why a helper must not be advanced, because it is already being advanced above; null if it may be. */
export function refuseCycle(path: string, above: readonly string[]): string | null {
  return above.includes(path)
    ? "This document is already being advanced, and waits for this very call. Ask another helper."
    : null;
}
