// Everything built for a document from its current frontmatter.

import type { Environment } from "../../base/environment.ts";
import type { SettingsSources } from "../../config/sources/find.ts";
import type { Cycle, CycleParts } from "../../cycle/mod.ts";
import type { RunLimits } from "../../cycle/send/limits.ts";
import type { BatchedRequest, Pause } from "../../cycle/send/options.ts";
import type { DocumentStore, Journal } from "../../cycle/types.ts";
import type { Call, Diagnostic } from "../../parser/types.ts";
import type { EvaluatedFrontmatter } from "../../prompt/evaluate.ts";
import type { RunSandbox } from "../../sandbox/mod.ts";
import type { Decide, RuleEvaluator } from "../../tools/approval/mod.ts";
import type { RuleSubject } from "../../tools/approval/rules_of.ts";
import type { RegisteredTool, ToolDefinition } from "../../tools/definition.ts";
import type { ToolServers } from "../extensions/mcp.ts";
import type { RunHooks } from "../conversation/hooks/around_run.ts";
import type { FileChanges } from "../trust/file_changes.ts";
import type { WrittenFiles } from "../review/written_files.ts";
import type { Blocks, SubjectSettings } from "../settings.ts";
import type { DocumentGuard } from "../trust/guard.ts";
import type { UntrustedDocument } from "../trust/untrusted.ts";
import type { DocumentHelpers } from "./helpers/ask.ts";
import type { AskingOptions } from "./helpers/types.ts";
import type { ChatOptions } from "../types.ts";
import type { JobKeeper, SharedParts } from "./jobs/keeper.ts";
import type { JobsOnDemand } from "./jobs/on_demand.ts";
import type { GuardedOptions } from "./host/callbacks.ts";

export interface Runtime {
  /** The parts of the document from which the runtime was built. */
  readonly blocks: Blocks;
  readonly subject: SubjectSettings;
  readonly sandbox: RunSandbox;
  readonly journal: Journal;
  readonly servers: ToolServers;
  /** Changes of commands to watched files. */
  readonly changes: FileChanges;
  readonly cycle: Cycle;
  readonly jobs: JobsOnDemand;
  /** Returns what another run needs to go on with the jobs. */
  kept(): SharedParts;
  /** The hooks; null if none is configured. */
  readonly hooks: RunHooks | null;
  /** The helpers that the document may ask; null if it may ask none. */
  readonly helpers: DocumentHelpers | null;
  /** Takes the document back after a wait that was canceled; undefined if no other run can use the document. */
  readonly pause: Pick<Pause, "reclaim"> | undefined;
  /** What remains of the limits of a run. */
  readonly limits: RunLimits;
  /** True if the person trusts the document. */
  isTrusted(): Promise<boolean>;
  /** Ends the processes of tools, and reports their end; they start again when needed. */
  endTools(): Promise<void>;
  /** Stops waiting for tool sources, so that none of them keeps the process alive. */
  forgetTools(): void;
  /** Findings that keep the cycle and every request from starting. */
  readonly blockers: SubjectSettings["diagnostics"];
  /** Looks up a tool, after loading the code that the settings name. */
  tool(name: string): Promise<RegisteredTool | undefined>;
  /**
   * Returns the definitions of the tools that a request would offer now, by name. Tools of sources that have not
   * answered are missing.
   */
  offered(): readonly ToolDefinition[];
  /** Returns the names of the tools whose result may be a reference to a file. */
  templatedTools(): readonly string[];
  /** Prepares the frontmatter for sending. */
  evaluated(): Promise<EvaluatedFrontmatter>;
  /**
   * Waits until every tool source has answered; returns the findings that prevent a request.
   *
   * @param signal ends the wait
   */
  toolsReady(signal?: AbortSignal): Promise<readonly Diagnostic[]>;
  /** Returns known mistakes in the list of tools, found without asking any source. */
  unknownTools(): readonly Diagnostic[];
  decide: Decide;
  /** Evaluator of the rules about inputs; null if there are no rules. */
  readonly rules: RuleEvaluator | null;
  readonly ruled: RuleSubject;
  /** Shows files as calls would change them. */
  readonly written: WrittenFiles;
  /** Reason why policy may not approve the document's calls; null if it may. */
  readonly untrustedDocument: UntrustedDocument | null;
  /**
   * Sentences that explain why policy does not decide calls of this document, or which parts of the document take
   * effect only after the person confirms them.
   */
  readonly doubts: readonly string[];
  /** The same sentences for the document as it is now. */
  doubtsNow(): Promise<readonly string[]>;
  /** The recorded approval of a call, if it counts. */
  readonly approvalOf: NonNullable<CycleParts["approvalOf"]>;
  readonly guard: DocumentGuard;
  /** Ends what was started for calls and kept for the next call. The next call starts it again if needed. */
  rest(): Promise<void>;
  preview(call: Call): string;
  /** True if the preview omits part of the call. */
  previewIsCut(call: Call): boolean;
}

/** The options of a host, with the environment filled in. */
export type RuntimeOptions = ChatOptions & Partial<GuardedOptions> & AskingOptions & {
  readonly environment: Environment;
  readonly readOnly: boolean;
  /** True if neither the requests nor their replies are part of the document, as for a summary. @default false */
  readonly isAside?: boolean;
  /** The batch that takes the requests. @default requests go to the provider */
  readonly batch?: BatchedRequest;
  /** True if runs of the document may have background jobs. */
  readonly jobs: boolean;
  /** Keeps the jobs after a run. @default jobs end with their run */
  readonly jobKeeper?: JobKeeper;
};

/** Data that was read for a document before it is opened, so that it is not read again. */
export interface ReadBefore {
  readonly sources?: SettingsSources;
  /** The settings, loaded for the same path and frontmatter. */
  readonly subject?: SubjectSettings;
  /** Parts of an earlier run whose jobs still run. */
  readonly kept?: SharedParts | null;
}

export interface Composed {
  readonly store: DocumentStore;
  readonly blocks: Blocks;
  readonly subject: SubjectSettings;
  readonly journal: Journal;
}
