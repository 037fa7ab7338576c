// All attacks, in the order of the table. A new group is a new file and one line here.

import { CACHES } from "./caches.ts";
import { CALLS } from "./calls.ts";
import { DOCUMENT } from "./document.ts";
import { ENTRIES } from "./entries.ts";
import { FILE_TOOLS } from "./file_tools.ts";
import { ENVIRONMENT } from "./environment.ts";
import { PROTECTED } from "./held.ts";
import { FURTHER } from "./further.ts";
import { GIT_READERS } from "./git_readers.ts";
import { HIDDEN } from "./hidden.ts";
import { HOOKS } from "./hooks.ts";
import { KERNEL } from "./kernel.ts";
import { LATER } from "./later.ts";
import { MACHINE } from "./machine.ts";
import { NETWORK } from "./network.ts";
import { OUTSIDE } from "./outside.ts";
import { RESOURCES } from "./resources.ts";
import { SOCKETS } from "./sockets.ts";
import type { Attack } from "./types.ts";

export const ATTACKS: readonly Attack[] = [
  ...OUTSIDE,
  ...MACHINE,
  ...KERNEL,
  ...DOCUMENT,
  ...HOOKS,
  ...GIT_READERS,
  ...FURTHER,
  ...ENVIRONMENT,
  ...PROTECTED,
  ...LATER,
  ...SOCKETS,
  ...CACHES,
  ...CALLS,
  ...HIDDEN,
  ...ENTRIES,
  ...FILE_TOOLS,
  ...NETWORK,
  ...RESOURCES,
];
