// Shows the change that a call would make to a file, in the editor's diff view.
// @ts-check
/// <reference types="npm:@types/vscode@1.140.0" />
"use strict";

const vscode = require("vscode");

/** Scheme of documents that show the two sides of a proposed change. */
const CHANGE = "flemma-change";

/** The text of the sides of proposed changes, by URI. @type {Map<string, string>} */
const sides = new Map();

/**
 * Shows a proposed change of a file in the diff view.
 * @param {{ id: string, path?: string, before?: string | null, after?: string }} change
 */
async function showChange({ id, path, before, after }) {
  if (path === undefined || after === undefined) {
    return void vscode.window.showInformationMessage("flemma: This call changes no file.");
  }
  /** @param {string} side @param {string} text */
  const sideOf = (side, text) => {
    // The ending of the name chooses the colors.
    const uri = vscode.Uri.from({ scheme: CHANGE, path, query: `${side} ${id} ${++shown}` });
    sides.set(uri.toString(), text);
    return uri;
  };
  const [left, right] = [sideOf("before", before ?? ""), sideOf("after", after)];
  const name = path.slice(path.lastIndexOf("/") + 1);
  await vscode.commands.executeCommand("vscode.diff", left, right, `${name} (proposed change)`);
}

/** Number of sides shown so far. The editor caches a document by its URI. */
let shown = 0;

/** @returns {vscode.Disposable[]} */
function registerChanges() {
  return [
    vscode.workspace.registerTextDocumentContentProvider(CHANGE, {
      provideTextDocumentContent: (uri) => sides.get(uri.toString()) ?? "",
    }),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => void sides.delete(uri.toString())),
  ];
}

module.exports = { registerChanges, showChange };
