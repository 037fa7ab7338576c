// What this program and a tool host tell each other: JSON, one message a line.

/** What a call is told of where it stands, as data; the host makes the context of the tool from it. */
export interface CallFacts {
  /** Stable for a document. */
  readonly conversationId: string;
  /** One for each invocation of the program. */
  readonly requestId: string;
  /** Id of the call. */
  readonly toolUseId: string;
  /** Working folder. */
  readonly workingDir: string;
  /** Absolute path of the document, or null. */
  readonly document: string | null;
  /** Folder that relative paths of inputs belong to. */
  readonly base: string;
  readonly home: string;
  readonly timeout: number;
  readonly env: Readonly<Record<string, string>>;
  readonly config: Readonly<Record<string, unknown>> | null;
  readonly allowedToolNames: readonly string[];
  readonly isInteractive: boolean;
  readonly approvedViaPrompt: boolean;
  /** Whether a secret can be asked for. */
  readonly asksSecrets: boolean;
  /** Whether commands are wrapped by the program, because the host itself is not. */
  readonly wraps: boolean;
  /** Folders below which may be written, and what in them may not; null means everywhere. */
  readonly writable: { readonly roots: readonly string[]; readonly protect: readonly string[] } | null;
  /** How long results may be. */
  readonly limits: { readonly maxLines: number; readonly maxBytes: number };
}

/** What a tool may ask this program for while it runs. */
export type Question =
  | { readonly for: "secret"; readonly params: unknown }
  /** The text follows in pieces, of which the last is the end of the question. */
  | { readonly for: "overflow"; readonly options: unknown }
  | { readonly for: "wrap"; readonly argv: readonly string[] };

/** What this program tells a host. */
export type ToHost =
  | { readonly do: "describe"; readonly id: number; readonly module: string }
  | {
    readonly do: "call";
    readonly id: number;
    readonly module: string;
    readonly input: unknown;
    readonly facts: CallFacts;
  }
  | { readonly do: "abort"; readonly id: number }
  | { readonly do: "answer"; readonly ask: number; readonly value: unknown };

/** A member of what a file exports: data, or that it is code or cannot be written down. */
export type Member = { readonly value: unknown } | { readonly is: "function" | "no data" };

/** What a host tells; `id` is that of the request it is about. */
export type FromHost =
  | { readonly id: number; readonly is: "described"; readonly members: Readonly<Record<string, Member>> }
  /** The file brings no tool; the cause is the end of a sentence. */
  | { readonly id: number; readonly is: "broken"; readonly cause: string }
  | { readonly id: number; readonly is: "output"; readonly text: string }
  /** A piece of the text of the answer, or of what `ask` asks about. */
  | {
    readonly id: number;
    readonly is: "text";
    readonly ask: number | null;
    readonly text: string;
    readonly last?: true;
  }
  | { readonly id: number; readonly is: "client"; readonly message: unknown }
  | { readonly id: number; readonly is: "asks"; readonly ask: number; readonly question: Question }
  /** What is said besides the text, which came before. */
  | { readonly id: number; readonly is: "answered"; readonly result: unknown }
  /** What was thrown is the text, which came before. */
  | { readonly id: number; readonly is: "threw" };
