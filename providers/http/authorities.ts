// The certificates that a person's variables add to those the runtime trusts by itself.

import type { Environment } from "../../base/environment.ts";
import { absolutePath } from "../../base/paths.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";

/** Files of certificates (PEM). */
const FILES = ["SSL_CERT_FILE", "DENO_CERT"];
/** Folders of such files, several with colons between them. */
const FOLDERS = "SSL_CERT_DIR";

/** The variables that may name certificates, for messages. */
export const CERTIFICATE_VARIABLES: readonly string[] = [...FILES, FOLDERS];

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * The certificates that the variables name, each as text and each once. Fails with `certificates-unreadable` where a
 * variable names what cannot be read, or a file without any certificate.
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
      if (certificates.length === 0) return unreadable(variable, path, "it holds no certificate in PEM form");
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

/** Every certificate of the files in a folder; what else lies there is passed over, as everywhere. */
async function inFolder(folder: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    if (entry.isDirectory || !/\.(?:pem|crt|cer|\d+)$/.test(entry.name)) continue;
    names.push(entry.name);
  }
  const texts = await Promise.all(names.sort().map((name) => readIfText(`${folder}/${name}`)));
  return texts.flatMap(certificatesIn);
}

/** Folders of certificates are full of links, some of which lead nowhere. */
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
  if (thrown instanceof Deno.errors.NotFound) return "there is nothing of that name";
  if (thrown instanceof Deno.errors.PermissionDenied) return "you may not read it";
  return thrownText(thrown).replace(/ \(os error \d+\).*$/, "");
}

function unreadable(variable: string, path: string, why: string): Outcome<never> {
  return failure(
    "certificates-unreadable",
    `The variable ${variable} names ${path}, which cannot be used: ${why}.`,
    `Correct ${variable}, or unset it.`,
  );
}
