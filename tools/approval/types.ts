// The words of the approval chain (approval sections 1 and 2).

/** What a resolver may answer; null or undefined passes the question on. */
export type Decision = "approve" | "require_approval" | "deny";

export interface ApprovalContext {
  readonly toolId: string;
  /** Absolute path of the document, or null when unsaved. */
  readonly document: string | null;
  readonly dirname: string | null;
  readonly cwd: string;
}

export interface ResolverDefinition {
  resolve(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    context: ApprovalContext,
  ): Decision | null | undefined | Promise<Decision | null | undefined>;
  /** @default 50 */
  readonly priority?: number;
  readonly description?: string;
}

export interface ResolverEntry extends ResolverDefinition {
  readonly name: string;
  readonly priority: number;
}

/** A decision, who made it (`default` = nobody), and one line that says why. */
export interface Verdict {
  readonly decision: Decision;
  readonly source: string;
  readonly detail?: string;
}
