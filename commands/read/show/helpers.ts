// Describes the helpers that the calls of a conversation asked, to show them below the calls.

import type { HelperOfCall } from "../../../agent/runtime/helpers/place.ts";
import type { Environment } from "../../../base/environment.ts";
import { baseName, parentOf } from "../../../base/paths.ts";
import { recordsOf } from "../../../cycle/usage/log.ts";
import { totalOf } from "../../../cycle/usage/record.ts";
import type { Chat } from "../../../parser/types.ts";
import { buildConversationView, type HelperViews } from "../../../render/conversation.ts";
import type { HelperView } from "../../../render/types.ts";
import { helperUsage, STATE_WORDS } from "../../document/helpers.ts";
import { costWords } from "../../io/amounts.ts";

/**
 * Returns the helpers of the document at a real path, and theirs, each conversation only once.
 *
 * @param root folder to which shown paths are relative
 * @param shown paths of the helpers whose conversations are already shown
 */
export async function findHelpers(
  environment: Environment,
  path: string,
  chat: Chat,
  { root = parentOf(path), shown = new Set<string>() } = {},
): Promise<HelperViews> {
  const { helpersOfCalls } = await import("../../../agent/runtime/helpers/place.ts");
  const views = new Map<number, HelperView>();
  for (
    const { call, name, path: document, state, chat: inside } of await helpersOfCalls(environment, path, chat)
  ) {
    const isNew = !shown.has(document);
    shown.add(document);
    views.set(call.place.from, {
      name,
      path: document.startsWith(`${root}/`)
        ? document.slice(root.length + 1)
        : `${baseName(parentOf(document))}/${baseName(document)}`,
      state: WORDS[state],
      waits: state === "waits",
      cost: await costOf(environment, document),
      conversation: inside === null || !isNew ? null : buildConversationView(
        inside,
        baseName(document),
        await findHelpers(environment, document, inside, { root, shown }),
      ),
    });
  }
  return views;
}

const WORDS: Readonly<Record<HelperOfCall["state"], string>> = {
  ...STATE_WORDS,
  link: "a symbolic link",
  unreadable: "cannot be read",
};

/** Returns the known cost of a helper with the helpers that it asked; null if it is not known. */
async function costOf(environment: Environment, document: string): Promise<string | null> {
  const below = await helperUsage(environment, document, () => true);
  const own = await recordsOf(environment, document);
  const total = totalOf([...own, ...below.flatMap(({ records }) => records)]);
  return total.cost === null ? null : costWords(total);
}
