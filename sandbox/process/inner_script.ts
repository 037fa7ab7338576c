// The first thing that runs inside a sandbox: it makes sure that what was to be mounted is, waits for its start, and
// becomes the command.

import { escaped, type Mount, ownMount } from "../paths/mount_table.ts";

/** How the command begins: at once, or after a line on standard input, and then with none or with the rest of it. */
export type Gate = "" | "empty" | "piped";

/**
 * The words a shell command begins with that waits for its start by itself; it is prepared with `waits` and needs no script
 * around it.
 */
export const WAIT = `read -r _ || exit 125; exec </dev/null; `;

/** Begins what the script says when the command cannot start; the rest of the line is the cause. */
const NOT_SET_UP = "flemma: the sandbox was not set up: ";

/** Exit code of the script where it did not become the command. */
const NOT_STARTED = 125;

/**
 * Words: what has to be mounted, one a line; the gate; the command. A path can become a link between the look and the
 * mount, and then something else lies there. Nothing can move a mount afterwards, so looking now is not too early.
 * While the gate is closed this process ends with the program that would open it.
 */
const SCRIPT = `want=$1 gate=$2; shift 2
fail() { echo "${NOT_SET_UP}$1" >&2; exit ${NOT_STARTED}; }
command -v -- "$1" >/dev/null 2>&1 || fail "execvp $1: No such file or directory"
case "$1" in -*) found=$(command -v -- "$1"); shift; set -- "$found" "$@";; esac
if [ -n "$want" ]; then
have=$(cat /proc/self/mountinfo) || fail "its mounts cannot be read"
IFS='
'; set -f
for line in $want; do case "$have" in *" $line "*) ;; *) fail "\${line##* } was exchanged at that moment";; esac; done
unset IFS; set +f
fi
case "$gate" in
empty) read -r _ || exit ${NOT_STARTED}; exec "$@" </dev/null;;
piped) read -r _ || exit ${NOT_STARTED};;
esac
exec "$@"`;

/** The command with the script before it. */
export function withInnerScript(
  promised: readonly string[],
  gate: Gate,
  command: readonly string[],
): string[] {
  return ["/bin/sh", "-c", SCRIPT, "flemma", promised.join("\n"), gate, ...command];
}

/**
 * What these mount arguments of bubblewrap promise, as it must stand in the table inside: paths mounted onto themselves
 * by file system, root and place, everything else by place.
 */
export function promisedMounts(args: readonly string[], table: readonly Mount[]): string[] {
  const promised: string[] = [];
  for (let at = 0; at < args.length; at++) {
    switch (args[at]) {
      case "--bind":
      case "--ro-bind": {
        const [source = "", place = ""] = args.slice(at + 1, at + 3);
        promised.push((source === place ? ownMount(place, table) : null) ?? escaped(place));
        at += 2;
        break;
      }
      case "--tmpfs":
        promised.push(escaped(args[at + 1] ?? ""));
        at += 1;
        break;
      default:
        // `--size`, `--perms` and `--remount-ro` make no mount of their own.
        at += 1;
    }
  }
  return promised;
}

/** What the script said, or null when it became the command or was never reached. */
export function notSetUp(stderr: string): string | null {
  const line = stderr.split("\n").find((line) => line.startsWith(NOT_SET_UP));
  return line === undefined ? null : line.slice(NOT_SET_UP.length);
}
