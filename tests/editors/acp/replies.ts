// Model replies for tests of ACP clients.

import { callReply, type Reply } from "../../cli/replies.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

/** A reply that calls one tool. */
export function toolReply(id: string, name: string, input: Json): Reply {
  return {
    events: callReply(id, "x").events!.map((event: Json) => {
      if (event.content_block?.type === "tool_use") {
        return { ...event, content_block: { ...event.content_block, name } };
      }
      if (event.delta?.type === "input_json_delta") {
        return { ...event, delta: { ...event.delta, partial_json: JSON.stringify(input) } };
      }
      return event;
    }),
  };
}

/** A reply that wants to write `notes.md`. */
export function writeReply(id: string): Reply {
  return toolReply(id, "write", { path: "notes.md", content: "new\n", label: "notes" });
}
