// The agent room as hosts other than the command line see it: documents that are open, and new ones.

export { newChat } from "./new_chat.ts";
export { chatInMemory, openChat } from "./open.ts";
export type * from "./types.ts";
