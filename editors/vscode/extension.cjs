// A thin client of `flemma lsp`: it passes messages between the server and the editor.
// @ts-check
/// <reference types="npm:@types/vscode@1.140.0" />
"use strict";

const vscode = require("vscode");
const { registerChanges, showChange } = require("./change.cjs");
const { isChat, LANGUAGE, registerConversations } = require("./conversation.cjs");
const { Server } = require("./server.cjs");
const { mayBeCall, words } = require("./text.cjs");

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
  const log = vscode.window.createOutputChannel("flemma");
  const bar = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);
  const SAYS = [
    vscode.window.showErrorMessage,
    vscode.window.showWarningMessage,
    vscode.window.showInformationMessage,
  ];
  const program = vscode.workspace.getConfiguration("flemma").get(
    "program",
    "flemma",
  );
  const changed = new vscode.EventEmitter();
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
      case "workspace/codeLens/refresh":
        return void changed.fire(undefined);
      case "workspace/applyEdit":
        return apply(params.edit);
      case "window/logMessage":
        return void log.appendLine(params.message);
      case "window/showMessage":
        said = params.message;
        log.appendLine(said);
        return void SAYS[params.type - 1]?.(words(said));
      case "$/progress":
        bar.text = `$(sync~spin) flemma ${barWords(params.value.message ?? params.value.title ?? "")}`;
        return params.value.kind === "end" ? bar.hide() : bar.show();
    }
  };
  const server = new Server(
    program,
    receive,
    (/** @type {string} */ fault) =>
      isOver || void vscode.window.showErrorMessage(words(`flemma: ${fault}.`)),
  );
  const ready = server.request("initialize", {
    processId: process.pid,
    rootUri: vscode.workspace.workspaceFolders?.[0]?.uri.toString() ?? null,
    capabilities: {
      workspace: {
        applyEdit: true,
        workspaceEdit: { documentChanges: true },
        codeLens: { refreshSupport: true },
      },
      window: { workDoneProgress: true },
      textDocument: { codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: [] } } } },
    },
  }).then(() => server.write({ method: "initialized", params: {} }));
  /** Tells the server once it is ready. @param {string} method @param {unknown} params */
  const tell = (method, params) => void ready.then(() => server.write({ method, params }), () => {});
  /** @param {string} command @param {object} [more] @param {vscode.TextDocument} [document] */
  const execute = async (command, more = {}, document = vscode.window.activeTextEditor?.document) => {
    if (document === undefined || !isChat(document)) return;
    // The text that the person saw.
    const seen = named(document);
    try {
      await ready;
      return await server.request("workspace/executeCommand", {
        command,
        arguments: [{ ...seen, ...more }],
      });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // The server shows most refusals itself, with what to do next.
      if (!said.startsWith(why)) void vscode.window.showWarningMessage(words(`flemma: ${why}`));
    }
  };
  const reason = () =>
    vscode.window.showInputBox({
      prompt: "Reason to reject",
      placeHolder: "the model sees it",
    });
  /** @param {object} call */
  const diff = async (call) => {
    const change = await execute("flemma.showDiff", call);
    if (change !== undefined) await showChange(change);
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
    log,
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
    vscode.languages.registerCodeLensProvider(LANGUAGE, {
      onDidChangeCodeLenses: changed.event,
      async provideCodeLenses(document) {
        await ready;
        const lenses = await server.request("textDocument/codeLens", {
          textDocument: named(document),
        }) ?? [];
        return lenses.map((
          /** @type {any} */ {
            range: at,
            command: { title, command, arguments: given },
          },
        ) =>
          new vscode.CodeLens(range(at), {
            title,
            command: "flemma.lens",
            arguments: [command, given[0]],
          })
        );
      },
    }),
    ...registerChanges(),
    ...registerConversations(program),
    vscode.commands.registerCommand("flemma.lens", async (command, given) => {
      if (command === "flemma.showDiff") return await diff(given);
      const message = command === "flemma.reject" ? await reason() : "";
      return message === undefined ? undefined : await execute(command, { ...given, message });
    }),
    vscode.commands.registerCommand(
      "flemma.diff",
      () => diff({ line: line() }),
    ),
    vscode.commands.registerCommand("flemma.execute", execute),
    vscode.commands.registerCommand("flemma.advance", () => execute("flemma.advance")),
    vscode.commands.registerCommand("flemma.cancel", () => execute("flemma.cancel")),
    vscode.commands.registerCommand("flemma.approve", () => execute("flemma.approve", { line: line() })),
    vscode.commands.registerCommand("flemma.reject", async () => {
      const at = line();
      if (!mayBeCall(vscode.window.activeTextEditor?.document.getText() ?? "", at - 1)) {
        return void vscode.window.showWarningMessage(`flemma: No call is on line ${at}.`);
      }
      const message = await reason();
      return message === undefined ? undefined : execute("flemma.reject", { line: at, message });
    }),
    { dispose: () => (isOver = true, server.child.kill()) },
  );
  await ready;
}

module.exports = { activate };
