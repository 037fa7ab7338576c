// Replies of a model that an agent's client has to do something with.

import { callReply, type Reply } from "../../cli/replies.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

/** A reply that wants to write `notes.md`. */
export function writeReply(id: string): Reply {
  const reply = callReply(id, "x");
  const input = JSON.stringify({ path: "notes.md", content: "new\n", label: "notes" });
  return {
    events: reply.events!.map((event: Json) => {
      if (event.content_block?.type === "tool_use") {
        return { ...event, content_block: { ...event.content_block, name: "write" } };
      }
      if (event.delta?.type === "input_json_delta") {
        return { ...event, delta: { ...event.delta, partial_json: input } };
      }
      return event;
    }),
  };
}
