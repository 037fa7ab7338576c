// Loads the code that decides where an approval was given, for the first call that says `approved`.

import type { Environment } from "../../base/environment.ts";
import type { DocumentStore, Emit, Journal } from "../../cycle/types.ts";
import { sandboxOf } from "../sandbox.ts";
import type { SubjectSettings } from "../settings.ts";
import type { ApprovalOrigins } from "./approval_origins.ts";
import { isApproved } from "./approved_calls.ts";

/** What a session asks about the approvals in its document. */
export type Origins = Pick<ApprovalOrigins, "doubt" | "askedAlthough" | "sentences">;

export interface OriginsSubject {
  readonly environment: Environment;
  readonly store: DocumentStore;
  readonly journal: Journal;
  readonly subject: SubjectSettings;
  readonly emit: Emit;
  readonly readOnly: boolean;
}

/** Costs nothing for a document without approved calls, and for settings by which every approval counts. */
export function originsOnDemand(options: OriginsSubject): Origins {
  const { store, subject: { loaded } } = options;
  const setting = loaded.settings.trust.approvals;
  let made: Promise<ApprovalOrigins> | null = null;
  let origins: ApprovalOrigins | null = null;
  const load = () =>
    made ??= import("./approval_origins.ts").then(({ ApprovalOrigins }) =>
      origins = new ApprovalOrigins({ ...options, setting, committed: () => askGit(options) })
    );
  const applies = () => store.path !== null && setting !== "anywhere";
  return {
    doubt: async (id) => applies() && isApproved(store.chat, id) ? await (await load()).doubt(id) : null,
    askedAlthough: (id) => origins?.askedAlthough(id) ?? null,
    sentences: async () =>
      applies() && store.chat.results.some(({ id }) => isApproved(store.chat, id))
        ? await (await load()).sentences()
        : [],
  };
}

/** Git runs in the person's own sandbox, without anything that it could write and without the network. */
async function askGit({ environment, store, subject: { loaded } }: OriginsSubject) {
  const { committedText } = await import("./committed.ts");
  const { sandbox } = loaded.settings;
  const policy = { ...sandbox.policy, rw_paths: [], network: false, network_allow: [] };
  const settings = { ...loaded.settings, sandbox: { ...sandbox, policy } };
  return await committedText(store.path!, sandboxOf(environment, store, { settings, loaded }), environment);
}
