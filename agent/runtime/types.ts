// What holds for a document while its first block stays the same.

import type { Environment } from "../../base/environment.ts";
import type { Sources } from "../../config/sources/find.ts";
import type { Cycle } from "../../cycle/mod.ts";
import type { RunLimits } from "../../cycle/send/limits.ts";
import type { DocumentStore, Journal } from "../../cycle/types.ts";
import type { Call, Diagnostic } from "../../parser/types.ts";
import type { EvaluatedFrontmatter } from "../../prompt/evaluate.ts";
import type { RunSandbox } from "../../sandbox/mod.ts";
import type { Decide, RuleEvaluator } from "../../tools/approval/mod.ts";
import type { RuleSubject } from "../../tools/approval/rules_of.ts";
import type { RegisteredTool, ToolDefinition } from "../../tools/definition.ts";
import type { ToolServers } from "../extensions/mcp.ts";
import type { FileChanges } from "../trust/file_changes.ts";
import type { WrittenFiles } from "../review/written_files.ts";
import type { Blocks, SubjectSettings } from "../settings.ts";
import type { DocumentGuard } from "../trust/guard.ts";
import type { UntrustedDocument } from "../trust/untrusted.ts";
import type { ChatOptions } from "../types.ts";

/** What holds for a document until its first block changes. */
export interface Runtime {
  /** What of the document all this is made from. */
  readonly blocks: Blocks;
  readonly subject: SubjectSettings;
  readonly sandbox: RunSandbox;
  readonly journal: Journal;
  /** Servers of tools. */
  readonly servers: ToolServers;
  /** What commands did to watched files. */
  readonly changes: FileChanges;
  readonly cycle: Cycle;
  /** What the requests of a run may use. */
  readonly limits: RunLimits;
  /** Ends the processes of tools, and tells what came of them; they start anew when they are needed. */
  endTools(): Promise<void>;
  /** Hears sources of tools no more: what is still waited for keeps nothing alive. */
  forgetTools(): void;
  /** Findings that keep the cycle and every request from starting. */
  readonly blockers: SubjectSettings["diagnostics"];
  /** The tool of a name, once the code that settings name is loaded. */
  tool(name: string): Promise<RegisteredTool | undefined>;
  /** The tools a request offers, by name, of those that are there now. */
  offered(): readonly ToolDefinition[];
  /** Names of the tools whose result may be a reference to a file. */
  templatedTools(): readonly string[];
  /** What sending needs of the first block. */
  evaluated(): Promise<EvaluatedFrontmatter>;
  /**
   * Waits until every source of tools has answered; gives what then keeps a request from being made.
   *
   * @param signal ends the waiting
   */
  toolsReady(signal?: AbortSignal): Promise<readonly Diagnostic[]>;
  /** What is known to be wrong with the list of tools, without asking any source. */
  unknownTools(): readonly Diagnostic[];
  decide: Decide;
  /** The rules over inputs; null when there are none. */
  readonly rules: RuleEvaluator | null;
  /** Whose rules they are. */
  readonly ruled: RuleSubject;
  /** Files as calls would change them. */
  readonly written: WrittenFiles;
  /** Why policy may not approve what the document asks for; null when it may. */
  readonly untrustedDocument: UntrustedDocument | null;
  /** Why policy does not decide about calls of this document, or what of it counts only once it is confirmed. */
  readonly doubts: readonly string[];
  readonly guard: DocumentGuard;
  /** Ends what was started for calls and kept for the next one; another call starts it anew. */
  rest(): Promise<void>;
  /** One line that shows a call. */
  preview(call: Call): string;
  /** Whether the preview leaves something of the call out. */
  previewIsCut(call: Call): boolean;
}

/** The options of a host, with the environment settled. */
export type RuntimeOptions = ChatOptions & {
  readonly environment: Environment;
  readonly readOnly: boolean;
};

/** What was read for a document before its session opens, so that it is not read again. */
export interface ReadBefore {
  readonly sources?: Sources;
  /** The settings, loaded for the same path and first block. */
  readonly subject?: SubjectSettings;
}

/** What a runtime is composed from. */
export interface Composed {
  readonly store: DocumentStore;
  readonly blocks: Blocks;
  readonly subject: SubjectSettings;
  readonly journal: Journal;
}
