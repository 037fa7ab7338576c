// A test client for the language server: holds versioned texts, applies edits for the current version, refuses
// others, and answers requests.

import assert from "node:assert/strict";
import type { Scene } from "../../cli/harness.ts";
import { applied, positionOf, type TextEdit, type Unit } from "./counting.ts";

// deno-lint-ignore no-explicit-any
export type Json = any;

/** What this editor says it can do, if nothing else is said. */
export const CAPABILITIES = {
  workspace: {
    applyEdit: true,
    workspaceEdit: { documentChanges: true },
    didChangeWatchedFiles: { dynamicRegistration: true },
  },
  window: { workDoneProgress: true, showDocument: { support: true } },
  textDocument: {
    foldingRange: { foldingRange: { collapsedText: true } },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
  },
};

/** Milliseconds after which what is waited for counts as never. */
const LONGEST_WAIT = 150_000;

export interface EditorOptions {
  readonly capabilities?: Json;
  readonly options?: Json;
  readonly env?: Readonly<Record<string, string>>;
  /** What happens before an edit of the server is looked at: the person types, say. */
  readonly beforeEdit?: (editor: LspEditor, uri: string) => void | Promise<void>;
  /** Says yes to edits and does not apply them. */
  readonly liar?: boolean;
}

interface Text {
  text: string;
  version: number;
}

export class LspEditor implements AsyncDisposable {
  readonly texts = new Map<string, Text>();
  /** Everything that the server told, newest last. */
  readonly reported: { readonly method: string; readonly params: Json }[] = [];
  readonly #options: EditorOptions;
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #waiting = new Map<number, (answer: Json) => void>();
  readonly #watchers = new Set<() => void>();
  readonly #reading: Promise<void>;
  #buffer = new Uint8Array(0);
  #lastId = 0;
  /** What `initialize` answered. */
  initialized: Json;

  private constructor(child: Deno.ChildProcess, options: EditorOptions) {
    this.#child = child;
    this.#options = options;
    this.#writer = child.stdin.getWriter();
    this.#reading = this.#read();
  }

  static async start(place: Scene, options: EditorOptions = {}): Promise<LspEditor> {
    const editor = LspEditor.unready(place, options);
    editor.initialized = await editor.request("initialize", {
      processId: null,
      rootUri: null,
      capabilities: options.capabilities ?? CAPABILITIES,
      initializationOptions: options.options,
    });
    editor.notify("initialized", {});
    return editor;
  }

  /** A server to which nothing was said yet. */
  static unready(place: Scene, options: EditorOptions = {}): LspEditor {
    const [program = "", ...args] = [...place.program, "lsp"];
    const child = new Deno.Command(program, {
      args,
      cwd: place.path(""),
      clearEnv: true,
      env: { ...place.env, ...options.env },
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    return new LspEditor(child, options);
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** The number of the last request. */
  get lastId(): number {
    return this.#lastId;
  }

  /** What positions count, as the server has chosen. */
  get unit(): Unit {
    return this.initialized?.capabilities.positionEncoding ?? "utf-16";
  }

  /** Bytes as they are, for what no client would send. */
  async raw(bytes: string | Uint8Array): Promise<void> {
    await this.#writer.write(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes);
  }

  async send(message: Json): Promise<void> {
    const body = new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", ...message }));
    const header = new TextEncoder().encode(`Content-Length: ${body.length}\r\n\r\n`);
    await this.raw(Uint8Array.from([...header, ...body]));
  }

  notify(method: string, params: Json): void {
    void this.send({ method, params });
  }

  /** The result; fails with the code and the message of an error. */
  async request(method: string, params: Json): Promise<Json> {
    const answer = await this.answer(method, params);
    if (answer.error !== undefined) throw new Error(`${answer.error.code} ${answer.error.message}`);
    return answer.result;
  }

  /** The whole answer. */
  answer(method: string, params: Json): Promise<Json> {
    const id = ++this.#lastId;
    const answered = new Promise<Json>((resolve) => this.#waiting.set(id, resolve));
    void this.send({ id, method, params });
    return answered;
  }

  open(uri: string, text: string): void {
    this.texts.set(uri, { text, version: 1 });
    this.notify("textDocument/didOpen", {
      textDocument: { uri, languageId: "chat", version: 1, text },
    });
  }

  textOf(uri: string): string {
    return this.texts.get(uri)!.text;
  }

  versionOf(uri: string): number {
    return this.texts.get(uri)!.version;
  }

  /** The person types: each edit is of the text after the one before. */
  change(uri: string, ...edits: readonly TextEdit[]): void {
    const retained = this.texts.get(uri)!;
    retained.text = applied(retained.text, edits, this.unit);
    retained.version++;
    this.notify("textDocument/didChange", {
      textDocument: { uri, version: retained.version },
      contentChanges: edits.map(({ range, newText }) => ({ range, text: newText })),
    });
  }

  /** Puts a text in the place of the first occurrence of another. */
  replace(uri: string, old: string, now: string): void {
    const text = this.textOf(uri);
    const at = text.indexOf(old);
    assert.ok(at >= 0, `${old} is not in the text`);
    this.change(uri, {
      range: {
        start: positionOf(text, at, this.unit),
        end: positionOf(text, at + old.length, this.unit),
      },
      newText: now,
    });
  }

  /** Takes a code action as editors do: first the edit, then the command. */
  async take(action: Json): Promise<void> {
    if (action.edit !== undefined) this.apply(action.edit);
    if (action.command !== undefined) await this.request("workspace/executeCommand", action.command);
  }

  /** Applies an edit; false for one of another version. */
  apply(edit: Json): boolean {
    const changes: { uri: string; version: number | null; edits: TextEdit[] }[] =
      edit.documentChanges === undefined
        ? Object.entries(edit.changes).map(([uri, edits]) => ({
          uri,
          version: null,
          edits: edits as TextEdit[],
        }))
        : edit.documentChanges.map(({ textDocument, edits }: Json) => ({ ...textDocument, edits }));
    if (changes.some(({ uri, version }) => version !== null && this.texts.get(uri)?.version !== version)) {
      return false;
    }
    for (const { uri, edits } of changes) {
      const retained = this.texts.get(uri)!;
      // From the end, so that each position is still that of the text before.
      const sorted = edits.toSorted((a, b) =>
        b.range.start.line - a.range.start.line || b.range.start.character - a.range.start.character
      );
      retained.text = applied(retained.text, sorted, this.unit);
      retained.version++;
      this.notify("textDocument/didChange", {
        textDocument: { uri, version: retained.version },
        contentChanges: sorted.map(({ range, newText }) => ({ range, text: newText })),
      });
    }
    return true;
  }

  execute(command: string, argument: Json, more: Json = {}): Promise<Json> {
    return this.answer("workspace/executeCommand", { command, arguments: [argument], ...more });
  }

  /** Settles when something holds, looked at after each message. */
  async until<T>(look: () => T | undefined | false, what: string): Promise<T> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error(`not so for a long time: ${what}`)), LONGEST_WAIT);
    try {
      return await Promise.race([this.#until(look, what), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #until<T>(look: () => T | undefined | false, what: string): Promise<T> {
    while (true) {
      const found = look();
      if (found !== undefined && found !== false) return found;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#watchers.add(resolve);
      const gone = await Promise.race([promise.then(() => false), this.#reading.then(() => true)]);
      this.#watchers.delete(resolve);
      if (gone) {
        const last = look();
        if (last !== undefined && last !== false) return last;
        assert.fail(`the server ended, and this is not so: ${what}`);
      }
    }
  }

  /** The findings of the text as it is now. */
  async findings(uri: string): Promise<Json[]> {
    return await this.until(() => {
      const last = this.reported.findLast(({ method, params }) =>
        method === "textDocument/publishDiagnostics" && params.uri === uri
      );
      return last?.params.version === this.versionOf(uri) ? last!.params.diagnostics as Json[] : undefined;
    }, "the findings are told");
  }

  /** The messages shown so far. */
  get shown(): string[] {
    return this.reported.filter(({ method }) => method === "window/showMessage").map(({ params }) =>
      params.message
    );
  }

  /** Settles when the progress of a run has ended, with its last word. */
  async runEnds(times = 1): Promise<string> {
    return await this.until(() => {
      const ends = this.reported.filter(({ method, params }) =>
        method === "$/progress" && params.value.kind === "end"
      );
      return ends[times - 1]?.params.value.message as string | undefined;
    }, "the run ends");
  }

  async codeActions(uri: string, at: string, only?: readonly string[]): Promise<Json[]> {
    const position = positionOf(this.textOf(uri), this.textOf(uri).indexOf(at), this.unit);
    return await this.request("textDocument/codeAction", {
      textDocument: { uri },
      range: { start: position, end: position },
      context: { diagnostics: [], only },
    });
  }

  /** Says goodbye; the exit code. */
  async shutdown(): Promise<number> {
    await this.request("shutdown", undefined);
    this.notify("exit", undefined);
    return (await this.#child.status).code;
  }

  kill(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  async ends(): Promise<number> {
    return (await this.#child.status).code;
  }

  /** Goes away without a word. */
  async hangUp(): Promise<void> {
    await this.#writer.close().catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.hangUp();
    await this.#child.status;
    await this.#reading;
  }

  async #read(): Promise<void> {
    for await (const chunk of this.#child.stdout) {
      const joined = new Uint8Array(this.#buffer.length + chunk.length);
      joined.set(this.#buffer);
      joined.set(chunk, this.#buffer.length);
      this.#buffer = joined;
      for (let body = this.#next(); body !== null; body = this.#next()) {
        await this.#take(JSON.parse(body));
        for (const watch of [...this.#watchers]) watch();
      }
    }
  }

  #next(): string | null {
    const head = new TextDecoder("latin1").decode(this.#buffer.subarray(0, 200));
    const found = /^Content-Length: (\d+)\r\n\r\n/.exec(head);
    if (found === null) return null;
    const [start, length] = [found[0].length, Number(found[1])];
    if (this.#buffer.length < start + length) return null;
    const body = this.#buffer.slice(start, start + length);
    this.#buffer = this.#buffer.slice(start + length);
    return new TextDecoder().decode(body);
  }

  async #take(message: Json): Promise<void> {
    if (message.method === undefined) {
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
      if (message.id === null) this.reported.push({ method: "error", params: message.error });
      return;
    }
    this.reported.push({ method: message.method, params: message.params });
    if (message.id === undefined) return;
    const result = await this.#answered(message);
    // This editor may be on its way out.
    await this.send({ id: message.id, result }).catch(() => {});
  }

  async #answered({ method, params }: Json): Promise<Json> {
    if (method !== "workspace/applyEdit") return null;
    const [change] = params.edit.documentChanges ?? [];
    await this.#options.beforeEdit?.(this, change?.textDocument.uri);
    return { applied: this.#options.liar ? true : this.apply(params.edit) };
  }
}
