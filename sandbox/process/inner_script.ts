// The script that runs first inside a sandbox: it checks the mounts, waits for its start, and becomes the command.

import { escapeMountPath, type Mount, ownMount } from "../paths/mount_table.ts";

/**
 * Whether the command waits for a line on standard input. `""`: it begins immediately. `empty`: it begins after the
 * line and gets no input. `piped`: it begins after the line and gets the rest of the input.
 */
export type InputGate = "" | "empty" | "piped";

/**
 * Prefix that makes a shell command wait for its start. Such a command is prepared with `waits`, and no script around
 * it has to wait.
 */
export const WAIT_FOR_START = `read -r _ || exit 125; exec </dev/null; `;

/**
 * Shell command that waits for its start and runs the rest of its input. Unlike an argument, which Linux limits to 128
 * KiB, the input may have any length.
 */
export const RUN_INPUT = `read -r _ || exit 125; exec 2>&1\neval "$(cat)" </dev/null`;

/** Descriptor of a list of expected mounts that may be too long for an argument. */
export const PROMISED_DESCRIPTOR = "6";

/** Longest text in bytes to pass as an argument. The environment and all arguments together are limited, too. */
export const LONGEST_ARGUMENT: number = 32 * 1024;

/** Prefix of the script's message if the command cannot start. The rest of the line is the cause. */
const NOT_SET_UP = "flemma: the sandbox was not set up: ";

/** Exit code of the script if it did not become the command. */
const NOT_STARTED = 125;

/**
 * The script. Its arguments are the expected mounts, one per line, or `@` if a descriptor has them; the gate; and the
 * command. A path can become a link between the inspection and the mount, and then something else is mounted there.
 * Nothing can move a mount afterwards, so checking now is not too early. While the gate is closed, this process ends
 * together with the program that would open it.
 */
const SCRIPT = `want=$1 gate=$2; shift 2
fail() { echo "${NOT_SET_UP}$1" >&2; exit ${NOT_STARTED}; }
command -v -- "$1" >/dev/null 2>&1 || fail "execvp $1: No such file or directory"
case "$1" in -*) found=$(command -v -- "$1"); shift; set -- "$found" "$@";; esac
if [ "$want" = @ ]; then
want=$(cat <&${PROMISED_DESCRIPTOR}) && exec ${PROMISED_DESCRIPTOR}<&- && [ -n "$want" ] || fail "the list of mounts cannot be read"
fi
if [ -n "$want" ]; then
have=$(cat /proc/self/mountinfo) || fail "its mounts cannot be read"
IFS='
'; set -f
for line in $want; do case "$have" in *" $line "*) ;; *) fail "\${line##* } was replaced during the mount";; esac; done
unset IFS; set +f
fi
case "$gate" in
empty) read -r _ || exit ${NOT_STARTED}; exec "$@" </dev/null;;
piped) read -r _ || exit ${NOT_STARTED};;
esac
exec "$@"`;

/** @param promised entries of the mount table, or `descriptor` if `PROMISED_DESCRIPTOR` has them, one per line */
export function withInnerScript(
  promised: readonly string[] | "descriptor",
  gate: InputGate,
  command: readonly string[],
): string[] {
  const want = promised === "descriptor" ? "@" : promised.join("\n");
  return ["/bin/sh", "-c", SCRIPT, "flemma", want, gate, ...command];
}

/**
 * Returns the entries that these mount arguments of bubblewrap must produce in the mount table inside the sandbox.
 * Paths mounted onto themselves are identified by file system, root and mount point, all others by mount point.
 */
export function promisedMounts(args: readonly string[], table: readonly Mount[]): string[] {
  // The other options mount nothing, or a path that may have vanished (`--bind-try`). No path or number is an option.
  return args.flatMap((option, at) => {
    const [source = "", place = ""] = args.slice(at + 1, at + 3);
    if (option === "--tmpfs") return [escapeMountPath(source)];
    if (option !== "--bind" && option !== "--ro-bind") return [];
    return [(source === place ? ownMount(place, table) : null) ?? escapeMountPath(place)];
  });
}

/** Returns the message of the script; null if the script became the command or never ran. */
export function notSetUp(stderr: string): string | null {
  const line = stderr.split("\n").find((line) => line.startsWith(NOT_SET_UP));
  return line === undefined ? null : line.slice(NOT_SET_UP.length);
}
