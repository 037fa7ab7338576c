// Builds the approval decision of a document: the resolver chain, and the downgrades of its approvals.

import { type Outcome, success } from "../../base/problem.ts";
import { callerOf } from "../../base/paths.ts";
import type { Environment } from "../../base/environment.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { Journal } from "../../cycle/types.ts";
import { holderOf } from "../../cycle/storage/lock.ts";
import type { CycleParts } from "../../cycle/mod.ts";
import { createDecideCall, type DecidingHooks, personOf, type ToolsSubject } from "../tools.ts";
import { authorityIn } from "../trust/agreement.ts";
import {
  arrivedDowngrade,
  unconfirmedDowngrade,
  unfinishedDowngrade,
  untrustedDowngrade,
  withoutDoubtedApprovals,
} from "../trust/downgrades.ts";
import type { DocumentGuard } from "../trust/guard.ts";
import { tamperedBlock } from "../trust/open_guard.ts";
import { originsOnDemand } from "../trust/origins_on_demand.ts";
import { assessTrust } from "../trust/untrusted.ts";
import { callDoubts, unfinishedDoubts } from "../trust/unconfirmed.ts";
import type { Composed, Runtime, RuntimeOptions } from "./types.ts";

/**
 * Creates the functions that decide about a call: they ask the resolver chain, and downgrade its approvals. Fails like
 * `createDecideCall`.
 */
export async function createDocumentApproval(
  { tools, subject, store, blocks, journal, guard, hooks }: Composed & {
    readonly tools: ToolsSubject;
    readonly guard: DocumentGuard;
    readonly hooks: DecidingHooks | null;
  },
  options: RuntimeOptions,
): Promise<
  Outcome<
    & Pick<Runtime, "approvalOf" | "decide" | "untrustedDocument" | "doubts" | "doubtsNow">
    & Pick<CycleParts, "askedAlthough">
  >
> {
  const { environment, resolvers = [], emit = () => {} } = options;
  const { settings, loaded } = subject;
  const { path } = store;
  const untrustedDocument = await tamperedBlock(guard, subject, { path, blocks }) ?? await assessTrust({
    environment,
    path,
    authority: await authorityIn(subject, blocks.frontmatter),
    person: loaded.settings,
    document: settings,
    awaitedFolder: subject.awaitedFolder,
    isForeignHelper: path !== null && callerOf(path) !== null && !await isKnownHelper(environment, path),
    sandbox: tools.sandbox,
  });
  const person = personOf(tools, store, loaded, resolvers);
  const replies = await grownElsewhere(journal, path, options, settings)
    ? { unfinished: () => NONE }
    : journal;
  const { readOnly } = options;
  const origins = originsOnDemand({ environment, store, journal, subject, emit, readOnly });
  const downgrades = [
    ...(untrustedDocument === null
      ? []
      : [untrustedDowngrade(untrustedDocument, { person, tools: tools.tools, journal, emit })]),
    unconfirmedDowngrade(guard),
    unfinishedDowngrade(replies, emit),
    arrivedDowngrade(origins),
  ];
  const decide = createDecideCall(tools, resolvers, emit, downgrades, hooks);
  if (!decide.ok) return decide;
  const doubtsNow = async () => [
    ...(untrustedDocument === null ? [] : [untrustedDocument.sentence]),
    ...(path === null ? [] : callDoubts(guard.tampered, path)),
    ...await origins.sentences(),
    ...(path === null ? [] : unfinishedDoubts(store.chat, replies.unfinished(), path)),
  ];
  return success({
    decide: decide.value,
    approvalOf: withoutDoubtedApprovals(journal, downgrades),
    askedAlthough: (id) => origins.askedAlthough(id),
    untrustedDocument,
    doubts: await doubtsNow(),
    doubtsNow,
  });
}

/** True if this machine made a document that lies where flemma puts helpers. */
async function isKnownHelper(environment: Environment, path: string): Promise<boolean> {
  const { isRecorded } = await import("./helpers/record.ts");
  return await isRecorded(environment, path);
}

const NONE: ReadonlySet<string> = new Set();

/** True if another process is writing a reply that has not ended. */
async function grownElsewhere(
  journal: Pick<Journal, "unfinished">,
  path: string | null,
  { readOnly, environment }: RuntimeOptions,
  { lock }: Settings,
): Promise<boolean> {
  if (!readOnly || path === null || journal.unfinished().size === 0) return false;
  return await holderOf(path, environment, lock.place) !== null;
}
