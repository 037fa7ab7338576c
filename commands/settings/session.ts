// `flemma session set | switch | show | reset`: settings for this session, for all documents or for one.

import { draftLayer } from "../../config/layers/draft.ts";
import type { Loaded } from "../../config/sources/find.ts";
import { typedValue } from "../../config/schema/presets/modeline.ts";
import type { Op, SettingOperation } from "../../config/types.ts";
import { failed, failure, type Outcome, success, wholeSentence } from "../../base/problem.ts";
import { mayBeThere } from "../../base/files.ts";
import { operands } from "../../base/shell_word.ts";
import { formatValue } from "../../config/layers/render.ts";
import { switchTo } from "../../config/layers/switch_preset.ts";
import { addToSession, readSession, resetSession } from "../../config/sources/session_overrides.ts";
import { dearModel } from "../../agent/views/settings_findings.ts";
import { dayOf } from "../../providers/models/find.ts";
import { documentPath } from "../document/read.ts";
import { refuse } from "../io/refuse.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { listOption } from "../line/options.ts";
import { settingsOf } from "../line/overrides.ts";
import { writeLines } from "../io/streams.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { command, positionals } = invocation.arguments;
  const isSetting = (word: string) => /^[\w.$-]+[+^-]?=/.test(word);
  const words = command.name === "session set"
    ? positionals.filter(isSetting)
    : command.name === "session switch"
    ? positionals.slice(0, 1)
    : [];
  const files = positionals.filter((word) => !words.includes(word));
  if (files.length > 1) {
    const message = command.name === "session set"
      ? `"${files[0]}" is not KEY=VALUE, and only one FILE can be named.`
      : "Only one FILE can be named.";
    const [key = "", value = ""] = files;
    const isPair = command.name === "session set" && words.length === 0 && files.length === 2;
    const next = isPair ? `Join them: flemma session set ${operands(`${key}=${value}`)}` : undefined;
    return refuse(invocation, { code: "usage", message, next });
  }
  const [first] = words.length === 0 && command.name === "session set" ? files : [];
  if (first !== undefined && !mayBeThere(first)) {
    const message = `"${first}" is not KEY=VALUE.`;
    return refuse(invocation, {
      code: "usage",
      message,
      next: `Write the value: flemma session set ${first}=VALUE`,
    });
  }
  const document = documentPath(invocation.environment, files[0]);
  if (!document.ok) return refuse(invocation, document.problem);
  if (command.name === "session show") return await show(invocation, document.value);
  if (command.name === "session reset") {
    const keys = listOption(invocation.arguments, "key");
    return await reset(invocation, document.value, keys.length === 0 ? null : keys);
  }
  const loaded = await settingsOf(invocation.arguments, invocation.environment, document.value);
  if (!loaded.ok) return refuse(invocation, loaded.problem);
  const operations = command.name === "session set"
    ? await assignments(words, loaded.value)
    : switches(words[0]!, loaded.value);
  if (!operations.ok) return refuse(invocation, operations.problem);
  if (operations.value.some(turnsSandboxOn)) {
    const { sandboxProblem } = await import("./usable_sandbox.ts");
    const problem = await sandboxProblem(invocation, document.value, loaded.value);
    if (problem !== null) return refuse(invocation, problem);
  }
  return await add(invocation, document.value, operations.value);
}

function turnsSandboxOn({ path, value }: SettingOperation): boolean {
  return path.join(".") === "sandbox.enabled" && value === true;
}

/** Adds operations for all documents or for one, and reports the new values. Also used by `flemma sandbox enable`. */
export async function add(
  invocation: Invocation,
  document: string | null,
  operations: readonly SettingOperation[],
): Promise<number> {
  const { environment, messages } = invocation;
  const outcome = await addToSession(environment, document, operations, new Date());
  if (!outcome.ok) return refuse(invocation, outcome.problem);
  for (const operation of operations) {
    messages.note(`${sentence(operation)} ${scope(document)}, in this session.`);
  }
  messages.note(
    `Undo with: flemma session reset${document === null ? "" : ` ${operands(document)}`}`,
  );
  await warnOfCost(invocation, document, operations);
  return Exit.ok;
}

/** Warns if the model that was just chosen is expensive. */
async function warnOfCost(
  invocation: Invocation,
  document: string | null,
  operations: readonly SettingOperation[],
): Promise<void> {
  if (!operations.some(({ path }) => path[0] === "model" || path[0] === "provider")) return;
  const loaded = await settingsOf(invocation.arguments, invocation.environment, document);
  const dear = loaded.ok ? dearModel(loaded.value.settings, dayOf(new Date())) : null;
  if (dear !== null) invocation.messages.note(`flemma: ${wholeSentence(dear)}`);
}

/** Removes keys from the session; null removes all. */
export async function reset(
  invocation: Invocation,
  document: string | null,
  keys: readonly string[] | null,
): Promise<number> {
  const outcome = await resetSession(invocation.environment, document, keys, new Date());
  if (!outcome.ok) return refuse(invocation, outcome.problem);
  invocation.messages.note(
    outcome.value
      ? `Cleared ${scope(document)}: ${keys === null ? "all settings of this session" : keys.join(", ")}.`
      : `There was nothing to clear ${scope(document)} in this session.`,
  );
  return Exit.ok;
}

async function show(invocation: Invocation, document: string | null): Promise<number> {
  const session = await readSession(invocation.environment, document, new Date());
  if (!session.ok) return refuse(invocation, session.problem);
  const lines = session.value.flatMap(({ path, operations }) => [
    `${path}\n`,
    ...operations.map((operation) => `  ${sentence(operation)}\n`),
  ]);
  writeLines(lines.join(""));
  if (lines.length === 0) invocation.messages.note("This session has no settings.");
  return Exit.ok;
}

/** Parses `KEY=VALUE`, and for lists `KEY+=ITEM` (append), `KEY-=ITEM` (remove), `KEY^=ITEM` (prepend). */
async function assignments(
  words: readonly string[],
  loaded: Loaded,
): Promise<Outcome<readonly SettingOperation[]>> {
  if (words.length === 0) return failure("usage", "session set needs KEY=VALUE.");
  const draft = sessionDraft(loaded);
  for (const word of words) {
    const [, key, sign, text] = /^([\w.$-]*[\w$])([+^-]?)=(.*)$/s.exec(word) ?? [];
    if (key === undefined) return failure("usage", `"${word}" is not KEY=VALUE.`);
    const op: Op = sign === "+" ? "append" : sign === "-" ? "remove" : sign === "^" ? "prepend" : "set";
    const read = await valueOf(text!);
    if (!read.ok) return failure("usage", `${key}: ${read.problem}`);
    const value = read.value;
    const kind = draft.kind([key]);
    const isList = kind.ok && (kind.value === "list" || kind.value === "tools");
    // A single word for a list becomes a list with one item.
    const wanted = op === "set" && isList && typeof value === "string" ? [value] : value;
    const fault = draft.apply(op, [key], wanted)[0] ?? draft.warnings[0];
    if (fault !== undefined) return failure("usage", wholeSentence(fault.message));
  }
  const late = draft.finish().find((fault) => fault.severity === "error");
  return late === undefined ? success(draft.operations) : failure("usage", wholeSentence(late.message));
}

/** Parses a value of `KEY=VALUE`. A value in brackets is parsed as in a settings file. */
async function valueOf(text: string): Promise<Outcome<unknown, string>> {
  if (!/^\s*[[{]/.test(text)) return success(typedValue(text));
  const { parseSource } = await import("../../config/sources/yaml.ts");
  const parsed = await parseSource(text);
  if (parsed.ok) return success(parsed.value.value);
  const [{ place, message } = { place: "1:1", message: "it cannot be read" }] = parsed.problem;
  return failed(`the value cannot be read (${place}): ${message.replace(/\.$/, "")}.`);
}

/** Copies a preset to the session: its model by reference, its approvals as a list. */
function switches(name: string, loaded: Loaded): Outcome<readonly SettingOperation[]> {
  const draft = sessionDraft(loaded);
  const done = switchTo(draft, name, loaded.logs);
  return done.ok ? success(draft.operations) : done;
}

function sessionDraft(loaded: Loaded) {
  return draftLayer({
    layer: "R",
    others: loaded.logs.filter((log) => log.layer !== "R"),
    catalog: loaded.catalog,
  });
}

function sentence({ op, path, value }: SettingOperation): string {
  const key = path.join(".");
  if (op === "set") return `${key} = ${formatValue(value)}`;
  return `${key} ${op === "append" ? "+=" : op === "remove" ? "-=" : "^="} ${formatValue(value)}`;
}

function scope(document: string | null): string {
  return document === null ? "for all documents" : `for ${document}`;
}
