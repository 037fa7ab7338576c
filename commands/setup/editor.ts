// `flemma editor`: installs the runtime files of an editor, or prints them.

import { own } from "../../base/is_object.ts";
import { nearest } from "../../base/names.ts";
import { absolutePath } from "../../base/paths.ts";
import { thrownText } from "../../base/problem.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeOutput } from "../io/streams.ts";
import { switchOption, textOption } from "../line/options.ts";
import { EDITOR_FILES } from "./editor_files.generated.ts";
import { inspectFolder, type Installed, type InstallFiles, installInto, keepCopy } from "./editor_install.ts";
import {
  findPassage,
  type FoundPassage,
  readSettings,
  withPassage,
  writeSettings,
} from "./editor_passage.ts";
import { EDITOR_ALIASES, EDITOR_PLACES, type EditorPlace } from "./editor_places.ts";

type Files = Readonly<Record<string, string>>;

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given, environment } = invocation;
  const [editorName] = given.positionals;
  if (editorName === undefined) return await list(invocation);
  const name = own(EDITOR_ALIASES, editorName) ?? editorName;
  const place = own(EDITOR_PLACES, name);
  if (place === undefined) return refuse(invocation, unknownEditor(editorName));
  const sources = EDITOR_FILES[place.files] ?? {};
  if (switchOption(given, "print") === true) {
    writeOutput(printed(sources));
    return Exit.ok;
  }
  const to = textOption(given, "to");
  const folder = to === undefined ? place.folder(environment) : absolutePath(environment, to);
  const install = switchOption(given, "install") === true;
  if (folder === null) {
    if (!install) return tell(printed(sources));
    return refuse(invocation, {
      code: "usage",
      message: `For ${name}, you add lines to a file of your own.`,
      next: `Print them: flemma editor ${name}`,
    });
  }
  try {
    if (place.passage !== undefined) {
      return await settle({ invocation, name, place, folder, files: sources }, place.passage, install);
    }
    const files = await packed(place, sources);
    const found = await inspectFolder(folder, files);
    return install
      ? await put({ invocation, name, place, folder, files, found })
      : tell(stateOf(name, folder, found));
  } catch (thrown) {
    return refuse(invocation, {
      code: "editor-unwritable",
      message: `The files for ${name} cannot be installed in ${folder}: ${thrownText(thrown)}.`,
      next: `Choose another folder: flemma editor ${name} --install --to FOLDER`,
    });
  }
}

/** Installs a passage in a settings file of the person, or reports on the passage. */
async function settle(
  { invocation, name, place, folder, files }: Omit<Putting, "found" | "files"> & { readonly files: Files },
  { file, conflict }: NonNullable<EditorPlace["passage"]>,
  install: boolean,
): Promise<number> {
  const path = `${folder}/${file}`;
  const passage = files[file]!;
  const text = await readSettings(path);
  const { state } = await findPassage(text, passage, conflict);
  if (!install) return tell(stateOf(name, path, { state, changed: [] }));
  if (state === "taken") {
    return refuse(invocation, {
      code: "editor-changed",
      message: `Nothing was written, because ${path} already mentions flemma or a language named chat.`,
      next: `Compare it with: flemma editor ${name} --print`,
    });
  }
  if (state === "changed" && switchOption(invocation.arguments, "force") !== true) {
    return refuse(invocation, {
      code: "editor-changed",
      message: `Nothing was written, because you changed flemma's lines in ${path}.`,
      next: `To keep a copy and install the new lines: flemma editor ${name} --install --force`,
    });
  }
  const kept = state === "changed" ? await keepCopy(path, text!) : null;
  if (state !== "current") await writeSettings(path, await withPassage(text, passage));
  return tell([
    state === "current" ? `Already installed: ${path}` : `Installed: ${path}`,
    ...(kept === null ? [] : [`Your old version is in ${kept}`]),
    ...[place.next(folder)].filter((line) => line !== null),
  ].join("\n"));
}

interface Putting {
  readonly invocation: Invocation;
  readonly name: string;
  readonly place: EditorPlace;
  readonly folder: string;
  readonly files: InstallFiles;
  readonly found: Installed;
}

async function put({ invocation, name, place, folder, files, found }: Putting): Promise<number> {
  const force = switchOption(invocation.arguments, "force") === true;
  if (found.changed.length > 0 && !force) {
    return refuse(invocation, {
      code: "editor-changed",
      message: `Nothing was written, because you changed ${found.changed.join(", ")} in ${folder}.`,
      next: `To keep copies and install the new files: flemma editor ${name} --install --force`,
    });
  }
  const aside = await installInto(folder, files, found);
  const next = await takeIn(place, folder) ?? place.next(folder);
  return tell([
    found.state === "current" ? `Already installed: ${folder}` : `Installed: ${folder}`,
    ...aside.map((path) => `Your changed version is in ${path}`),
    ...(next === null ? [] : [next]),
  ].join("\n"));
}

/** Returns the files to install: the sources, or the package of them. */
async function packed({ pack }: EditorPlace, sources: Files): Promise<InstallFiles> {
  if (pack === undefined) return sources;
  const { vsixOf } = await import("./vsix.ts");
  return { [pack.file]: vsixOf(sources) };
}

/** Lets the editor install the package; returns what it said, or null if the editor is not on the PATH or refused. */
async function takeIn({ pack }: EditorPlace, folder: string): Promise<string | null> {
  if (pack === undefined) return null;
  const { file, program, install } = pack;
  try {
    const args = [...install, `${folder}/${file}`];
    const { success } = await new Deno.Command(program, { args, stdout: "null", stderr: "null" }).output();
    return success ? "Reload VS Code to use it." : null;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

async function list({ arguments: given, environment }: Invocation): Promise<number> {
  const rows = await editorStates(environment);
  if (switchOption(given, "json") === true) return tell(safeJson(rows));
  const width = Math.max(...rows.map(({ name }) => name.length));
  return tell(
    rows.map(({ name, folder, state }) => `${name.padEnd(width)}  ${words(state, folder)}`).join("\n"),
  );
}

export async function editorStates(
  environment: Invocation["environment"],
): Promise<
  { name: string; folder: string | null; state: State; version: string | null }[]
> {
  return await Promise.all(
    Object.entries(EDITOR_PLACES).map(async ([name, place]) => {
      const folder = place.folder(environment);
      if (folder === null) return { name, folder, state: "lines" as const, version: null };
      const sources = EDITOR_FILES[place.files] ?? {};
      if (place.passage !== undefined) {
        const { file, conflict } = place.passage;
        const path = `${folder}/${file}`;
        const { state, version } = await findPassage(await readSettings(path), sources[file]!, conflict);
        return { name, folder: path, state, version };
      }
      const { state, version } = await inspectFolder(folder, await packed(place, sources));
      return { name, folder, state, version };
    }),
  );
}

/**
 * State of an editor's files. `taken` and `lines` occur only for editors whose settings are a file that the person
 * writes.
 */
type State = Installed["state"] | FoundPassage["state"] | "lines";

function words(state: State, folder: string | null): string {
  switch (state) {
    case "absent":
      return "not installed";
    case "current":
      return `installed in ${folder}`;
    case "older":
      return `an older version in ${folder}`;
    case "changed":
      return `changed by you in ${folder}`;
    case "taken":
      return `your own lines in ${folder}`;
    case "lines":
      return "lines for a file of your own";
  }
}

function stateOf(
  name: string,
  folder: string,
  { state, changed }: { readonly state: State; readonly changed: readonly string[] },
): string {
  const lines = [`${name}: ${words(state, folder)}`];
  if (changed.length > 0) lines.push(`changed by you: ${changed.join(", ")}`);
  if (state !== "current") lines.push(`Install: flemma editor ${name} --install (in ${folder})`);
  lines.push(`Print: flemma editor ${name} --print`);
  return lines.join("\n");
}

/** Returns the text of the only file, or all files, each under its name. */
function printed(files: Files): string {
  const all = Object.entries(files);
  if (all.length === 1) return all[0]![1];
  return all.map(([path, text]) => `==> ${path} <==\n${text}`).join("\n");
}

function tell(text: string): number {
  writeOutput(text.endsWith("\n") ? text : `${text}\n`);
  return Exit.ok;
}

function unknownEditor(editorName: string) {
  const names = Object.keys(EDITOR_PLACES);
  const meant = nearest(editorName, names);
  return {
    code: "usage",
    message: `There are no files for ${editorName}${meant === null ? "" : `; did you mean ${meant}?`}`,
    next: `Available: ${names.join(", ")}. Other editors can use filters: see docs/guide/editors.md`,
  };
}
