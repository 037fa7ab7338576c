// Builds the context of one call inside the host, from facts that are plain data. The context has the published members
// and those of flemma.

import { isInside, resolvePath } from "../../../base/paths.ts";
import { formatSize, MAX_LINE_CHARS, truncateHead, truncateLine, truncateTail } from "../../truncate.ts";
import type { CallFacts, Question } from "../protocol.ts";

/** Connection of the context to the program during a call. */
export interface Channel {
  readonly signal: AbortSignal;
  output(text: string): void;
  client(message: unknown): void;
  /**
   * Sends a question to the program and returns the answer. `text` is part of the question, and may have any length.
   */
  ask(question: Question, text?: string): Promise<unknown>;
}

/** Published members of the context that have no meaning in flemma. Their value is always false. */
const NEVER = {
  forcePromptSideEffects: false,
  requireFreshApproval: false,
  isPlatformHosted: false,
  diskPressureCleanupModeActive: false,
  triggeredBySurfaceAction: false,
  batchAuthorizedByTask: false,
};

/** Builds the second argument of `execute`. */
export function contextOf(facts: CallFacts, channel: Channel): Record<string, unknown> {
  const { document, base, home, workingDir, limits } = facts;
  const dirname = document === null ? null : base;
  const getConfig = () => structuredClone(facts.config);
  const isPathWritable = (path: string) => mayWrite(path, facts);
  const wrapCommand = (argv: readonly string[]) =>
    facts.wraps ? channel.ask({ for: "wrap", argv }) : Promise.resolve({ ok: true, argv });
  const within = (given: object = {}) => ({ ...limits, ...given });
  const head = (text: string, given?: object) => truncateHead(text, within(given));
  const tail = (text: string, given?: object) => truncateTail(text, within(given));
  const overflow = (text: string, options: unknown) =>
    channel.ask({ for: "overflow", options }, String(text));
  return {
    ...NEVER,
    conversationId: facts.conversationId,
    workingDir,
    requestId: facts.requestId,
    signal: channel.signal,
    onOutput: (chunk: unknown) => channel.output(String(chunk)),
    isInteractive: facts.isInteractive,
    toolUseId: facts.toolUseId,
    allowedToolNames: new Set(facts.allowedToolNames),
    trustClass: "guardian",
    approvedViaPrompt: facts.approvedViaPrompt,
    executionChannel: "cli",
    sendToClient: (message: unknown) => channel.client(message),
    ...(facts.asksSecrets
      ? { requestSecret: (params: unknown) => channel.ask({ for: "secret", params }) }
      : {}),
    document,
    filename: document,
    dirname,
    __filename: document,
    __dirname: dirname,
    cwd: workingDir,
    timeout: facts.timeout,
    toolId: facts.toolUseId,
    tool_id: facts.toolUseId,
    env: Object.freeze({ ...facts.env }),
    path: { resolve: (path: string) => resolvePath(path, { folder: base, home }) },
    sandbox: { isPathWritable, is_path_writable: isPathWritable, wrapCommand, wrap_command: wrapCommand },
    truncate: {
      MAX_LINES: limits.maxLines,
      MAX_BYTES: limits.maxBytes,
      MAX_LINE_CHARS,
      truncateHead: head,
      truncate_head: head,
      truncateTail: tail,
      truncate_tail: tail,
      truncateLine,
      truncate_line: truncateLine,
      truncateWithOverflow: overflow,
      truncate_with_overflow: overflow,
      formatSize,
      format_size: formatSize,
    },
    getConfig,
    get_config: getConfig,
  };
}

/**
 * True if the policy allows writing a path. Only informative: the sandbox enforces the policy whatever this returns.
 */
function mayWrite(path: string, { writable }: CallFacts): boolean {
  if (writable === null) return true;
  const real = realOf(path);
  const longest = (roots: readonly string[]) =>
    Math.max(-1, ...roots.filter((root) => isInside(real, root)).map(({ length }) => length));
  const open = longest(writable.roots);
  return open >= 0 && open > longest(writable.protect);
}

/** The real path; its last parts may not exist yet. */
function realOf(path: string): string {
  for (let at = path, rest = ""; at !== "";) {
    try {
      return `${Deno.realPathSync(at)}${rest}`;
    } catch {
      const cut = at.lastIndexOf("/");
      rest = `${at.slice(cut)}${rest}`;
      at = at.slice(0, cut);
    }
  }
  return path;
}
