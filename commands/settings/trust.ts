// `flemma trust PATH | - | --list | --revoke PATH`: agreeing to what a document, or a project's settings, would do.

import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { revokeTrust, trustedEntries } from "../../config/sources/trust.ts";
import { absolutePath } from "../../base/paths.ts";
import { visible } from "../../base/visible.ts";
import { openForReport } from "../document/open.ts";
import { refuse } from "../io/refuse.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption, textOption } from "../line/options.ts";
import { writeOutput } from "../io/streams.ts";
import type { Trustable } from "./trustable.ts";

export async function run(invocation: Invocation): Promise<number> {
  const given = invocation.arguments;
  const revoked = textOption(given, "revoke");
  if (switchOption(given, "list") === true) return list(invocation);
  if (revoked !== undefined) return await revoke(invocation, revoked);
  const [named] = given.positionals;
  if (named === undefined) {
    return refuse(invocation, {
      code: "usage",
      message: "trust needs a PATH, - for standard input, --list or --revoke PATH.",
    });
  }
  const found = await trustable(invocation, named);
  if ("exit" in found) return found.exit;
  if (!found.ok) return refuse(invocation, found.problem);
  const { path, lines, nothing } = found.value;
  const words = lines.length === 0
    ? [`${path} ${nothing}.`]
    : [`${path}`, ...lines.map((line) => `  ${line}`)];
  writeOutput(visible(`${words.join("\n")}\n`, { lines: true }));
  return switchOption(given, "show") === true
    ? await show(invocation, found.value)
    : await agree(invocation, found.value);
}

/** Says whether it is agreed to, and changes nothing. */
async function show(invocation: Invocation, { path, isAgreed }: Trustable): Promise<number> {
  const agreed = await isAgreed();
  if (!agreed.ok) return refuse(invocation, agreed.problem);
  invocation.messages.note(
    agreed.value ? `You have agreed to that.` : `You have not agreed to ${path} as it is.`,
  );
  return Exit.ok;
}

async function agree(invocation: Invocation, { agree, agreed }: Trustable): Promise<number> {
  const { messages } = invocation;
  const told = await agree();
  if (!told.ok) return refuse(invocation, told.problem);
  messages.note(agreed);
  for (const line of told.value) messages.note(line);
  return Exit.ok;
}

/** The settings file of a project for its folder, its `.flemma` folder or itself; every other path is a document. */
async function trustable(
  invocation: Invocation,
  named: string,
): Promise<Outcome<Trustable> | { readonly exit: number }> {
  const { environment } = invocation;
  const piped = named === "-";
  if (!piped) {
    const project = await projectFile(environment, named);
    if (!project.ok) return project;
    if (project.value !== null) {
      const { trustableProject } = await import("./trust_project.ts");
      return await trustableProject(environment, project.value);
    }
  }
  const opened = await openForReport(invocation);
  if ("exit" in opened) return opened;
  const { trustableDocument } = await import("./trust_document.ts");
  return await trustableDocument(opened.session, opened.label);
}

/** The real path of the project's settings file that is meant, or null when something else is. */
async function projectFile(environment: Environment, named: string): Promise<Outcome<string | null>> {
  try {
    const path = await Deno.realPath(await fileIn(absolutePath(environment, named)));
    return success(path.endsWith("/.flemma/config.yaml") ? path : null);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return failure("file-missing", `There is no file ${named}.`);
    return failure("file-unreadable", `${named} cannot be trusted: ${thrownText(thrown)}.`);
  }
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

async function revoke(invocation: Invocation, named: string): Promise<number> {
  const { environment, messages } = invocation;
  const path = await realOrGiven(await fileIn(absolutePath(environment, named)));
  const outcome = await revokeTrust(environment, path);
  if (!outcome.ok) return refuse(invocation, outcome.problem);
  messages.note(outcome.value ? `${path} is not trusted any more.` : `${path} was not trusted.`);
  return outcome.value ? Exit.ok : Exit.failure;
}

/** The settings file of a folder; any other path is meant itself. */
async function fileIn(path: string): Promise<string> {
  if (!(await Deno.stat(path).then((info) => info.isDirectory, () => false))) return path;
  const inside = /(^|\/)\.flemma\/*$/.test(path) ? "config.yaml" : ".flemma/config.yaml";
  return `${path.replace(/\/+$/, "")}/${inside}`;
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
