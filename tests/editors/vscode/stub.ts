// The part of VS Code's API that the extension uses, as a stub, so that it runs against the real server without VS
// Code.

import { createRequire } from "node:module";
import process from "node:process";
import { Buffer } from "node:buffer";
import { ROOT } from "../../../scripts/gate/root.ts";

export class Position {
  constructor(readonly line: number, readonly character: number) {}
}
/** A range that JSON writes as VS Code's does. */
export class Range {
  constructor(readonly start: Position, readonly end: Position) {}
  toJSON(): Position[] {
    return [this.start, this.end];
  }
}
class TextEdit {
  constructor(readonly range: Range, readonly newText: string) {}
}
class Uri {
  constructor(readonly text: string) {}
  static parse(text: string): Uri {
    return new Uri(text);
  }
  static from({ scheme, path, query }: { scheme: string; path: string; query: string }): Uri {
    return new Uri(`${scheme}:${path}?${query}`);
  }
  get scheme(): string {
    return this.text.slice(0, this.text.indexOf(":"));
  }
  get fsPath(): string {
    return decodeURIComponent(this.text.replace(/^file:\/\//, ""));
  }
  toString(): string {
    return this.text;
  }
}
class WorkspaceEdit {
  readonly all: [Uri, TextEdit[]][] = [];
  set(uri: Uri, edits: TextEdit[]): void {
    this.all.push([uri, edits]);
  }
  insert(uri: Uri, at: Position, text: string): void {
    this.set(uri, [new TextEdit(new Range(at, at), text)]);
  }
}
class Diagnostic {
  constructor(readonly range: Range, readonly message: string, readonly severity: number) {}
}
class CodeAction {
  edit?: WorkspaceEdit;
  command?: { command: string; arguments: unknown[] };
  constructor(readonly title: string, readonly kind: { value: string }) {}
}

class CodeLens {
  constructor(readonly range: Range, readonly command: { title: string; arguments: unknown[] }) {}
}
export class Selection extends Range {
  readonly isEmpty: boolean;
  readonly active: Position;
  constructor(start: Position, end: Position) {
    super(start, end);
    this.active = end;
    this.isEmpty = start.line === end.line && start.character === end.character;
  }
}

/** Listeners of one kind of event. */
class Events<T> {
  readonly #listeners = new Set<(event: T) => void>();
  readonly on = (listener: (event: T) => void) => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };
  fire(event: T): void {
    for (const listener of this.#listeners) listener(event);
  }
}

/** A document that is open in the editor. */
export interface StubDocument {
  readonly uri: Uri;
  readonly languageId: string;
  version: number;
  text: string;
  getText(): string;
  positionAt(offset: number): Position;
}

/** The editor. */
export class StubEditor {
  readonly documents: StubDocument[] = [];
  readonly stated: string[] = [];
  /** The lines of the output channel. */
  readonly log: string[] = [];
  readonly found = new Map<string, readonly Diagnostic[]>();
  readonly commands = new Map<string, (...args: unknown[]) => unknown>();
  // deno-lint-ignore no-explicit-any
  readonly providers = new Map<string, any>();
  readonly context = { subscriptions: [] as { dispose(): unknown }[] };
  readonly #opened = new Events<StubDocument>();
  readonly #changed = new Events<
    { document: StubDocument; contentChanges: { range: Range; text: string }[] }
  >();
  readonly #closed = new Events<StubDocument>();
  readonly #activated = new Events<{ document: StubDocument }>();
  #progress = new Events<string>();
  /** Where the cursor is, from 0. */
  line = 0;
  /** What is selected in place of the cursor. */
  selected: Selection | undefined;
  /** The document that is shown; the first one that is open if nothing else was shown. */
  shown: StubDocument | undefined;
  /** The two sides of the change that is shown. */
  change: readonly [string, string, string] | undefined;
  clipboard = "";
  /** Labels of the last list, of which the person takes the one that begins with `pick`. */
  offered: readonly string[] = [];
  pick = "";
  readonly #contents = new Map<string, (uri: Uri) => string>();
  /** What the person types when they are asked. */
  answer: string | undefined;
  /** What the person types as soon as a document is shown. */
  typed = "";
  /** What the editor does before it applies an edit that the extension wants. */
  beforeEdit: (() => Promise<void>) | undefined;
  /** Settings. */
  readonly settings: Readonly<Record<string, string>>;
  /** What the status line says; empty while it is hidden. */
  status = "";

  constructor(settings: Readonly<Record<string, string>>) {
    this.settings = settings;
  }

  /** Loads the extension as the editor does, and starts it. */
  async start(): Promise<void> {
    const path = `${ROOT}/editors/vscode/extension.cjs`;
    const real = createRequire(path);
    const module = { exports: {} as { activate(context: unknown): Promise<void> } };
    const loaded = new Map<string, unknown>();
    const api = this.#module();
    const run = (file: string, module: { exports: unknown }) => {
      const source = Deno.readTextFileSync(file);
      new Function("require", "module", "process", "Buffer", source)(load, module, process, Buffer);
      return module.exports;
    };
    const load = (name: string): unknown => {
      if (name === "vscode") return api;
      if (!name.startsWith("./")) return real(name);
      if (!loaded.has(name)) loaded.set(name, run(path.replace(/[^/]*$/, name.slice(2)), { exports: {} }));
      return loaded.get(name);
    };
    run(path, module);
    await module.exports.activate(this.context);
  }

  stop(): void {
    for (const each of this.context.subscriptions) each.dispose();
  }

  open(path: string, text: string, languageId = "chat"): StubDocument {
    const document: StubDocument = {
      uri: new Uri(`file://${path}`),
      languageId,
      version: 1,
      text,
      getText: () => document.text,
      positionAt: (offset) => {
        const before = document.text.slice(0, offset).split("\n");
        return new Position(before.length - 1, before.at(-1)!.length);
      },
    };
    this.documents.push(document);
    this.#opened.fire(document);
    return document;
  }

  /** Shows a document, as after a click on its tab. */
  show(document: StubDocument): void {
    this.shown = document;
    this.selected = undefined;
    this.#activated.fire({ document });
    this.#progress.fire("shown");
  }

  close(document: StubDocument): void {
    this.documents.splice(this.documents.indexOf(document), 1);
    this.#closed.fire(document);
  }

  /** Replaces a range of a document, as typing does. */
  edit(
    document: StubDocument,
    changes: readonly { range: Pick<Range, "start" | "end">; text: string }[],
  ): void {
    // From the end on, so that earlier ones keep their places.
    const sorted = [...changes].sort((a, b) =>
      offsetOf(document.text, b.range.start) - offsetOf(document.text, a.range.start)
    );
    for (const { range, text } of sorted) {
      document.text = document.text.slice(0, offsetOf(document.text, range.start)) + text +
        document.text.slice(offsetOf(document.text, range.end));
    }
    document.version++;
    this.#changed.fire({
      document,
      contentChanges: sorted.map(({ range: { start, end }, text }) => ({
        range: new Range(start, end),
        text,
      })),
    });
    this.#progress.fire("edit");
  }

  /** Settles when the condition holds, looked at whenever something happens here. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((done) => {
        const { dispose } = this.#progress.on(() => (dispose(), done()));
      });
    }
  }

  #module() {
    const say = (text: string) => {
      this.stated.push(text);
      this.#progress.fire("said");
      return Promise.resolve(undefined);
    };
    const provider = (name: string) => (_language: string, given: unknown) => {
      this.providers.set(name, given);
      return { dispose() {} };
    };
    const stub = this as StubEditor;
    return {
      Position,
      Range,
      TextEdit,
      WorkspaceEdit,
      Selection,
      CodeLens,
      EventEmitter: class {
        readonly #events = new Events<unknown>();
        readonly event = this.#events.on;
        fire(value: unknown): void {
          this.#events.fire(value);
        }
      },
      Diagnostic,
      CodeAction,
      Uri,
      Hover: class {
        constructor(readonly contents: string) {}
      },
      FoldingRange: class {
        constructor(readonly start: number, readonly end: number) {}
      },
      CodeActionKind: { Empty: { append: (value: string) => ({ value }) } },
      StatusBarAlignment: { Left: 1 },
      languages: {
        createDiagnosticCollection: () => ({
          set: (uri: Uri, all: Diagnostic[]) => {
            this.found.set(uri.text, all);
            this.#progress.fire("found");
          },
          dispose() {},
        }),
        registerCodeActionsProvider: provider("actions"),
        registerHoverProvider: provider("hover"),
        registerFoldingRangeProvider: provider("folds"),
        registerCodeLensProvider: provider("lenses"),
      },
      commands: {
        registerCommand: (name: string, work: (...args: unknown[]) => unknown) => {
          this.commands.set(name, work);
          return { dispose() {} };
        },
        executeCommand: (name: string, left: Uri, right: Uri, title: string) => {
          if (name !== "vscode.diff") throw new Error(name);
          const side = (uri: Uri) => this.#contents.get(uri.scheme)!(uri);
          this.change = [side(left), side(right), title];
        },
      },
      env: { clipboard: { writeText: (text: string) => this.clipboard = text } },
      window: {
        onDidChangeActiveTextEditor: this.#activated.on,
        showQuickPick: (items: readonly (string | { label: string })[]) => {
          const labelOf = (item: string | { label: string }) => typeof item === "string" ? item : item.label;
          this.offered = items.map(labelOf);
          return Promise.resolve(items.find((item) => labelOf(item).startsWith(this.pick)));
        },
        showTextDocument: (document: StubDocument, { selection }: { selection?: Range } = {}) => {
          this.show(document);
          const start = new Position(0, 0);
          if (this.typed !== "") {
            this.edit(document, [{ range: selection ?? new Range(start, start), text: this.typed }]);
          }
          return Promise.resolve({});
        },
        createOutputChannel: () => ({
          appendLine: (line: string) => {
            stub.log.push(line);
            stub.#progress.fire("log");
          },
          dispose() {},
        }),
        createStatusBarItem: () => ({
          text: "",
          show() {
            stub.status = this.text;
            stub.#progress.fire("status");
          },
          hide() {
            stub.status = "";
            stub.#progress.fire("status");
          },
          dispose() {},
        }),
        showErrorMessage: (text: string) => say(`error: ${text}`),
        showWarningMessage: (text: string) => say(`warning: ${text}`),
        showInformationMessage: say,
        showInputBox: () => Promise.resolve(this.answer),
        get activeTextEditor() {
          const document = stub.shown ?? stub.documents[0];
          const at = new Position(stub.line, 0);
          return document && { document, selection: stub.selected ?? new Selection(at, at) };
        },
      },
      workspace: {
        textDocuments: this.documents,
        workspaceFolders: undefined,
        asRelativePath: ({ text }: Uri) => text.replace(/^.*\//, ""),
        openTextDocument: ({ content }: { content: string }) =>
          Promise.resolve(this.open("/tmp/untitled.chat", content)),
        registerTextDocumentContentProvider: (
          scheme: string,
          { provideTextDocumentContent }: { provideTextDocumentContent: (uri: Uri) => string },
        ) => {
          this.#contents.set(scheme, provideTextDocumentContent);
          return { dispose() {} };
        },
        getConfiguration: (section: string) => ({
          get: (name: string, usual: string) => this.settings[`${section}.${name}`] ?? usual,
        }),
        onDidOpenTextDocument: this.#opened.on,
        onDidChangeTextDocument: this.#changed.on,
        onDidSaveTextDocument: new Events<StubDocument>().on,
        onDidCloseTextDocument: this.#closed.on,
        applyEdit: async (edit: WorkspaceEdit) => {
          await this.beforeEdit?.();
          for (const [uri, edits] of edit.all) {
            const document = this.documents.find((each) => each.uri.text === uri.text);
            if (document === undefined) return false;
            this.edit(document, edits.map(({ range, newText }) => ({ range, text: newText })));
          }
          return true;
        },
      },
    };
  }

  /** Applies an edit of an action, as the editor does when the person picks it. */
  apply(edit: WorkspaceEdit): void {
    for (const [uri, edits] of edit.all) {
      const document = this.documents.find((each) => each.uri.text === uri.text)!;
      this.edit(document, edits.map(({ range, newText }) => ({ range, text: newText })));
    }
  }
}

function offsetOf(
  text: string,
  { line, character }: { readonly line: number; readonly character: number },
): number {
  let at = 0;
  for (let count = 0; count < line; count++) {
    const next = text.indexOf("\n", at);
    if (next < 0) return text.length;
    at = next + 1;
  }
  return Math.min(at + character, text.length);
}
