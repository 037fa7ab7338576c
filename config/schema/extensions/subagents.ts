// Settings schema of sub-agents: the bounds on documents that a document calls.

import { group, key, natural } from "../define.ts";

const bound = { narrows: "lower", documentNarrows: true } as const;

export const subagentsGroup = group(
  "Bounds on sub-agents: helper documents that a model asks with the tool `ask_document`.",
  {
    depth: key(natural(), "How deep helpers may ask helpers of their own; 0 forbids all helpers.", {
      default: 1,
      ...bound,
    }),
    max_concurrent: key(natural(1), "Maximum helpers of one document that work in parallel.", {
      default: 4,
      ...bound,
    }),
    max_calls: key(natural(), "Maximum questions to helpers in one run, including those that helpers ask.", {
      default: 8,
      ...bound,
    }),
    max_turns: key(natural(1), "Maximum replies with tool calls of a helper to one question.", {
      default: 20,
      ...bound,
    }),
  },
  { ts: "SubagentSettings" },
);
