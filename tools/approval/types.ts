// Types of the approval chain.

import type { PlacedRule } from "../../config/rules/rule.ts";

/** Answer of a resolver; null or undefined passes the question on. */
export type Decision = "approve" | "require_approval" | "deny";

/** Circumstances of a call. */
export interface ApprovalContext {
  /** Id of the call. */
  readonly toolId: string;
  /** Absolute path of the document, or null when unsaved. */
  readonly document: string | null;
  /** Folder of the document, or null when unsaved. */
  readonly dirname: string | null;
  /** Working folder of the process. */
  readonly cwd: string;
}

/** A resolver: decides calls or passes them on. */
export interface ResolverDefinition {
  /** True if the resolver may answer about a tool. If not, it is neither asked nor listed. @default always */
  concerns?(tool: string): boolean;
  /** Decides a call, or passes it on. The input is frozen. */
  resolve(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    context: ApprovalContext,
  ): Decision | null | undefined | Promise<Decision | null | undefined>;
  /** Position in the chain: resolvers with a higher priority are asked first. @default 50 */
  readonly priority?: number;
  /** One sentence for status output. */
  readonly description?: string;
  /** Returns why the resolver decided a call that way. Called after the decision, with the same input. */
  why?(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    context: ApprovalContext,
  ): Explanation | null | Promise<Explanation | null>;
  /** Returns what the resolver considers for a call, whether it decides or passes, as lines for a person. */
  explain?(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    context: ApprovalContext,
  ): readonly string[] | Promise<readonly string[]>;
}

/** Reason for a resolver's decision. */
export interface Explanation {
  /** The reason, in one line. */
  readonly detail: string;
  /** The rule that the resolver applied. */
  readonly rule?: PlacedRule;
  /** The reason for a denial, shown to the model. @default that policy denied it */
  readonly forModel?: string;
}

/** What one resolver of the chain answered about a call. */
export interface ChainLink {
  /** Name of the resolver. */
  readonly name: string;
  /** Order in the chain; higher is asked first. */
  readonly priority: number;
  /**
   * Answer of the resolver. `pass`: it did not decide. `error`: it failed. `absent`: it has nothing to apply, so it was
   * not asked.
   */
  readonly answer: Decision | "pass" | "error" | "absent";
  /** Reason for the answer, in lines; empty if the resolver does not say. */
  readonly detail: string;
}

/** A registered resolver. */
export interface ResolverEntry extends ResolverDefinition {
  /** Name of the resolver, which is the source of its decisions. */
  readonly name: string;
  /** Order in the chain; higher is asked first. */
  readonly priority: number;
}

/** A decision, its source (`default` if no resolver decided), and one line that says why. */
export interface ApprovalDecision {
  /** What happens to the call. */
  readonly decision: Decision;
  /** Name of the resolver that decided. */
  readonly source: string;
  /** Reason for the decision, in one line. */
  readonly detail?: string;
  /**
   * True if an approval written in the document counts only for the text of the call that the person was shown.
   * @default false
   */
  readonly bound?: boolean;
  /** True if the person gets the reason in a sentence about all such calls. @default false */
  readonly reported?: boolean;
  /** The rule that decided. */
  readonly rule?: PlacedRule;
  /** The reason for a denial, shown to the model. @default that policy denied it */
  readonly forModel?: string;
  /** Answer of each resolver, if an explanation was requested. */
  readonly chain?: readonly ChainLink[];
}

/** Decision for a call whose tool may come from a source that is not available: it waits for a person. */
export function waitsForSource(source: string): ApprovalDecision {
  return {
    decision: "require_approval",
    source,
    detail: `its tool may come from ${source}, which is not available`,
  };
}
