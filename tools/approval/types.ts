// The words of the approval chain (approval sections 1 and 2).

import type { PlacedRule } from "../../config/rules/rule.ts";

/** What a resolver may answer; null or undefined passes the question on. */
export type Decision = "approve" | "require_approval" | "deny";

/** Where a call stands. */
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

/** Somebody who is asked about calls. */
export interface ResolverDefinition {
  /** Whether it may have something to say about a tool; where not, it is neither asked nor told of. @default always */
  concerns?(tool: string): boolean;
  /** Decides about a call, or passes the question on. The input is frozen. */
  resolve(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    context: ApprovalContext,
  ): Decision | null | undefined | Promise<Decision | null | undefined>;
  /** Who is asked first; higher goes before lower. @default 50 */
  readonly priority?: number;
  /** One sentence for status. */
  readonly description?: string;
  /** Why it decided about a call as it did; asked after it decided, about the same input. */
  why?(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    context: ApprovalContext,
  ): Explanation | null | Promise<Explanation | null>;
  /** What it goes by for a call, whether it decides or passes, in lines for a person who asks. */
  explain?(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    context: ApprovalContext,
  ): readonly string[] | Promise<readonly string[]>;
}

/** Why a resolver decided. */
export interface Explanation {
  /** Why, in one line. */
  readonly detail: string;
  /** The rule that it went by. */
  readonly rule?: PlacedRule;
  /** What the model is told of a denial. @default that policy denied it */
  readonly forModel?: string;
}

/** What one resolver of the chain said about a call. */
export interface ChainLink {
  /** Its name. */
  readonly name: string;
  /** Who is asked first; higher goes before lower. */
  readonly priority: number;
  /** Its answer: `pass` for none, `error` when it failed, `absent` when there is nothing that it could go by. */
  readonly answer: Decision | "pass" | "error" | "absent";
  /** Why, in lines; empty when it does not say. */
  readonly detail: string;
}

/** A resolver as it is registered. */
export interface ResolverEntry extends ResolverDefinition {
  /** Its name, which is the source of its verdicts. */
  readonly name: string;
  /** Who is asked first; higher goes before lower. */
  readonly priority: number;
}

/** A decision, who made it (`default` = nobody), and one line that says why. */
export interface ApprovalDecision {
  /** What becomes of the call. */
  readonly decision: Decision;
  /** Name of the resolver that decided. */
  readonly source: string;
  /** Why, in one line. */
  readonly detail?: string;
  /** A word in the text counts only for the text of the call as the person was asked about it. @default false */
  readonly bound?: boolean;
  /** The rule that decided. */
  readonly rule?: PlacedRule;
  /** What the model is told of a denial. @default that policy denied it */
  readonly forModel?: string;
  /** What each resolver said, where somebody asked why. */
  readonly chain?: readonly ChainLink[];
}

/** Nobody can decide about a call while the source that may bring its tool is not there. */
export function waitsForSource(source: string): ApprovalDecision {
  return {
    decision: "require_approval",
    source,
    detail: `its tool may come from ${source}, which is not there`,
  };
}
