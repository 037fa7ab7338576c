// Remembers that a document was changed by a run of this program: from then on it was written on this machine (S15).

import { thrownText } from "../base/problem.ts";
import type { DocumentStore, Emit, Journal } from "../cycle/types.ts";

/** The store, with its first change noted in the journal. That it cannot be noted is told once. */
export function recording(store: DocumentStore, journal: Journal, emit: Emit): DocumentStore {
  let told = false;
  const remember = async () => {
    try {
      await journal.recordWritten();
    } catch (thrown) {
      if (told) return;
      told = true;
      // The document itself is safe, so this is no failure of the commit.
      const message = `It cannot be noted that this document was written here: ${thrownText(thrown)}.`;
      emit({ event: "notice", code: "state-unwritable", message });
    }
  };
  return {
    get path() {
      return store.path;
    },
    get chat() {
      return store.chat;
    },
    get behind() {
      return store.behind;
    },
    async commit(edits) {
      const problem = await store.commit(edits);
      if (problem === null && edits.length > 0) await remember();
      return problem;
    },
    async extend(text, growth) {
      const problem = await store.extend(text, growth);
      if (problem === null) await remember();
      return problem;
    },
  };
}
