// Writes events as lines of JSON: to standard output in file mode, and to the target of `--events`.

import type { RunEvent } from "../../agent/views/run_event.ts";
import type { Environment } from "../../base/environment.ts";
import { absolutePath } from "../../base/paths.ts";
import { isSameFile } from "../../base/system/take_place.ts";
import { failure, type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption, textOption } from "../line/options.ts";
import { safeJson } from "../io/safe_json.ts";
import { descriptorPath, writeOutput, writeTo } from "../io/streams.ts";

export interface EventSink {
  /** Never throws: tools and replies must not be lost because the reader of events is gone. */
  write(event: RunEvent): void;
  /** Reason why events were lost; null if none were lost. */
  readonly fault: Problem | null;
  close(): Promise<void>;
}

/**
 * Returns the receiver of events for the options. Standard output receives events only in file mode, in which it
 * carries nothing else. The file of `document` is refused, because events would be written into the conversation.
 */
export function openEvents(
  invocation: Invocation,
  { mode, path: document, among }: {
    readonly mode: "file" | "filter";
    readonly path: string | null;
    /** Members that are added to each event if several documents run. */
    readonly among?: { readonly document: string };
  },
): Outcome<EventSink> {
  const path = textOption(invocation.arguments, "events");
  const print = mode === "file" && switchOption(invocation.arguments, "json") === true;
  if (print && namesFile(descriptorPath(1), document)) return namesDocument("--json: standard output");
  const target = path === undefined ? success(null) : openTarget(invocation.environment, path, document);
  if (!target.ok) return target;
  return success(
    new Sink(
      [...(print ? [writeOutput] : []), ...(target.value === null ? [] : [target.value.write])],
      target.value,
      among,
    ),
  );
}

interface Target {
  write(line: string): void;
  /** Settles when everything written has been passed on. */
  close(): Promise<void>;
}

/** Opens the target of `--events`: a descriptor or a file. */
function openTarget(environment: Environment, path: string, document: string | null): Outcome<Target> {
  const descriptor = path === "stderr" ? 2 : /^fd:(\d+)$/.exec(path)?.[1];
  const absolute = absolutePath(environment, path);
  const target = descriptor === undefined ? absolute : descriptorPath(Number(descriptor));
  if (namesFile(target, document)) return namesDocument(`--events ${path}`);
  if (descriptor !== undefined) return descriptorTarget(Number(descriptor), path);
  try {
    const file = Deno.openSync(absolutePath(environment, path), { append: true, create: true, mode: 0o600 });
    return success({ write: createReporter(path, (line) => writeTo(file, line)), close: () => closed(file) });
  } catch (thrown) {
    return failure("events-unwritable", `Events cannot be written to ${path}: ${thrownText(thrown)}.`);
  }
}

/** Whether a path leads to the file of the document, under any of its names. */
export function namesFile(path: string, document: string | null): boolean {
  if (document === null) return false;
  try {
    return isSameFile(Deno.statSync(path), Deno.statSync(document));
  } catch {
    // What does not exist is not the document. Opening it reports any other error.
    return false;
  }
}

function namesDocument(what: string): Outcome<never> {
  return failure("usage", `${what} names the document itself.`, "Name another file for the events.");
}

/**
 * Opens a descriptor that is already open. Standard error is written directly, any other descriptor through its path.
 * A socket cannot be opened by path, so a child that inherits it passes the lines on.
 */
function descriptorTarget(descriptor: number, path: string): Outcome<Target> {
  if (descriptor < 2) {
    return failure("usage", `--events ${path} is already used for the document.`);
  }
  if (descriptor === 2) {
    return success({ write: createReporter(path, (line) => writeTo(Deno.stderr, line)), close: nothing });
  }
  try {
    const file = Deno.openSync(descriptorPath(descriptor), { append: true });
    return success({ write: createReporter(path, (line) => writeTo(file, line)), close: () => closed(file) });
  } catch (thrown) {
    if (isSocket(descriptor)) return success(socketTarget(descriptor));
    return failure(
      "usage",
      `--events ${path}: that descriptor is not open for writing (${thrownText(thrown)}).`,
    );
  }
}

function isSocket(descriptor: number): boolean {
  try {
    return Deno.statSync(descriptorPath(descriptor)).isSocket === true;
  } catch {
    // The descriptor is not open; the caller reports that.
    return false;
  }
}

function socketTarget(descriptor: number): Target {
  const child = new Deno.Command("/bin/sh", {
    args: ["-c", `exec cat >&${descriptor}`],
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const lines = child.stdin.getWriter();
  let fault: unknown = null;
  const failed = (thrown: unknown) => void (fault ??= thrown);
  return {
    write: createReporter(`fd:${descriptor}`, (line) => {
      if (fault !== null) throw fault;
      lines.write(new TextEncoder().encode(line)).catch(failed);
    }),
    close: async () => {
      await lines.close().catch(failed);
      await child.status;
    },
  };
}

function nothing(): Promise<void> {
  return Promise.resolve();
}

function closed(file: Deno.FsFile): Promise<void> {
  file.close();
  return Promise.resolve();
}

class Sink implements EventSink {
  fault: Problem | null = null;
  #writers: readonly ((line: string) => void)[];
  readonly #target: Target | null;
  readonly #among: { readonly document?: string };

  constructor(
    writers: readonly ((line: string) => void)[],
    target: Target | null,
    among: { readonly document?: string } = {},
  ) {
    this.#writers = writers;
    this.#target = target;
    this.#among = among;
  }

  write(event: RunEvent): void {
    if (this.#writers.length === 0) return;
    const line = `${safeJson({ ...this.#among, ...event })}\n`;
    this.#writers = this.#writers.filter((write) => {
      try {
        write(line);
        return true;
      } catch (thrown) {
        this.fault ??= {
          code: "events-lost",
          message: `${thrownText(thrown)} The run continued without events.`,
        };
        return false;
      }
    });
  }

  async close(): Promise<void> {
    await this.#target?.close();
  }
}

/** Adds the target to the errors of `write`. */
function createReporter(path: string, write: (line: string) => void): (line: string) => void {
  return (line) => {
    try {
      write(line);
    } catch (thrown) {
      throw new Error(`Events cannot be written to ${path}: ${thrownText(thrown)}.`, { cause: thrown });
    }
  };
}
