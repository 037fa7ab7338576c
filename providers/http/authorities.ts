// Reads certificates that environment variables name. They are trusted in addition to those of the runtime.

import type { Environment } from "../../base/environment.ts";
import { absolutePath } from "../../base/paths.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";

const FILES = ["SSL_CERT_FILE", "DENO_CERT"];
/** Variable that names folders of PEM files, separated by colons. */
const FOLDERS = "SSL_CERT_DIR";

export const CERTIFICATE_VARIABLES: readonly string[] = [...FILES, FOLDERS];

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Returns the certificates that the variables name as text, without duplicates. Fails with `certificates-unreadable` if
 * a variable names something unreadable, or a file without a certificate.
 */
export async function addedAuthorities(
  environment: Pick<Environment, "cwd" | "home" | "variables">,
): Promise<Outcome<readonly string[]>> {
  const found = new Set<string>();
  for (const variable of FILES) {
    const path = environment.variables[variable] ?? "";
    if (path === "") continue;
    try {
      const certificates = certificatesIn(await Deno.readTextFile(absolutePath(environment, path)));
      if (certificates.length === 0) return unreadable(variable, path, "it contains no PEM certificate");
      for (const certificate of certificates) found.add(certificate);
    } catch (thrown) {
      return unreadable(variable, path, reason(thrown));
    }
  }
  for (const folder of (environment.variables[FOLDERS] ?? "").split(":").filter((path) => path !== "")) {
    try {
      for (const certificate of await inFolder(absolutePath(environment, folder))) found.add(certificate);
    } catch (thrown) {
      return unreadable(FOLDERS, folder, reason(thrown));
    }
  }
  return success([...found]);
}

/** Reads the certificates of all PEM files in a folder and ignores other files, as other programs do. */
async function inFolder(folder: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    if (entry.isDirectory || !/\.(?:pem|crt|cer|\d+)$/.test(entry.name)) continue;
    names.push(entry.name);
  }
  const texts = await Promise.all(names.sort().map((name) => readIfText(`${folder}/${name}`)));
  return texts.flatMap(certificatesIn);
}

/**
 * Returns the text of a file, or an empty string if it cannot be read, because certificate folders often contain
 * broken symbolic links.
 */
async function readIfText(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch {
    return "";
  }
}

function certificatesIn(text: string): readonly string[] {
  return (text.match(CERTIFICATE) ?? []).map((certificate) => `${certificate}\n`);
}

function reason(thrown: unknown): string {
  if (thrown instanceof Deno.errors.NotFound) return "it does not exist";
  if (thrown instanceof Deno.errors.PermissionDenied) return "permission denied";
  return thrownText(thrown).replace(/ \(os error \d+\).*$/, "");
}

function unreadable(variable: string, path: string, why: string): Outcome<never> {
  return failure(
    "certificates-unreadable",
    `The variable ${variable} names ${path}, which cannot be used: ${why}.`,
    `Correct or unset ${variable}.`,
  );
}
