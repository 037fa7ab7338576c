// The document of a command: a file that is changed in place, or standard input that comes back on standard output.

import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { type FileStore, openFile } from "../../cycle/storage/file_store.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import { absolutePath } from "../../base/paths.ts";
import { checkText } from "../../cycle/storage/read.ts";
import type { SettingsSubject } from "../../agent/settings.ts";
import { Exit, exitOf } from "../io/exit.ts";
import { Interrupts } from "../io/interrupt.ts";
import type { Invocation } from "../invocation.ts";
import { numberOption, switchOption, textOption } from "../line/options.ts";
import { passRestThrough, readInput, writeOutput } from "../io/streams.ts";

interface Opened {
  /** How messages call the document: as the person named it. */
  readonly label: string;
  /** Positional arguments after the document. */
  readonly targets: readonly string[];
  readonly interrupts: Interrupts;
}

export type OpenDocument =
  | (Opened & { readonly mode: "file"; readonly store: FileStore })
  | (Opened & { readonly mode: "filter"; readonly store: MemoryStore });

/**
 * Opens the document a command line names and runs `body` with it. In filter mode the whole document is written to
 * standard output exactly once, however `body` ends: as it is then, at least as it came (cli section 3).
 */
export async function withDocument(
  invocation: Invocation,
  body: (document: OpenDocument) => Promise<number>,
): Promise<number> {
  const [file, ...targets] = invocation.arguments.positionals;
  if (file === undefined || file === "-") return await filter(invocation, targets, body);
  const { messages, environment } = invocation;
  const opened = await openFile(file, {
    environment,
    wait: numberOption(invocation.arguments, "wait") ?? 0,
    notify: (notice) => messages.notice(notice),
  });
  if (!opened.ok) {
    messages.problem(opened.problem);
    return exitOf(opened.problem);
  }
  const store = opened.value;
  const interrupts = new Interrupts((fault) => tellFault(invocation, fault));
  try {
    return await body({ mode: "file", label: file, targets, interrupts, store });
  } finally {
    interrupts.dispose();
    await store.close();
  }
}

function tellFault({ messages }: Invocation, fault: string | null): void {
  if (fault !== null) messages.say(`flemma: This is a fault of the program: ${fault}`);
}

async function filter(
  invocation: Invocation,
  targets: readonly string[],
  body: (document: OpenDocument) => Promise<number>,
): Promise<number> {
  const { messages } = invocation;
  const input = inputOf(invocation);
  if (input === null) return Exit.failure;
  let current = () => input.bytes;
  let written = false;
  const finish = () => {
    if (written) return;
    written = true;
    writeOutput(current());
    if (!input.complete) passRestThrough();
  };
  const interrupts = new Interrupts((fault) => {
    tellFault(invocation, fault);
    finish();
    messages.close();
  });
  try {
    const refused = input.complete ? checkText(input.bytes, "standard input") : {
      code: "document-too-large",
      message: "standard input: the document is larger than 1 GiB.",
    };
    if (refused !== null) {
      messages.problem(refused);
      return Exit.failure;
    }
    const path = namedPath(invocation);
    const store = new MemoryStore(input.bytes, path);
    current = () => store.chat.bytes;
    const label = textOption(invocation.arguments, "name") ?? "-";
    const code = await body({ mode: "filter", label, targets, interrupts, store });
    const asked = switchOption(invocation.arguments, "exit-code") === true;
    return code === Exit.person && !asked ? Exit.ok : code;
  } finally {
    finish();
    interrupts.dispose();
  }
}

/** All of standard input, or null after saying why it cannot be read. */
function inputOf({ messages }: Invocation): ReturnType<typeof readInput> | null {
  try {
    return readInput();
  } catch (thrown) {
    messages.say(`flemma: standard input cannot be read: ${thrownText(thrown)}.`);
    return null;
  }
}

/** The path a document from standard input is known by, absolute; null when it has none. */
function namedPath(invocation: Invocation): string | null {
  const name = textOption(invocation.arguments, "name");
  if (name === undefined) return null;
  const path = absolutePath(invocation.environment, name);
  try {
    // The journal knows a document by its real path, whatever link it was named by.
    return Deno.realPathSync(path);
  } catch {
    // Not written yet: then the name as given is all there is.
    return path;
  }
}

/** Opens a document for a report: no lock, nothing written, standard input when no file is named. */
export async function readForReport(
  invocation: Invocation,
  file: string | undefined,
): Promise<{ readonly label: string; readonly store: FileStore | MemoryStore } | { readonly exit: number }> {
  const { messages, environment } = invocation;
  if (file !== undefined && file !== "-") {
    const opened = await openFile(file, { environment, wait: 0, readOnly: true });
    if (opened.ok) return { label: file, store: opened.value };
    messages.problem(opened.problem);
    return { exit: exitOf(opened.problem) };
  }
  const input = inputOf(invocation);
  if (input === null) return { exit: Exit.failure };
  const { bytes, complete } = input;
  const refused = complete ? checkText(bytes, "standard input") : {
    code: "document-too-large",
    message: "standard input: the document is larger than 1 GiB.",
  };
  if (refused !== null) {
    messages.problem(refused);
    return { exit: Exit.failure };
  }
  const label = textOption(invocation.arguments, "name") ?? "-";
  return { label, store: new MemoryStore(bytes, namedPath(invocation)) };
}

/** The document whose policy is asked for, for its settings; no file names none. */
export async function readSubject(
  invocation: Invocation,
  file: string | undefined,
): Promise<SettingsSubject | { readonly exit: number }> {
  if (file === undefined || file === "-") return { path: null, frontmatter: null };
  const opened = await readForReport(invocation, file);
  if ("exit" in opened) return opened;
  return { path: opened.store.path, frontmatter: opened.store.chat.frontmatter };
}

/** The real path of the document whose policy is asked for; null when none is named. It must exist. */
export function documentPath(environment: Environment, file: string | undefined): Outcome<string | null> {
  if (file === undefined || file === "-") return success(null);
  try {
    return success(Deno.realPathSync(absolutePath(environment, file)));
  } catch (thrown) {
    return failure("document-missing", `${file}: ${thrownText(thrown)}.`);
  }
}
