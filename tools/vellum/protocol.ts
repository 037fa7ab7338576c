// Protocol between this program and a tool host: one JSON message on each line.

/** Facts about a call, as data; the host builds the tool's context from them. */
export interface CallFacts {
  /** Id that is stable for a document. */
  readonly conversationId: string;
  /** Id that is unique for each invocation of the program. */
  readonly requestId: string;
  readonly toolUseId: string;
  readonly workingDir: string;
  /** Absolute path of the document, or null. */
  readonly document: string | null;
  /** Folder that relative input paths are relative to. */
  readonly base: string;
  readonly home: string;
  readonly timeout: number;
  readonly env: Readonly<Record<string, string>>;
  readonly config: Readonly<Record<string, unknown>> | null;
  readonly allowedToolNames: readonly string[];
  readonly isInteractive: boolean;
  readonly approvedViaPrompt: boolean;
  /** True if a person can be asked for a secret. */
  readonly asksSecrets: boolean;
  /** True if the program wraps the tool's commands, because the host itself is not in the sandbox. */
  readonly wraps: boolean;
  /** Writable folders and the read-only paths in them; null means that everything is writable. */
  readonly writable: { readonly roots: readonly string[]; readonly protect: readonly string[] } | null;
  /** Limits of results. */
  readonly limits: { readonly maxLines: number; readonly maxBytes: number };
}

/** What a tool may request from this program while it runs. */
export type Question =
  | { readonly for: "secret"; readonly params: unknown }
  /** The text follows in pieces; the last piece completes the question. */
  | { readonly for: "overflow"; readonly options: unknown }
  | { readonly for: "wrap"; readonly argv: readonly string[] };

/** Messages to a host. */
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

/** A member of a file's export: data, or a note that it is code or cannot be serialized. */
export type Member = { readonly value: unknown } | { readonly is: "function" | "no data" };

/** Messages from a host; `id` is that of the request. */
export type FromHost =
  | { readonly id: number; readonly is: "described"; readonly members: Readonly<Record<string, Member>> }
  /** The file defines no tool; the cause is the end of a sentence. */
  | { readonly id: number; readonly is: "broken"; readonly cause: string }
  | { readonly id: number; readonly is: "output"; readonly text: string }
  /** A piece of a text: of the answer if `ask` is null, otherwise of the text for the question with that number. */
  | {
    readonly id: number;
    readonly is: "text";
    readonly ask: number | null;
    readonly text: string;
    readonly last?: true;
  }
  | { readonly id: number; readonly is: "client"; readonly message: unknown }
  | { readonly id: number; readonly is: "asks"; readonly ask: number; readonly question: Question }
  /** The result without its text, which was sent before. */
  | { readonly id: number; readonly is: "answered"; readonly result: unknown }
  /** The tool threw an error, whose text was sent before. */
  | { readonly id: number; readonly is: "threw" };
