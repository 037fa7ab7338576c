// Settings schema of presets, for both places where they can be defined.

import { group, key, type Type } from "../define.ts";

/** A preset is one value: a line `PROVIDER MODEL key=value …`, or a table. `layers/presets.ts` parses both. */
const presetType: Type = {
  is: "custom",
  ts: "ApprovalPreset",
  expected:
    'a line "PROVIDER MODEL key=value …", or a table with approve, deny, tools, provider, model, parameters, system and worktree',
  // The value is checked by `readPreset`, which knows both forms.
  accepts: () => true,
  json: {
    anyOf: [
      { type: "string" },
      {
        type: "object",
        properties: {
          approve: { type: "array", items: { type: "string" } },
          auto_approve: { type: "array", items: { type: "string" } },
          deny: { type: "array", items: { type: "string" } },
          tools: { type: "array", items: { type: "string" } },
          provider: { type: "string" },
          model: { type: "string" },
          parameters: { type: "object" },
          system: { type: "string" },
          worktree: { type: "boolean" },
        },
      },
    ],
  },
};

export const presets = (doc: string) =>
  group(doc, {}, {
    presets: true,
    holds: "nothing",
    others: key(presetType, doc, { who: ["G", "P", "M", "C"] }),
  });
