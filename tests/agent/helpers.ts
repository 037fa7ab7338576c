// Documents that ask helpers, with a model that answers by the text of the request.

import assert from "node:assert/strict";
import { openChat } from "../../agent/open.ts";
import type { OpenOptions, RunResult } from "../../agent/types.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { frames, SSE, stop } from "../cycle/sending.ts";
import { type Place, sessionOf } from "./place.ts";

/** A part of a reply: text, or a call. */
export type Said = string | readonly [id: string, tool: string, input: object];

/** A request as the model sees it. */
export interface Asked {
  /** The whole body. */
  readonly body: string;
  readonly system: unknown;
  readonly tools: readonly { readonly name: string }[];
  /** The text of the last message. */
  readonly last: string;
  /** The text of the first message. */
  readonly first: string;
  readonly model: string;
  readonly signal: AbortSignal | null | undefined;
}

/** A model that answers each request as `answer` says. */
export function modelOf(answer: (asked: Asked) => readonly Said[] | Promise<readonly Said[]>) {
  const asked: Asked[] = [];
  const request: typeof fetch = async (_, init) => {
    const body = await new Response(init?.body).text();
    const { system, tools = [], messages, model } = JSON.parse(body);
    const texts = messages.map((message: { content: unknown }) => JSON.stringify(message.content));
    const each: Asked = {
      body,
      system,
      tools,
      model,
      last: texts.at(-1),
      first: texts[0],
      signal: init?.signal,
    };
    asked.push(each);
    return replied(await answer(each), Math.ceil(body.length / 4));
  };
  return { asked, fetch: request };
}

function replied(said: readonly Said[], tokens: number): Response {
  const blocks = said.flatMap((part, index): object[] => {
    if (typeof part === "string") {
      return [
        { type: "content_block_start", index, content_block: { type: "text", text: part } },
        { type: "content_block_stop", index },
      ];
    }
    const [id, name, input] = part;
    return [
      { type: "content_block_start", index, content_block: { type: "tool_use", id, name, input: {} } },
      {
        type: "content_block_delta",
        index,
        delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
      },
      { type: "content_block_stop", index },
    ];
  });
  const calls = said.some((part) => typeof part !== "string");
  const begin = { type: "message_start", message: { usage: { input_tokens: tokens } } };
  return new Response(
    frames(begin, ...blocks, stop(calls ? "tool_use" : "end_turn"), { type: "message_stop" }),
    {
      headers: SSE,
    },
  );
}

/** A call of `ask_document`. */
export function ask(id: string, question: string, more: object = {}): Said {
  const nothing = { document: null, name: null, preset: null, files: null };
  return [id, "ask_document", { question, ...nothing, ...more }];
}

/** Settings under which a document may ask helpers without a person. */
export const OFFERED = "tools: { $append: [ask_document], auto_approve: [$default, ask_document] }\n";

/** Advances a document once. */
export async function advance(
  place: Place,
  name: string,
  model: Pick<ReturnType<typeof modelOf>, "fetch">,
  options: OpenOptions = {},
): Promise<RunResult & { readonly events: readonly CycleEvent[] }> {
  const events: CycleEvent[] = [];
  await using session = sessionOf(
    await openChat(place.path(name), {
      environment: withKey(place),
      fetch: model.fetch,
      emit: (event) => events.push(event),
      ...options,
    }),
  );
  return { ...await session.advance(), events };
}

export function withKey(place: Place): Place["environment"] {
  const { environment } = place;
  return { ...environment, variables: { ...environment.variables, ANTHROPIC_API_KEY: "sk-ant-test" } };
}

/** The text of the result of a call in a document; fails if it has none. */
export function resultIn(text: string, id: string): string {
  const found = new RegExp(`\\*\\*Tool Result:\\*\\* \`${id}\`.*\\n\\n(\`+)\\w*\\n([^]*?)\\n\\1`).exec(text);
  assert.ok(found, text);
  return found[2]!;
}
