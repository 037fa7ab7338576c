// The table of all commands, which parsing, help, suggestions and the reference page read.

import { BATCH_COMMANDS } from "./rows/batch.ts";
import { BEGIN_COMMANDS } from "./rows/begin.ts";
import { COMPACT, FORK } from "./rows/conversation.ts";
import { GIT_COMMANDS } from "./rows/git.ts";
import { HELPER_COMMANDS } from "./rows/helpers.ts";
import { READ_COMMANDS } from "./rows/read.ts";
import { PROVIDER_COMMANDS } from "./rows/providers.ts";
import { REPLAY_COMMANDS } from "./rows/replay.ts";
import { SANDBOX_COMMANDS } from "./rows/sandbox.ts";
import { SERVING_COMMANDS, SHELL_COMMANDS, WATCH } from "./rows/serving.ts";
import { SETTINGS_COMMANDS } from "./rows/settings.ts";
import { SKILL_COMMANDS } from "./rows/skills.ts";
import { CANCEL, UNDO, WORK_COMMANDS } from "./rows/work.ts";
import type { Command, CommandGroup } from "./spec.ts";

/** Groups of commands in reading order. */
export const GROUPS: readonly CommandGroup[] = [
  { title: "Work on a document", commands: [...WORK_COMMANDS, CANCEL, COMPACT, FORK, UNDO, WATCH] },
  { title: "Many documents at half price", commands: BATCH_COMMANDS },
  { title: "Look at a document", commands: READ_COMMANDS },
  { title: "Begin", commands: BEGIN_COMMANDS },
  { title: "Serve editors and shells", commands: [...SERVING_COMMANDS, ...SHELL_COMMANDS] },
  { title: "Test, and keep in git", commands: [...REPLAY_COMMANDS, ...GIT_COMMANDS] },
  { title: "Sandbox", commands: SANDBOX_COMMANDS },
  { title: "Helpers", commands: HELPER_COMMANDS },
  { title: "Skills", commands: SKILL_COMMANDS },
  { title: "Keys and cost", commands: PROVIDER_COMMANDS },
  { title: "Settings and trust", commands: SETTINGS_COMMANDS },
];

export const COMMANDS: readonly Command[] = GROUPS.flatMap(({ commands }) => commands);
