// A person's agreement to what the first block of one document comes to, bound to the document's real path (S15).

import type { Environment } from "../../base/environment.ts";
import { type Outcome, success } from "../../base/problem.ts";
import { type Authority, authorityOf } from "../../config/document/authority.ts";
import { isTrusted, recordTrust } from "../../config/sources/trust.ts";
import type { Frontmatter } from "../../parser/types.ts";
import type { SubjectSettings } from "../settings.ts";

/** What the first block of a document comes to, as far as a person has to agree to it. */
export function authorityIn(
  { logs }: Pick<SubjectSettings, "logs">,
  frontmatter: Frontmatter | null,
): Authority {
  return authorityOf(logs, frontmatter?.code ?? null);
}

/** What a document without a first block comes to. */
export const NO_AUTHORITY: Authority = authorityOf([], null);

/**
 * Whether the person agreed to exactly this for the document at the real path; an unsaved document has none. Fails when
 * the list of agreements cannot be read.
 */
export async function isAgreed(
  environment: Environment,
  path: string | null,
  { text }: Authority,
): Promise<Outcome<boolean>> {
  return path === null ? success(false) : await isTrusted(environment, path, text, []);
}

/** Records the agreement; another one for this path ends. */
export async function agree(
  environment: Environment,
  path: string,
  { text }: Authority,
): Promise<Outcome<void>> {
  const recorded = await recordTrust(environment, path, text, [], new Date());
  return recorded.ok ? success(undefined) : recorded;
}
