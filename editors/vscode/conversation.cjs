// Brings code and conversations together: questions about selected lines, code blocks, models.
// @ts-check
/// <reference types="npm:@types/vscode@1.140.0" />
"use strict";

const vscode = require("vscode");
const { execFile } = require("node:child_process");
const { dirname } = require("node:path");
const { appended, modelNames, nearestBlock, referenceTo, words } = require("./text.cjs");

const LANGUAGE = "chat";

/** @param {vscode.TextDocument} document */
const isChat = (document) => document.languageId === LANGUAGE;

/** Creates a conversation in the folder of the workspace. @returns {Promise<vscode.TextDocument | undefined>} */
async function newChat() {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (folder === undefined) {
    return await vscode.workspace.openTextDocument({
      language: LANGUAGE,
      content: "@You:\n",
    });
  }
  const name = await vscode.window.showInputBox({
    prompt: "Name of the conversation",
    value: "notes.chat",
  });
  if (name === undefined) return undefined;
  const uri = vscode.Uri.joinPath(folder, name);
  const creation = new vscode.WorkspaceEdit();
  // An existing file stays as it is.
  creation.createFile(uri, { ignoreIfExists: true });
  await vscode.workspace.applyEdit(creation);
  return await vscode.workspace.openTextDocument(uri);
}

/** Appends a reference to the selected lines to a conversation, and shows it. */
async function ask() {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || editor.document.uri.scheme !== "file") {
    return void vscode.window.showInformationMessage(
      "flemma: Save the file first, then select lines of it.",
    );
  }
  const { selection, document: { uri: { fsPath } } } = editor;
  const chats = vscode.workspace.textDocuments.filter(isChat);
  const picked = await vscode.window.showQuickPick([
    ...chats.map((chat) => ({
      label: vscode.workspace.asRelativePath(chat.uri),
      chat,
    })),
    { label: "New conversation…", chat: undefined },
  ], { placeHolder: "Ask in" });
  const chat = picked === undefined ? undefined : picked.chat ?? await newChat();
  if (chat === undefined) return;
  const folder = chat.uri.scheme === "file" ? dirname(chat.uri.fsPath) : dirname(fsPath);
  const text = chat.getText();
  const addition = new vscode.WorkspaceEdit();
  addition.insert(
    chat.uri,
    chat.positionAt(text.length),
    appended(text, referenceTo(fsPath, folder, selection)),
  );
  await vscode.workspace.applyEdit(addition);
  // It is shown only now, with the cursor at its end, so that immediately typed text follows the reference.
  const end = chat.positionAt(chat.getText().length);
  await vscode.window.showTextDocument(chat, { selection: new vscode.Range(end, end) });
}

/** Runs the program and returns what it printed. @param {string} program @param {string[]} args @returns {Promise<string>} */
function printed(program, args) {
  return new Promise((resolve, reject) =>
    execFile(
      program,
      args,
      (error, stdout, stderr) =>
        error === null ? resolve(stdout) : reject(new Error(stderr || error.message)),
    )
  );
}

/** Chooses the model of the document for this session. @param {string} program */
async function chooseModel(program) {
  const document = vscode.window.activeTextEditor?.document;
  if (
    document === undefined || !isChat(document) ||
    document.uri.scheme !== "file"
  ) {
    return void vscode.window.showInformationMessage(
      "flemma: Open a saved conversation first.",
    );
  }
  try {
    const listed = JSON.parse(await printed(program, ["models", "list", "--json"]));
    const model = await vscode.window.showQuickPick(modelNames(listed), {
      placeHolder: "Model for this session",
    });
    if (model !== undefined) {
      await printed(program, [
        "session",
        "set",
        `model=${model}`,
        "--",
        document.uri.fsPath,
      ]);
    }
  } catch (error) {
    void vscode.window.showWarningMessage(
      words(error instanceof Error ? error.message : String(error)),
    );
  }
}

/** Copies the code block at the cursor, or the nearest one. */
async function yank() {
  const editor = vscode.window.activeTextEditor;
  const block = editor && nearestBlock(editor.document.getText(), editor.selection.active.line);
  if (!block) return void vscode.window.showInformationMessage("flemma: There is no code block.");
  await vscode.env.clipboard.writeText(block.code);
}

/** The conversation and the code that were shown last. @type {{ chat?: vscode.TextDocument, code?: vscode.TextDocument }} */
const last = {};

/** @param {vscode.TextEditor | undefined} editor */
function remember(editor) {
  if (editor === undefined) return;
  const { document } = editor;
  if (isChat(document)) last.chat = document;
  else if (document.uri.scheme === "file") last.code = document;
}

/** Shows the last conversation, or from a conversation the last code. */
async function toggle() {
  const current = vscode.window.activeTextEditor?.document;
  const open = vscode.workspace.textDocuments;
  const wanted = current !== undefined && isChat(current)
    ? last.code ?? open.find((each) => !isChat(each) && each.uri.scheme === "file")
    : last.chat ?? open.find(isChat) ?? await newChat();
  if (wanted !== undefined) await vscode.window.showTextDocument(wanted);
}

/** @param {string} program @returns {vscode.Disposable[]} */
function registerConversations(program) {
  remember(vscode.window.activeTextEditor);
  return [
    vscode.window.onDidChangeActiveTextEditor(remember),
    vscode.commands.registerCommand("flemma.ask", ask),
    vscode.commands.registerCommand("flemma.model", () => chooseModel(program)),
    vscode.commands.registerCommand("flemma.yank", yank),
    vscode.commands.registerCommand("flemma.toggle", toggle),
  ];
}

module.exports = { isChat, LANGUAGE, registerConversations };
