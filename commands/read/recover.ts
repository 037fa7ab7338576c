// `flemma recover`: prints the text that a filter saved when its output was lost.

import { listSavedTexts, type SavedEntry } from "../../cycle/storage/saved_text.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeData, writeLines, writeOutput } from "../io/streams.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption } from "../line/options.ts";
import { plural } from "../../base/text/plural.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given, environment } = invocation;
  const kept = listSavedTexts(environment);
  if (switchOption(given, "list") === true) {
    if (switchOption(given, "json") === true) writeOutput(`${safeJson(kept)}\n`);
    else writeLines(kept.map(listed).join("") || "No texts are saved.\n");
    return Exit.ok;
  }
  const [id] = given.positionals;
  const found = id === undefined ? kept.find(({ running }) => !running) : kept.find((text) => text.id === id);
  if (found === undefined) {
    const message = id === undefined ? "No filter run saved a text." : `No text is saved under ${id}.`;
    return refuse(invocation, {
      code: "nothing-kept",
      message,
      next: kept.length === 0 ? undefined : "List the saved texts: flemma recover --list",
    });
  }
  writeData(await Deno.readFile(found.path));
  return Exit.ok;
}

function listed({ id, bytes, time, running }: SavedEntry): string {
  const when = time.toISOString().slice(0, 19).replace("T", " ");
  return `${id}  ${when} UTC  ${plural(bytes, "byte")}${running ? "  (still running)" : ""}\n`;
}
