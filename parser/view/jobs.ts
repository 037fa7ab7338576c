// The background jobs that a document mentions, and whether it has their results.

import { isLifecycle } from "../text/status_words.ts";
import type { Chat, Result, TextSegment } from "../types.ts";

/** A background job that the result of a call names with `job=ID` in its header. */
export interface DocumentJob {
  readonly id: string;
  /** The result of the call that started the job. */
  readonly result: Result;
  /** True if a `**Job Result:**` block of the person's messages has the result of the job. */
  readonly finished: boolean;
}

/** Returns the background jobs of a document in the order of their calls. Of a repeated id, the first counts. */
export function documentJobs(chat: Chat): readonly DocumentJob[] {
  const named = new Map<string, Result>();
  for (const result of chat.results) {
    const id = jobOf(result);
    if (id !== null && !named.has(id) && chat.result(result.id) === result) named.set(id, result);
  }
  if (named.size === 0) return [];
  const finished = new Set(
    chat.turns.flatMap(({ role, segments }) =>
      role === "You"
        ? segments.flatMap((segment) => segment.kind === "text" ? readJobResult(segment)?.id ?? [] : [])
        : []
    ),
  );
  return [...named].map(([id, result]) => ({ id, result, finished: finished.has(id) }));
}

/** Returns the job that a result names, or null. */
export function jobOf({ meta, status }: Pick<Result, "meta" | "status">): string | null {
  if (meta === null || Array.isArray(meta) || isLifecycle(status)) return null;
  const { job } = meta as { readonly job?: unknown };
  return typeof job === "string" && job !== "" ? job : null;
}

/** The result of a background job, as written. */
export interface JobResult {
  readonly id: string;
  /** True if the header says that the job failed or was stopped. */
  readonly error: boolean;
  readonly content: string;
}

/** Reads the result of a job from its text; null for other text. Without a closing fence, the rest is its content. */
export function readJobResult({ value, job }: TextSegment): JobResult | null {
  const header = job === true ? HEADER.exec(value) : null;
  if (header === null) return null;
  const [{ length }, id = "", suffix = ""] = header;
  const lines = value.slice(length).trim().split("\n");
  const [, fence] = /^(`+)/.exec(lines[0] ?? "") ?? [];
  const closes = fence !== undefined && lines.length > 1 && /^`+$/.test(lines.at(-1)!) &&
    lines.at(-1)!.length >= fence.length;
  const content = lines.slice(fence === undefined ? 0 : 1, closes ? -1 : undefined).join("\n");
  return { id, error: /\b(?:error|aborted)\b/i.test(suffix), content };
}

const HEADER = /^\*\*Job Result:\*\*\s*`([^`]+)`([^\r\n]*)/;
