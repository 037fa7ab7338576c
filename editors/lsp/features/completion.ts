// Completions for roles, statuses, ids of calls, tools, files, settings and models.

import type { CompletionItem } from "vscode-languageserver-types";
import { isObject } from "../../../base/is_object.ts";
import { folderOfDocument, referenceTo, resolvePath } from "../../../base/paths.ts";
import { summarizeOpenCalls } from "../../../cycle/plan/open_calls.ts";
import { BUILTIN_CATALOG } from "../../../config/schema/catalog.ts";
import { nodeAt } from "../../../config/schema/keys.ts";
import type { Node } from "../../../config/schema/define.ts";
import { ROLE_NAMES } from "../../../parser/text/lines.ts";
import type { Environment } from "../../../base/environment.ts";
import type { OpenDocument } from "../document.ts";
import { toOffset, toRange } from "../positions.ts";
import { blockKeys } from "./block_keys.ts";

type Position = Parameters<typeof toOffset>[1];

/** Kinds of completions, as the protocol numbers them. */
const KIND = {
  keyword: 14,
  value: 12,
  file: 17,
  folder: 19,
  property: 10,
  reference: 18,
  function: 3,
} as const;

/** Characters that trigger completions. */
export const TRIGGERS = ["@", "`", "=", "$", "/", "."];

/** Maximum number of files offered from a folder. */
const MOST_FILES = 200;

/** The statuses that a person writes; flemma writes the others. */
const STATUSES = ["pending", "approved", "rejected"];

/** A word that may replace the text after `from` bytes of the line. */
interface Offer {
  readonly text: string;
  readonly kind: CompletionItem["kind"];
  readonly detail?: string;
}

export async function completion(
  document: OpenDocument,
  position: Position,
  environment: Environment,
): Promise<CompletionItem[]> {
  const { counted } = document;
  const { chat } = counted;
  const offset = toOffset(counted, position);
  const line = chat.lineAt(offset);
  const before = chat.text(chat.lineStart(line), offset);
  const block = chat.frontmatter;
  const inBlock = block !== null && line > block.start && line < block.end;
  const { typed, offers } = inBlock
    ? await inSettings(document, line, before)
    : inText(document, before, environment);
  const from = offset - new TextEncoder().encode(typed).length;
  const range = toRange(counted, { from, to: offset });
  return offers.map(({ text, kind, detail }) => ({
    label: text,
    kind,
    ...(detail === undefined ? {} : { detail }),
    textEdit: { range, newText: text },
    filterText: text,
  }));
}

interface Offers {
  /** The typed part of the word. */
  readonly typed: string;
  readonly offers: readonly Offer[];
}

/** The member of the frontmatter that holds settings; the others are template variables. */
const ROOT = "flemma";

const NONE: Offers = { typed: "", offers: [] };

function inText(document: OpenDocument, before: string, environment: Environment): Offers {
  const role = /^@(\w*)$/.exec(before);
  if (role !== null) {
    return { typed: before, offers: ROLE_NAMES.map((name) => ({ text: `@${name}:`, kind: KIND.keyword })) };
  }
  const status = /^(?:`{3,}flemma:tool\b.*\bstatus=|\*\*Tool Result:\*\*\s*`[^`]+`\s*\((?:status=)?)(\w*)$/
    .exec(before);
  if (status !== null) {
    return { typed: status[1]!, offers: STATUSES.map((text) => ({ text, kind: KIND.value })) };
  }
  const result = /^\*\*Tool Result:\*\*\s*`([^`]*)$/.exec(before);
  if (result !== null) return { typed: result[1]!, offers: openCalls(document) };
  const call = /^\*\*Tool Use:\*\*\s*`([^`]*)$/.exec(before);
  if (call !== null) {
    return {
      typed: call[1]!,
      offers: BUILTIN_CATALOG.tools.map(({ name }) => ({ text: name, kind: KIND.function })),
    };
  }
  const file = /@((?:\.{1,2}|~|\/)\/\S*)$/.exec(before);
  return file === null ? NONE : files(document, file[1]!, environment);
}

/** Returns ids of calls without a result. */
function openCalls({ counted: { chat } }: OpenDocument): Offer[] {
  return summarizeOpenCalls(chat).open.map((text) => ({
    text,
    kind: KIND.reference,
    detail: chat.call(text)?.name,
  }));
}

/** Returns the entries of the folder that a reference has reached. Hidden entries are offered only after a dot. */
function files({ path }: OpenDocument, typed: string, { home, cwd }: Environment): Offers {
  const slash = typed.lastIndexOf("/");
  const word = typed.slice(slash + 1);
  const folder = resolvePath(decoded(typed.slice(0, slash + 1).replace(/^\/\//, "/")), {
    folder: path === null ? cwd : folderOfDocument(path),
    home,
  });
  let entries: Deno.DirEntry[];
  try {
    entries = [...Deno.readDirSync(folder)];
  } catch {
    // The path is not a readable folder.
    return NONE;
  }
  const offers = entries
    .filter(({ name }) => word.startsWith(".") || !name.startsWith("."))
    .map(({ name, isDirectory }) => ({
      text: referenceTo(`./${name}`).slice("@./".length),
      kind: isDirectory ? KIND.folder : KIND.file,
    }))
    .filter(({ text }) => text.startsWith(word))
    .sort((a, b) => a.text < b.text ? -1 : 1)
    .slice(0, MOST_FILES);
  return { typed: word, offers };
}

/** Decodes a piece of a path in a reference. It stays unchanged if it is not encoded. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path.replaceAll("+", " "));
  } catch {
    return path;
  }
}

async function inSettings(document: OpenDocument, line: number, before: string): Promise<Offers> {
  const { chat } = document.counted;
  const block = chat.frontmatter!;
  const above = Array.from(
    { length: line - block.start - 1 },
    (_, at) => chat.lineText(block.start + 1 + at),
  );
  const { path, typed, isValue } = blockKeys(block.language, above, before);
  if (path.length === 0 && !isValue && block.language !== "lua") {
    return { typed, offers: [{ text: ROOT, kind: KIND.property, detail: "The settings of this document." }] };
  }
  if (block.language !== "lua" && path[0] !== ROOT) return NONE;
  const settings = block.language === "lua" ? path : path.slice(1);
  const node = nodeOf(settings);
  if (node === null) return NONE;
  if (isValue) return { typed, offers: await values(document, { path: settings, typed }, node) };
  if (node.node !== "group") return NONE;
  const offers = Object.entries(node.members)
    .map(([text, member]) => ({ text, kind: KIND.property, detail: member.doc }));
  return { typed, offers };
}

function nodeOf(path: readonly string[]): Node | null {
  try {
    return nodeAt(path);
  } catch {
    // The path is not a setting, or not yet.
    return null;
  }
}

/** Returns the values of a setting that are words: choices, true and false, models and presets. */
async function values(
  document: OpenDocument,
  { path, typed }: { readonly path: readonly string[]; readonly typed: string },
  node: Node,
): Promise<Offer[]> {
  const value = (text: string): Offer => ({ text, kind: KIND.value });
  if (["model", "context.compact_model"].includes(path.join("."))) return await models(document, typed);
  if (path.join(".") === "provider") return await providers(document);
  if (node.node === "group" && node.list !== undefined || path.at(-1) === "auto_approve") {
    const session = await document.openReadOnly();
    const presets = session.ok ? Object.keys(session.value.settings.tools.presets) : [];
    return [...presets, ...BUILTIN_CATALOG.tools.map(({ name }) => name)].map(value);
  }
  if (node.node !== "key") return [];
  const { type } = node;
  if (type.is === "boolean") return ["true", "false"].map(value);
  if (type.is === "word") return type.words.map(value);
  return type.is === "custom" && type.words !== undefined ? type.words.map(value) : [];
}

/** Returns the models of the provider; if none of them begins as typed, those of the providers that have such names. */
async function models(document: OpenDocument, typed: string): Promise<Offer[]> {
  const session = await document.openReadOnly();
  if (!session.ok) return [];
  const { settings } = session.value;
  const { modelNames, modelsNamedLike } = await import("../../../agent/views/model_names.ts");
  const own = modelNames(settings);
  if (typed === "" || own.some((name) => name.startsWith(typed))) {
    return own.map((text) => ({ text, kind: KIND.value }));
  }
  return modelsNamedLike(settings, typed)
    .map(({ name, provider }) => ({ text: name, kind: KIND.value, detail: `needs provider: ${provider}` }));
}

async function providers(document: OpenDocument): Promise<Offer[]> {
  const session = await document.openReadOnly();
  if (!session.ok) return [];
  const { providersFor } = await import("../../../agent/views/model_names.ts");
  return providersFor(session.value.settings).map((text) => ({ text, kind: KIND.value }));
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** Returns the requested kinds in the context of a code action request. */
export function onlyIn(context: unknown): readonly string[] | undefined {
  return isObject(context) && isTexts(context.only) ? context.only : undefined;
}
