// Parser for git configuration files, and the files that git reads or runs because of them.

import { isInside, parentOf } from "../../base/paths.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";

/** A configuration has some hundred bytes. Limits memory if a command writes a huge one. */
export const CONFIG_BYTES = 64 * 1024;

/** Depth of nested includes; git has the same limit. */
const MOST_INCLUDES = 10;

export interface GitSetting {
  /** Key: section and name in lower case, with the subsection as written between them, as in `filter.Crypt.clean`. */
  readonly key: string;
  readonly value: string;
}

/** The settings of a configuration, in order, as git reads them. Skips lines that git would reject. */
export function gitSettings(text: string): GitSetting[] {
  const settings: GitSetting[] = [];
  let section = "";
  for (const line of text.replace(/^\uFEFF/, "").replace(/\\\r?\n/g, "").split(/\r?\n/)) {
    const header = /^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    if (header !== null) {
      const [, name = "", sub] = header;
      section = name.toLowerCase() + (sub === undefined ? "" : `.${sub.replace(/\\(.)/g, "$1")}`);
    }
    const rest = header === null ? line : line.slice(header[0].length);
    const entry = /^\s*([A-Za-z][\w-]*)\s*(?:=(.*))?$/.exec(rest);
    if (entry === null || section === "") continue;
    const value = entry[2] === undefined ? "true" : settingValue(entry[2]);
    settings.push({ key: `${section}.${entry[1]!.toLowerCase()}`, value });
  }
  return settings;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };

/** A value without quotes, escapes and comment. */
function settingValue(written: string): string {
  let value = "";
  let end = 0;
  let quoted = false;
  for (let at = 0; at < written.length; at++) {
    const character = written[at]!;
    if (character === '"') quoted = !quoted;
    else if (character === "\\") {
      const next = written[++at] ?? "";
      value += ESCAPES[next] ?? next;
    } else if (!quoted && /[#;]/.test(character)) break;
    else value += character;
    if (quoted || !/\s/.test(character)) end = value.length;
  }
  return value.slice(0, end).replace(/^\s+/, "");
}

/** Settings whose value is the path of something that git runs files from. */
const RUN_FROM: readonly RegExp[] = [/^core\.hookspath$/, /^init\.templatedir$/];

/** Settings whose value is the path of another configuration. */
const READ_FROM = /^include(if\..*)?\.path$/s;

const COMMANDS: readonly RegExp[] = [
  /^core\.(fsmonitor|sshcommand|pager|editor|askpass|gitproxy|alternaterefscommand)$/,
  /^(sequence\.editor|gpg\.program|gpg\..*\.program|diff\.external|interactive\.difffilter|uploadpack\.packobjectshook)$/s,
  /^(diff\..*\.(command|textconv)|merge\..*\.driver|filter\..*\.(clean|smudge|process))$/s,
  /^(credential(\..*)?\.helper|pager\..*|alias\..*|remote\..*\.(uploadpack|receivepack)|trailer\..*\.(command|cmd))$/s,
  /^((merge|diff)tool\..*\.(cmd|path)|(browser|man)\..*\.(cmd|path)|submodule\..*\.update|gpg\.ssh\.defaultkeycommand)$/s,
  /^sendemail(\..*)?\.(sendmailcmd|tocmd|cccmd|headercmd)$/s,
];

/**
 * Returns the paths that git reads as settings, or runs, because of this file and its includes. The paths are
 * absolute, links in them are not resolved, and they need not exist. Relative paths in the file start at `folder`, the
 * working folder of the repository.
 */
export function pathsInConfig(
  file: string,
  place: { readonly folder: string; readonly home: string },
  snapshot = new FsSnapshot(),
): string[] {
  const paths: string[] = [];
  const seen = new Set<string>();
  const read = (file: string, depth: number) => {
    if (seen.has(file) || depth > MOST_INCLUDES) return;
    seen.add(file);
    for (const { key, value } of gitSettings(snapshot.read(file, CONFIG_BYTES) ?? "")) {
      if (READ_FROM.test(key)) {
        const included = absolute(value, parentOf(file), place.home);
        paths.push(included);
        read(included, depth + 1);
      } else if (RUN_FROM.some((form) => form.test(key))) {
        const path = absolute(value, place.folder, place.home);
        // Scripts in the folder `_` of husky run those in its parent folder.
        paths.push(path.endsWith("/_") ? parentOf(path) : path);
      } else if (COMMANDS.some((form) => form.test(key))) {
        const words = value.replace(/^!/, "").split(/[\s"'();|&<>$`=]+/);
        paths.push(
          ...words.filter((word) => word.includes("/") && !word.includes("://"))
            .map((word) => absolute(word, place.folder, place.home)),
        );
      }
    }
  };
  read(file, 0);
  // A path that is the working folder itself, or a folder around it, is left out: no setting names it as a command.
  return [...new Set(paths)].filter((path) => !isInside(place.folder, path));
}

function absolute(path: string, folder: string, home: string): string {
  const whole = path.startsWith("~/")
    ? `${home}${path.slice(1)}`
    : path.startsWith("/")
    ? path
    : `${folder}/${path}`;
  const parts: string[] = [];
  for (const part of whole.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
