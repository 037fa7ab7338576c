// What happens, as lines of JSON: on standard output in place, to `--events PATH` anywhere (cli section 5).

import type { CycleEvent, Stop } from "../cycle/types.ts";
import { absolutePath } from "../cycle/session/paths.ts";
import { failure, type Outcome, success, thrownText } from "../config/problem.ts";
import type { Invocation } from "./invocation.ts";
import { switchOption, textOption } from "./options.ts";
import { safeJson } from "./safe_json.ts";
import { writeOutput } from "./streams.ts";

/** The last line of every event stream. */
export interface StoppedEvent {
  readonly event: "stopped";
  readonly reason: Stop["reason"];
  readonly ids: readonly string[];
  /** Where a person should go on. */
  readonly line: number | null;
  readonly exit: number;
  readonly problem?: Stop["problem"];
}

export interface EventSink {
  write(event: CycleEvent | StoppedEvent): void;
  close(): void;
}

/** The sink the options ask for. Standard output is one only in in-place mode, where it carries nothing else. */
export function openEvents(invocation: Invocation, mode: "file" | "filter"): Outcome<EventSink> {
  const path = textOption(invocation.arguments, "events");
  const print = mode === "file" && switchOption(invocation.arguments, "json") === true;
  let file: Deno.FsFile | null = null;
  if (path !== undefined) {
    try {
      file = Deno.openSync(absolutePath(invocation.environment, path), {
        append: true,
        create: true,
        mode: 0o600,
      });
    } catch (thrown) {
      return failure("events-unwritable", `Events cannot be written to ${path}: ${thrownText(thrown)}.`);
    }
  }
  return success({
    write(event) {
      const line = `${safeJson(event)}\n`;
      if (print) writeOutput(line);
      if (file !== null) writeWhole(file, line);
    },
    close: () => file?.close(),
  });
}

function writeWhole(file: Deno.FsFile, line: string): void {
  const bytes = new TextEncoder().encode(line);
  for (let written = 0; written < bytes.length;) written += file.writeSync(bytes.subarray(written));
}
