// The code actions at the cursor: approve and reject are plain edits, and everything that runs is a command.

import { visible } from "../../../base/visible.ts";
import type { CodeAction } from "vscode-languageserver-types";
import {
  isPlaceholder,
  placeholderStyle,
  setStatus,
  stripStatus,
} from "../../../parser/edits/result_block.ts";
import type { Edit } from "../../../parser/edits/edit.ts";
import type { Lifecycle, Result } from "../../../parser/types.ts";
import type { Client } from "../client.ts";
import type { OpenDocument } from "../document.ts";
import { linesRange, toOffset } from "../positions.ts";

type Position = Parameters<typeof toOffset>[1];

export interface ActionRequest {
  readonly range: { readonly start: Position; readonly end: Position };
  /** The requested kinds; if absent, all kinds. */
  readonly only?: readonly string[];
}

/** Returns the actions for the calls in a range, and for the document. */
export async function codeActions(
  document: OpenDocument,
  client: Client,
  { range, only }: ActionRequest,
): Promise<CodeAction[]> {
  if (document.isUnsettled) return [];
  const session = await document.openReadOnly();
  const wanted = ({ kind = "" }: CodeAction) =>
    only === undefined || only.some((each) => each === "" || kind === each || kind.startsWith(`${each}.`));
  const style = session.ok ? session.value.settings.tools.status_style : "auto";
  const made = new Actions(document, client, style);
  const calls = callsIn(document, range).flatMap((id) => made.forCall(id));
  return [...calls, ...made.forDocument()].filter(wanted);
}

/** Returns the ids of calls in a range, found by their own block or by their result's block. */
function callsIn({ counted }: OpenDocument, range: ActionRequest["range"]): string[] {
  const { chat } = counted;
  const [from, to] = [toOffset(counted, range.start), toOffset(counted, range.end)];
  const blocks = [...chat.calls, ...chat.results].filter(({ place }) => place.from <= to && from <= place.to);
  return [...new Set(blocks.map(({ id }) => id))].filter((id) => chat.call(id) !== undefined);
}

class Actions {
  readonly #document: OpenDocument;
  readonly #client: Client;
  readonly #setting: Parameters<typeof placeholderStyle>[1];

  constructor(document: OpenDocument, client: Client, setting: Parameters<typeof placeholderStyle>[1]) {
    this.#document = document;
    this.#client = client;
    this.#setting = setting;
  }

  forCall(id: string): CodeAction[] {
    const { chat } = this.#document.counted;
    const result = chat.result(id);
    const running = this.#document.working !== null;
    if (result === undefined) {
      return running
        ? []
        : [this.#command(`Run ${visible(id)} now`, "refactor.flemma.execute", "flemma.execute", { id })];
    }
    if (!isPlaceholder(result)) return [];
    const which = visible(`${chat.call(id)?.name ?? id} (${id})`);
    const actions: CodeAction[] = [];
    const isAsked = result.questions !== null;
    if (result.status !== "approved") {
      actions.push(this.#approve(result, `${isAsked ? "Send the answers of" : "Approve"} ${which}`));
    }
    if (result.status !== "rejected") {
      actions.push(
        this.#edit(
          `${isAsked ? "Decline to answer" : "Reject"} ${which}`,
          "quickfix",
          this.#status(result, "rejected"),
        ),
        this.#rejectWithReason(result, `Reject ${which} with a reason…`),
      );
    }
    if (result.status !== "pending") {
      actions.push(this.#edit(`Set ${which} to pending`, "quickfix", this.#status(result, "pending")));
    }
    if (result.content !== "") {
      const title = `Use the text as the result of ${visible(id)}`;
      actions.push(this.#edit(title, "refactor.rewrite.flemma.takeAsResult", stripStatus(chat, result)));
    }
    if (!running) {
      actions.push(
        this.#command(`Run ${visible(id)} now`, "refactor.flemma.execute", "flemma.execute", { id }),
      );
    }
    return actions;
  }

  forDocument(): CodeAction[] {
    const { chat } = this.#document.counted;
    if (this.#document.working !== null) {
      return [this.#command("Cancel the run", "source.flemma.cancel", "flemma.cancel", {})];
    }
    if (chat.turns.length === 0) return [];
    const waiting = chat.results.some((result) => result.status === "pending" && result.content === "");
    return [
      this.#command("Advance the conversation", "source.flemma.advance", "flemma.advance", {}),
      ...(waiting
        ? [this.#command("Approve all calls", "source.flemma.approveAll", "flemma.approveAll", {})]
        : []),
    ];
  }

  #status(result: Result, status: Lifecycle): Edit[] {
    const { chat } = this.#document.counted;
    return setStatus(chat, result, status, placeholderStyle(chat, this.#setting));
  }

  #approve(result: Result, title: string): CodeAction {
    const edits = this.#status(result, "approved");
    const { id } = result;
    this.#document.offerApproval(id, edits);
    // The editor executes the command after the edit: only then did the person choose the action.
    const command = { title, command: "flemma.confirm", arguments: [{ uri: this.#document.uri, id }] };
    return { ...this.#edit(title, "quickfix", edits), command, isPreferred: result.status === "pending" };
  }

  /**
   * Sets the status, adds an empty line in the block for the reason, and asks the editor to show it. The reason takes the
   * place of questions.
   */
  #rejectWithReason(result: Result, title: string): CodeAction {
    const { chat } = this.#document.counted;
    const line = result.opener.start + 1;
    const start = chat.lineStart(line);
    const end = result.questions === null ? start : chat.lineStart(result.place.end);
    const edits = [
      ...this.#status(result, "rejected"),
      ...(result.content === "" ? [{ from: start, to: end, insert: chat.eol }] : []),
    ];
    const { uri } = this.#document;
    const command = { title, command: "flemma.showLine", arguments: [{ uri, line }] };
    return { ...this.#edit(title, "quickfix", edits), command };
  }

  #edit(title: string, kind: string, edits: readonly Edit[]): CodeAction {
    const { uri, store } = this.#document;
    const edit = this.#client.workspaceEdit({
      uri,
      version: store.version,
      edits: edits.map((each) => this.#document.textEdit(each)),
    });
    return { title, kind, edit };
  }

  #command(title: string, kind: string, command: string, more: Record<string, unknown>): CodeAction {
    const { uri, store } = this.#document;
    return {
      title,
      kind,
      command: { title, command, arguments: [{ uri, version: store.version, ...more }] },
    };
  }
}

/** Returns the position of a line to show, clipped to the text. */
export function startOfLine({ counted }: OpenDocument, line: number) {
  return linesRange(counted, Math.min(line, Math.max(1, counted.chat.lineCount)), line).start;
}
