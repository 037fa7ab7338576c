// The files that git reads or runs because of a configuration.

import { isInside, parentOf } from "../../base/paths.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { CONFIG_BYTES, readGitSettings } from "./settings_file.ts";
import { COMMAND_SETTINGS, READ_FROM, RUN_FROM } from "./settings_table.ts";

/** Depth of nested includes; git has the same limit. */
const MOST_INCLUDES = 10;

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
    for (const { key, value } of readGitSettings(snapshot.read(file, CONFIG_BYTES) ?? "").settings) {
      if (READ_FROM.test(key)) {
        const included = absolute(value, parentOf(file), place.home);
        paths.push(included);
        read(included, depth + 1);
      } else if (RUN_FROM.test(key)) {
        const path = absolute(value, place.folder, place.home);
        // Scripts in the folder `_` of husky run those in its parent folder.
        paths.push(path.endsWith("/_") ? parentOf(path) : path);
      } else if (COMMAND_SETTINGS.some((form) => form.test(key))) {
        const words = value.replace(/^!/, "").split(/[\s"'();|&<>$`=]+/);
        paths.push(
          ...words.filter((word) => word.includes("/") && !word.includes("://"))
            .map((word) => absolute(word, place.folder, place.home)),
        );
      }
    }
  };
  read(file, 0);
  // The working folder and the folders around it are left out, because such a path is not meant as a command.
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
