// Adds a permanent rule to the person's settings file, and removes it again. Sets the sandbox backend there.

import type { Environment } from "../../base/environment.ts";
import { configFolder } from "../../base/folders.ts";
import { createFile } from "../../base/files.ts";
import { parentOf } from "../../base/paths.ts";
import { failure, type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import { readRegular } from "../../base/system/regular_file.ts";
import type { WrittenRule } from "../../config/rules/read_rule.ts";
import { findSources, type SettingsOverrides } from "../../config/sources/find.ts";
import { withBackend, withRule } from "../../config/sources/write_rule.ts";
import { stampOf } from "../../cycle/storage/read.ts";
import { contentFromBytes } from "../../cycle/storage/disk/content.ts";
import { replaceDocumentFile } from "../../cycle/storage/disk/write.ts";

export interface SettingsRule {
  /** The settings file. */
  readonly path: string;
  /** The line of the rule, 1-based. */
  readonly line: number;
  /** The text of that line. */
  readonly text: string;
  /** Writes the rule, unless the file has changed since it was read. */
  write(): Promise<Problem | null>;
  /** Removes the rule, unless the file has changed since it was written. */
  undo(): Promise<Problem | null>;
}

/** Prepares a rule for the person's settings: file, line and text. Writes nothing yet. */
export async function settingsRule(
  host: { readonly environment: Environment; readonly settings?: SettingsOverrides },
  rule: WrittenRule,
): Promise<Outcome<SettingsRule>> {
  const { environment, settings } = host;
  if (settings?.noConfig === true) {
    return failure("usage", "With --no-config, there is no settings file to write a rule to.");
  }
  const sources = findSources({ ...settings, environment });
  if (!sources.ok) return sources;
  const { global } = sources.value;
  const path = global?.path ?? `${configFolder(environment)}/config.yaml`;
  const made = await withRule(global?.text ?? null, rule, { json: path.endsWith(".json") });
  if (!made.ok) {
    const next = `Add it to tools.rules in ${path} yourself: ${JSON.stringify(rule)}`;
    return { ok: false, problem: { ...made.problem, next } };
  }
  const { text, line } = made.value;
  const before = global?.text ?? null;
  return success({
    path,
    line,
    text: text.split("\n")[line - 1]!.trim(),
    write: () => exchange(path, before, text),
    undo: () => exchange(path, text, before),
  });
}

/** Writes the sandbox backend into the person's settings file. Returns its path. */
export async function writeBackend(
  { environment, settings }: { readonly environment: Environment; readonly settings?: SettingsOverrides },
  backend: string,
): Promise<Outcome<string>> {
  if (settings?.noConfig === true) {
    return failure("usage", "With --no-config, there is no settings file to write to.");
  }
  const sources = findSources({ ...settings, environment });
  if (!sources.ok) return sources;
  const { global } = sources.value;
  const path = global?.path ?? `${configFolder(environment)}/config.yaml`;
  const made = await withBackend(global?.text ?? null, backend, { json: path.endsWith(".json") });
  if (!made.ok) {
    return {
      ok: false,
      problem: { ...made.problem, next: `Set sandbox.backend to ${backend} in ${path} yourself.` },
    };
  }
  const problem = made.value === global?.text ? null : await exchange(path, global?.text ?? null, made.value);
  return problem === null ? success(path) : { ok: false, problem };
}

/**
 * Replaces the text of the file, but only if the file still has the text `before`. A null text means that the file does
 * not exist.
 */
async function exchange(path: string, before: string | null, after: string | null): Promise<Problem | null> {
  const encoder = new TextEncoder();
  try {
    if (before === null) {
      await Deno.mkdir(parentOf(path), { recursive: true, mode: 0o700 });
      await createFile(path, encoder.encode(after!));
      return null;
    }
    const real = await Deno.realPath(path);
    // Reading the settings drops a byte order mark; writing restores it.
    const mark = hasMark(await readRegular(real)) ? "\ufeff" : "";
    const bytes = encoder.encode(`${mark}${before}`);
    const known = { content: contentFromBytes(bytes), stamp: stampOf(await Deno.stat(real)) };
    if (after === null) return await removeWhole(real, bytes) ? null : changed(path);
    const replaced = await replaceDocumentFile(
      real,
      contentFromBytes(encoder.encode(`${mark}${after}`)),
      known,
    );
    replaced?.old.close();
    return replaced === null ? changed(path) : null;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.AlreadyExists || thrown instanceof Deno.errors.NotFound) {
      return changed(path);
    }
    const message = `${path} cannot be written: ${thrownText(thrown)}.`;
    return { code: "settings-unwritable", message, next: "Make it writable, or write the rule yourself." };
  }
}

function hasMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

async function removeWhole(path: string, bytes: Uint8Array): Promise<boolean> {
  const now = await readRegular(path);
  const same = now.length === bytes.length && now.every((byte, at) => byte === bytes[at]);
  if (same) await Deno.remove(path);
  return same;
}

function changed(path: string): Problem {
  return {
    code: "settings-changed",
    message: `Nothing was written, because ${path} was changed in the meantime.`,
    next: "Check the file, then try again.",
  };
}
