// `flemma complete`: prints completion candidates for the shells.

import { openChat } from "../../agent/open.ts";
import { visible } from "../../base/visible.ts";
import { isThere } from "../../base/files.ts";
import { absolutePath } from "../../base/paths.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { writeOutput } from "../io/streams.ts";
import { type Candidate, candidates } from "../line/candidates.ts";

/** Word that makes the shell offer file names too. */
const FILES = ":files";

export async function run(invocation: Invocation): Promise<number> {
  const { environment, arguments: { rest } } = invocation;
  const { words, files, targetsOf } = candidates(rest);
  const path = targetsOf === null ? null : absolutePath(environment, targetsOf);
  const calls = path === null || !isThere(path) ? [] : await waiting(path, invocation);
  const typed = rest.at(-1) ?? "";
  const rows = [...words, ...calls].filter(({ word }) => word.startsWith(typed))
    .map(({ word, text }) => `${visible(word)}\t${visible(text)}\n`);
  writeOutput([...rows, ...(files ? [`${FILES}\n`] : [])].join(""));
  return Exit.ok;
}

/** Returns the open calls of a document, each with a description; empty if the document cannot be read. */
async function waiting(path: string, { environment }: Invocation): Promise<Candidate[]> {
  const opened = await openChat(path, { environment, readOnly: true });
  if (!opened.ok) return [];
  await using session = opened.value;
  const calls = await session.calls();
  const ids = new Set(calls.map(({ id }) => id));
  return calls.flatMap(({ id, number, preview, status }) => {
    const word = isPlainWord(id) ? id : String(number);
    return word !== id && ids.has(word) ? [] : [{ word, text: `${status}  ${preview}` }];
  });
}

/**
 * True if an id is a plain word on a command line. The id comes from a model or an untrusted document, and shells
 * insert it unchanged. The shell would run text after a `;` in it, and `--all` would be an option.
 */
function isPlainWord(id: string): boolean {
  return /^\w[\w.:+-]*$/.test(id);
}
