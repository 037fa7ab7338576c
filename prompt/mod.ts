// From a document to the conversation that a provider is given.

export { evaluate, type EvaluateOptions } from "./evaluate.ts";
export type { Part, Prompt, PromptMessage } from "./types.ts";
