// Writes the page of `flemma show --html`: masks secrets, includes files on request, and replaces no other file.

import { replaceSmallFile } from "../../../base/files.ts";
import { absolutePath, parentOf } from "../../../base/paths.ts";
import { type Problem, thrownText } from "../../../base/problem.ts";
import { openRegular } from "../../../base/system/regular_file.ts";
import { visible } from "../../../base/visible.ts";
import { PAGE_START, type PageFile, pageHtml } from "../../../render/html/page.ts";
import { withoutSecrets } from "../../../render/mask.ts";
import { loadMarkdown } from "../../../render/markdown.ts";
import { secretMask } from "../../../render/secrets.ts";
import type { ConversationView } from "../../../render/types.ts";
import { isCredential } from "../../../sandbox/policy/credentials.ts";
import { openForReport } from "../../document/open.ts";
import type { ReadText } from "../../document/read.ts";
import type { Invocation } from "../../invocation.ts";
import { Exit } from "../../io/exit.ts";
import { refuse } from "../../io/refuse.ts";
import { writeOutput } from "../../io/streams.ts";
import { switchOption, textOption } from "../../line/options.ts";

/** Writes the page to the file of `--output` or to standard output; returns the exit code. */
export async function writePage(
  invocation: Invocation,
  read: ReadText,
  conversation: ConversationView,
): Promise<number> {
  const { arguments: given, environment, messages } = invocation;
  const secrets = secretMask(ownSecrets(environment.variables));
  const { conversation: clean, masked: found } = withoutSecrets(conversation, secrets);
  const masked: MaskedIn[] = found.map(({ name, line, document }) => ({
    name,
    place: document === undefined ? `line ${line}` : `${document} line ${line}`,
  }));
  const attached = await filesFor(invocation);
  if ("exit" in attached) return attached.exit;
  const files = attached.files.map(({ path, content }): PageFile => ({
    path: secrets.mask(path),
    content: content.kind === "text"
      ? { kind: "text", text: secrets.mask(content.text, ({ name }) => masked.push({ name, place: path })) }
      : content,
  }));
  const pieces = pageHtml(clean, { markdown: await loadMarkdown(), secrets, files });
  const output = textOption(given, "output");
  if (output === undefined) {
    for await (const piece of pieces) writeOutput(piece);
  } else {
    const problem = await writeFile(absolutePath(environment, output), output, read, pieces);
    if (problem !== null) return refuse(invocation, problem);
  }
  for (const line of [...attached.reported, ...maskedLines(masked)]) messages.note(`flemma: ${line}`);
  return Exit.ok;
}

interface MaskedIn {
  readonly name: string;
  readonly place: string;
}

/** Files in the page, and messages about included and missing files. */
interface FilesFor {
  readonly files: readonly PageFile[];
  readonly reported: readonly string[];
}

async function filesFor(invocation: Invocation): Promise<FilesFor | { readonly exit: number }> {
  if (switchOption(invocation.arguments, "files") !== true) return { files: [], reported: [] };
  const opened = await openForReport(invocation);
  if ("exit" in opened) return opened;
  await using session = opened.session;
  const { attachedFiles } = await import("../../../agent/views/attached_files.ts");
  const files: PageFile[] = [];
  const reported: string[] = [];
  for (const { path, content } of await attachedFiles(session, invocation.environment)) {
    if (content.kind === "none") {
      reported.push(`${visible(path)} is not included in the page: ${visible(content.reason)}.`);
      continue;
    }
    files.push({ path, content });
    reported.push(`${visible(path)} is included in the page, with its current content.`);
  }
  return { files, reported };
}

/**
 * Returns the values of variables that hold keys. If a key was pasted into a conversation, the person probably did not
 * mean to share it.
 */
function ownSecrets(variables: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const values = Object.entries(variables).filter((entry): entry is [string, string] =>
    entry[1] !== undefined && isCredential(entry[0])
  );
  return Object.fromEntries(values);
}

/** Maximum number of masked secrets that are listed; further ones are only counted. */
const MOST_REPORTED = 20;

function maskedLines(masked: readonly MaskedIn[]): string[] {
  if (masked.length === 0) return [];
  const what = masked.length === 1 ? "1 secret is" : `${masked.length} secrets are`;
  return [
    `${what} masked in the page. It may contain other secrets: check it before you share it.`,
    ...masked.slice(0, MOST_REPORTED).map(({ name, place }) => `  ${visible(place)}: ${visible(name)}`),
    ...(masked.length > MOST_REPORTED ? [`  and ${masked.length - MOST_REPORTED} more`] : []),
  ];
}

async function writeFile(
  path: string,
  named: string,
  { path: document }: ReadText,
  pieces: AsyncIterable<string>,
): Promise<Problem | null> {
  try {
    const inTheWay = await obstacle(path, named, document);
    if (inTheWay !== null) return inTheWay;
    const encoder = new TextEncoder();
    const parts: Uint8Array<ArrayBuffer>[] = [];
    for await (const piece of pieces) parts.push(encoder.encode(piece));
    await replaceSmallFile(path, new Uint8Array(await new Blob(parts).arrayBuffer()), { durable: false });
    // The page is meant to be shared, so it gets the mode of the person's other new files.
    if (Deno.build.os !== "windows") await Deno.chmod(path, 0o666 & ~Deno.umask());
    return null;
  } catch (thrown) {
    return {
      code: "page-unwritable",
      message: `${named} cannot be written: ${thrownText(thrown)}.`,
      next: "Name another file.",
    };
  }
}

/**
 * Returns why the page cannot be written; null if it can be. It replaces only an earlier page, or an empty file that
 * is not the document.
 */
async function obstacle(path: string, named: string, document: string | null): Promise<Problem | null> {
  const problem = (code: string, message: string): Problem => ({ code, message, next: "Name another file." });
  const info = await statOf(path);
  if (info === null) {
    return await statOf(parentOf(path)) === null
      ? problem("folder-missing", `There is no folder ${parentOf(path)}.`)
      : null;
  }
  if (info.isDirectory) return problem("page-exists", `${named} is a folder.`);
  const start = info.isFile ? await startOf(path) : "";
  if (start === PAGE_START || (info.isFile && info.size === 0 && !await isSame(path, document))) return null;
  return problem("page-exists", `${named} already exists, and flemma show did not write it.`);
}

async function statOf(path: string): Promise<Deno.FileInfo | null> {
  try {
    return await Deno.stat(path);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

async function startOf(path: string): Promise<string> {
  const { file } = await openRegular(path);
  using _ = file;
  const bytes = new Uint8Array(PAGE_START.length);
  const count = await file.read(bytes) ?? 0;
  return new TextDecoder().decode(bytes.subarray(0, count));
}

/** True if the resolved path is the path of the document. */
async function isSame(path: string, document: string | null): Promise<boolean> {
  return document !== null && await Deno.realPath(path) === document;
}
