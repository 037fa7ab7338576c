// The frontmatter of helpers: never more rights than the caller and the preset have together.

import assert from "node:assert/strict";
import { helperSettings } from "../../agent/runtime/helpers/rights.ts";
import { LayerLog } from "../../config/layers/log.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import type { SettingOperation } from "../../config/types.ts";
import type { ApprovalPreset } from "../../config/values.ts";

const TOOLS = ["bash", "read", "edit", "write", "ask_document", "extra"];
const OFFERED = ["bash", "read", "edit", "write", "ask_document"];

function settingsOf(
  operations: readonly SettingOperation[],
  preset: ApprovalPreset | null = null,
  { mayAsk = false, offered = OFFERED } = {},
): Readonly<Record<string, unknown>> {
  const made = helperSettings(
    { logs: [new LayerLog("M", operations)], settings: DEFAULT_SETTINGS, tools: TOOLS, offered },
    { cwd: "..", preset, presetName: "$p", mayAsk },
  );
  assert.ok(made.ok);
  return made.value;
}

const TURNS = { autopilot: { max_turns: 20 } };
const BASE = { cwd: "..", provider: "anthropic", tools: { $remove: ["ask_document"], ...TURNS } };
const set = (path: string, value: unknown): SettingOperation => ({ op: "set", path: path.split("."), value });

const ROWS: readonly [string, ReturnType<typeof settingsOf>, object][] = [
  ["a caller without frontmatter", settingsOf([]), BASE],
  ["one who may ask further", settingsOf([], null, { mayAsk: true }), {
    cwd: "..",
    provider: "anthropic",
    tools: TURNS,
  }],
  [
    "one who does not offer the tool",
    settingsOf([], null, { offered: ["read"] }),
    { cwd: "..", provider: "anthropic", tools: TURNS },
  ],
  [
    "restrictions and rights of the caller's frontmatter",
    settingsOf([
      set("sandbox.network", false),
      set("sandbox.policy.rw_paths", ["./out"]),
      { op: "append", path: ["tools", "rules"], value: { deny: ["bash"] } },
      { op: "remove", path: ["tools", "auto_approve"], value: "write" },
      set("run.max_cost", 2),
      set("subagents.max_calls", 1),
    ]),
    {
      ...BASE,
      sandbox: { network: false, policy: { rw_paths: ["./out"] } },
      tools: {
        ...BASE.tools,
        rules: { $append: [{ deny: ["bash"] }] },
        auto_approve: { $remove: ["write"] },
      },
      run: { max_cost: 2 },
      subagents: { max_calls: 1 },
    },
  ],
  [
    "its working folder and prefill are not copied",
    settingsOf([set("cwd", "../other"), set("prefill", true)]),
    BASE,
  ],
  [
    "a list that offers the tool loses it",
    settingsOf([{ op: "append", path: ["tools"], value: "ask_document" }]),
    BASE,
  ],
  [
    "an assigned list loses it too",
    settingsOf([set("tools", ["bash", "ask_document"])]),
    { ...BASE, tools: { $set: ["bash"], $remove: ["ask_document"], ...TURNS } },
  ],
  [
    "a function decides nothing for a helper",
    settingsOf([set("tools.auto_approve", () => true)]),
    {
      ...BASE,
      tools: { ...BASE.tools, auto_approve: [], auto_approve_sandboxed: false, require_approval: true },
    },
  ],
  [
    "the caller's own model",
    settingsOf([set("provider", "openai"), set("model", "gpt-6"), set("parameters.temperature", 0)]),
    {
      cwd: "..",
      provider: "openai",
      model: "gpt-6",
      parameters: { temperature: 0 },
      tools: BASE.tools,
    },
  ],
  [
    "the model of a preset replaces the caller's",
    settingsOf(
      [set("provider", "openai"), set("model", "gpt-6"), set("parameters.temperature", 0)],
      { provider: "anthropic", model: "claude-haiku-4-5", parameters: { max_tokens: 900 } },
    ),
    {
      cwd: "..",
      provider: "anthropic",
      model: "claude-haiku-4-5",
      parameters: { max_tokens: 900 },
      tools: BASE.tools,
    },
  ],
  [
    "tools of a preset are at most those of the caller; all others are denied",
    settingsOf([], { tools: ["read", "bash", "extra", "ask_document"] }, {
      offered: ["read", "ask_document"],
    }),
    {
      ...BASE,
      tools: {
        $set: ["read"],
        rules: {
          $append: [{
            deny: ["bash", "edit", "write", "ask_document", "extra"],
            reason: "This helper may not use the tool.",
          }],
        },
        ...TURNS,
      },
    },
  ],
  [
    "approvals of a preset only take away",
    settingsOf([], { approve: ["read", "bash(ls **)"] }),
    {
      ...BASE,
      tools: {
        ...BASE.tools,
        rules: {
          $append: [{
            ask: ["bash", "edit", "write"],
            reason: "The preset of this helper does not approve it.",
          }],
        },
      },
    },
  ],
  [
    "denials of a preset",
    settingsOf([], { deny: ["write", "bash(rm **, mv **)"] }),
    {
      ...BASE,
      tools: {
        ...BASE.tools,
        rules: {
          $append: [
            { deny: ["write"], reason: "The preset of this helper denies it." },
            { deny: "bash", command: ["rm **", "mv **"] },
          ],
        },
      },
    },
  ],
];

for (const [title, found, expected] of ROWS) {
  Deno.test(`frontmatter of a helper: ${title}`, () => assert.deepEqual(found, expected));
}

Deno.test("a preset with a wrong parameter is an error", () => {
  const made = helperSettings(
    { logs: [], settings: DEFAULT_SETTINGS, tools: TOOLS, offered: OFFERED },
    { cwd: "..", preset: { parameters: { no_such: 1 } }, presetName: "$p", mayAsk: false },
  );
  assert.equal(made.ok ? "" : made.problem.code, "preset-invalid");
});
