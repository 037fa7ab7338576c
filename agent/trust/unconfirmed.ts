// The messages about unconfirmed parts of a document: tampered approvals, tampered frontmatter, unfinished replies.

import { joinNames } from "../../base/names.ts";
import { operands } from "../../base/shell_word.ts";
import type { TamperedParts } from "../../cycle/types.ts";
import type { Chat } from "../../parser/types.ts";
import type { UntrustedDocument } from "./untrusted.ts";

/** Returns the messages about calls without a result in unfinished replies. */
export function unfinishedDoubts(chat: Chat, unfinished: ReadonlySet<string>, path: string): string[] {
  const ids = chat.calls.map(({ id }) => id).filter((id) =>
    unfinished.has(id) && chat.result(id) === undefined
  );
  if (ids.length === 0) return [];
  const waits = ids.length > 1 ? "they wait" : "it waits";
  return [
    `The program ended before the reply with ${joinNames(ids)} was complete, so ${waits} for you. ` +
    `To be asked: flemma advance ${operands(path)}`,
  ];
}

/** Returns the downgrade of a document whose frontmatter a command could have written. */
export function unconfirmedBlock({ why }: TamperedParts, path: string): UntrustedDocument {
  return {
    detail: "a command could have written the frontmatter",
    sentence:
      `A command could have written the frontmatter, because ${why}. So the calls of this document wait ` +
      `for you. If the frontmatter is as you want it: flemma trust ${operands(path)}`,
    all: true,
    onlyItsOwn: false,
  };
}

/** Returns the messages about approvals that a command could have written. */
export function callDoubts(tampered: TamperedParts | null, path: string): string[] {
  const ids = Object.keys(tampered?.calls ?? {});
  if (tampered === null || ids.length === 0) return [];
  const many = ids.length > 1;
  const approvals = `${many ? "the approvals" : "the approval"} of ${joinNames(ids)}`;
  return [
    `A command could have written ${approvals}, because ${tampered.why}. ${
      many ? "They count" : "It counts"
    } only once you confirm ${many ? "them" : "it"}: flemma approve ${operands(path, ...ids)}. ` +
    `To look first: flemma review ${operands(path)}`,
  ];
}
