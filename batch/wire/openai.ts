// The Batch API of OpenAI, which other vendors imitate: an uploaded file of requests, and files of results.

import { isObject } from "../../base/is_object.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import type { BatchHead, BatchState, ResultSource } from "../types.ts";
import type { BatchApi } from "./api.ts";
import { listIn, textIn, type UnclearProblem } from "./client.ts";
import { type BatchCandidate, findByResults, pageById } from "./proof.ts";

/** Seconds for which the provider keeps uploaded requests and results. */
const KEPT_SECONDS = 7 * 24 * 3600;

/** Name of the member of a batch's metadata that identifies it. */
const MARK = "flemma";

/** Batches in one page of the list. */
const PAGE = 100;

export const openaiBatches: BatchApi = {
  limits: { requests: 50_000, bytes: 190_000_000 },
  entry: (item, body, { url }) =>
    `{"custom_id":"${item}","method":"POST","url":${JSON.stringify(endpointOf(url))},"body":${body}}`,
  async create(client, head, entries) {
    const form = new FormData();
    form.append("purpose", "batch");
    // Vendors of this shape may refuse what they do not know.
    const mayExpire = head.provider === "openai";
    if (mayExpire) {
      form.append("expires_after[anchor]", "created_at");
      form.append("expires_after[seconds]", String(KEPT_SECONDS));
    }
    form.append(
      "file",
      new Blob([entries.join("\n"), "\n"], { type: "application/jsonl" }),
      `flemma-${head.id}.jsonl`,
    );
    const file = await client.post(`${rootOf(head)}/files`, form);
    // An upload alone costs nothing, so it may be repeated.
    if (!file.ok) return { ok: false, problem: { ...file.problem, isUnclear: false } };
    const made = await client.post(
      `${rootOf(head)}/batches`,
      JSON.stringify({
        input_file_id: textIn(file.value, "id"),
        endpoint: endpointOf(head.url),
        completion_window: "24h",
        metadata: { [MARK]: head.id },
        ...(mayExpire ? { output_expires_after: { anchor: "created_at", seconds: KEPT_SECONDS } } : {}),
      }),
      { "content-type": "application/json" },
    );
    return made.ok ? named(textIn(made.value, "id")) : made;
  },
  async state(client, head, remote) {
    const asked = await client.get(`${rootOf(head)}/batches/${encodeURIComponent(remote)}`);
    return asked.ok ? success(stateOf(asked.value, head)) : asked;
  },
  result(row) {
    const item = textIn(row, "custom_id");
    if (item === "" || !isObject(row)) return null;
    const { response, error } = row;
    const code = textIn(error, "code");
    if (code === "batch_expired") return { item, result: { kind: "expired" } };
    if (code === "batch_cancelled") return { item, result: { kind: "canceled" } };
    if (!isObject(response)) return { item, result: { kind: "error", status: 500, body: { error } } };
    const status = typeof response.status_code === "number" ? response.status_code : 200;
    return {
      item,
      result: status < 300
        ? { kind: "message", body: response.body }
        : { kind: "error", status, body: response.body },
    };
  },
  cancel: (client, head, remote) =>
    client.post(`${rootOf(head)}/batches/${encodeURIComponent(remote)}/cancel`, null),
  async find(client, head, ours) {
    const listed = await client.pages(
      (after) => `${rootOf(head)}/batches?limit=${PAGE}${after === null ? "" : `&after=${after}`}`,
      (body) => pageById(listIn(body, "data"), body),
    );
    if (!listed.ok) return listed;
    const isMarked = (batch: unknown) => isObject(batch) && textIn(batch.metadata, MARK) !== "";
    const found = listed.value.rows.find((batch) =>
      isObject(batch) && textIn(batch.metadata, MARK) === head.id
    );
    if (found !== undefined) return success(textIn(found, "id"));
    // A vendor may not keep the mark.
    const candidateOf = (batch: unknown) => isMarked(batch) ? null : candidate(batch, head);
    return await findByResults(client, head, { ...ours, listed: listed.value, candidateOf });
  },
  async tidy(client, head, remote) {
    const asked = await client.get(`${rootOf(head)}/batches/${encodeURIComponent(remote)}`);
    const file = asked.ok ? textIn(asked.value, "input_file_id") : "";
    // What cannot be deleted expires.
    if (file !== "") {
      await client.post(`${rootOf(head)}/files/${encodeURIComponent(file)}`, null, {}, "DELETE");
    }
  },
};

function named(id: string): Outcome<string, UnclearProblem> {
  if (id !== "") return success(id);
  const { problem } = failure("provider-error", "The response to the batch does not name its id.");
  return { ok: false, problem: { problem, isUnclear: true } };
}

/** Endings of the URL of a single request. */
const METHOD = /\/(?:responses|chat\/completions)$/;

/** Returns the URL below which files and batches are. */
function rootOf({ url }: Pick<BatchHead, "url">): string {
  const address = new URL(url);
  address.search = "";
  return address.href.replace(METHOD, "");
}

/** Returns the path of the method as entries of a batch name it. */
function endpointOf(url: string): string {
  return `/v1${METHOD.exec(new URL(url).pathname)?.[0] ?? ""}`;
}

function candidate(batch: unknown, head: BatchHead): BatchCandidate {
  const counts = isObject(batch) && isObject(batch.request_counts) ? batch.request_counts : {};
  const created = isObject(batch) && typeof batch.created_at === "number" ? batch.created_at * 1000 : NaN;
  const isOver = OVER.has(textIn(batch, "status"));
  return {
    id: textIn(batch, "id"),
    created,
    count: typeof counts.total === "number" ? counts.total : 0,
    results: isOver ? resultUrls(batch, head) : null,
  };
}

/** States in which no more results come. */
const OVER: ReadonlySet<string> = new Set(["completed", "expired", "cancelled"]);

function resultUrls(batch: unknown, head: BatchHead): readonly string[] {
  return ["output_file_id", "error_file_id"].flatMap((name) => {
    const file = textIn(batch, name);
    return file === "" ? [] : [`${rootOf(head)}/files/${encodeURIComponent(file)}/content`];
  });
}

function stateOf(batch: unknown, head: BatchHead): BatchState {
  const status = textIn(batch, "status");
  const counts = isObject(batch) && isObject(batch.request_counts) ? batch.request_counts : {};
  const done = ["completed", "failed"].reduce(
    (sum, name) => sum + (typeof counts[name] === "number" ? counts[name] : 0),
    0,
  );
  if (status === "failed") return failureOf(batch);
  if (!OVER.has(status)) return { kind: "working", done };
  const results = resultUrls(batch, head).map((url): ResultSource => ({ kind: "lines", url }));
  return { kind: "ended", results, isExpired: status !== "completed" };
}

/** Returns why a batch failed, with the number of its first faulty request. */
function failureOf(batch: unknown): BatchState {
  const [first] = isObject(batch) ? listIn(batch.errors, "data") : [];
  const line = isObject(first) && typeof first.line === "number" ? { line: first.line } : {};
  return { kind: "failed", message: textIn(first, "message") || "the provider gives no reason", ...line };
}
