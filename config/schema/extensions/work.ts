// Settings schema of longer work: new documents, single questions, context use, run limits, notifications.

import {
  BOOLEAN,
  COMMAND,
  group,
  hostKey,
  key,
  natural,
  neutralKey,
  type SettingKey,
  STRING,
  STRINGS,
  type Type,
  word,
} from "../define.ts";
import { readDuration } from "../../../base/text/duration.ts";
import { type HookEvent, hookFault } from "../../hooks/definition.ts";

const share: Type = {
  is: "custom",
  ts: "number",
  expected: "a number from 0 to 1",
  accepts: (value) => typeof value === "number" && value >= 0 && value <= 1,
  hint: (value) => {
    const number = typeof value === "string" ? Number(value.replace(/%$/, "")) : value;
    if (typeof number !== "number" || !(number >= 0 && number <= 100)) return undefined;
    return `write ${number > 1 || String(value).endsWith("%") ? number / 100 : number}`;
  },
  json: { type: "number", minimum: 0, maximum: 1 },
};

/** Seconds; a duration such as `6h` gets a hint. */
const seconds: Type = {
  is: "custom",
  ts: "number",
  expected: "a number of seconds",
  accepts: (value) => typeof value === "number" && value >= 0 && Number.isFinite(value),
  hint: (value) => {
    const number = typeof value === "string" ? readDuration(value) : null;
    return number === null ? undefined : `write ${number}`;
  },
  json: { type: "number", minimum: 0 },
};

const personal = { who: ["G", "C"], host: true, optional: true } as const;
const limit = { narrows: "lower", documentNarrows: true } as const;

export const newDocumentGroup = group("New documents.", {
  system: key(
    STRING,
    "System message for `flemma new`: a text, or the path of a file (`~/…`, `/…`, or `./…` " +
      "relative to this file).",
    personal,
  ),
});

export const askGroup = group("Single questions with `flemma ask`.", {
  dir: key(
    STRING,
    "Folder for the documents of `flemma ask`; if unset, `asks` in the state folder.",
    personal,
  ),
});

export const contextGroup = group(
  "Limits on the context window, and how `flemma compact` works.",
  {
    warn_at: neutralKey(share, "Share of the context window from which flemma suggests `flemma compact`.", {
      default: 0.8,
    }),
    stop_at: key(share, "Share of the context window from which the autopilot sends no more requests.", {
      default: 0.95,
      ...limit,
    }),
    on_full: key(
      word("stop", "compact"),
      "What an unattended run does with a full context window: `stop`, or `compact` the document in place and go on. " +
        "A document may only choose `stop`.",
      { default: "stop", narrows: "earlier", documentNarrows: true },
    ),
    compact_at: neutralKey(
      share,
      "Share of the context window from which `context.on_full: compact` compacts.",
      { default: 0.85 },
    ),
    max_compactions: key(natural(), "Maximum number of compactions in one run.", { default: 2, ...limit }),
    compact_model: neutralKey(
      STRING,
      "Model that `flemma compact` asks for a summary; if unset, the document's.",
      { optional: true },
    ),
    prune_over: neutralKey(
      natural(1),
      "Result size in bytes from which `flemma compact --results-only` shortens a result.",
      { default: 4096 },
    ),
  },
  { ts: "ContextSettings" },
);

export const instructionsGroup = group("Instruction files of a project, such as AGENTS.md.", {
  imports: key(
    word("off", "project", "home", "all"),
    "Which files they may import with `@path`: none, those of the project, also those of your home folder, or all. " +
      "A project may only choose `off` or `project`.",
    { default: "project", who: ["G", "P", "C"], personal: ["home", "all"], narrows: "earlier" },
  ),
  nested: key(
    BOOLEAN,
    "When a file tool first works in a subfolder, add the instructions of this subfolder to the result.",
    { default: true, who: ["G", "P", "C"], narrows: "false" },
  ),
}, {
  ts: "InstructionSettings",
  // Other programs list files or write a prompt here.
  hint: () =>
    "AGENTS.md is included without a setting; write your own instructions in the document, below @System:",
});

export const runGroup = group("Limits on one run.", {
  max_cost: key(
    { is: "number", min: 0 },
    "Maximum cost in dollars. flemma does not send a request that could exceed it; no limit if unset.",
    {
      optional: true,
      ...limit,
    },
  ),
  max_tokens: key(
    natural(),
    "Maximum input and output tokens. flemma does not send a request that could exceed it; no limit if unset.",
    {
      optional: true,
      ...limit,
    },
  ),
  wait_for_limit: key(
    seconds,
    "Seconds that a run may wait in total for rate limits and outages of providers. With 0, flemma makes the usual six " +
      "attempts within ten minutes.",
    { default: 0, who: ["G", "C"] },
  ),
}, { ts: "RunSettings" });

/** Reasons for which another model may be asked. */
const TROUBLES = ["overloaded", "unavailable", "limited"];

export const fallbackGroup = group(
  "Other models to ask if the provider cannot answer. Their providers receive the conversation.",
  {
    models: key(
      STRINGS,
      "Models to ask in turn: `MODEL`, `PROVIDER/MODEL` or a `$preset`. They apply to one reply.",
      { default: [], who: ["G", "C"] },
    ),
    on: key(
      { is: "list", item: word(...TROUBLES) },
      "When to ask them: if the provider is `overloaded` (529), `unavailable` (500, 502, 503, 504), or if your rate limit " +
        "is reached (`limited`).",
      { default: ["overloaded", "unavailable"], who: ["G", "C"] },
    ),
  },
  { ts: "FallbackSettings" },
);

const hook = (when: string): SettingKey =>
  hostKey(
    COMMAND,
    `Command to run ${when}: a shell command line, or a list of program and arguments. It gets the path of the ` +
      "document as its last argument (`$1` in a command line) and a line of JSON on standard input.",
    personal,
  );

/** The hooks of one event, as a list of tables in the shape of Claude Code. */
const hooksOf = (event: HookEvent, when: string): SettingKey =>
  hostKey(
    {
      is: "custom",
      ts: "readonly HookGroup[]",
      expected: "a list of tables with matcher and hooks",
      accepts: (value) => hookFault(event, value) === null,
      hint: (value) => hookFault(event, value) ?? undefined,
      json: { type: "array", items: { type: "object" } },
    },
    `Commands to run ${when}, in the shape of Claude Code.`,
    personal,
  );

export const hooksGroup = group(
  "Your own commands around runs: hooks, which may decide about calls, and notifications (`on_…`), which do not.",
  {
    enabled: key(BOOLEAN, "Run hooks.", { default: true, who: ["G", "C"] }),
    from: hostKey(
      STRINGS,
      "Files from whose member `hooks` hooks are read too, such as `~/.claude/settings.json`.",
      { default: [], who: ["G", "C"] },
    ),
    PreToolUse: hooksOf("PreToolUse", "before a call; they may deny it, ask you, or approve it"),
    PostToolUse: hooksOf("PostToolUse", "after a call that succeeded"),
    PostToolUseFailure: hooksOf("PostToolUseFailure", "after a call that failed"),
    UserPromptSubmit: hooksOf("UserPromptSubmit", "before your message is sent"),
    Stop: hooksOf("Stop", "after a complete reply; they may make the model continue"),
    max_continuations: key(
      natural(),
      "How often `Stop` hooks may make the model continue in one run: 3 if unset. The project's count only if this is set.",
      personal,
    ),
    unsupported: key(
      word("notice", "wait"),
      "What hooks mean that flemma cannot run, such as those of type `prompt`: a notice, or that the calls they match wait.",
      { default: "notice", who: ["G", "C"] },
    ),
    on_pending: hook("when a run stops and waits for you"),
    on_done: hook("when a run ends with a complete reply"),
    on_error: hook("when a run fails"),
  },
  { ts: "HookSettings" },
);
