// Assembly of streamed calls from their pieces, however a server numbers them.

import { isObject, textOrEmpty } from "../../base/is_object.ts";
import { isCallInput } from "../stream/call_input.ts";
import { numberOrNull } from "../stream/fields.ts";
import { LongText } from "../../base/text/long_text.ts";

export interface StreamedCall {
  /** Id of the call; empty if the server gave none. */
  readonly id: string;
  /** Name as received. */
  readonly name: string;
  /** Input received so far. */
  readonly json: LongText;
  /** True if a line of the stream was lost while the call was open, so that its content is unreliable. */
  readonly damaged: boolean;
}

type Growing = { -readonly [K in keyof StreamedCall]: StreamedCall[K] } & { readonly index: number | null };

export class OpenCalls {
  readonly #calls: Growing[] = [];

  /** Adds a piece `{index?, id?, function: {name?, arguments?}}` and returns its call. */
  add(piece: unknown): StreamedCall | null {
    if (!isObject(piece)) return null;
    const functionDelta = isObject(piece.function) ? piece.function : {};
    const index = numberOrNull(piece.index);
    const id = textOrEmpty(piece.id);
    const name = textOrEmpty(functionDelta.name);
    const more = isObject(functionDelta.arguments)
      ? JSON.stringify(functionDelta.arguments)
      : textOrEmpty(functionDelta.arguments);
    const open = index === null ? this.#calls.at(-1) : this.#calls.findLast((call) => call.index === index);
    if (open === undefined || beginsAnother(open, id, name)) {
      const call = { index, id, name, json: new LongText(), damaged: false };
      call.json.add(more);
      this.#calls.push(call);
      return call;
    }
    open.id ||= id;
    open.name ||= name;
    open.json.add(more);
    return open;
  }

  /** Records that a line was lost: calls open now may lack a piece. */
  damaged(): void {
    for (const call of this.#calls) call.damaged = true;
  }

  /** Returns all calls by index; calls with equal or no index keep their order of arrival. */
  all(): readonly StreamedCall[] {
    return this.#calls.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0));
  }
}

/** True if a piece starts a new call. Some servers give all calls the same index, the same id, or no id. */
function beginsAnother(open: StreamedCall, id: string, name: string): boolean {
  if (id !== "" && open.id !== "" && id !== open.id) return true;
  return name !== "" && open.json.length > 0 && isCallInput(open.json);
}
