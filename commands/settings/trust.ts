// `flemma trust PATH | - | --list | --revoke PATH`: trusts a document, or a project's settings, tools and skills.

import { type Outcome, success } from "../../base/problem.ts";
import { revokeTrust, trustedEntries } from "../../config/sources/trust.ts";
import { absolutePath, isInside } from "../../base/paths.ts";
import { visible } from "../../base/visible.ts";
import { openForReport } from "../document/open.ts";
import { refuse } from "../io/refuse.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { switchOption, textOption } from "../line/options.ts";
import { writeOutput } from "../io/streams.ts";
import type { Trustable, TrustOffer } from "../../agent/extensions/trustable.ts";

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
  const { trustables, leftOut } = found.value;
  for (const each of trustables) writeOutput(`${inWords(each).map((line) => visible(line)).join("\n")}\n`);
  const act = switchOption(given, "show") === true ? show : agree;
  for (const each of trustables) {
    const code = await act(invocation, each);
    if (code !== Exit.ok) return code;
  }
  for (const sentence of leftOut) invocation.messages.note(`Skipped: ${sentence}`);
  return Exit.ok;
}

/** Returns the path, followed by words for what the thing at this path would do. */
function inWords({ path, lines, nothing }: Trustable): string[] {
  return lines.length === 0 ? [`${path} ${nothing}.`] : [path, ...lines.map((line) => `  ${line}`)];
}

/** Reports whether the path is trusted; changes nothing. */
async function show(invocation: Invocation, { path, isAgreed }: Trustable): Promise<number> {
  const agreed = await isAgreed();
  if (!agreed.ok) return refuse(invocation, agreed.problem);
  invocation.messages.note(
    agreed.value ? `${path} is trusted.` : `${path} is not trusted in its current version.`,
  );
  return Exit.ok;
}

async function agree(invocation: Invocation, { agree, agreed }: Trustable): Promise<number> {
  const { messages } = invocation;
  const reported = await agree();
  if (!reported.ok) return refuse(invocation, reported.problem);
  messages.note(agreed);
  for (const line of reported.value) messages.note(line);
  return Exit.ok;
}

/** Returns what to trust: a project's files for its folder or for one of these files; any other path is a document. */
async function trustable(
  invocation: Invocation,
  named: string,
): Promise<Outcome<TrustOffer> | { readonly exit: number }> {
  if (named !== "-") {
    const { trustableIn } = await import("./trust_folder.ts");
    const found = await trustableIn(invocation.environment, named);
    if (!found.ok) return found;
    if (found.value !== null) return success(found.value);
  }
  const opened = await openForReport(invocation);
  if ("exit" in opened) return opened;
  const { trustableDocument } = await import("./trust_document.ts");
  const document = await trustableDocument(opened.session, opened.label);
  return document.ok ? success({ trustables: [document.value], leftOut: [] }) : document;
}

function list(invocation: Invocation): number {
  const entries = trustedEntries(invocation.environment);
  if (!entries.ok) return refuse(invocation, entries.problem);
  const lines = entries.value.flatMap((entry) => [
    `${entry.at.slice(0, 10)}  ${entry.path}`,
    ...entry.files.map((file) => `            with ${file.path}`),
  ]);
  writeOutput(lines.map((line) => `${visible(line)}\n`).join(""));
  if (lines.length === 0) invocation.messages.note("Nothing is trusted yet.");
  return Exit.ok;
}

async function revoke(invocation: Invocation, named: string): Promise<number> {
  const { environment, messages } = invocation;
  const path = await realOrGiven(absolutePath(environment, named).replace(/\/+$/, ""));
  const entries = trustedEntries(environment);
  if (!entries.ok) return refuse(invocation, entries.problem);
  // A folder includes everything below it.
  const meant = entries.value.map((entry) => entry.path).filter((trusted) => isInside(trusted, path));
  for (const trusted of meant) {
    const outcome = await revokeTrust(environment, trusted);
    if (!outcome.ok) return refuse(invocation, outcome.problem);
    messages.note(`${trusted} is no longer trusted.`);
  }
  if (meant.length === 0) messages.note(`${path} was not trusted.`);
  return meant.length > 0 ? Exit.ok : Exit.failure;
}

async function realOrGiven(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (thrown) {
    // Trust in a missing file can still be revoked.
    if (thrown instanceof Deno.errors.NotFound) return path;
    throw thrown;
  }
}
