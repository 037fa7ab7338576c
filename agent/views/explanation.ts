// Writes explanations of approval decisions, as text for people and as JSON.

import type { ExplainedCall } from "../types.ts";
import { decidedBy } from "../review/decided_by.ts";

/** Returns the reasons of a decision as JSON, without the call and the decision. */
export function reasonJson({ rule, chain, commands, path, profile, detail }: ExplainedCall) {
  return { detail, rule, chain, commands, path, profile };
}

export function explanationJson(call: ExplainedCall) {
  const { id, tool, decision, source } = call;
  return { id, tool, decision, source, ...reasonJson(call) };
}

/** Returns an explanation as lines, beginning with the call. */
export function explanationLines(call: ExplainedCall): string[] {
  const { id, preview, decision, source, detail, rule, chain, path } = call;
  const origin = source === "default"
    ? "by default: no rule matches"
    : `by ${decidedBy(source, rule !== null)}`;
  const asked = path === null || path.real === path.asked ? "" : ` (asked ${path.asked})`;
  const lines = [
    `${id === "" ? "" : `${id}  `}${preview}`,
    `  decision  ${decision}, ${origin}`,
    ...(detail === null ? [] : [`  because   ${detail}`]),
    ...(path === null ? [] : [`  path      ${path.real ?? "not found"}${asked}`]),
  ];
  const widest = Math.max(...chain.map(({ name }) => resolverName(name).length));
  for (const { name, priority, answer, detail } of chain) {
    const place = priority < 0 ? "   " : String(priority).padStart(3);
    const front = `  ${place} ${resolverName(name).padEnd(widest)}  ${
      (answer === "absent" ? "-" : answer).padEnd(16)
    }  `;
    const [first = "", ...more] = detail.split("\n");
    lines.push(`${front}${first}`.trimEnd(), ...more.map((line) => `${" ".repeat(front.length)}${line}`));
  }
  return lines;
}

/** Returns the name of a resolver, without the prefix of built-in resolvers. */
export function resolverName(source: string): string {
  return source.replace(/^urn:flemma:approval:/, "");
}
