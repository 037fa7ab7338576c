// Insertion of a rule, or of the name of a sandbox backend, into the text of a settings file. All other bytes stay.

import { isObject } from "../../base/is_object.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import type { WrittenRule } from "../rules/read_rule.ts";
import { parseSource } from "./yaml.ts";

export interface WithRule {
  readonly text: string;
  /** The line of the rule, 1-based. */
  readonly line: number;
}

/**
 * Adds a rule at the end of `tools.rules`. The result is parsed again and compared before it is returned.
 *
 * @param text the file; null or blank if there is none
 * @param json whether it is written as JSON
 * @returns the new text. Fails with `settings-unchanged` if the way the list is written is not supported.
 */
export async function withRule(
  text: string | null,
  rule: WrittenRule,
  { json }: { readonly json: boolean },
): Promise<Outcome<WithRule>> {
  const before = text ?? "";
  const parsed = await parseSource(before);
  if (!parsed.ok) return unwritable("it cannot be read");
  const old = parsed.value.value;
  if (old !== null && old !== undefined && !isObject(old)) {
    return unwritable("it contains no table of settings");
  }
  const insertion = await insertionFor(before, rule, json);
  if (insertion === null) {
    return unwritable("its tools.rules have a form that flemma cannot edit");
  }
  const { at, insert, ruleAt } = insertion;
  const after = `${before.slice(0, at)}${insert}${before.slice(at)}`;
  const reread = await parseSource(after);
  if (!reread.ok || !isWithRule(old, reread.value.value, rule)) {
    return unwritable("its tools.rules have a form that flemma cannot edit");
  }
  return success({ text: after, line: after.slice(0, at + ruleAt).split("\n").length });
}

/**
 * Sets `sandbox.backend`. The result is parsed again and compared before it is returned.
 *
 * @param text the file; null or blank if there is none
 * @param json whether it is written as JSON
 * @returns the new text. Fails with `settings-unchanged` if the way the table is written is not supported.
 */
export async function withBackend(
  text: string | null,
  backend: string,
  { json }: { readonly json: boolean },
): Promise<Outcome<string>> {
  const before = text ?? "";
  const parsed = await parseSource(before);
  if (!parsed.ok) return unwritable("it cannot be read");
  const old = parsed.value.value ?? {};
  if (!isObject(old)) return unwritable("it contains no table of settings");
  const after = await backendText(before, json ? JSON.stringify(backend) : backend, json);
  const reread = after === null ? null : await parseSource(after);
  const sandbox = isObject(old.sandbox) ? old.sandbox : {};
  const wanted = canonical({ ...old, sandbox: { ...sandbox, backend } });
  if (after === null || !reread?.ok || canonical(reread.value.value) !== wanted) {
    return unwritable("its sandbox settings have a form that flemma cannot edit");
  }
  return success(after);
}

async function backendText(text: string, written: string, json: boolean): Promise<string | null> {
  const { isMap, isScalar, parseDocument } = await import("npm:yaml@2.9.1");
  const inserted = ({ at, insert }: Pick<Insertion, "at" | "insert">) =>
    `${text.slice(0, at)}${insert}${text.slice(at)}`;
  const root = parseDocument(text, { prettyErrors: false }).contents;
  const flowTable = `"sandbox": { "backend": ${JSON.stringify(written.replaceAll('"', ""))} }`;
  const blockTable = `sandbox:\n  backend: ${written}\n`;
  if (root === null || !isMap(root)) {
    return json && root === null ? `{ ${flowTable} }\n` : inserted(atEnd(text, blockTable));
  }
  if (isSpelledOtherwise(root.items, "sandbox")) return null;
  const sandbox = root.get("sandbox", true);
  if (sandbox === undefined || sandbox === null) {
    return inserted(
      root.flow ? intoFlow(text, endOf(root), flowTable, root.items.length > 0) : atEnd(text, blockTable),
    );
  }
  if (!isMap(sandbox)) return null;
  const backend = sandbox.get("backend", true);
  if (isScalar(backend)) return `${text.slice(0, startOf(backend))}${written}${text.slice(endOf(backend))}`;
  if (sandbox.flow) {
    const member = `${json ? '"backend"' : "backend"}: ${written}`;
    return inserted(intoFlow(text, endOf(sandbox), member, sandbox.items.length > 0));
  }
  const indent = columnOf(text, startOf(sandbox.items[0]?.key));
  const insertion = indent === null ? null : behind(text, endOf(sandbox), `${indent}backend: ${written}\n`);
  return insertion === null ? null : inserted(insertion);
}

function unwritable(why: string): Outcome<never> {
  return failure("settings-unchanged", `The settings file is unchanged: ${why}.`);
}

/** A text to insert; `ruleAt` is the offset of the rule within it. */
interface Insertion {
  readonly at: number;
  readonly insert: string;
  readonly ruleAt: number;
}

async function insertionFor(text: string, rule: WrittenRule, json: boolean): Promise<Insertion | null> {
  const { isMap, isSeq, parseDocument } = await import("npm:yaml@2.9.1");
  const written = json ? JSON.stringify(rule) : flow(rule);
  const root = parseDocument(text, { prettyErrors: false }).contents;
  if (root === null || !isMap(root) || root.items.length === 0) {
    if (json) {
      return root === null
        ? wholeJson(written, text)
        : intoFlow(text, endOf(root), `"tools": { "rules": [${written}] }`, false);
    }
    return atEnd(text, `tools:\n  rules:\n    - ${written}\n`);
  }
  if (isSpelledOtherwise(root.items, "tools")) return null;
  const tools = root.get("tools", true);
  if (tools === undefined || tools === null) {
    return root.flow
      ? intoFlow(text, endOf(root), `"tools": { "rules": [${written}] }`, true)
      : atEnd(text, `tools:\n  rules:\n    - ${written}\n`);
  }
  if (!isMap(tools) || isSpelledOtherwise(tools.items, "rules")) return null;
  const rules = tools.get("rules", true);
  if (rules === undefined || rules === null) {
    if (tools.flow) {
      return intoFlow(
        text,
        endOf(tools),
        `${json ? '"rules"' : "rules"}: [${written}]`,
        tools.items.length > 0,
      );
    }
    const indent = columnOf(text, startOf(tools.items[0]?.key));
    return indent === null ? null : behind(text, endOf(tools), `${indent}rules:\n${indent}  - ${written}\n`);
  }
  if (!isSeq(rules)) return null;
  if (rules.flow) return intoFlow(text, endOf(rules), written, rules.items.length > 0);
  const dash = dashOf(text, startOf(rules.items.at(-1)));
  return dash === null ? null : behind(text, endOf(rules), `${dash}${written}\n`);
}

/** True if a key is written together with the one below it, as in `tools.rules: …`. */
function isSpelledOtherwise(items: readonly { readonly key: unknown }[], name: string): boolean {
  return items.some(({ key }) => String((key as { readonly value?: unknown }).value).startsWith(`${name}.`));
}

type Ranged = { readonly range?: readonly [number, number, number] | null };

function startOf(node: unknown): number {
  return (node as Ranged | undefined)?.range?.[0] ?? -1;
}

function endOf(node: Ranged): number {
  return node.range?.[1] ?? -1;
}

/** Returns the indentation of a key; null if other text precedes it on the line. */
function columnOf(text: string, at: number): string | null {
  const before = at < 0 ? null : text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return before !== null && /^ *$/.test(before) ? before : null;
}

/** Returns the text before a list item on its line: spaces, the dash, spaces. */
function dashOf(text: string, at: number): string | null {
  const before = at < 0 ? null : text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return before !== null && /^ *- +$/.test(before) ? before : null;
}

/** Inserts before the closing bracket of a flow list or table. */
function intoFlow(text: string, end: number, written: string, follows: boolean): Insertion {
  const bracket = end - 1;
  const content = text.slice(0, bracket).trimEnd();
  const hasComma = content.endsWith(",");
  const at = content.length;
  const comma = follows && !hasComma
    ? ", "
    : hasComma || /[[{]$/.test(content) && text[at] === " "
    ? " "
    : "";
  return { at, insert: `${comma}${written}`, ruleAt: comma.length };
}

/** Inserts new lines after the node that ends at an offset. */
function behind(text: string, end: number, lines: string): Insertion | null {
  if (end < 0) return null;
  // A node may end before or after the end of its last line. Comments below it belong to the next node.
  const kept = text.slice(0, end).trimEnd().length;
  const lineEnd = text.indexOf("\n", kept);
  const at = lineEnd === -1 ? text.length : lineEnd + 1;
  const lead = lineEnd === -1 ? "\n" : "";
  return { at, insert: `${lead}${lines}`, ruleAt: lead.length + lines.length - 1 };
}

function atEnd(text: string, lines: string): Insertion {
  const lead = text === "" || text.endsWith("\n") ? "" : "\n";
  return { at: text.length, insert: `${lead}${lines}`, ruleAt: lead.length + lines.length - 1 };
}

function wholeJson(written: string, text: string): Insertion {
  return { at: text.length, insert: `{ "tools": { "rules": [${written}] } }\n`, ruleAt: 0 };
}

/** Formats a rule as people write it in YAML: `{ approve: bash, command: ["git log **"] }`. */
function flow(rule: WrittenRule): string {
  const members = Object.entries(rule).map(([name, value]) =>
    `${name}: ${typeof value === "string" && /^[a-z][\w-]*$/.test(value) ? value : JSON.stringify(value)}`
  );
  return `{ ${members.join(", ")} }`;
}

/** True if the only change to a file is the added rule. */
function isWithRule(before: unknown, after: unknown, rule: WrittenRule): boolean {
  const old = isObject(before) ? before : {};
  const tools = isObject(old.tools) ? old.tools : {};
  const rules = Array.isArray(tools.rules) ? tools.rules : [];
  const wanted = { ...old, tools: { ...tools, rules: [...rules, rule] } };
  return canonical(after) === canonical(wanted);
}

function canonical(value: unknown): string {
  return JSON.stringify(
    value,
    (_, inner: unknown) =>
      isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1)) : inner,
  );
}
