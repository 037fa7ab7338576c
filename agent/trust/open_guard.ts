// Opens the tamper check of a document, after handling leftovers of earlier runs.

import { isInside } from "../../base/paths.ts";
import { type Outcome, success } from "../../base/problem.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import type { DocumentStore, Emit, Journal } from "../../cycle/types.ts";
import { resolvePolicy } from "../../sandbox/mod.ts";
import {
  type Blocks,
  blocksOf,
  type SettingsHost,
  type SubjectSettings,
  subjectSettings,
} from "../settings.ts";
import { readStatedAuthority } from "./agreement.ts";
import type { Leaves } from "./tamper_check.ts";
import { DocumentGuard } from "./guard.ts";
import type { UntrustedDocument } from "./untrusted.ts";
import { unconfirmedBlock } from "./unconfirmed.ts";

/** The options given when the document was opened. */
export type GuardHost = SettingsHost & { readonly emit?: Emit; readonly readOnly: boolean };

/** Returns the journal of a document and its guard. Fails if the journal cannot be used. */
export async function guardOf(
  store: DocumentStore,
  host: GuardHost,
  subject: SubjectSettings,
): Promise<Outcome<{ readonly journal: Journal; readonly guard: DocumentGuard }>> {
  const { environment, emit = () => {}, readOnly } = host;
  const { path, named = path } = store;
  const journal = await openJournal({ environment, path });
  if (!journal.ok) return journal;
  const ofName = named === path ? null : await openJournal({ environment, path: named });
  if (ofName !== null && !ofName.ok) return ofName;
  const now = blocksOf(store.chat);
  const guard = new DocumentGuard({
    environment,
    store,
    journal: journal.value,
    nameJournal: ofName?.value ?? null,
    authority: async (chat) => {
      const blocks = blocksOf(chat);
      const { frontmatter } = blocks;
      const same = frontmatter?.language === now.frontmatter?.language &&
        frontmatter?.code === now.frontmatter?.code;
      if (same) return await authority(subject, blocks);
      const other = await subjectSettings(host, { path, ...blocks });
      return other.ok
        ? await authority(other.value, blocks)
        : { block: other.problem.message, narrows: false };
    },
    inReach: (paths) => {
      const policy = resolvePolicy(subject.settings.sandbox, { environment, document: path });
      return !policy.ok || policy.value.rw_paths.some((root) => paths.some((each) => isInside(each, root)));
    },
    emit,
    readOnly,
  });
  const problem = await guard.open();
  return problem === null ? success({ journal: journal.value, guard }) : { ok: false, problem };
}

/** Returns the downgrade for frontmatter that a command could have written; null for any other frontmatter. */
export async function tamperedBlock(
  guard: DocumentGuard,
  subject: SubjectSettings,
  { path, blocks }: { readonly path: string | null; readonly blocks: Blocks },
): Promise<UntrustedDocument | null> {
  const { tampered } = guard;
  if (path === null || tampered === null || tampered.block === null) return null;
  return guard.isBlockTampered(await authority(subject, blocks)) ? unconfirmedBlock(tampered, path) : null;
}

/**
 * Returns the settings of the frontmatter as text. If it has errors, returns a text that no valid frontmatter can
 * equal.
 */
async function authority(
  subject: SubjectSettings,
  { frontmatter }: Blocks,
): Promise<Pick<Leaves, "block" | "narrows">> {
  const { diagnostics } = subject;
  const { text, narrows } = await readStatedAuthority(subject, frontmatter);
  if (diagnostics.every(({ severity }) => severity !== "error")) return { block: text, narrows };
  return { block: `mistaken: ${frontmatter?.code}`, narrows: false };
}
