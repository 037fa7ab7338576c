// What the words of a sandbox that could not be set up mean, and what helps (sandbox 6.3).

import type { SetupFailure } from "../types.ts";

/** How to get bubblewrap; also the remedy when it is missing altogether. */
export const INSTALL_BUBBLEWRAP =
  "Install the package bubblewrap (apt, dnf or pacman), or set sandbox.backends.bwrap.path.";

const ALLOW_IN_CONTAINER =
  "Start the container with a seccomp profile that permits user namespaces and with an unmasked /proc " +
  "(docker: --security-opt seccomp=FILE --security-opt systempaths=unconfined), or say that the container is the " +
  "sandbox: sandbox.backends.container.trusted: true.";

interface Cause {
  readonly pattern: RegExp;
  /** Completes the sentence "The sandbox could not be set up: …". */
  cause(match: RegExpExecArray): string;
  remedy(container: boolean): string;
  readonly part?: string;
}

/** First match wins. Patterns are looked for anywhere in what the backend wrote. */
const CAUSES: readonly Cause[] = [
  {
    pattern: /\bENOENT\b|exec: .*bwrap.*(?:not found|No such file)/,
    cause: () => "bubblewrap is not installed",
    remedy: () => INSTALL_BUBBLEWRAP,
  },
  {
    pattern: /\bEACCES\b|exec: .*bwrap.*Permission denied/,
    cause: () => "bubblewrap is not executable",
    remedy: () => INSTALL_BUBBLEWRAP,
  },
  {
    pattern: /No permissions to creat\w+ .*namespace/,
    cause: () => "user namespaces are not permitted",
    remedy: (container) =>
      container ? ALLOW_IN_CONTAINER : "Permit them: sysctl kernel.unprivileged_userns_clone=1 (as root).",
  },
  {
    pattern: /setting up uid map: Permission denied/,
    cause: () => "AppArmor restricts user namespaces",
    remedy: () =>
      "Permit them with sysctl kernel.apparmor_restrict_unprivileged_userns=0 (as root), or add an AppArmor " +
      "profile that allows userns for bwrap.",
  },
  {
    pattern: /max_\S*namespaces exceeded|\bENOSPC\b/,
    cause: () => "the number or the depth of namespaces is limited",
    remedy: () => "Raise sysctl user.max_user_namespaces (as root), or nest fewer sandboxes.",
  },
  {
    pattern: /Can't mount proc on [^\n]*: (?:Operation not permitted|Permission denied)/,
    cause: () => "a process namespace of its own is refused",
    remedy: () => ALLOW_IN_CONTAINER,
    part: "proc",
  },
  {
    pattern: /Failed to make \/ slave/,
    cause: () => "changing how mounts propagate is refused",
    remedy: () => ALLOW_IN_CONTAINER,
  },
  {
    pattern: /loopback: Failed RTM_NEWADDR/,
    cause: () => "a network namespace of its own is refused",
    remedy: (container) =>
      `Set sandbox.policy.network to true.${container ? ` Or: ${ALLOW_IN_CONTAINER}` : ""}`,
  },
  {
    pattern: /Can't find source path ([^\n]*?)(?:: [^:\n]*)?(?:\n|$)/,
    cause: (match) => `the path ${match[1]} vanished`,
    remedy: (_) => "Make it again, or take it out of sandbox.policy.rw_paths.",
  },
  {
    pattern: /Unknown option (--\S+)/i,
    cause: (match) => `this bubblewrap is too old to know ${match[1]}`,
    remedy: () => "Install bubblewrap 0.8 or later, or set sandbox.backends.bwrap.path to one.",
  },
  {
    // Only where the kernel has no filters: want of memory must not take the filter away.
    pattern: /PR_SET_(?:SECCOMP|NO_NEW_PRIVS)\S*: (?:Invalid argument|Function not implemented)/,
    cause: () => "the filter for system calls is refused",
    remedy: () => "Set sandbox.policy.block_unix_sockets to false: without it the filter is not insisted on.",
    part: "seccomp",
  },
  {
    pattern: /^(\S.*?) was exchanged at that moment/,
    cause: (match) => `${match[1]} was exchanged by somebody while it was mounted`,
    remedy: () => "Look at what stands there, and at which commands run beside.",
  },
  {
    pattern: /Exceeded maximum number of arguments/,
    cause: () => "the policy needs more mounts than bubblewrap takes",
    remedy: () => "Take paths out of sandbox.policy.",
  },
  {
    pattern: /execvp ([^\n]*?): /,
    cause: (match) => `the program ${match[1]} cannot be started inside it`,
    remedy: () =>
      "Install that program, or correct its name in the settings (tools.bash.shell for the shell).",
  },
];

/**
 * Names cause and remedy of a set-up that failed. `stderr` is everything the backend wrote; a text that no row
 * knows is given back by its first line.
 */
export function classifySetupFailure(stderr: string, container: boolean): SetupFailure {
  const [cause, next, part] = explain(stderr, container);
  const hint = container ? " This looks like a container." : "";
  return {
    code: "sandbox-setup-failed",
    message: `The sandbox could not be set up, so the command did not run: ${cause}.${hint}`,
    next,
    said: stderr,
    forModel:
      `The sandbox could not be set up (${cause}); nothing ran. Do not try again: the user has to mend this.`,
    ...(part === undefined ? {} : { part }),
  };
}

function explain(stderr: string, container: boolean): [cause: string, remedy: string, part?: string] {
  for (const { pattern, cause, remedy, part } of CAUSES) {
    const match = pattern.exec(stderr);
    if (match) return [cause(match), remedy(container), part];
  }
  const first = stderr.split("\n").find((line) => line.trim() !== "")?.trim();
  return [
    first === undefined ? "the backend ended without a word" : `the backend said "${first}"`,
    "Look at flemma doctor, which tries the sandbox without a command.",
  ];
}
