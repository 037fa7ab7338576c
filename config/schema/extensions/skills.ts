// Settings schema of skills: whether to offer them, which ones, and additional folders.

import { BOOLEAN, group, key, STRINGS } from "../define.ts";
import { asEnabled, switchHint } from "../../data/values.ts";

export const skillsGroup = group("Skills: folders with instructions that the model may load.", {
  enabled: key(BOOLEAN, "Offer skills to the model.", { default: true, narrows: "false" }),
  dirs: key(
    STRINGS,
    "Additional folders with one folder per skill; they take precedence over all other places.",
    {
      default: [],
      who: ["G", "C"],
      host: true,
    },
  ),
}, {
  list: key(STRINGS, "Names of skills to offer to the model; `*` matches any characters.", {
    default: ["*"],
    narrows: "remove",
  }),
  ts: "SkillSettings",
  adds: "ResolvedSkills",
  short: asEnabled,
  hint: switchHint,
});
