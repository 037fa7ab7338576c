// Batches of the Gemini API. On the wire a batch is an operation, whose members differ between versions.

import { isObject } from "../../base/is_object.ts";
import { failure, success } from "../../base/problem.ts";
import type { BatchHead, BatchState, ItemResult } from "../types.ts";
import type { BatchApi } from "./api.ts";
import { listIn, textIn } from "./client.ts";

/** Batches in one page of the list. */
const PAGE = 100;

export const geminiBatches: BatchApi = {
  limits: { requests: 50_000, bytes: 19_000_000 },
  entry: (item, body) => `{"request":${body},"metadata":{"key":"${item}"}}`,
  async create(client, head, entries) {
    const requests = `{"requests":{"requests":[${entries.join(",")}]}}`;
    const body = `{"batch":{"displayName":${JSON.stringify(nameOf(head))},"inputConfig":${requests}}}`;
    const url = `${modelOf(head)}:batchGenerateContent`;
    const made = await client.post(url, body, { "content-type": "application/json" });
    if (!made.ok) return made;
    const name = textIn(made.value, "name");
    if (name !== "") return success(name);
    const { problem } = failure("provider-error", "The response to the batch does not name its operation.");
    return { ok: false, problem: { problem, isUnclear: true } };
  },
  async state(client, head, remote) {
    const asked = await client.get(`${rootOf(head)}/${remote}`);
    return asked.ok ? success(stateOf(asked.value, head)) : asked;
  },
  result(row) {
    if (!isObject(row)) return null;
    const item = textIn(row.metadata, "key") || textIn(row, "key");
    if (item === "") return null;
    if (isObject(row.response)) return { item, result: { kind: "message", body: row.response } };
    return { item, result: failed(row.error) };
  },
  cancel: (client, head, remote) => client.post(`${rootOf(head)}/${remote}:cancel`, null),
  async find(client, head) {
    const listed = await client.pages(
      (after) => `${rootOf(head)}/batches?pageSize=${PAGE}${after === null ? "" : `&pageToken=${after}`}`,
      (body) => ({ rows: listIn(body, "operations"), after: textIn(body, "nextPageToken") || null }),
    );
    if (!listed.ok) return listed;
    const found = listed.value.rows.find((operation) =>
      isObject(operation) && textIn(operation.metadata, "displayName") === nameOf(head)
    );
    if (found !== undefined) return success(textIn(found, "name"));
    return success(listed.value.isWhole ? null : "undecided");
  },
};

function nameOf({ id }: Pick<BatchHead, "id">): string {
  return `flemma-${id}`;
}

/** Returns the URL of the model. */
function modelOf({ url }: Pick<BatchHead, "url">): string {
  const address = new URL(url);
  address.search = "";
  return address.href.replace(/:streamGenerateContent$/, "");
}

/** Returns the URL below which batches are. */
function rootOf(head: Pick<BatchHead, "url">): string {
  return modelOf(head).replace(/\/models\/[^/]*$/, "");
}

function failed(error: unknown): ItemResult["result"] {
  const code = isObject(error) && typeof error.code === "number" ? error.code : 13;
  // The codes of gRPC: 1 canceled, 3 invalid argument, 4 deadline exceeded.
  if (code === 1) return { kind: "canceled" };
  if (code === 4) return { kind: "expired" };
  return { kind: "error", status: code === 3 || code === 400 ? 400 : 500, body: { error } };
}

function stateOf(operation: unknown, head: BatchHead): BatchState {
  const metadata = isObject(operation) && isObject(operation.metadata) ? operation.metadata : {};
  const state = textIn(metadata, "state").replace(/^(?:BATCH|JOB)_STATE_/, "");
  if (state === "FAILED") {
    const error = isObject(operation) ? operation.error : undefined;
    return { kind: "failed", message: textIn(error, "message") || "the provider gives no reason" };
  }
  const isOver = ["SUCCEEDED", "PARTIALLY_SUCCEEDED", "CANCELLED", "EXPIRED"].includes(state);
  if (!isOver) return { kind: "working", done: null };
  const output = isObject(operation) && isObject(operation.response) ? operation.response : metadata.output;
  const inlined = isObject(output) ? output.inlinedResponses : undefined;
  const rows = Array.isArray(inlined) ? inlined : listIn(inlined, "inlinedResponses");
  const file = textIn(output, "responsesFile");
  const url = new URL(rootOf(head));
  url.pathname = `/download${url.pathname}/${file}:download`;
  url.search = "?alt=media";
  return {
    kind: "ended",
    results: [{ kind: "rows", rows }, ...(file === "" ? [] : [{ kind: "lines", url: url.href } as const])],
    isExpired: state === "CANCELLED" || state === "EXPIRED",
  };
}
