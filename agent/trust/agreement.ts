// A person's agreement to what the first block of one document comes to, bound to the document's real path (S15).

import type { Environment } from "../../base/environment.ts";
import { type Outcome, success } from "../../base/problem.ts";
import type { Authority, StatedAuthority } from "../../config/document/authority.ts";
import { isTrusted, recordTrust } from "../../config/sources/trust.ts";
import type { Frontmatter } from "../../parser/types.ts";
import type { SubjectSettings } from "../settings.ts";

type Logs = Pick<SubjectSettings, "logs">;

/** What the first block of a document comes to, as far as a person has to agree to it. */
export async function authorityIn({ logs }: Logs, frontmatter: Frontmatter | null): Promise<Authority> {
  if (!speaks({ logs })) return NO_AUTHORITY;
  const { authorityOf } = await import("../../config/document/authority.ts");
  return authorityOf(logs, frontmatter?.code ?? null);
}

/** What the first block of a document says beside parameters. */
export async function readStatedAuthority(
  { logs }: Logs,
  frontmatter: Frontmatter | null,
): Promise<StatedAuthority> {
  if (!speaks({ logs })) return NOTHING_STATED;
  const { findStatedAuthority } = await import("../../config/document/authority.ts");
  return findStatedAuthority(logs, frontmatter?.code ?? null);
}

/** Whether a first block says anything. Most documents have none, and then nothing that reads settings is loaded. */
function speaks({ logs }: Logs): boolean {
  return logs.some(({ layer }) => layer === "M");
}

/** What a document without a first block comes to, and what it says; as `authorityOf` and `findStatedAuthority` have it. */
export const NO_AUTHORITY: Authority = { text: '{"values":[]}', lines: [] };
const NOTHING_STATED: StatedAuthority = { text: "", narrows: true };

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
