// What happens, as lines of JSON: on standard output in place, to `--events PATH` anywhere (cli section 5).

import type { CycleEvent, Stop } from "../../cycle/types.ts";
import { absolutePath } from "../../base/paths.ts";
import { failure, type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption, textOption } from "../line/options.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeOutput } from "../io/streams.ts";

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
  /** Never throws: who runs tools and takes replies in must not lose them because nobody listens. */
  write(event: CycleEvent | StoppedEvent): void;
  /** Why events were lost, once some were. */
  readonly fault: Problem | null;
  close(): void;
}

/**
 * The sink the options ask for. Standard output is one only in in-place mode, where it carries nothing else. The
 * file of `document` is refused: events would land in the conversation.
 */
export function openEvents(
  invocation: Invocation,
  { mode, path: document }: { readonly mode: "file" | "filter"; readonly path: string | null },
): Outcome<EventSink> {
  const path = textOption(invocation.arguments, "events");
  const print = mode === "file" && switchOption(invocation.arguments, "json") === true;
  let file: Deno.FsFile | null = null;
  if (path !== undefined) {
    if (document !== null && realPath(absolutePath(invocation.environment, path)) === document) {
      return failure(
        "usage",
        `--events ${path} names the document itself.`,
        "Name another file for the events.",
      );
    }
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
  return success(
    new Sink([
      ...(print ? [writeOutput] : []),
      ...(file === null ? [] : [writerOf(file, path!)]),
    ], file),
  );
}

class Sink implements EventSink {
  fault: Problem | null = null;
  #writers: readonly ((line: string) => void)[];
  readonly #file: Deno.FsFile | null;

  constructor(writers: readonly ((line: string) => void)[], file: Deno.FsFile | null) {
    this.#writers = writers;
    this.#file = file;
  }

  write(event: CycleEvent | StoppedEvent): void {
    if (this.#writers.length === 0) return;
    const line = `${safeJson(event)}\n`;
    this.#writers = this.#writers.filter((write) => {
      try {
        write(line);
        return true;
      } catch (thrown) {
        this.fault ??= {
          code: "events-lost",
          message: `${thrownText(thrown)} The run went on without events.`,
        };
        return false;
      }
    });
  }

  close(): void {
    this.#file?.close();
  }
}

function writerOf(file: Deno.FsFile, path: string): (line: string) => void {
  return (line) => {
    try {
      writeWhole(file, line);
    } catch (thrown) {
      throw new Error(`Events cannot be written to ${path}: ${thrownText(thrown)}.`, { cause: thrown });
    }
  };
}

/** The path after all links, or as it is given when nothing is there yet. */
function realPath(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    // A file that does not exist cannot be the document; why it cannot be opened is said when it is opened.
    return path;
  }
}

function writeWhole(file: Deno.FsFile, line: string): void {
  const bytes = new TextEncoder().encode(line);
  for (let written = 0; written < bytes.length;) written += file.writeSync(bytes.subarray(written));
}
