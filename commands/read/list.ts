// `flemma list`: lists documents, the last changed one first, and searches in them.

import { findDocuments } from "../../agent/conversation/known_documents.ts";
import { blocksOf } from "../../agent/settings.ts";
import { configFolder, stateFolder } from "../../base/folders.ts";
import { expandHome, isInside } from "../../base/paths.ts";
import { visible } from "../../base/visible.ts";
import { cutToWidth } from "../../base/width.ts";
import { settingsFor } from "../document/read.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeLines, writeOutput } from "../io/streams.ts";
import { switchOption, textOption } from "../line/options.ts";

/** Columns for the first question of a document. */
const QUESTION = 60;

export async function run(invocation: Invocation): Promise<number> {
  const { environment, arguments: given, messages } = invocation;
  const loaded = await settingsFor(invocation, { path: null, ...blocksOf(null) });
  if (!loaded.ok) return refuse(invocation, loaded.problem);
  const { dir } = loaded.value.settings.ask;
  const asks = dir === null ? `${stateFolder(environment)}/asks` : expandHome(dir, environment.home);
  const words = (textOption(given, "search") ?? "").split(/\s+/).filter((word) => word !== "");
  const found = await findDocuments(environment, {
    asks: asks.startsWith("/") ? asks : `${configFolder(environment)}/${asks}`,
    words,
  });
  if (!found.ok) return refuse(invocation, found.problem);
  if (switchOption(given, "json") === true) {
    writeOutput(`${safeJson(found.value)}\n`);
    return Exit.ok;
  }
  if (found.value.length === 0) {
    const what = words.length === 0 ? "There are no documents here" : "No document contains these words";
    messages.note(`${what}. flemma looks in this folder, in chats, and at the documents that it made.`);
  }
  const lines = found.value.map(({ path, changed, question }) => {
    const shown = isInside(path, environment.cwd) ? path.slice(environment.cwd.length + 1) : path;
    return `${changed.slice(0, 10)}  ${visible(shown)}  ${cutToWidth(visible(question), QUESTION)}`.trimEnd();
  });
  if (lines.length > 0) writeLines(`${lines.join("\n")}\n`);
  return Exit.ok;
}
