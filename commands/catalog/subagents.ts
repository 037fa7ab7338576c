// `flemma subagents`: lists the helpers that this machine made, and removes what is no longer needed of them.

import { knownPath } from "../../cycle/storage/read.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import type {
  HelperInventory,
  ListedHelper,
  RemovedPart,
  RetainedPart,
} from "../../agent/runtime/helpers/inventory.ts";
import { STATE_WORDS } from "../document/helpers.ts";
import { settingsFor } from "../document/read.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeLines, writeOutput } from "../io/streams.ts";
import { switchOption } from "../line/options.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given, messages } = invocation;
  const found = await findHelpers(invocation);
  if (!found.ok) return refuse(invocation, found.problem);
  const { inventory, helpers } = found.value;
  if (given.command.name === "subagents clean") return await clean(invocation, inventory, helpers);
  if (switchOption(given, "json") === true) writeOutput(`${safeJson({ helpers: helpers.map(asJson) })}\n`);
  else {
    writeLines(helpers.flatMap(linesOf).map((line) => `${line}\n`).join(""));
    if (helpers.length === 0) messages.note("flemma: There are no helpers.");
  }
  return Exit.ok;
}

/** Finds the helpers of the named document, or all. */
async function findHelpers(
  invocation: Invocation,
): Promise<Outcome<{ readonly inventory: HelperInventory; readonly helpers: readonly ListedHelper[] }>> {
  const { arguments: { positionals: [file] }, environment } = invocation;
  const path = file === undefined ? null : await knownPath(environment, file);
  if (file !== undefined && path === null) {
    return failure(
      "document-missing",
      `There is no file ${file}.`,
      "List all helpers: flemma subagents list",
    );
  }
  const subject = await settingsFor(invocation, { path, frontmatter: null, preamble: null });
  if (!subject.ok) return subject;
  const { HelperInventory } = await import("../../agent/runtime/helpers/inventory.ts");
  const inventory = new HelperInventory({ environment, path, subject: subject.value });
  return success({ inventory, helpers: await inventory.list(path) });
}

async function clean(
  { arguments: given, messages }: Invocation,
  inventory: HelperInventory,
  helpers: readonly ListedHelper[],
): Promise<number> {
  const isSet = (name: string) => switchOption(given, name) === true;
  const preview = !isSet("yes");
  const choice = {
    unmerged: isSet("unmerged"),
    documents: isSet("documents"),
    waiting: isSet("waiting"),
  };
  const { removed, kept } = await inventory.clean(helpers, choice, { preview });
  if (isSet("json")) {
    writeOutput(`${safeJson({ preview, removed: removed.map(removedJson), kept: kept.map(keptJson) })}\n`);
    return Exit.ok;
  }
  const verb = preview ? "would remove" : "removed";
  const lines = [
    ...removed.map(({ what, path, branch }) =>
      `${verb}  ${what} ${path}${branch === null ? "" : `, branch ${branch}`}`
    ),
    ...kept.map(({ path, why }) => `keeps  ${path}: ${why}`),
  ];
  writeLines(lines.map((line) => `${line}\n`).join(""));
  if (lines.length === 0) messages.note("flemma: There is nothing to remove.");
  else if (preview && removed.length > 0) messages.note("Nothing is removed yet. To remove it, add --yes.");
  return Exit.ok;
}

const TREES: Readonly<Record<NonNullable<ListedHelper["worktree"]>["state"], string>> = {
  gone: "gone",
  empty: "empty",
  changed: "changes that are not in a commit",
  unmerged: "commits that are in no other branch",
  merged: "all of it is in another branch",
  unknown: "git does not say what is in it",
};

function linesOf({ name, document, caller, state, worktree }: ListedHelper): string[] {
  return [
    `${name}  ${STATE_WORDS[state]}`,
    `    ${document}`,
    `    asked by ${caller}`,
    ...(worktree === null ? [] : [`    ${worktree.branch} in ${worktree.folder}: ${TREES[worktree.state]}`]),
  ];
}

function asJson({ name, document, caller, state, worktree }: ListedHelper) {
  return { name, document, caller, state, worktree };
}

function removedJson({ what, path, branch }: RemovedPart) {
  return { what, path, branch };
}

function keptJson({ path, why }: RetainedPart) {
  return { path, why };
}
