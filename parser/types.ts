// Types of a parsed document, as other parts of the program use it.

/** A syntax tree of the package `@lezer/common`, as editors use it. */
export type SyntaxTree = InstanceType<(typeof import("npm:@lezer/common@1.5.5"))["Tree"]>;

/** Severity of a diagnostic. An `error` blocks sending; only `check` reports an `info`. */
export type Severity = "error" | "warning" | "info";

/** Codes of the diagnostics that a parse can give. All of them are warnings. */
export type ParseCode =
  | "tool_use_missing_fence"
  | "tool_use_unclosed_fence"
  | "tool_use_unknown_language"
  | "tool_use_invalid_input"
  | "tool_result_missing_fence"
  | "tool_result_unclosed_fence"
  | "status_unknown"
  | "tool_use_duplicate"
  | "thinking_unclosed"
  | "server_tool_unclosed"
  | "fence_unclosed"
  | "role_unknown"
  | "text_before_first_message"
  | "result_orphan"
  | "result_duplicate"
  | "frontmatter_unclosed"
  | "template_unclosed"
  | "system_repeated"
  | "legacy_form"
  | "call_hidden_in_fence";

/** A finding about the document. Lines are 1-based and inclusive, columns are 1-based bytes. */
export interface Diagnostic {
  /** Stable name, e.g. `tool_use_missing_fence`. */
  readonly code: string;
  /** The family of the code: `tool_use`, `tool_result`, `parse`, `frontmatter`, `template`, `file`, … */
  readonly type: string;
  /** True if the finding blocks sending. */
  readonly severity: Severity;
  /** One full sentence for the user. */
  readonly message: string;
  /** First line that the finding is about. */
  readonly start?: number;
  /** Last line that the finding is about. */
  readonly end?: number;
  /** First column, in bytes. */
  readonly startCol?: number;
  /** Last column, in bytes. */
  readonly endCol?: number;
  /** The id of the call or result, if the finding is about one. */
  readonly id?: string;
}

/**
 * A half-open range of byte offsets into the document, with the lines it covers (1-based, inclusive).
 *
 * Blocks (frontmatter, calls, results, thinking, abort markers) extend from their first line to the end of the text of
 * their last line, without its line end. Only a message's place includes its last line end.
 */
export interface Place {
  /** Offset of the first byte. */
  readonly from: number;
  /** Offset just past the last byte. */
  readonly to: number;
  /** First line. */
  readonly start: number;
  /** Last line. */
  readonly end: number;
}

/** Text before the first message, outside the frontmatter. It is never sent. */
export interface Preamble {
  /** The text. */
  readonly text: string;
  /** Line of its first character, 1-based. */
  readonly start: number;
}

/** The frontmatter of a document. */
export interface Frontmatter extends Place {
  /** The word after the opening fence, e.g. `lua`. */
  readonly language: string;
  /** The lines between the fences. */
  readonly code: string;
}

/** Status words of a result. `null` means final and successful. */
export type Status = "pending" | "approved" | "rejected" | "denied" | "aborted" | "error";

/** States with work left to do: the block is a placeholder. */
export type Lifecycle = Exclude<Status, "error">;

/** How a placeholder spells its status. */
export type StatusStyle = "fence" | "header" | "pending-fence";

/** Extra tokens of a result header, preserved when the header is written again. An array if no token has a key. */
export type Meta = readonly MetaValue[] | { readonly [key: string]: MetaValue };
/** One value among the extra tokens of a result header. */
export type MetaValue = string | number | boolean | null | readonly MetaValue[];

/** Text of a message between its blocks. */
export interface TextSegment {
  /** Distinguishes text from the other segments. */
  readonly kind: "text";
  /** The text, with its original line ends. */
  readonly value: string;
  /** Set between `{% raw %}` and `{% endraw %}`, and for a job's result: everything in it is plain text. */
  readonly raw?: true;
  /** Set for a `**Job Result:**` block, from its header to its closing fence. */
  readonly job?: true;
  /** Range in the document; absent for the one empty text of an empty message. */
  readonly place?: Place;
}

/** A template tag: `{{ … }}` (expression) or `{% … %}` (code). */
export interface TemplateSegment {
  /** Distinguishes the two forms. */
  readonly kind: "expression" | "code";
  /** Everything between the delimiters. */
  readonly code: string;
  /** True if the tag removes blank text before it (`{{-`). */
  readonly trimBefore: boolean;
  /** True if the tag removes blank text after it (`-}}`). */
  readonly trimAfter: boolean;
  /** Range of the tag in the document. */
  readonly place: Place;
  /** Column of the tag's first byte. */
  readonly startCol: number;
  /** Column of the tag's last byte. */
  readonly endCol: number;
  /** Set for `{% raw %}` and `{% endraw %}`, which are not Lua and only mark the text between them. */
  readonly raw?: true;
}

/** Thinking of the model, between its tags. */
export interface ThinkingSegment {
  /** Distinguishes thinking from the other segments. */
  readonly kind: "thinking";
  /** Raw lines between the tags; `unescapeThinking` of parser/edits/escape.ts returns the text to send. */
  readonly content: string;
  /** The provider's proof that it wrote the text. */
  readonly signature?: { readonly provider: string; readonly value: string };
  /** True if the provider withholds the text. */
  readonly redacted: boolean;
  /** Range of the thinking in the document. */
  readonly place: Place;
}

/** A tool that the provider ran during the reply, or the citations of the text before it. */
export interface ServerToolSegment {
  /** Distinguishes such a block from the other segments. */
  readonly kind: "server_tool";
  /** What the attribute names: the provider's blocks, or citations of the text before. */
  readonly what: "blocks" | "citations";
  /** The provider, as tags name it: only letters and digits. */
  readonly provider: string;
  /** The attribute's value: Base64 of JSON, or `sha256:` and the digest of stored JSON. */
  readonly value: string;
  /** The lines between the tags, a rendering for readers. */
  readonly content: string;
  /** Range of the block in the document. */
  readonly place: Place;
}

/** The marker below a reply that was cut short. */
export interface AbortSegment {
  /** Distinguishes the marker from the other segments. */
  readonly kind: "aborted";
  /** Reason why the reply was cut short. */
  readonly message: string;
  /** Range of the marker in the document. */
  readonly place: Place;
}

/** A `**Tool Use:**` block with a readable body. */
export interface Call {
  /** Distinguishes a call from the other segments. */
  readonly kind: "tool_use";
  /** Id of the call, which its result names. */
  readonly id: string;
  /** Name of the tool that the call is for. */
  readonly name: string;
  /** The decoded JSON object. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The body exactly as in the document. */
  readonly inputText: string;
  /**
   * Reason why the call cannot run although its body is a JSON object, as the end of a sentence: the input is nested
   * too deeply, or an object in it has a duplicate key. In both cases `input` is empty. Null for every other call.
   */
  readonly flaw: string | null;
  /** The message that contains the call. */
  readonly turn: Turn;
  /** Range of the call in the document. */
  readonly place: Place;
}

/** A `**Tool Result:**` block with a closed fence. */
export interface Result {
  /** Distinguishes a result from the other segments. */
  readonly kind: "tool_result";
  /** Id of the call that the result answers. */
  readonly id: string;
  /** The state of the block; `error` and null are final. */
  readonly status: Status | null;
  /** The spelling of the status in the document; `null` if there is no status. */
  readonly style: StatusStyle | null;
  /** The extra tokens of the result's header; null if there are none. */
  readonly meta: Meta | null;
  /**
   * Names of images and files that the tool returned, from `attachments=` in the header. Each should be the SHA-256 of a
   * file in the state folder, but anyone may have written them.
   */
  readonly attachments: readonly string[];
  /**
   * The lines between the fences joined by LF, nothing trimmed. An empty text means that there is no byte between the
   * fences.
   */
  readonly content: string;
  /**
   * What a server asks in a placeholder, with the answers so far: the text of the fence `yaml flemma:questions`, if the
   * block contains this fence and nothing else. Its `content` is then empty. Null for every other block.
   */
  readonly questions: string | null;
  /** The body parsed for templates; empty for a placeholder. */
  readonly segments: readonly (TextSegment | TemplateSegment)[];
  /** The message that contains the result. */
  readonly turn: Turn;
  /** Range of the result in the document. */
  readonly place: Place;
  /** The header line without its line end. */
  readonly header: Place;
  /** The opening fence line without its line end. */
  readonly opener: Place;
  /** Number of backticks of the opening fence. */
  readonly ticks: number;
}

/** One piece of a message. */
export type Segment =
  | TextSegment
  | TemplateSegment
  | ThinkingSegment
  | ServerToolSegment
  | AbortSegment
  | Call
  | Result;

/** One message: a role marker and the text after it, up to the next marker outside a fence. */
export interface Turn {
  /** `System`, `You`, `Assistant`, or any other word (an unknown role). */
  readonly role: string;
  /** Position in `Chat.turns`. */
  readonly index: number;
  /** Range from the marker to the last byte before the next marker, including stripped blank lines. */
  readonly place: Place;
  /** Pieces of the message, in order. */
  readonly segments: readonly Segment[];
  /** The message's readable calls. */
  readonly calls: readonly Call[];
  /** The message's readable results. */
  readonly results: readonly Result[];
}

/** A parsed document. Immutable; `update` of parser/mod.ts creates the next one. */
export interface Chat {
  /** All bytes in one array; after an update they are joined on first use. */
  readonly bytes: Uint8Array;
  /** Number of bytes. */
  readonly byteLength: number;
  /** The syntax tree, as editors use it. */
  readonly tree: SyntaxTree;
  /** Number of lines. */
  readonly lineCount: number;
  /** Line end of the document: CR LF only if every line ends with it. */
  readonly eol: "\n" | "\r\n";
  /** True if the document begins with a byte order mark. */
  readonly bom: boolean;
  /** The frontmatter; null if there is none. */
  readonly frontmatter: Frontmatter | null;
  /** Text before the first message, outside the frontmatter; null if there are only blank lines. */
  readonly preamble: Preamble | null;
  /** All messages in order. */
  readonly turns: readonly Turn[];
  /** Number of messages. */
  readonly turnCount: number;
  /**
   * Returns the message that contains a byte offset; `undefined` before the first message. Does not parse the other
   * messages.
   */
  turnAt(offset: number): Turn | undefined;
  /** Every readable call, in document order. */
  readonly calls: readonly Call[];
  /** Every readable result, in document order. */
  readonly results: readonly Result[];
  /** Result headers without a readable body, perhaps because a person is editing them. */
  readonly brokenResults: readonly { readonly id: string; readonly line: number }[];
  /** All findings in document order. */
  readonly diagnostics: readonly Diagnostic[];
  /** Returns the last call with this id. */
  call(id: string): Call | undefined;
  /** Returns the last result with this id. */
  result(id: string): Result | undefined;
  /** Returns the 1-based line of a byte offset. */
  lineAt(offset: number): number;
  /** Returns the byte offset of the first byte of a 1-based line; the document's length past the last line. */
  lineStart(line: number): number;
  /** Returns the byte offset directly after the last byte of a line, without its line end. */
  lineEnd(line: number): number;
  /** Returns the text of a line without its line end. */
  lineText(line: number): string;
  /** Returns the decoded text of a byte range. */
  text(from: number, to: number): string;
  /** Returns the bytes of a range. Copies only this range, while `bytes` may have to join the whole document. */
  slice(from: number, to: number): Uint8Array;
  /** Returns all bytes from an offset on, in their stored pieces, without joining or copying. */
  parts(from?: number): Iterable<Uint8Array>;
}
