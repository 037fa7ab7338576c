// What a generated system prompt says of tools: from their own words for it, else from their descriptions (tools section 1).

import type { ToolDefinition } from "../definition.ts";

/** A tool as a generated prompt lists it. */
export interface ListedTool {
  readonly name: string;
  /** One line on what it is for; may be empty. */
  readonly snippet: string;
  /** How it is used well, a line each. */
  readonly guidelines: readonly string[];
}

/** The tools as the personality of that name lists them, in the order given. */
export function listedTools(tools: readonly ToolDefinition[], personality: string): ListedTool[] {
  return tools.map(({ name, description, personalities = {} }) => {
    const stated = Object.hasOwn(personalities, personality) ? personalities[personality] ?? {} : {};
    return {
      name,
      snippet: linesOf(stated.snippet).join(" ") || firstSentence(description),
      guidelines: linesOf(stated.guidelines),
    };
  });
}

/** What a tool says, one item a line; those of other people may say anything. */
function linesOf(stated: unknown): string[] {
  const items: readonly unknown[] = Array.isArray(stated) ? stated : [stated];
  return items.flatMap((item) => typeof item === "string" && item.trim() !== "" ? [oneLine(item)] : []);
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}

/** The beginning of a description, which may be pages long. */
function firstSentence(description: string): string {
  const text = oneLine(description);
  const [sentence = text] = /^.{1,200}?[.!?](?= |$)/.exec(text) ?? [];
  return sentence.length <= LONGEST ? sentence : `${sentence.slice(0, LONGEST)}…`;
}

const LONGEST = 200;
