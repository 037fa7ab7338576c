// A language server for `.chat` documents: dispatches the editor's requests and notifications.

import { RequestLimiter } from "../../agent/open.ts";
import type { Environment } from "../../base/environment.ts";
import { configFolder } from "../../base/folders.ts";
import { isObject } from "../../base/is_object.ts";
import { thrownText } from "../../base/problem.ts";
import { framesWithHeader, withHeader } from "../rpc/framing.ts";
import { Peer, type RpcCall, RpcCode, RpcRefusal } from "../rpc/peer.ts";
import { abilitiesOf, Client, memberOf } from "./client.ts";
import { Commands, LSP_COMMANDS } from "./commands.ts";
import { OpenDocument, positionIn, rangeIn } from "./document.ts";
import { codeActions } from "./features/actions.ts";
import { completion, onlyIn, TRIGGERS } from "./features/completion.ts";
import { findingsOf } from "./features/diagnostics.ts";
import { codeLenses, inlayHints } from "./features/hints.ts";
import { hover } from "./features/hover.ts";
import { foldingRanges, selectionRanges, symbolList, symbolTree } from "./features/outline.ts";
import { definition, documentLinks, highlights, references } from "./features/references.ts";
import { onType } from "./features/on_type.ts";
import { LEGEND, Tokens } from "./features/tokens.ts";
import { pendingSymbols } from "./features/pending.ts";

export interface ServeOptions {
  readonly input: AsyncIterable<Uint8Array>;
  readonly write: (bytes: Uint8Array) => Promise<void>;
  readonly environment: Environment;
  readonly version: string;
  /** Shuts the server down in order when it aborts, like the end of the input. */
  readonly signal?: AbortSignal;
}

/** Files that affect documents: those near them, and the person's own settings. */
const watched = (
  environment: Environment,
) => ["**/.flemma/**", "**/*.chat", `${configFolder(environment)}/**`];

/** Serves until the editor sends `exit` or disconnects; returns the exit code that the protocol requires. */
export async function serveEditor(options: ServeOptions): Promise<number> {
  const server = new Server(options);
  return await server.run();
}

type Answer = (server: Server, params: unknown, call: RpcCall) => unknown;

/** The requests, each answered for the document that it names. */
const REQUESTS: Readonly<Record<string, Answer>> = {
  "textDocument/diagnostic": (server, params) => server.pulled(params),
  "textDocument/codeAction": (server, params) =>
    server.on(params, (document) => {
      const range = rangeIn(memberOf(params, ["range"]));
      return range === null
        ? []
        : codeActions(document, server.client, { range, only: onlyIn(memberOf(params, ["context"])) });
    }),
  "textDocument/foldingRange": (server, params) =>
    server.on(params, ({ counted }) => foldingRanges(counted.chat, server.client.abilities)),
  "textDocument/documentSymbol": (server, params) =>
    server.on(
      params,
      ({ counted, uri }) =>
        server.client.abilities.symbolTree ? symbolTree(counted) : symbolList(counted, uri),
    ),
  "workspace/symbol": (server, params) => pendingSymbols(server.documents, memberOf(params, ["query"])),
  "textDocument/selectionRange": (server, params) =>
    server.on(params, ({ counted }) => {
      const list = memberOf(params, ["positions"]);
      return selectionRanges(
        counted,
        Array.isArray(list) ? list.map(positionIn).filter((each) => each !== null) : [],
      );
    }),
  "textDocument/documentHighlight": (server, params) => server.at(params, highlights),
  "textDocument/definition": (server, params) => server.at(params, definition),
  "textDocument/references": (server, params) => server.at(params, references),
  "textDocument/documentLink": (server, params) =>
    server.on(params, (document) => documentLinks(document, server.environment)),
  "textDocument/hover": (server, params) => server.at(params, hover),
  "textDocument/inlayHint": (server, params) =>
    server.on(params, (document) => {
      const range = rangeIn(memberOf(params, ["range"]));
      return inlayHints(document, range?.start.line ?? 0, range?.end.line ?? Infinity);
    }),
  "textDocument/codeLens": (server, params) => server.on(params, codeLenses),
  "textDocument/completion": (server, params) =>
    server.at(params, (document, position) => completion(document, position, server.environment)),
  "textDocument/onTypeFormatting": (server, params) => server.at(params, onType),
  "textDocument/semanticTokens/full": (server, params) =>
    server.on(params, (document) => server.tokens.full(document)),
  "textDocument/semanticTokens/full/delta": (server, params) =>
    server.on(params, (document) => server.tokens.delta(document, memberOf(params, ["previousResultId"]))),
  "textDocument/semanticTokens/range": (server, params) =>
    server.on(params, (document) => {
      const range = rangeIn(memberOf(params, ["range"]));
      return range === null ? null : server.tokens.range(document, range.start.line, range.end.line);
    }),
  "workspace/executeCommand": (server, params, { signal }) => server.commands.execute(params, signal),
};

const NOTIFICATIONS: Readonly<Record<string, Answer>> = {
  "initialized": (server) => server.client.watch(watched(server.environment)),
  "textDocument/didOpen": (server, params) => server.open(params),
  "textDocument/didChange": (server, params) => server.change(params),
  "textDocument/didClose": (server, params) => server.close(params),
  "textDocument/didSave": (server) => server.refresh(),
  "workspace/didChangeWatchedFiles": (server) => server.refresh(),
  "workspace/didChangeConfiguration": (server) => server.refresh(),
  "window/workDoneProgress/cancel": (server, params) =>
    server.commands.cancelProgress(memberOf(params, ["token"])),
};

class Server {
  readonly environment: Environment;
  readonly commands: Commands;
  readonly tokens = new Tokens();
  readonly #options: ServeOptions;
  readonly #peer: Peer;
  readonly #documents = new Map<string, OpenDocument>();
  readonly #limiter = new RequestLimiter();
  readonly #stop = new AbortController();
  #client: Client | null = null;
  #shutDown = false;
  /** Documents whose findings are being sent, and whether they must be sent again. */
  readonly #telling = new Map<OpenDocument, { again: boolean }>();

  constructor(options: ServeOptions) {
    const { input, write, environment } = options;
    this.#options = options;
    this.environment = environment;
    this.#peer = new Peer({
      frames: framesWithHeader(input),
      write: (text) => write(withHeader(text)),
      handler: (call) => this.#handle(call),
      cancel: { method: "$/cancelRequest", member: "id" },
      onFault: (method, thrown) => this.#client?.log(`${method}: Internal error: ${thrownText(thrown)}`),
    });
    this.commands = new Commands({
      environment,
      client: () => this.client,
      document: (uri) => this.#documents.get(String(uri)),
    });
    options.signal?.addEventListener("abort", () => this.#stop.abort(), { once: true });
  }

  /** Returns the editor; throws before `initialize`. */
  get client(): Client {
    if (this.#client === null) throw new Error("the server is not initialized");
    return this.#client;
  }

  get documents(): readonly OpenDocument[] {
    return [...this.#documents.values()];
  }

  async run(): Promise<number> {
    await this.#peer.run(this.#stop.signal);
    for (const document of this.#documents.values()) document.store.close();
    await this.#endWork();
    await this.#peer.quiet();
    return this.#shutDown ? 0 : 1;
  }

  #handle(call: RpcCall): unknown {
    const { method, params } = call;
    if (method === "exit") return this.#stop.abort();
    if (method === "initialize") return this.#initialize(params);
    const notification = NOTIFICATIONS[method];
    if (this.#client === null) {
      return new RpcRefusal(RpcCode.notInitialized, `${method} was sent before initialize.`);
    }
    if (method === "shutdown") {
      this.#shutDown = true;
      return this.#endWork().then(() => null);
    }
    if (notification !== undefined && Object.hasOwn(NOTIFICATIONS, method)) {
      return notification(this, params, call);
    }
    if (this.#shutDown) return new RpcRefusal(RpcCode.invalidRequest, `${method} was sent after shutdown.`);
    if (!Object.hasOwn(REQUESTS, method)) {
      return new RpcRefusal(RpcCode.methodNotFound, `The method ${method} is unknown.`);
    }
    return this.#answer(REQUESTS[method]!, call);
  }

  async #answer(answer: Answer, call: RpcCall): Promise<unknown> {
    const given = await answer(this, call.params, call);
    // The effect of a command cannot be undone, so its answer is sent in any case.
    const canBeDropped = call.method !== "workspace/executeCommand";
    return canBeDropped && call.signal.aborted
      ? new RpcRefusal(RpcCode.cancelled, "The request was cancelled.")
      : given;
  }

  #initialize(params: unknown): unknown {
    if (this.#client !== null) return new RpcRefusal(RpcCode.invalidRequest, "initialize was sent twice.");
    const abilities = abilitiesOf(params);
    this.#client = new Client(this.#peer, abilities);
    return {
      serverInfo: { name: "flemma", version: this.#options.version },
      capabilities: {
        positionEncoding: abilities.encoding,
        textDocumentSync: { openClose: true, change: 2, save: { includeText: false } },
        diagnosticProvider: {
          identifier: "flemma",
          interFileDependencies: true,
          workspaceDiagnostics: false,
        },
        codeActionProvider: {
          codeActionKinds: [
            "quickfix",
            "refactor.rewrite.flemma.takeAsResult",
            "refactor.flemma.execute",
            "source.flemma.advance",
            "source.flemma.approveAll",
            "source.flemma.cancel",
          ],
        },
        executeCommandProvider: { commands: LSP_COMMANDS, workDoneProgress: true },
        foldingRangeProvider: true,
        documentSymbolProvider: true,
        workspaceSymbolProvider: true,
        selectionRangeProvider: true,
        documentHighlightProvider: true,
        definitionProvider: true,
        referencesProvider: true,
        documentLinkProvider: {},
        hoverProvider: true,
        inlayHintProvider: true,
        codeLensProvider: {},
        completionProvider: { triggerCharacters: TRIGGERS },
        documentOnTypeFormattingProvider: { firstTriggerCharacter: ":" },
        semanticTokensProvider: { legend: LEGEND, full: { delta: true }, range: true },
      },
    };
  }

  open(params: unknown): void {
    const { uri, text, version } = item(params);
    if (typeof uri !== "string" || typeof text !== "string") return;
    // An editor that opens an open document again no longer knows its state, so the text that it sends now replaces
    // that state.
    this.#documents.get(uri)?.store.close();
    const document = new OpenDocument(uri, text, typeof version === "number" ? version : 0, {
      environment: this.environment,
      client: this.client,
      limiter: this.#limiter,
      changed: (document) => {
        this.#tell(document);
        // Editors that request findings themselves requested them before the journal changed.
        this.client.refresh();
      },
    });
    this.#documents.set(uri, document);
    this.#tell(document);
  }

  change(params: unknown): void {
    const { uri, version } = item(params);
    const document = this.#documents.get(String(uri));
    const changes = memberOf(params, ["contentChanges"]);
    if (document === undefined) return;
    const wasLost = document.store.refusal !== null;
    document.change(
      typeof version === "number" ? version : document.store.version + 1,
      Array.isArray(changes) ? changes : [changes],
    );
    const { refusal } = document.store;
    if (refusal === null) return;
    if (!wasLost) this.client.problem(refusal);
    void this.commands.end(document);
  }

  async close(params: unknown): Promise<void> {
    const { uri } = item(params);
    const document = this.#documents.get(String(uri));
    if (document === undefined) return;
    this.#documents.delete(document.uri);
    this.tokens.forget(document.uri);
    document.store.close();
    if (!this.client.abilities.pullsDiagnostics) this.client.publishDiagnostics(document.uri, undefined, []);
    await this.commands.end(document);
    await document.jobKeeper.end();
    if (!this.#documents.has(document.uri)) this.client.forget(document.uri);
  }

  /** Ends the runs and background jobs of all documents. */
  async #endWork(): Promise<void> {
    const { documents } = this;
    await this.commands.end();
    await Promise.all(documents.map(({ jobKeeper }) => jobKeeper.end()));
  }

  /** Reads everything again after a change of settings, other runs or files. */
  refresh(): void {
    for (const document of this.#documents.values()) {
      document.forget();
      this.#tell(document);
    }
    this.client.refresh();
  }

  /** Answers about the document that the parameters name; null if it is not open. */
  on(params: unknown, answer: (document: OpenDocument) => unknown): unknown {
    const document = this.#documents.get(String(item(params).uri));
    return document === undefined || document.store.refusal !== null ? null : answer(document);
  }

  at(
    params: unknown,
    answer: (document: OpenDocument, position: { line: number; character: number }) => unknown,
  ): unknown {
    const position = positionIn(memberOf(params, ["position"]));
    return position === null
      ? new RpcRefusal(RpcCode.invalidParams, "The position is missing.")
      : this.on(params, (document) => answer(document, position));
  }

  async pulled(params: unknown): Promise<unknown> {
    const document = this.#documents.get(String(item(params).uri));
    const items = document === undefined ? [] : (await findingsOf(document)).diagnostics;
    return { kind: "full", items };
  }

  /**
   * Sends the findings of a document, unless the editor requests them itself. Evaluations run one at a time, and only
   * the last result is sent.
   */
  #tell(document: OpenDocument): void {
    if (this.client.abilities.pullsDiagnostics || this.#documents.get(document.uri) !== document) return;
    const telling = this.#telling.get(document);
    if (telling !== undefined) {
      telling.again = true;
      return;
    }
    const mine = { again: false };
    this.#telling.set(document, mine);
    void (async () => {
      do {
        mine.again = false;
        const { version, diagnostics } = await findingsOf(document);
        if (this.#documents.get(document.uri) !== document) break;
        if (!mine.again) this.client.publishDiagnostics(document.uri, version, diagnostics);
      } while (mine.again);
    })().catch((thrown: unknown) => this.client.log(`Internal error: ${thrownText(thrown)}`))
      .finally(() => this.#telling.delete(document));
  }
}

function item(params: unknown): Record<string, unknown> {
  const found = memberOf(params, ["textDocument"]);
  return isObject(found) ? found : {};
}
