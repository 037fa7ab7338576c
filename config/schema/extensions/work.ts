// Settings schema of longer work: new documents, single questions, context use, run limits, notifications.

import {
  COMMAND,
  group,
  hostKey,
  key,
  natural,
  neutralKey,
  type SettingKey,
  STRING,
  type Type,
} from "../define.ts";

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

const personal = { who: ["G", "C"], host: true, optional: true } as const;
const limit = { narrows: "lower", documentNarrows: true } as const;

export const newDocumentGroup = group("New documents.", {
  system: key(
    STRING,
    "The system message that `flemma new` begins with: a text, or the path of a file that holds it (`~/…`, `/…`, or `./…` " +
      "from the folder of this file).",
    personal,
  ),
});

export const askGroup = group("Single questions.", {
  dir: key(
    STRING,
    "The folder in which `flemma ask` makes its documents; `asks` in the state folder when unset.",
    personal,
  ),
});

export const contextGroup = group(
  "How full the window of the model may get, and what becomes of long conversations.",
  {
    warn_at: neutralKey(share, "Part of the model's window from which a notice tells what helps.", {
      default: 0.8,
    }),
    stop_at: key(share, "Part of the model's window from which the autopilot sends no further request.", {
      default: 0.95,
      ...limit,
    }),
    compact_model: neutralKey(
      STRING,
      "The model that `flemma compact` asks for a summary; the document's when unset.",
      { optional: true },
    ),
    prune_over: neutralKey(
      natural(1),
      "Bytes from which `flemma compact --results-only` shortens a result.",
      { default: 4096 },
    ),
  },
  { ts: "ContextSettings" },
);

export const runGroup = group("What one run may use.", {
  max_cost: key(
    { is: "number", min: 0 },
    "Dollars; the request that could pass it is not sent. No limit when unset.",
    {
      optional: true,
      ...limit,
    },
  ),
  max_tokens: key(natural(), "Tokens, in and out; the same. No limit when unset.", {
    optional: true,
    ...limit,
  }),
}, { ts: "RunSettings" });

const hook = (when: string): SettingKey =>
  hostKey(
    COMMAND,
    `A command that is started ${when}: a line of shell, or a list of program and arguments. It gets the path of the ` +
      "document as its last argument (`$1` in a line of shell) and a line of JSON on standard input.",
    personal,
  );

export const hooksGroup = group(
  "Commands of your own that tell you of runs; what they do changes nothing in a run.",
  {
    on_pending: hook("when a run ends because you are needed"),
    on_done: hook("when a run ends with a complete reply"),
    on_error: hook("when a run fails"),
  },
  { ts: "HookSettings" },
);
