// Who decides about the calls of a document, with all that lowers an approval: a stranger's wishes, suspects, half replies.

import { type Outcome, success } from "../../base/problem.ts";
import type { Settings } from "../../config/settings.ts";
import { holderOf } from "../../cycle/storage/lock.ts";
import type { ReplyMemory } from "../../cycle/types.ts";
import { judgeOf, personOf, type ToolsSubject } from "../tools.ts";
import { authorityIn } from "../trust/agreement.ts";
import type { DocumentGuard } from "../trust/guard.ts";
import { unconfirmed } from "../trust/open_guard.ts";
import { cautious, distrust, wary } from "../trust/untrusted.ts";
import {
  callDoubts,
  confirming,
  unfinishedDoubts,
  vouchedJournal,
  wholeReplies,
} from "../trust/unconfirmed.ts";
import type { Composed, Runtime, RuntimeOptions } from "./types.ts";

/** Asks the chain, and lowers what it approves. Fails like `judgeOf`. */
export async function judging(
  { tools, subject, store, blocks, memory, guard }: Composed & {
    readonly tools: ToolsSubject;
    readonly guard: DocumentGuard;
  },
  options: RuntimeOptions,
): Promise<Outcome<Pick<Runtime, "decide" | "journal" | "distrusted" | "doubts">>> {
  const { environment, resolvers = [], emit = () => {} } = options;
  const { settings, loaded } = subject;
  const { path, chat } = store;
  const judge = judgeOf(tools, resolvers, emit);
  if (!judge.ok) return judge;
  const distrusted = await unconfirmed(guard, subject, { path, blocks }) ?? await distrust({
    environment,
    path,
    authority: await authorityIn(subject, blocks.frontmatter),
    person: loaded.settings,
    document: settings,
    sandbox: tools.sandbox,
  });
  const judged = distrusted === null
    ? judge.value
    : wary(judge.value, { distrust: distrusted, person: personOf(tools, store, loaded, resolvers), emit });
  const replies = await grownElsewhere(memory, path, options, settings) ? { unfinished: () => NONE } : memory;
  const believed = distrusted === null || distrusted.onlyItsOwn;
  return success({
    decide: wholeReplies(confirming(judged, guard), replies, emit),
    journal: vouchedJournal(believed ? memory : cautious(memory), guard),
    distrusted,
    doubts: [
      ...(distrusted === null ? [] : [distrusted.sentence]),
      ...(path === null ? [] : callDoubts(guard.suspects, path)),
      ...(path === null ? [] : unfinishedDoubts(chat, replies.unfinished(), path)),
    ],
  });
}

const NONE: ReadonlySet<string> = new Set();

/** Whether a reply that has not ended is being written by another process at this moment. */
async function grownElsewhere(
  memory: Pick<ReplyMemory, "unfinished">,
  path: string | null,
  { readOnly, environment }: RuntimeOptions,
  { lock }: Settings,
): Promise<boolean> {
  if (!readOnly || path === null || memory.unfinished().size === 0) return false;
  return await holderOf(path, environment, lock.place) !== null;
}
