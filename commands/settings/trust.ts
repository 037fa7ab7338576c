// `flemma trust PATH | --list | --revoke PATH`: agreeing to files that came with a folder.

import { draftLayer } from "../../config/layers/draft.ts";
import { BUILTIN_CATALOG } from "../../config/schema/catalog.ts";
import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { namedFiles } from "../../config/sources/project.ts";
import { parseSource } from "../../config/sources/yaml.ts";
import { modulePath } from "../../config/schema/module_path.ts";
import { recordTrust, revokeTrust, trustedEntries } from "../../config/sources/trust.ts";
import { writeTree } from "../../config/layers/write_tree.ts";
import { absolutePath } from "../../base/paths.ts";
import { visible } from "../../base/visible.ts";
import { refuse } from "../io/refuse.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption, textOption } from "../line/options.ts";
import { writeOutput } from "../io/streams.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { environment, messages } = invocation;
  const given = invocation.arguments;
  const revoked = textOption(given, "revoke");
  if (switchOption(given, "list") === true) return list(invocation);
  if (revoked !== undefined) {
    const path = await realOrGiven(await fileIn(absolutePath(environment, revoked)));
    const outcome = await revokeTrust(environment, path);
    if (!outcome.ok) return refuse(invocation, outcome.problem);
    messages.note(outcome.value ? `${path} is not trusted any more.` : `${path} was not trusted.`);
    return outcome.value ? Exit.ok : Exit.failure;
  }
  const named = given.positionals[0];
  if (named === undefined) {
    return refuse(invocation, {
      code: "usage",
      message: "flemma trust needs a PATH, --list or --revoke PATH.",
    });
  }
  const file = await fileToTrust(environment, named);
  if (!file.ok) return refuse(invocation, file.problem);
  const { path, bytes, names } = file.value;
  const recorded = await recordTrust(environment, path, bytes, names, new Date());
  if (!recorded.ok) return refuse(invocation, recorded.problem);
  messages.note(`${path} is trusted as it is now; a change of it ends that.`);
  for (const other of recorded.value.files) messages.note(`with it: ${other.path}`);
  return Exit.ok;
}

function list(invocation: Invocation): number {
  const entries = trustedEntries(invocation.environment);
  if (!entries.ok) return refuse(invocation, entries.problem);
  const lines = entries.value.flatMap((entry) => [
    `${entry.at.slice(0, 10)}  ${entry.path}\n`,
    ...entry.files.map((file) => `            with ${file.path}\n`),
  ]);
  writeOutput(visible(lines.join(""), { lines: true }));
  if (lines.length === 0) invocation.messages.note("Nothing is trusted yet.");
  return Exit.ok;
}

interface Trusted {
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Files of code that it names. */
  readonly names: readonly string[];
}

/** A project folder, its `.flemma` folder, its configuration file, or any other file by itself. */
async function fileToTrust(environment: Environment, named: string): Promise<Outcome<Trusted>> {
  const given = absolutePath(environment, named);
  try {
    await Deno.stat(given);
    const path = await Deno.realPath(await fileIn(given));
    const bytes = await Deno.readFile(path);
    if (!path.endsWith("/.flemma/config.yaml")) return success({ path, bytes, names: [] });
    const names = await namesIn(environment, path, new TextDecoder().decode(bytes));
    return names.ok ? success({ path, bytes, names: names.value }) : names;
  } catch (thrown) {
    return failure("file-unreadable", `${named} cannot be trusted: ${thrownText(thrown)}.`);
  }
}

/** The settings file of a folder; any other path is meant itself. */
async function fileIn(path: string): Promise<string> {
  if (!(await Deno.stat(path).then((info) => info.isDirectory, () => false))) return path;
  const inside = /(^|\/)\.flemma\/*$/.test(path) ? "config.yaml" : ".flemma/config.yaml";
  return `${path.replace(/\/+$/, "")}/${inside}`;
}

/** The files of code a project's configuration names. One with mistakes is refused: nobody knows what it means. */
async function namesIn(
  environment: Environment,
  path: string,
  text: string,
): Promise<Outcome<readonly string[]>> {
  const parsed = await parseSource(text);
  if (!parsed.ok) {
    const lines = parsed.lines.map(({ place, message }) => `${path}:${place}: ${message}`);
    return failure("config-invalid", lines.join("\n"), "Correct the file before trusting it.");
  }
  const folder = path.slice(0, path.lastIndexOf("/"));
  const module = (name: string) => modulePath(name, folder, environment.home);
  const draft = draftLayer({ layer: "P", others: [], catalog: BUILTIN_CATALOG, module });
  const faults = writeTree(draft, parsed.tree.value ?? {}, { catalog: BUILTIN_CATALOG });
  if (faults.length > 0) {
    const lines = faults.map((fault) => `${path}:${parsed.tree.place(fault)}: ${fault.message}`);
    return failure("config-invalid", lines.join("\n"), "Correct the file before trusting it.");
  }
  return success(namedFiles(draft.log, folder.slice(0, -"/.flemma".length), environment.home));
}

async function realOrGiven(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (thrown) {
    // Trust in a file that is gone can still be taken back.
    if (thrown instanceof Deno.errors.NotFound) return path;
    throw thrown;
  }
}
