// Compacts a document in place because its context window is full, so that an unattended run can go on
// (`context.on_full: compact`).

import { sameBytes } from "../../base/bytes.ts";
import { makeFile, readOrNull } from "../../base/files.ts";
import { NotRegularFile } from "../../base/system/regular_file.ts";
import { failure, type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import { prepareRequest } from "../../cycle/send/request.ts";
import { describeUpcoming, type Upcoming } from "../../cycle/send/limits.ts";
import { createStop, createStopBy } from "../../cycle/run/stop.ts";
import type { CycleEvent, DocumentStore, Stop, UsageRecord } from "../../cycle/types.ts";
import type { Edit } from "../../parser/edits/edit.ts";
import { applyEdits } from "../../parser/edits/edit.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { requestParts } from "../runtime/requests.ts";
import type { Runtime, RuntimeOptions } from "../runtime/types.ts";
import type { ChatSession } from "../types.ts";
import { callsWait } from "../views/next_need.ts";
import { compactEdits, longResults, shortResultEdits } from "../conversation/compacted.ts";
import { type Cut, cutBeforeStep } from "../conversation/cut.ts";
import { quoteUserMessages } from "./user_messages.ts";
import { sameCut } from "./same_cut.ts";
import { requestSummary, SILENT, type Split } from "./summary.ts";
import { keepWholeResults } from "../conversation/whole_results.ts";

/** Share of the context window that a compacted document may fill. More would soon need the next compaction. */
const MOST_FILLED = 0.5;

/** The document that is compacted. */
export interface CompactedDocument {
  readonly store: DocumentStore;
  /** The document's name in messages, as the person wrote it. */
  readonly label: string;
  /** Opens a text in memory under the path of the document. */
  readonly again: (bytes: Uint8Array, options: RuntimeOptions) => Promise<Outcome<ChatSession>>;
}

/** A smaller version of the document. */
interface Smaller {
  /** Makes the edits for the current version of the document, in which the cut is at the same place. */
  readonly edits: (split: Split, archive: string) => Promise<Outcome<readonly Edit[]>>;
  /** Expected tokens of the next request. */
  readonly tokens: number;
}

/**
 * Shortens the document so that the next request fits. First tries to shorten long results; if that is not enough, asks
 * the model for a summary of everything before the last reply. The document is copied first. If that is not
 * possible, nothing is written.
 *
 * @returns null if the run can go on, else why it stops: `context-full`, `conflict`, `budget` or `cancelled`
 */
export async function compactInPlace(
  opened: CompactedDocument,
  runtime: Runtime,
  options: RuntimeOptions,
): Promise<Stop | null> {
  const before = await opened.store.refresh?.() ?? null;
  if (before !== null) return createStopBy(before);
  const work = new Compaction(opened, runtime, options);
  const { chat } = opened.store;
  const cut = callsWait(chat) ? null : cutBeforeStep(chat);
  const made = cut === null ? NOTHING_TO_DO : await work.compact({ chat, cut });
  runtime.limits.compacted(work.records);
  if (made.ok) return null;
  const { problem } = made;
  if (options.signal?.aborted === true) return createStop("cancelled");
  if (problem.code === "document-changed" || problem.code === "budget-reached") return createStopBy(problem);
  return createStop("context-full", { problem: { ...problem, code: "context-full" } });
}

const NOTHING_TO_DO = failure(
  "context-full",
  "The context window is full, and the document has nothing before its last reply that could be summarized.",
);

class Compaction {
  /** What the requests for the summary used. */
  readonly records: UsageRecord[] = [];
  readonly #opened: CompactedDocument;
  readonly #runtime: Runtime;
  readonly #options: RuntimeOptions;

  constructor(opened: CompactedDocument, runtime: Runtime, options: RuntimeOptions) {
    this.#opened = opened;
    this.#runtime = runtime;
    this.#options = options;
  }

  async compact(split: Split): Promise<Outcome<void>> {
    const measured = await this.#measured(split.chat);
    if (!measured.ok) return measured;
    const { tokens: before, window } = measured.value;
    const most = MOST_FILLED * (window ?? before);
    const short = await this.#withShortResults(split, most);
    const smaller = short.ok && short.value === null
      ? this.#refusal(measured.value) ?? await this.#withSummary(split, most)
      : short;
    if (!smaller.ok) return smaller;
    if (this.#options.signal?.aborted === true) return failure("cancelled", "Interrupted.");
    const written = await this.#write(split, smaller.value!);
    if (!written.ok) return written;
    const costs = this.records.map(({ cost }) => cost);
    this.#options.emit?.({
      event: "context:compacted",
      archive: written.value,
      before,
      after: smaller.value!.tokens,
      cost: costs.includes(null) ? null : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
    });
    return success(undefined);
  }

  /** Returns the document with shorter results; null if that is not enough. */
  async #withShortResults({ chat, cut }: Split, most: number): Promise<Outcome<Smaller | null>> {
    const { context: { prune_over: over }, tools: { truncate } } = this.#settings;
    const results = longResults(chat, cut, over);
    if (results.length === 0) return success(null);
    const { label } = this.#opened;
    const measured = await this.#measured(edited(chat, shortResultEdits(chat, results, over, () => label)));
    if (!measured.ok) return measured;
    const { tokens } = measured.value;
    if (tokens > most) return success(null);
    const edits = async ({ chat, cut }: Split): Promise<Outcome<readonly Edit[]>> => {
      const now = longResults(chat, cut, over);
      const kept = await keepWholeResults(now, {
        format: truncate.output_path_format,
        document: this.#path,
        environment: this.#options.environment,
      });
      return kept.ok ? success(shortResultEdits(chat, now, over, (result) => kept.value.get(result)!)) : kept;
    };
    return success({ edits, tokens });
  }

  /** Returns the document with a summary of everything before the last reply. */
  async #withSummary(split: Split, most: number): Promise<Outcome<Smaller>> {
    const { label } = this.#opened;
    const { prune_over: pruneOver } = this.#settings.context;
    const summary = await requestSummary(split, {
      open: (bytes) => this.#open(bytes),
      instructions: "",
      pruneOver,
      label,
    });
    if (!summary.ok) return summary;
    const editsOf = ({ chat, cut }: Split, archive: string) =>
      compactEdits(chat, cut, summary.value, archive, quoteUserMessages(chat, cut, archive));
    const measured = await this.#measured(edited(split.chat, editsOf(split, archiveName(label, 1))));
    if (!measured.ok) return measured;
    const { tokens } = measured.value;
    if (tokens <= most) {
      return success({
        tokens,
        edits: (now, archive) => Promise.resolve(success(editsOf(now, archive))),
      });
    }
    return failure(
      "context-full",
      `Even with a summary, the next request would have about ${tokens} tokens, more than half of the context window, ` +
        "so the document stays as it is.",
    );
  }

  /** Copies the document as it is now, then writes the smaller version. Returns the path of the copy. */
  async #write(split: Split, { edits }: Smaller): Promise<Outcome<string>> {
    const { store } = this.#opened;
    const problem = await store.refresh?.() ?? null;
    if (problem !== null) return { ok: false, problem };
    const { chat } = store;
    const cut: Outcome<Cut> = chat === split.chat ? success(split.cut) : sameCut(chat, split.chat, split.cut);
    if (!cut.ok) return cut;
    const archive = await makeArchive(this.#path, chat.bytes);
    if (!archive.ok) return archive;
    const name = archive.value.slice(archive.value.lastIndexOf("/") + 1);
    const made = await edits({ chat, cut: cut.value }, name);
    if (!made.ok) return made;
    const failed = await store.commit(made.value);
    return failed === null ? archive : { ok: false, problem: failed };
  }

  /** Opens a text in memory in order to ask for a summary, with the model that is set for summaries. */
  async #open(bytes: Uint8Array) {
    const { settings = {} } = this.#options;
    const { compact_model: model } = this.#settings.context;
    const own = model === null || settings.overrides?.model !== undefined ? {} : { model };
    return await this.#opened.again(bytes, {
      ...this.#options,
      compacts: false,
      isAside: true,
      settings: { ...settings, overrides: { ...settings.overrides, ...own, hooks: SILENT } },
      emit: (event) => this.#hear(event),
    });
  }

  /** Counts requests and passes their events on. The summary's text is not part of the conversation's replies. */
  #hear(event: CycleEvent): void {
    if (event.event === "request:finished" && event.record !== undefined) this.records.push(event.record);
    if (event.event.startsWith("request:") || event.event === "notice") this.#options.emit?.(event);
  }

  /** Fails if the budget does not allow the request for the summary; null if it does. */
  #refusal(measured: Omit<Upcoming, "byPerson">): { readonly ok: false; readonly problem: Problem } | null {
    // A full window does not matter: the summary is then made in parts.
    const problem = this.#runtime.limits.refusal({ ...measured, window: null, byPerson: true });
    return problem === null ? null : { ok: false, problem };
  }

  /** Measures the request that a text would make. */
  async #measured(chat: Chat) {
    const parts = await requestParts({ chat, path: this.#path }, this.#runtime, this.#options);
    if (!parts.ok) return parts;
    const prepared = await prepareRequest({ ...parts.value, isSent: false });
    if (prepared.kind === "failed") return { ok: false, problem: prepared.problem } as const;
    if (prepared.kind === "blocked") {
      return failure("blocked", prepared.diagnostics[0]?.message ?? "The request cannot be built.");
    }
    const upcoming = describeUpcoming(prepared, parts.value, new Date());
    return success({ ...upcoming, tokens: this.#runtime.limits.expected(upcoming.rough) });
  }

  get #settings() {
    return this.#runtime.subject.settings;
  }

  get #path(): string {
    const { path } = this.#opened.store;
    if (path === null) throw new Error("only a document with a path is compacted in place");
    return path;
  }
}

function edited(chat: Chat, edits: readonly Edit[]): Chat {
  return parse(applyEdits(chat.bytes, edits));
}

/** The name has no ending `.chat`, so that nothing takes the copy for a conversation to continue. */
function archiveName(document: string, number: number): string {
  return `${document}.before-${number}`;
}

/**
 * Copies a document to a new file in its folder. A copy that a killed run left is used again if it is the same.
 *
 * @param document absolute path
 * @returns path of the copy. Fails with `archive-unwritable`.
 */
async function makeArchive(document: string, bytes: Uint8Array): Promise<Outcome<string>> {
  for (let number = 1;; number++) {
    const path = archiveName(document, number);
    try {
      const there = await readOrNull(path);
      if (there !== null && !sameBytes(there, bytes)) continue;
      if (there === null) await makeFile(path, bytes, (await Deno.stat(document)).mode! & 0o777);
      return success(path);
    } catch (thrown) {
      if (thrown instanceof Deno.errors.AlreadyExists || thrown instanceof NotRegularFile) continue;
      return failure(
        "archive-unwritable",
        `The copy ${path} cannot be written, so the document stays as it is: ${thrownText(thrown)}.`,
      );
    }
  }
}
