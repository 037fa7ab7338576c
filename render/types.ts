// A conversation as it is shown to people: what stands where, as plain text, before anybody decides how it looks.

/** One conversation. All texts are as a person or a model wrote them: not safe to show. */
export interface Conversation {
  readonly title: string;
  /** The first block; null when there is none. */
  readonly settings: { readonly language: string; readonly code: string; readonly line: number } | null;
  /** Text before the first message. */
  readonly preamble: { readonly text: string; readonly line: number } | null;
  readonly messages: readonly Message[];
}

/** One message with what belongs to it: the results of its calls stand with the calls. */
export interface Message {
  readonly role: string;
  /** Line of its marker, 1-based. */
  readonly line: number;
  readonly parts: readonly Part[];
}

/** A piece of a message. */
export type Part =
  | { readonly kind: "prose"; readonly text: string; readonly line: number }
  | { readonly kind: "thinking"; readonly text: string; readonly redacted: boolean; readonly line: number }
  | { readonly kind: "aborted"; readonly text: string; readonly line: number }
  | ShownCall
  | ShownResult;

/** A call with its result. */
export interface ShownCall {
  readonly kind: "call";
  readonly id: string;
  readonly tool: string;
  /** What the model says of it; empty when it says nothing. */
  readonly label: string;
  readonly line: number;
  readonly fields: readonly Field[];
  /** Null where the document has none. */
  readonly result: ShownResult | null;
}

/** A member of the input of a call. */
export interface Field {
  readonly name: string;
  readonly kind: "command" | "path" | "text" | "diff";
  /** Of a diff each line begins with `+`, `-` or a blank; `…` alone stands for what is left out. */
  readonly text: string;
}

/** A result; one by itself answers no call that is shown. */
export interface ShownResult {
  readonly kind: "result";
  readonly id: string;
  /** What its block waits for, or `error`; null for a final one. */
  readonly status: string | null;
  readonly text: string;
  readonly line: number;
}
