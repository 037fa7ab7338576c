// Records that a person agreed to the permissions that one document's frontmatter claims. The agreement is bound to the
// document's real path.

import type { Environment } from "../../base/environment.ts";
import { absolutePath } from "../../base/paths.ts";
import { type Outcome, type Problem, success } from "../../base/problem.ts";
import type { Authority, StatedAuthority } from "../../config/document/authority.ts";
import { isTrusted, recordTrust } from "../../config/sources/trust.ts";
import type { Frontmatter } from "../../parser/types.ts";
import type { SubjectSettings } from "../settings.ts";
import type { ChatSession } from "../types.ts";

type Logs = Pick<SubjectSettings, "logs">;

/** Reads the permissions that the frontmatter claims and that need a person's agreement. */
export async function authorityIn({ logs }: Logs, frontmatter: Frontmatter | null): Promise<Authority> {
  if (!speaks({ logs })) return NO_AUTHORITY;
  const { authorityOf } = await import("../../config/document/authority.ts");
  return authorityOf(logs, frontmatter?.code ?? null);
}

/** Reads everything that the frontmatter sets except parameters. */
export async function readStatedAuthority(
  { logs }: Logs,
  frontmatter: Frontmatter | null,
): Promise<StatedAuthority> {
  if (!speaks({ logs })) return NOTHING_STATED;
  const { findStatedAuthority } = await import("../../config/document/authority.ts");
  return findStatedAuthority(logs, frontmatter?.code ?? null);
}

/**
 * True if the frontmatter sets anything. Most documents have no frontmatter; then no code that reads settings is
 * loaded.
 */
function speaks({ logs }: Logs): boolean {
  return logs.some(({ layer }) => layer === "M");
}

/** The values for a document without frontmatter, equal to the results of `authorityOf` and `findStatedAuthority`. */
export const NO_AUTHORITY: Authority = { text: '{"values":[]}', lines: [] };
const NOTHING_STATED: StatedAuthority = { text: "", narrows: true };

/**
 * True if the person agreed to exactly these permissions for the document at the real path; false for an unsaved
 * document. Fails if the list of agreements cannot be read.
 */
export async function isAgreed(
  environment: Environment,
  path: string | null,
  { text }: Authority,
): Promise<Outcome<boolean>> {
  return path === null ? success(false) : await isTrusted(environment, path, text);
}

/**
 * True if the person trusts the document: these permissions, or every document. False for an unsaved document, and if
 * the list of agreements cannot be read.
 */
export async function isTrustedDocument(
  environment: Environment,
  path: string | null,
  subject: Pick<SubjectSettings, "logs" | "settings">,
  frontmatter: Frontmatter | null,
): Promise<boolean> {
  if (subject.settings.trust.documents === "always") return true;
  const agreed = await isAgreed(environment, path, await authorityIn(subject, frontmatter));
  return agreed.ok && agreed.value;
}

/** Records the agreement, in place of any earlier agreement for this path. */
export async function agree(
  environment: Environment,
  path: string,
  { text }: Authority,
): Promise<Outcome<void>> {
  const recorded = await recordTrust(environment, path, text, {}, new Date());
  return recorded.ok ? success(undefined) : recorded;
}

/** Agrees to the working folder of a document; both are absolute. */
export async function agreeToWorkFolder(
  environment: Environment,
  path: string,
  folder: string,
): Promise<Outcome<void>> {
  const { agreeToFolder } = await import("../../config/document/work_folder.ts");
  return await agreeToFolder(environment, await Deno.realPath(path), await Deno.realPath(folder));
}

/** Agrees to the same working folder for a copy of a document if the person agreed to it for the document. */
export async function keepWorkFolder(
  environment: Environment,
  { path, settings: { cwd } }: Pick<ChatSession, "path" | "settings">,
  copy: string,
): Promise<Problem | null> {
  if (cwd === null || path === null) return null;
  const { agreeToFolder, isFolderAgreed } = await import("../../config/document/work_folder.ts");
  if (!await isFolderAgreed(environment, path, cwd)) return null;
  const agreed = await agreeToFolder(environment, await Deno.realPath(absolutePath(environment, copy)), cwd);
  return agreed.ok ? null : agreed.problem;
}
