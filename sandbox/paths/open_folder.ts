// Acts on what stands in a folder that a command may exchange for a link at any moment: they happen in the folder that was judged.

import { nameOf, parentOf } from "../../base/paths.ts";

/** Left by the shell when a folder is not the one that its path names. */
const OTHER = 117;

/**
 * Goes into `$1` and asks the system where that is: a shell stays in a folder whatever happens to its name, so that what
 * follows is done there or nowhere.
 */
const ENTER = `cd -P -- "$1" 2>/dev/null && [ "$(pwd -P)" = "$1" ] || exit ${OTHER}\nshift\n`;

/** The same from the root on, and makes what is missing on the way, each folder in one that is held. */
const ENTER_MADE = `cd / && way=
rest=\${1#/}
while [ -n "$rest" ]; do
  name=\${rest%%/*}
  case $rest in */*) rest=\${rest#*/} ;; *) rest= ;; esac
  way=$way/$name
  [ -d "./$name" ] || mkdir -- "./$name" || exit
  cd -P -- "./$name" 2>/dev/null && [ "$(pwd -P)" = "$way" ] || exit ${OTHER}
done
shift
`;

/**
 * Runs a shell script with the folder as its working folder, where it has to name things as `./…`; `$1` and so on are the
 * words. Throws where the folder cannot be entered or is reached through a link, and with what the script says when it fails.
 * `folder` is absolute and without links; `make` also makes the folders that are missing.
 */
export async function inOpenFolder(
  folder: string,
  script: string,
  words: readonly string[] = [],
  { make = false }: { readonly make?: boolean } = {},
): Promise<void> {
  throwFailure(folder, await shell(folder, `${make ? ENTER_MADE : ENTER}${script}`, words).output());
}

function shell(folder: string, script: string, words: readonly string[]): Deno.Command {
  return new Deno.Command("/bin/sh", {
    args: ["-c", script, "sh", folder, ...words],
    cwd: "/",
    clearEnv: true,
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  });
}

function throwFailure(folder: string, { code, stderr }: Deno.CommandOutput): void {
  if (code === OTHER) throw new Error(`the folder ${folder} was replaced by a link or cannot be entered.`);
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr).trim());
}

/**
 * Moves a file, folder or link to `target`, a path out of every command's reach, also to another file system. A folder is
 * opened to its owner first: one that may not be written to can be moved by nobody but the superuser, for its `..` changes.
 */
export async function moveFromFolder(path: string, target: string): Promise<void> {
  await inOpenFolder(parentOf(path), MOVE, [nameOf(path), target]);
}

// Rights are only added: a link that comes between opens at most what is the owner's own to its owner.
const MOVE = `if [ -d "./$1" ] && [ ! -L "./$1" ]; then chmod u+rwx -- "./$1"; fi
mv -T -- "./$1" "$2" 2>/dev/null && exit
chmod -R u+rwX -- "./$1"
exec mv -T -- "./$1" "$2"`;

/** Puts a file from `draft`, out of every command's reach, where nothing stands, and makes no folder for it. */
export async function putIntoFolder(draft: string, path: string): Promise<void> {
  await inOpenFolder(
    parentOf(path),
    `mv -nT -- "$2" "./$1" && [ ! -e "$2" ] || { echo "something stands there" >&2; exit 1; }`,
    [
      nameOf(path),
      draft,
    ],
  );
}

/** Makes a link where nothing stands, with the folders on its way. */
export async function linkInFolder(path: string, target: string): Promise<void> {
  await inOpenFolder(parentOf(path), `exec ln -sT -- "$2" "./$1"`, [nameOf(path), target], { make: true });
}

/** Opens a folder to its owner; nobody else gains anything. */
export async function openToOwner(folder: string): Promise<void> {
  await inOpenFolder(parentOf(folder), `exec chmod u+rwx -- "./$1"`, [nameOf(folder)]);
}

/** Sets the mode of a folder. */
export async function setModeInFolder(folder: string, mode: number): Promise<void> {
  await inOpenFolder(folder, `exec chmod -- "$1" .`, [mode.toString(8).padStart(4, "0")]);
}

/** Makes a folder with those that are missing on its way. */
export function makeInFolder(folder: string): void {
  throwFailure(folder, shell(folder, `${ENTER_MADE}:`, []).outputSync());
}

/** Removes an empty file; anything else that stands there by now stays. */
export async function removeEmptyFromFolder(path: string): Promise<void> {
  const script = `[ -f "./$1" ] && [ ! -L "./$1" ] && [ ! -s "./$1" ] && rm -- "./$1" || :`;
  await inOpenFolder(parentOf(path), script, [nameOf(path)]);
}
