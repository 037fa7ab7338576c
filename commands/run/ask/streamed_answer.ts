// Streams the reply to standard output for a person at a terminal. All other text goes to standard error.

import { visible } from "../../../base/visible.ts";
import type { CycleEvent } from "../../../cycle/types.ts";
import type { Display } from "../../io/display/display.ts";
import type { Messages } from "../../io/messages.ts";
import { PlainLines } from "../../io/display/plain_lines.ts";
import { writeOutput } from "../../io/streams.ts";

/** Shows text as it arrives; calls, results and requests get lines of their own. */
export class StreamedAnswer implements Display {
  /** Prints calls, results and requests. Null if only the answer is printed. */
  readonly #lines: PlainLines | null;
  /** True if the last output was text without a line end. */
  #inText = false;

  constructor(messages: Messages, options: { readonly quiet: boolean }) {
    this.#lines = options.quiet ? null : new PlainLines(messages, { text: false });
    messages.beforeLine = () => this.close();
  }

  show(event: CycleEvent): void {
    if (event.event === "text") {
      const safe = visible(event.text, { lines: true });
      if (safe === "") return;
      writeOutput(safe);
      this.#inText = !safe.endsWith("\n");
    } else if (event.event !== "reply:progress") {
      this.close();
      this.#lines?.show(event);
    }
  }

  close(): void {
    if (this.#inText) writeOutput("\n");
    this.#inText = false;
  }
}
