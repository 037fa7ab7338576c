// Settings schema of skills: whether to offer them, which ones, and additional folders.

import { BOOLEAN, group, key, STRINGS } from "../define.ts";
import { asEnabled, switchHint } from "../../data/values.ts";

export const skillsGroup = group("Skills: folders with instructions that the model may load.", {
  enabled: key(BOOLEAN, "Tell the model of skills.", { default: true, narrows: "false" }),
  dirs: key(STRINGS, "Further folders with a folder for each skill; they win over all other places.", {
    default: [],
    who: ["G", "C"],
    host: true,
  }),
}, {
  list: key(STRINGS, "Names of the skills that the model is told of; `*` stands for any characters.", {
    default: ["*"],
    narrows: "remove",
  }),
  ts: "SkillSettings",
  adds: "ResolvedSkills",
  short: asEnabled,
  hint: switchHint,
});
