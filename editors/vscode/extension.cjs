// A thin client of `flemma lsp`: it passes messages between the server and the editor.
// @ts-check
/// <reference types="npm:@types/vscode@1.140.0" />
"use strict";

const vscode = require("vscode");
const { spawn } = require("node:child_process");

const LANGUAGE = "chat";

/** @typedef {{ id?: number, method?: string, params?: any, result?: any, error?: { code: number, message: string } }} Message */

/** The server process; `receive` handles its requests and notifications, and returns responses. */
class Server {
  /**
   * @param {string} program
   * @param {(method: string, params: any) => unknown} receive
   * @param {(fault: string) => void} ended
   */
  constructor(program, receive, ended) {
    this.receive = receive;
    this.last = 0;
    this.rest = Buffer.alloc(0);
    /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
    this.open = new Map();
    this.child = spawn(program, ["lsp"], { stdio: ["pipe", "pipe", "ignore"] });
    this.child.on("error", (error) => this.end(`${program} cannot be started: ${error.message}`, ended));
    this.child.on("exit", (code) => this.end(`${program} lsp exited with code ${code}`, ended));
    this.child.stdin.on("error", () => {}); // The process reports its end.
    this.child.stdout.on("data", (/** @type {Buffer} */ bytes) => this.take(bytes));
  }

  /** @param {string} fault @param {(fault: string) => void} ended */
  end(fault, ended) {
    for (const { reject } of this.open.values()) reject(new Error(fault));
    this.open.clear();
    ended(fault);
  }

  /** @param {Buffer} bytes */
  take(bytes) {
    this.rest = Buffer.concat([this.rest, bytes]);
    for (;;) {
      const head = this.rest.indexOf("\r\n\r\n");
      const length = Number(
        /Content-Length: *(\d+)/i.exec(this.rest.toString("latin1", 0, Math.max(head, 0)))?.[1],
      );
      if (head < 0 || Number.isNaN(length) || this.rest.length < head + 4 + length) return;
      const text = this.rest.toString("utf8", head + 4, head + 4 + length);
      this.rest = this.rest.subarray(head + 4 + length);
      void this.handle(JSON.parse(text));
    }
  }

  /** @param {Message} message */
  async handle({ id, method, params, result, error }) {
    if (method !== undefined) {
      const answer = await this.receive(method, params);
      if (id !== undefined) this.write({ id, result: answer ?? null });
      return;
    }
    const asked = this.open.get(id ?? -1);
    this.open.delete(id ?? -1);
    if (error !== undefined) asked?.reject(new Error(error.message));
    else asked?.resolve(result);
  }

  /** @param {object} message */
  write(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.child.stdin.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
  }

  /** @param {string} method @param {unknown} [params] @returns {Promise<any>} */
  request(method, params) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.open.set(id, { resolve, reject });
      this.write({ id, method, params });
    });
  }
}

/** @param {{ line: number, character: number }} at */
const position = ({ line, character }) => new vscode.Position(line, character);
/** @param {{ start: any, end: any }} range */
const range = ({ start, end }) => new vscode.Range(position(start), position(end));
/**
 * A range as the protocol writes it: a `vscode.Range` becomes the array `[start, end]` in JSON.
 * @param {vscode.Range} range
 */
const plainRange = ({ start, end }) => ({ start: plainPosition(start), end: plainPosition(end) });
/** @param {vscode.Position} at */
const plainPosition = ({ line, character }) => ({ line, character });
/** The server numbers from 1, the editor from 0. @param {number} severity @returns {vscode.DiagnosticSeverity} */
const severityOf = (severity) => severity - 1;

/**
 * Makes untrusted text safe for notifications, in which `[a](command:b)` is a link that runs b with the person's rights.
 * @param {string} text
 */
const words = (text) => text.replaceAll("](", "] (");
/** The same for the status bar, where `$(a)` is a picture: a command would be shown without it. @param {string} text */
const barWords = (text) => text.replaceAll("$(", "\\$(");

/** @param {any} edit @returns {vscode.WorkspaceEdit} */
function workspaceEdit(edit) {
  const made = new vscode.WorkspaceEdit();
  for (const { textDocument, edits } of edit.documentChanges ?? []) {
    made.set(
      vscode.Uri.parse(textDocument.uri),
      edits.map((/** @type {any} */ each) => new vscode.TextEdit(range(each.range), each.newText)),
    );
  }
  return made;
}

/** @param {vscode.TextDocument} document */
const isChat = (document) => document.languageId === LANGUAGE;
/** @param {vscode.TextDocument} document */
const named = (document) => ({ uri: document.uri.toString(), version: document.version });

/** Applies an edit unless the document has changed since the version it was made for. @param {any} edit */
async function apply(edit) {
  const open = vscode.workspace.textDocuments;
  const isStale = (edit.documentChanges ?? []).some((/** @type {any} */ { textDocument: { uri, version } }) =>
    version !== null && open.some((each) => each.uri.toString() === uri && each.version !== version)
  );
  return { applied: !isStale && await vscode.workspace.applyEdit(workspaceEdit(edit)) };
}

/** @param {vscode.ExtensionContext} context */
async function activate(context) {
  const found = vscode.languages.createDiagnosticCollection("flemma");
  const bar = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);
  const SAYS = [
    vscode.window.showErrorMessage,
    vscode.window.showWarningMessage,
    vscode.window.showInformationMessage,
  ];
  let isOver = false;
  let said = "";

  /** Handles a request or notification of the server. @param {string} method @param {any} params @returns {any} */
  const receive = (method, params) => {
    switch (method) {
      case "textDocument/publishDiagnostics":
        return found.set(
          vscode.Uri.parse(params.uri),
          params.diagnostics.map((/** @type {any} */ each) => {
            const made = new vscode.Diagnostic(
              range(each.range),
              each.message,
              severityOf(each.severity ?? 1),
            );
            return Object.assign(made, { code: each.code, source: "flemma" });
          }),
        );
      case "workspace/applyEdit":
        return apply(params.edit);
      case "window/showMessage":
        said = params.message;
        return void SAYS[params.type - 1]?.(words(said));
      case "$/progress":
        bar.text = `$(sync~spin) flemma ${barWords(params.value.message ?? params.value.title ?? "")}`;
        return params.value.kind === "end" ? bar.hide() : bar.show();
    }
  };
  const server = new Server(
    vscode.workspace.getConfiguration("flemma").get("program", "flemma"),
    receive,
    (fault) => isOver || void vscode.window.showErrorMessage(words(`flemma: ${fault}.`)),
  );
  const ready = server.request("initialize", {
    processId: process.pid,
    rootUri: vscode.workspace.workspaceFolders?.[0]?.uri.toString() ?? null,
    capabilities: {
      workspace: { applyEdit: true, workspaceEdit: { documentChanges: true } },
      window: { workDoneProgress: true },
      textDocument: { codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: [] } } } },
    },
  }).then(() => server.write({ method: "initialized", params: {} }));
  /** Tells the server once it is ready. @param {string} method @param {unknown} params */
  const tell = (method, params) => void ready.then(() => server.write({ method, params }), () => {});
  /** @param {string} command @param {object} [more] @param {vscode.TextDocument} [document] */
  const execute = async (command, more = {}, document = vscode.window.activeTextEditor?.document) => {
    if (document === undefined || !isChat(document)) return;
    try {
      await ready;
      return await server.request("workspace/executeCommand", {
        command,
        arguments: [{ ...named(document), ...more }],
      });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // The server shows most refusals itself.
      if (why !== said) void vscode.window.showWarningMessage(words(`flemma: ${why}`));
    }
  };
  const line = () => (vscode.window.activeTextEditor?.selection.active.line ?? 0) + 1;

  /** @param {vscode.TextDocument} document */
  const opened = (document) =>
    isChat(document) &&
    tell("textDocument/didOpen", {
      textDocument: { ...named(document), languageId: LANGUAGE, text: document.getText() },
    });
  vscode.workspace.textDocuments.forEach(opened);
  context.subscriptions.push(
    found,
    bar,
    vscode.workspace.onDidOpenTextDocument(opened),
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) =>
      isChat(document) && contentChanges.length > 0 &&
      tell("textDocument/didChange", {
        textDocument: named(document),
        contentChanges: contentChanges.map((each) => ({ range: plainRange(each.range), text: each.text })),
      })
    ),
    vscode.workspace.onDidSaveTextDocument((document) =>
      isChat(document) && tell("textDocument/didSave", { textDocument: named(document) })
    ),
    vscode.workspace.onDidCloseTextDocument((document) =>
      isChat(document) && tell("textDocument/didClose", { textDocument: named(document) })
    ),
    vscode.languages.registerCodeActionsProvider(LANGUAGE, {
      async provideCodeActions(document, selection) {
        await ready;
        const asked = {
          textDocument: named(document),
          range: plainRange(selection),
          context: { diagnostics: [] },
        };
        const actions = await server.request("textDocument/codeAction", asked) ?? [];
        return actions.map((/** @type {any} */ each) => {
          const made = new vscode.CodeAction(
            each.title,
            vscode.CodeActionKind.Empty.append(each.kind ?? "quickfix"),
          );
          if (each.edit !== undefined) made.edit = workspaceEdit(each.edit);
          if (each.command !== undefined) {
            const [argument] = each.command.arguments ?? [];
            made.command = {
              title: each.title,
              command: "flemma.execute",
              arguments: [each.command.command, argument],
            };
          }
          return made;
        });
      },
    }),
    vscode.languages.registerHoverProvider(LANGUAGE, {
      async provideHover(document, at) {
        await ready;
        const hover = await server.request("textDocument/hover", {
          textDocument: named(document),
          position: plainPosition(at),
        });
        return hover === null
          ? null
          : new vscode.Hover(hover.contents.value, hover.range && range(hover.range));
      },
    }),
    vscode.languages.registerFoldingRangeProvider(LANGUAGE, {
      async provideFoldingRanges(document) {
        await ready;
        const folds = await server.request("textDocument/foldingRange", { textDocument: named(document) }) ??
          [];
        return folds.map((/** @type {any} */ each) => new vscode.FoldingRange(each.startLine, each.endLine));
      },
    }),
    vscode.commands.registerCommand("flemma.execute", execute),
    vscode.commands.registerCommand("flemma.advance", () => execute("flemma.advance")),
    vscode.commands.registerCommand("flemma.cancel", () => execute("flemma.cancel")),
    vscode.commands.registerCommand("flemma.approve", () => execute("flemma.approve", { line: line() })),
    vscode.commands.registerCommand("flemma.reject", async () => {
      const at = line();
      const message = await vscode.window.showInputBox({
        prompt: "Reason to reject",
        placeHolder: "the model sees it",
      });
      return message === undefined ? undefined : execute("flemma.reject", { line: at, message });
    }),
    { dispose: () => (isOver = true, server.child.kill()) },
  );
  await ready;
}

module.exports = { activate };
