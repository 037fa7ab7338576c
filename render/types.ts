// A conversation for display as plain data, independent of the renderer.

/** One conversation. All texts are as a person or a model wrote them, and are not safe to show. */
export interface ConversationView {
  readonly title: string;
  /** The frontmatter; null if there is none. */
  readonly settings: { readonly language: string; readonly code: string; readonly line: number } | null;
  readonly preamble: { readonly text: string; readonly line: number } | null;
  readonly messages: readonly MessageView[];
}

/** One message; the results of its calls are part of the calls. */
export interface MessageView {
  readonly role: string;
  /** Line of the message's role marker, 1-based. */
  readonly line: number;
  readonly parts: readonly PartView[];
}

export type PartView =
  | { readonly kind: "prose"; readonly text: string; readonly line: number }
  | { readonly kind: "thinking"; readonly text: string; readonly redacted: boolean; readonly line: number }
  /** A tool that the provider ran, or the sources of the text before, as `title` says. */
  | { readonly kind: "server_tool"; readonly title: string; readonly text: string; readonly line: number }
  | { readonly kind: "aborted"; readonly text: string; readonly line: number }
  | CallView
  | ResultView;

export interface CallView {
  readonly kind: "call";
  readonly id: string;
  readonly tool: string;
  /** The model's description of the call; may be empty. */
  readonly label: string;
  readonly line: number;
  readonly fields: readonly Field[];
  /** Result of the call; null if the document has none. */
  readonly result: ResultView | null;
  /** The helper that the call asked. @default none is known */
  readonly helper?: HelperView;
}

/** A helper (sub-agent) that a call asked. */
export interface HelperView {
  readonly name: string;
  /** Path of its document, relative to the folder of the document that is shown. */
  readonly path: string;
  /** What it is doing, in words. */
  readonly state: string;
  /** True if it waits for the person. */
  readonly waits: boolean;
  /** Known cost of its requests, in words; null if it is not known. */
  readonly cost: string | null;
  /** Its conversation; null if it cannot be read, or belongs to an earlier call, below which it is shown. */
  readonly conversation: ConversationView | null;
}

export interface Field {
  readonly name: string;
  readonly kind: "command" | "path" | "text" | "diff";
  /** In a diff, each line begins with `+`, `-` or a space; a lone `…` marks omitted lines. */
  readonly text: string;
}

/** A result. If it is a separate part of a message, the call to which it belongs is not shown. */
export interface ResultView {
  readonly kind: "result";
  readonly id: string;
  /** Status of the result's block, or `error`; null for a final result. */
  readonly status: string | null;
  /** Name of the helper in whose document the call waits. @default none */
  readonly waitsIn?: string;
  readonly text: string;
  readonly line: number;
}
