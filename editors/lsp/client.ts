// The editor as the server sees it: its capabilities, and all requests and notifications to it.

import { visible } from "../../base/visible.ts";
import type { Diagnostic, Position, Range, TextEdit, WorkspaceEdit } from "vscode-languageserver-types";
import { isObject } from "../../base/is_object.ts";
import { type Problem, problemParagraph } from "../../base/problem.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { type Peer, RpcRefusal } from "../rpc/peer.ts";
import { EventBatch } from "./event_batch.ts";
import type { Encoding } from "./positions.ts";

/** The capabilities that the editor declared when it started the server. */
export interface Abilities {
  readonly encoding: Encoding;
  /** True if the editor asks for diagnostics itself; the server then sends none without a request. */
  readonly pullsDiagnostics: boolean;
  /** True if the editor accepts edits with the version that they apply to. */
  readonly versionedEdits: boolean;
  /** True if the editor applies edits that the server asks for. */
  readonly appliesEdits: boolean;
  readonly progress: boolean;
  readonly showsDocuments: boolean;
  readonly watchesFiles: boolean;
  readonly foldsWithText: boolean;
  readonly foldsLinesOnly: boolean;
  readonly symbolTree: boolean;
  /** What the editor requests again when it is asked to refresh. */
  readonly refreshes: { readonly diagnostics: boolean; readonly hints: boolean; readonly lenses: boolean };
  /** The extensions of this server that the editor asked for: events, and notices of files that tools changed. */
  readonly wants: { readonly stream: boolean; readonly filesChanged: boolean };
}

/** Reads the parameters of `initialize`. */
export function abilitiesOf(params: unknown): Abilities {
  const has = (...path: readonly string[]) => memberOf(params, ["capabilities", ...path]);
  const wants = (name: string) => memberOf(params, ["initializationOptions", "flemma", name]) === true;
  const encodings = has("general", "positionEncodings");
  return {
    encoding: Array.isArray(encodings) && encodings.includes("utf-8") ? "utf-8" : "utf-16",
    pullsDiagnostics: isObject(has("textDocument", "diagnostic")),
    versionedEdits: has("workspace", "workspaceEdit", "documentChanges") === true,
    appliesEdits: has("workspace", "applyEdit") === true,
    progress: has("window", "workDoneProgress") === true,
    showsDocuments: has("window", "showDocument", "support") === true,
    watchesFiles: has("workspace", "didChangeWatchedFiles", "dynamicRegistration") === true,
    foldsWithText: has("textDocument", "foldingRange", "foldingRange", "collapsedText") === true,
    foldsLinesOnly: has("textDocument", "foldingRange", "lineFoldingOnly") === true,
    symbolTree: has("textDocument", "documentSymbol", "hierarchicalDocumentSymbolSupport") === true,
    refreshes: {
      diagnostics: has("workspace", "diagnostics", "refreshSupport") === true,
      hints: has("workspace", "inlayHint", "refreshSupport") === true,
      lenses: has("workspace", "codeLens", "refreshSupport") === true,
    },
    wants: { stream: wants("stream"), filesChanged: wants("filesChanged") },
  };
}

/** Returns the member at the end of a path of names; undefined if one is missing. */
export function memberOf(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => isObject(inner) ? inner[name] : undefined, value);
}

/** Severities of messages for a person, as the protocol numbers them. */
export const MessageType = { error: 1, warning: 2, info: 3 } as const;

export interface VersionedEdits {
  readonly uri: string;
  readonly version: number;
  readonly edits: readonly TextEdit[];
}

export class Client {
  readonly abilities: Abilities;
  readonly #peer: Pick<Peer, "request" | "notify">;
  #lastToken = 0;
  /** Events to send, by document. */
  readonly #events = new Map<string, EventBatch>();

  constructor(peer: Pick<Peer, "request" | "notify">, abilities: Abilities) {
    this.#peer = peer;
    this.abilities = abilities;
  }

  /** Converts edits to the form that the editor accepts. */
  workspaceEdit({ uri, version, edits }: VersionedEdits): WorkspaceEdit {
    return this.abilities.versionedEdits
      ? { documentChanges: [{ textDocument: { uri, version }, edits: [...edits] }] }
      : { changes: { [uri]: [...edits] } };
  }

  /**
   * Asks the editor for edits; settles with its answer. Only the next change of the document shows whether they were
   * applied.
   */
  applyEdit(label: string, edits: VersionedEdits): Promise<unknown> {
    return this.#peer.request("workspace/applyEdit", { label, edit: this.workspaceEdit(edits) });
  }

  publishDiagnostics(uri: string, version: number | undefined, diagnostics: readonly Diagnostic[]): void {
    this.#peer.notify("textDocument/publishDiagnostics", {
      uri,
      ...(version === undefined ? {} : { version }),
      diagnostics,
    });
  }

  say(level: number, message: string): void {
    this.#peer.notify("window/showMessage", { type: level, message: visible(message, { lines: true }) });
  }

  /** Shows a problem with its remedy. */
  problem(problem: Problem): void {
    this.say(MessageType.error, problemParagraph(problem));
  }

  /** Logs a message without showing it. */
  log(message: string): void {
    this.#peer.notify("window/logMessage", {
      type: MessageType.info,
      message: visible(message, { lines: true }),
    });
  }

  /** Shows a place without taking the focus. */
  showPlace(uri: string, start: Position): void {
    if (!this.abilities.showsDocuments) return;
    const selection: Range = { start, end: start };
    void this.#peer.request("window/showDocument", { uri, takeFocus: false, selection });
  }

  /** Starts a progress report; null if the editor does not want any. */
  async progress(given: unknown, title: string): Promise<Progress | null> {
    let token = given;
    if (typeof token !== "string" && typeof token !== "number") {
      if (!this.abilities.progress) return null;
      token = `flemma-${++this.#lastToken}`;
      const created = await this.#peer.request("window/workDoneProgress/create", { token });
      if (created instanceof RpcRefusal) return null;
    }
    const tell = (value: Record<string, unknown>) => this.#peer.notify("$/progress", { token, value });
    tell({ kind: "begin", title, cancellable: true });
    return {
      token: token as string | number,
      report: (message) => tell({ kind: "report", message, cancellable: true }),
      end: (message) => tell({ kind: "end", message }),
    };
  }

  event(uri: string, event: CycleEvent): void {
    if (!this.abilities.wants.stream) return;
    let batch = this.#events.get(uri);
    if (batch === undefined) {
      batch = new EventBatch((event) => this.#peer.notify("flemma/event", { uri, event }));
      this.#events.set(uri, batch);
    }
    batch.add(event);
  }

  /** Drops what belongs to a document that the editor closed. */
  forget(uri: string): void {
    this.#events.delete(uri);
  }

  filesChanged(uri: string, paths: readonly string[]): void {
    if (this.abilities.wants.filesChanged) this.#peer.notify("flemma/filesChanged", { uri, paths });
  }

  /** Asks the editor to request diagnostics, hints and lenses again. */
  refresh(): void {
    const { diagnostics, hints, lenses } = this.abilities.refreshes;
    if (diagnostics && this.abilities.pullsDiagnostics) {
      void this.#peer.request("workspace/diagnostic/refresh", undefined);
    }
    if (hints) void this.#peer.request("workspace/inlayHint/refresh", undefined);
    if (lenses) void this.#peer.request("workspace/codeLens/refresh", undefined);
  }

  /** Asks for notifications about files that affect documents. */
  watch(patterns: readonly string[]): void {
    if (!this.abilities.watchesFiles) return;
    void this.#peer.request("client/registerCapability", {
      registrations: [{
        id: "flemma-files",
        method: "workspace/didChangeWatchedFiles",
        registerOptions: { watchers: patterns.map((globPattern) => ({ globPattern })) },
      }],
    });
  }
}

export interface Progress {
  readonly token: string | number;
  report(message: string): void;
  end(message: string): void;
}
