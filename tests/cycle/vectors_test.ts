// Every line of tool-cycle.jsonl with decisions applied, and the extra lines of the same schema, byte for byte.

import assert from "node:assert/strict";
import { CANCELLED, DENIED, INTERRUPTED, NO_RESULT, notExecutable } from "../../cycle/plan/sentences.ts";
import { PARTIAL_OUTPUT, REJECTED, unknownTool } from "../../cycle/plan/sentences.ts";
import { configResolver } from "../../tools/approval/policy.ts";
import { ApprovalRegistry } from "../../tools/approval/registry.ts";
import { type Bench, bench, FAKE_TOOLS } from "./harness.ts";
import { DEFAULT_SETTINGS, type ToolSettings } from "../../config/settings.generated.ts";
import type { Diagnostic } from "../../parser/types.ts";
import type { ToolDefinition } from "../../tools/definition.ts";

interface Expectation {
  readonly sends: number;
  readonly autopilot: string;
  readonly notices?: readonly string[];
  readonly action_fails?: boolean;
}

interface Vector {
  readonly name: string;
  readonly style: string;
  readonly config: {
    readonly tools: { auto_approve: string[]; autopilot: { enabled: boolean }; max_concurrent?: number };
    readonly sandbox: { enabled: boolean };
  };
  readonly chat_before: string;
  readonly action: string | readonly string[];
  readonly chat_after: string;
  readonly expect: Expectation;
}

const FILE = "tool-cycle.jsonl";
const NOTICES = ["protected-content", "throttled", "unknown-tool", "not-executable"];

const TOKENS: readonly (readonly [RegExp, (name: string) => string])[] = [
  [/<<DENIED>>/g, () => DENIED],
  [/<<REJECTED>>/g, () => REJECTED],
  [/<<INTERRUPTED>>/g, () => INTERRUPTED],
  [/<<CANCELLED>>/g, () => CANCELLED],
  [/<<NO_RESULT>>/g, () => NO_RESULT],
  [/<<PARTIAL_OUTPUT>>/g, () => PARTIAL_OUTPUT],
  [/<<UNKNOWN_TOOL:(.*?)>>/g, (name) => unknownTool(name, null)],
  [/<<NOT_EXECUTABLE:(.*?)>>/g, (name) => notExecutable(name)],
  [/<<THROWN:(.*?)>>/g, (message) => message],
];

function onlyKnown(what: string, value: object, known: readonly string[]): void {
  const unknown = Object.keys(value).filter((key) => !known.includes(key));
  assert.deepEqual(unknown, [], `${what} has fields this runner does not know`);
}

function check(vector: Vector): void {
  const known = [
    "name",
    "sure",
    "note",
    "style",
    "config",
    "chat_before",
    "action",
    "chat_after",
    "expect",
    "file",
  ];
  onlyKnown(vector.name, vector, known);
  onlyKnown("expect", vector.expect, ["sends", "autopilot", "notices", "action_fails"]);
  onlyKnown("config", vector.config, ["tools", "sandbox"]);
  onlyKnown("config.tools", vector.config.tools, ["auto_approve", "autopilot", "max_concurrent"]);
  onlyKnown("config.tools.autopilot", vector.config.tools.autopilot, ["enabled"]);
  assert.equal(vector.config.sandbox.enabled, false);
  for (const notice of vector.expect.notices ?? []) assert.ok(NOTICES.includes(notice), notice);
}

async function lines(file: string): Promise<Record<string, unknown>[]> {
  const text = await Deno.readTextFile(new URL(`../vectors/${file}`, import.meta.url));
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

async function vectors(): Promise<Vector[]> {
  const found = new Map<string, Record<string, unknown>>();
  for (const vector of await lines(FILE)) found.set(String(vector.name), vector);
  assert.equal(found.size, 158);
  for (const { file, name, chat_after, expect } of await lines("decisions.jsonl")) {
    if (file !== FILE) continue;
    const vector = found.get(String(name));
    assert.ok(vector, `a decision names ${name}, which is not a vector`);
    Object.assign(vector, { expect }, chat_after === undefined ? {} : { chat_after });
  }
  for (const vector of await lines("extra.jsonl")) {
    if (vector.file === FILE) found.set(String(vector.name), vector);
  }
  return [...found.values()] as unknown as Vector[];
}

/** Stands in for the evaluation of frontmatter, which is not the cycle's business. */
function frontmatterErrors(built: () => Bench): readonly Diagnostic[] {
  const frontmatter = built().store.chat.frontmatter;
  if (frontmatter?.language !== "json") return [];
  try {
    JSON.parse(frontmatter.code);
    return [];
  } catch {
    const message = "The frontmatter is not valid JSON.";
    return [{ code: "frontmatter_invalid", type: "frontmatter", severity: "error", message, start: 1 }];
  }
}

/** Carries one action out. True when it failed. */
async function act(built: Bench, action: string): Promise<boolean> {
  const [verb, id = "", ...rest] = action.split(":");
  const { cycle } = built;
  const failed = (reason: string): boolean => ["failed", "empty", "diagnostics"].includes(reason);
  switch (verb) {
    case "advance": {
      const sends = built.sends();
      const { reason } = await cycle.advance();
      // The stub provider makes a stop "failed" of its own.
      return built.sends() === sends && failed(reason);
    }
    case "advance-nowait":
      return (await cycle.step()) !== null;
    case "execute": {
      const sends = built.sends();
      const { reason } = await cycle.executeOne(id);
      return built.sends() === sends && failed(reason);
    }
    case "approve":
      return (await cycle.approve(id)) !== null;
    case "reject":
      return (await cycle.reject(id, rest.join(":"))) !== null;
    case "cancel":
      return !cycle.cancel();
    case "cancel-all":
      cycle.cancelAll();
      return false;
    default:
      throw new Error(`unknown action ${action}`);
  }
}

/** The tool `slow`, whose calls end when they are let go and not before: no clock decides what a cancel meets. */
class BlockingTool {
  readonly #waiting = new Set<() => void>();
  #buffered = true;

  readonly definition: ToolDefinition = {
    ...FAKE_TOOLS.find(({ name }) => name === "slow")!,
    execute: (input, _context, callback) => {
      const end = () => callback({ success: true, output: input.text });
      if (this.#buffered) this.#waiting.add(end);
      else queueMicrotask(end);
      return () => this.#waiting.delete(end);
    },
  };

  letGo(): void {
    this.#buffered = false;
    for (const end of this.#waiting) end();
  }
}

async function play(vector: Vector): Promise<void> {
  check(vector);
  const actions = [vector.action].flat();
  const slow = new BlockingTool();
  const tools: Partial<ToolSettings> = {
    auto_approve: vector.config.tools.auto_approve,
    autopilot: { enabled: vector.config.tools.autopilot.enabled, max_turns: 100, max_repeats: 3 },
    max_concurrent: vector.config.tools.max_concurrent ?? 2,
    status_style: vector.style === "fence" ? "fence" : "header",
  };
  const approval = new ApprovalRegistry();
  const policy = configResolver({ ...DEFAULT_SETTINGS.tools, ...tools }, { hasCapability: () => false });
  assert.ok(approval.register("urn:flemma:approval:config", policy).ok);
  const built: Bench = bench({
    text: vector.chat_before,
    tools,
    decide: ({ id, name, input }) =>
      approval.resolveWithSource(name, input, { toolId: id, document: null, dirname: null, cwd: "/" }),
    blockers: () => frontmatterErrors(() => built),
    // An action that waits for its tools would wait for ever.
    definitions: actions.includes("advance-nowait") ? [slow.definition] : [],
  });
  let failed = false;
  for (const action of actions) failed = await act(built, action);
  slow.letGo();
  await built.cycle.quiet();
  let expected = vector.chat_after;
  for (const [token, sentence] of TOKENS) expected = expected.replace(token, (_, name) => sentence(name));
  assert.equal(built.store.text, expected);
  const given = [...new Set(built.notices())].filter((code) => NOTICES.includes(code)).sort();
  assert.deepEqual(
    {
      sends: built.sends(),
      autopilot: built.cycle.autopilot,
      notices: given,
      action_fails: failed,
    },
    {
      sends: vector.expect.sends,
      autopilot: vector.expect.autopilot,
      notices: [...vector.expect.notices ?? []].sort(),
      action_fails: vector.expect.action_fails ?? false,
    },
  );
}

for (const vector of await vectors()) {
  Deno.test(`vector ${vector.name}`, () => play(vector));
}
