// File operations in a folder that a command may replace with a link at any moment. They always act on the folder that
// was checked.

import { baseName, parentOf } from "../../base/paths.ts";

/** Exit code of the shell if the path of a folder led to another folder, through a link. */
const OTHER = 117;

/**
 * Shell script that enters `$1` and checks that the system reports the same path. A shell stays in a folder even if
 * the folder is renamed, so later operations happen in this folder or nowhere.
 */
const ENTER = `cd -P -- "$1" 2>/dev/null && [ "$(pwd -P)" = "$1" ] || exit ${OTHER}\nshift\n`;

/**
 * Like `ENTER`, but enters the path folder by folder from the root. Creates missing folders, each inside a folder that
 * was checked.
 */
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
 * Runs a shell script with `folder` as its working folder. The script must use names such as `./…`; `words` become
 * `$1`, `$2` and so on.
 *
 * @param folder absolute, without links
 * @param make also creates missing folders
 * @throws {Error} if the folder cannot be entered or a link leads to it, or with the script's error output if it fails
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
  if (code === OTHER) {
    throw new Error(`the folder ${folder} was replaced by a symbolic link or cannot be entered.`);
  }
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr).trim());
}

/**
 * Moves a file, folder or link to `target`, a path that no command can reach, possibly on another file system. Before
 * it moves a folder, it gives the owner write access: only the superuser can move a folder that is not writable,
 * because its `..` entry changes.
 */
export async function moveFromFolder(path: string, target: string): Promise<void> {
  await inOpenFolder(parentOf(path), MOVE, [baseName(path), target]);
}

// The script only adds rights. If a link replaces the folder in between, at worst the owner gets access to something
// that the owner already owns.
const MOVE = `if [ -d "./$1" ] && [ ! -L "./$1" ]; then chmod u+rwx -- "./$1"; fi
mv -T -- "./$1" "$2" 2>/dev/null && exit
chmod -R u+rwX -- "./$1"
exec mv -T -- "./$1" "$2"`;

/** Moves a file from `draft`, which no command can reach, to a path where nothing exists. Creates no folders. */
export async function putIntoFolder(draft: string, path: string): Promise<void> {
  await inOpenFolder(
    parentOf(path),
    `mv -nT -- "$2" "./$1" && [ ! -e "$2" ] || { echo "the target already exists" >&2; exit 1; }`,
    [
      baseName(path),
      draft,
    ],
  );
}

/** Creates a link at a path where nothing exists. Also creates the missing folders above it. */
export async function linkInFolder(path: string, target: string): Promise<void> {
  await inOpenFolder(parentOf(path), `exec ln -sT -- "$2" "./$1"`, [baseName(path), target], { make: true });
}

/** Makes a path a link to `target` in place of anything else, and the missing folders above it. */
export function replaceByLink(path: string, target: string): void {
  const script = `${ENTER_MADE}rm -rf -- "./$1" && exec ln -sT -- "$2" "./$1"`;
  throwFailure(parentOf(path), shell(parentOf(path), script, [baseName(path), target]).outputSync());
}

/** Gives the owner access to a folder; no other user gains anything. */
export async function openToOwner(folder: string): Promise<void> {
  await inOpenFolder(parentOf(folder), `exec chmod u+rwx -- "./$1"`, [baseName(folder)]);
}

export async function setModeInFolder(folder: string, mode: number): Promise<void> {
  await inOpenFolder(folder, `exec chmod -- "$1" .`, [mode.toString(8).padStart(4, "0")]);
}

/** Sets the mode of a file or folder that is not a link. */
export async function setModeOf(path: string, mode: number): Promise<void> {
  const script = `[ ! -L "./$1" ] && exec chmod -- "$2" "./$1"`;
  await inOpenFolder(parentOf(path), script, [baseName(path), mode.toString(8).padStart(4, "0")]);
}

/** Creates a folder and the missing folders above it. */
export function makeInFolder(folder: string): void {
  throwFailure(folder, shell(folder, `${ENTER_MADE}:`, []).outputSync());
}

/** Removes an empty file. Leaves anything else that exists at the path by now. */
export async function removeEmptyFromFolder(path: string): Promise<void> {
  const script = `[ -f "./$1" ] && [ ! -L "./$1" ] && [ ! -s "./$1" ] && rm -- "./$1" || :`;
  await inOpenFolder(parentOf(path), script, [baseName(path)]);
}
