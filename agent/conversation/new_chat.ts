// Creates a document and records that the person agrees to its content, because they asked for it.

import { makeFile, realPathOrNull } from "../../base/files.ts";
import { type Environment, processEnvironment, systemFor } from "../../base/environment.ts";
import { absolutePath, baseName, folderOfDocument, parentOf } from "../../base/paths.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { projectRootOf } from "../../config/document/project_root.ts";
import { parse } from "../../parser/mod.ts";
import type { Chat } from "../../parser/types.ts";
import { agree, NO_AUTHORITY } from "../trust/agreement.ts";
import type { NewChatContent } from "../types.ts";

/**
 * Makes a new document at `path` with an empty question, or with the given texts. Refuses a text that would be read as
 * a message, a call or a result, so that text from a person cannot contain calls. Templates and references in the
 * texts work as in every document.
 *
 * @param path where to make it, relative to the working folder; messages use this path as its name
 * @param content its first content; both texts may be omitted
 * @param options the environment, by default the one of this process
 * @returns the real path of the document. Fails with `document-exists` without changing the existing file, with
 * `folder-missing`, `text-is-structure`, `document-unwritable`, or with `not-noted` if the agreement cannot be saved.
 */
export async function newChat(
  path: string,
  content: NewChatContent = {},
  options: { readonly environment?: Environment } = {},
): Promise<Outcome<{ readonly path: string }>> {
  const here = systemFor("newChat");
  if (!here.ok) return here;
  const environment = options.environment ?? processEnvironment();
  const { system } = content;
  const bytes = textOfNewChat(content);
  const intruder = structureIn(parse(bytes), system === undefined ? ["You"] : ["System", "You"]);
  if (intruder !== null) {
    return failure(
      "text-is-structure",
      `${path} was not created, because the text ${intruder}.`,
      "Put a space before lines that begin with @ or **Tool, and close every backtick fence.",
    );
  }
  return await createChat(
    path,
    bytes,
    environment,
    (real) => agreeToNew(environment, real, content.settings?.cwd),
  );
}

/**
 * Creates the file of a new document, and records the agreement to it. Fails like `newChat`.
 *
 * @param agree records the agreement; gets the real path
 */
export async function createChat(
  path: string,
  bytes: Uint8Array,
  environment: Environment,
  agree: (realPath: string) => Promise<Outcome<void>>,
): Promise<Outcome<{ readonly path: string }>> {
  try {
    const realPath = await futurePath(absolutePath(environment, path));
    await makeFile(realPath, bytes, 0o666);
    const agreed = await agree(realPath);
    if (!agreed.ok) {
      await Deno.remove(realPath);
      const { message, next } = agreed.problem;
      return failure(
        "not-noted",
        `${path} was not created, because your trust in it cannot be saved: ${message}`,
        next,
      );
    }
    return success({ path: realPath });
  } catch (thrown) {
    if (thrown instanceof Deno.errors.AlreadyExists) {
      return failure(
        "document-exists",
        `${path} already exists, and was not changed.`,
        "Choose another name, or continue that conversation: write below a line @You:, then advance.",
      );
    }
    if (thrown instanceof Deno.errors.NotFound) {
      // A name without a slash belongs to the working folder, which exists.
      const folder = path.slice(0, Math.max(1, path.lastIndexOf("/")));
      return failure(
        "folder-missing",
        `There is no folder ${folder}.`,
        `Create it: mkdir -p ${operands(folder)}`,
      );
    }
    return failure(
      "document-unwritable",
      `${path} cannot be created: ${thrownText(thrown)}.`,
      "Choose another path.",
    );
  }
}

/** Returns the text of a new document. */
export function textOfNewChat({ settings, system, question }: NewChatContent): Uint8Array<ArrayBuffer> {
  const text = [
    ...(settings === undefined
      ? []
      : [`\`\`\`json\n${JSON.stringify({ flemma: settings }, null, 2)}\n\`\`\`\n\n`]),
    ...(system === undefined ? [] : [`@System:\n${system}\n\n`]),
    `@You:\n${question ?? ""}\n`,
  ].join("");
  return new TextEncoder().encode(text);
}

/** Records the agreement to a new document, and to the working folder in its frontmatter. */
async function agreeToNew(environment: Environment, path: string, cwd: unknown): Promise<Outcome<void>> {
  if (typeof cwd !== "string") return await agree(environment, path, NO_AUTHORITY);
  const [{ agreeToFolder }, { authorityOfFolder }] = await Promise.all([
    import("../../config/document/work_folder.ts"),
    import("../../config/document/authority.ts"),
  ]);
  const folder = await Deno.realPath(cwd.startsWith("/") ? cwd : `${folderOfDocument(path)}/${cwd}`);
  const agreed = await agreeToFolder(environment, path, folder);
  return agreed.ok ? await agree(environment, path, { text: authorityOfFolder(folder), lines: [] }) : agreed;
}

/**
 * If a document would read a text as more than plain text, returns what it would read, as the end of a sentence that
 * begins with "the text". Returns null for plain text.
 */
function structureIn(chat: Chat, roles: readonly string[]): string | null {
  if (chat.turns.length < roles.length) return "opens a fence that hides the text after it";
  const stray = chat.turns.find(({ role }, index) => role !== roles[index]);
  if (stray !== undefined) return `would start a message (@${stray.role}: in line ${stray.place.start})`;
  const [block] = [...chat.calls, ...chat.results];
  if (block !== undefined) return `contains a tool block (line ${block.place.start})`;
  return null;
}

/** Returns the real path that a file will have, once created. */
async function futurePath(path: string): Promise<string> {
  const slash = path.lastIndexOf("/");
  const folder = await Deno.realPath(path.slice(0, slash) || "/");
  return `${folder === "/" ? "" : folder}/${path.slice(slash + 1)}`;
}

/**
 * Returns the project's folder relative to the document's, if the document lies deeper in the project; undefined if the
 * tools work in the document's own folder.
 */
export function workFolderFor(environment: Environment, file: string): string | undefined {
  const folder = realPathOrNull(parentOf(absolutePath(environment, file)));
  if (folder === null) return undefined;
  const own = folderOfDocument(`${folder}/${baseName(file)}`);
  const root = projectRootOf(own, environment.home);
  if (root === null || root === own) return undefined;
  return own.slice(root.length + 1).split("/").map(() => "..").join("/");
}
