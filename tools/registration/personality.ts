// Collects what a generated system prompt says about tools. If a tool has no prompt parts of its own, its description
// is used.

import type { ToolDefinition } from "../definition.ts";

/** A tool as a generated prompt lists it. */
export interface ListedTool {
  readonly name: string;
  /** One line on its purpose; may be empty. */
  readonly snippet: string;
  /** How to use it well, a line each. */
  readonly guidelines: readonly string[];
}

/** The tools as the named personality lists them, in the given order. */
export function listedTools(tools: readonly ToolDefinition[], personality: string): ListedTool[] {
  return tools.map(({ name, description, personalities = {} }) => {
    const written = Object.hasOwn(personalities, personality) ? personalities[personality] ?? {} : {};
    return {
      name,
      snippet: linesOf(written.snippet).join(" ") || firstSentence(description),
      guidelines: linesOf(written.guidelines),
    };
  });
}

/** The non-empty lines a tool declares; tools of others may declare any value. */
function linesOf(written: unknown): string[] {
  const items: readonly unknown[] = Array.isArray(written) ? written : [written];
  return items.flatMap((item) => typeof item === "string" && item.trim() !== "" ? [oneLine(item)] : []);
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}

/** The first sentence of a description, which may be pages long. */
function firstSentence(description: string): string {
  const text = oneLine(description);
  const [sentence = text] = /^.{1,200}?[.!?](?= |$)/.exec(text) ?? [];
  return sentence.length <= LONGEST ? sentence : `${sentence.slice(0, LONGEST)}…`;
}

const LONGEST = 200;
