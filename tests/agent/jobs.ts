// A scripted model that starts background jobs, and what a document and the state folder say about them.

import { frames, SSE, stop } from "../cycle/sending.ts";
import type { Place } from "./place.ts";

/** What a model says: a text, or calls. */
type Reply = string | readonly { readonly name?: string; readonly input: Record<string, unknown> }[];

/** The job ids that a request names, in order. */
type Turn = (asked: { readonly body: string; readonly jobs: readonly string[] }) => Reply | Promise<Reply>;

/** A model that answers each request with the next turn. */
export class Model {
  readonly asked: string[] = [];
  readonly #turns: Turn[];

  constructor(...turns: Turn[]) {
    this.#turns = turns;
  }

  readonly fetch: typeof fetch = async (_, init) => {
    const body = await new Response(init?.body).text();
    this.asked.push(body);
    const jobs = [...new Set(body.match(/job_[a-z0-9]{8}/g) ?? [])];
    const reply = await this.#turns.shift()?.({ body, jobs }) ?? "Done.";
    const blocks = typeof reply === "string" ? [textBlock(reply)] : reply.map(callBlock(this.asked.length));
    const events = [
      { type: "message_start", message: { usage: { input_tokens: 1 } } },
      ...blocks.flatMap((block, index) => block.map((event) => ({ index, ...event }))),
      stop(typeof reply === "string" ? "end_turn" : "tool_use"),
      { type: "message_stop" },
    ];
    return new Response(frames(...events), { headers: SSE });
  };
}

function textBlock(text: string): Record<string, unknown>[] {
  return [{ type: "content_block_start", content_block: { type: "text", text } }, {
    type: "content_block_stop",
  }];
}

function callBlock(turn: number) {
  return (
    { name = "bash", input }: { readonly name?: string; readonly input: Record<string, unknown> },
    at: number,
  ): Record<string, unknown>[] => [
    {
      type: "content_block_start",
      content_block: { type: "tool_use", id: `call_${turn}_${at}`, name, input: {} },
    },
    {
      type: "content_block_delta",
      delta: { type: "input_json_delta", partial_json: JSON.stringify({ label: "x", ...input }) },
    },
    { type: "content_block_stop" },
  ];
}

export const background = (command: string, more = {}) => ({
  input: { command, timeout: null, "flemma.background": true, ...more },
});
export const command = (text: string) => ({
  input: { command: text, timeout: null, "flemma.background": null },
});
export const status = (job_id = "", wait_seconds: number | null = null) => ({
  name: "flemma__jobs__status",
  input: { job_id, wait_seconds },
});
export const stopJob = (job_id = "") => ({ name: "flemma__jobs__stop", input: { job_id } });

/** Waits in a command until a file is there. */
export const until = (file: string) => `until [ -e ${file} ]; do sleep 0.05; done`;

export function recordsIn(place: Place): Record<string, unknown>[] {
  const folder = `${place.folder}/state/flemma/jobs`;
  try {
    return [...Deno.readDirSync(folder)].filter(({ name }) => name.endsWith(".json"))
      .map(({ name }) => JSON.parse(Deno.readTextFileSync(`${folder}/${name}`)));
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return [];
    throw thrown;
  }
}

/** The blocks with results of jobs: header words and body. */
export function jobResults(text: string): [suffix: string, body: string][] {
  return [...text.matchAll(/^\*\*Job Result:\*\* `job_\w+`(.*)\n\n```\n([^]*?)\n```$/gm)]
    .map(([, suffix = "", body = ""]) => [suffix.trim(), body]);
}
