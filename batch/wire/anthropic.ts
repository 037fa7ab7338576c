// Message Batches of Anthropic's API.

import { isObject } from "../../base/is_object.ts";
import { failure, success } from "../../base/problem.ts";
import type { BatchHead, ItemResult } from "../types.ts";
import type { BatchApi } from "./api.ts";
import { listIn, textIn } from "./client.ts";
import { type BatchCandidate, findByResults, pageById } from "./proof.ts";

/** Batches in one page of the list. */
const PAGE = 100;

export const anthropicBatches: BatchApi = {
  limits: { requests: 100_000, bytes: 250_000_000 },
  entry: (item, body) => `{"custom_id":"${item}","params":${body}}`,
  async create(client, head, entries) {
    const body = `{"requests":[${entries.join(",")}]}`;
    const made = await client.post(batchesOf(head), body, JSON_BODY);
    if (!made.ok) return made;
    const id = textIn(made.value, "id");
    if (id !== "") return success(id);
    const { problem } = failure("provider-error", "The response to the batch does not name its id.");
    return { ok: false, problem: { problem, isUnclear: true } };
  },
  async state(client, head, remote) {
    const asked = await client.get(`${batchesOf(head)}/${encodeURIComponent(remote)}`);
    if (!asked.ok) return asked;
    const batch = asked.value;
    if (textIn(batch, "archived_at") !== "") {
      return success({
        kind: "failed",
        message: "the provider keeps results for 29 days and has deleted them",
      });
    }
    if (textIn(batch, "processing_status") !== "ended") return success({ kind: "working", done: null });
    // The address in the response may lead elsewhere, and the key must not.
    const url = `${batchesOf(head)}/${encodeURIComponent(remote)}/results`;
    return success({ kind: "ended", results: [{ kind: "lines", url }], isExpired: false });
  },
  result(row) {
    const item = textIn(row, "custom_id");
    const result = isObject(row) ? row.result : null;
    if (item === "" || !isObject(result)) return null;
    return { item, result: readResult(result) };
  },
  cancel: (client, head, remote) =>
    client.post(`${batchesOf(head)}/${encodeURIComponent(remote)}/cancel`, null),
  async find(client, head, ours) {
    const listed = await client.pages(
      (after) => `${batchesOf(head)}?limit=${PAGE}${after === null ? "" : `&after_id=${after}`}`,
      (body) => pageById(listIn(body, "data"), body),
    );
    if (!listed.ok) return listed;
    const candidateOf = (batch: unknown): BatchCandidate => {
      const id = textIn(batch, "id");
      const url = `${batchesOf(head)}/${encodeURIComponent(id)}/results`;
      return {
        id,
        created: Date.parse(textIn(batch, "created_at")),
        count: countOf(batch),
        results: textIn(batch, "processing_status") === "ended" ? [url] : null,
      };
    };
    return await findByResults(client, head, { ...ours, listed: listed.value, candidateOf });
  },
};

const JSON_BODY = { "content-type": "application/json" };

function batchesOf({ url }: Pick<BatchHead, "url">): string {
  const address = new URL(url);
  address.search = "";
  return `${address.href}/batches`;
}

function countOf(batch: unknown): number {
  const counts = isObject(batch) && isObject(batch.request_counts) ? Object.values(batch.request_counts) : [];
  return counts.reduce<number>((sum, count) => sum + (typeof count === "number" ? count : 0), 0);
}

function readResult(result: Readonly<Record<string, unknown>>): ItemResult["result"] {
  switch (result.type) {
    case "succeeded":
      return { kind: "message", body: result.message };
    case "expired":
      return { kind: "expired" };
    case "canceled":
      return { kind: "canceled" };
    default: {
      const body = isObject(result.error) && isObject(result.error.error)
        ? result.error
        : { error: result.error };
      const type = isObject(body.error) ? body.error.type : "";
      return { kind: "error", status: type === "invalid_request_error" ? 400 : 500, body };
    }
  }
}
