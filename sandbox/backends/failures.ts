// Causes and remedies for the error output of a sandbox that could not be set up.

import type { SetupFailure } from "../types.ts";
import type { KernelFacts } from "./machine.ts";

/** How to install bubblewrap. Also the remedy if it is missing. */
export const INSTALL_BUBBLEWRAP =
  "Install the package bubblewrap (apt, dnf or pacman), or set sandbox.backends.bwrap.path.";

const ALLOW_IN_CONTAINER =
  "Start the container with a seccomp profile that permits user namespaces and with an unmasked /proc " +
  "(docker: --security-opt seccomp=FILE --security-opt systempaths=unconfined), or say that the container is the " +
  "sandbox: sandbox.backends.container.trusted: true.";

const LEAVE_CHROOT =
  "Start flemma outside of the chroot: inside the kernel makes none, whatever its settings say.";

export interface SetupConditions {
  readonly container: boolean;
  readonly machine: Pick<KernelFacts, "settings" | "chroot">;
}

interface Cause {
  readonly pattern: RegExp;
  /** Completes the sentence "The sandbox could not be set up: …". */
  cause(match: RegExpExecArray, around: SetupConditions): string;
  remedy(around: SetupConditions): string;
  readonly part?: string;
}

/** Kernel settings apply to the whole machine; a container can only read them. */
function setting(assignment: string, { container }: SetupConditions): string {
  return `sysctl ${assignment} (as root${container ? ", on the machine around the container" : ""})`;
}

function isRestrictedByAppArmor({ machine: { settings } }: SetupConditions): boolean {
  return settings["kernel/apparmor_restrict_unprivileged_userns"] === "1";
}

function appArmorRemedy(around: SetupConditions): string {
  return "Add an AppArmor profile that allows userns for bwrap, or permit them to every program: " +
    `${setting("kernel.apparmor_restrict_unprivileged_userns=0", around)}.`;
}

/** Names a setting only if that setting forbids namespaces. */
function namespacesRemedy(around: SetupConditions): string {
  const { container, machine: { settings, chroot } } = around;
  if (chroot) return LEAVE_CHROOT;
  if (settings["kernel/unprivileged_userns_clone"] === "0") {
    return `Permit them: ${setting("kernel.unprivileged_userns_clone=1", around)}.`;
  }
  if (isRestrictedByAppArmor(around)) return appArmorRemedy(around);
  if (container) return ALLOW_IN_CONTAINER;
  return "No setting of the kernel forbids them, so it is what this program was started in. " +
    `A chroot: ${LEAVE_CHROOT} A container: ${ALLOW_IN_CONTAINER}`;
}

/** The first match wins. Patterns match anywhere in the error output. */
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
    pattern:
      /No permissions to creat\w+ .*namespace|Creating new namespace failed: (?:Operation not permitted|Permission denied)/,
    cause: (_, { machine: { chroot } }) =>
      chroot ? "in a chroot there are no user namespaces" : "user namespaces are not permitted",
    remedy: namespacesRemedy,
  },
  {
    pattern: /Creating new namespace failed, likely because the kernel does not support/,
    cause: () => "this kernel has no user namespaces",
    remedy: () => "Start a kernel that was built with CONFIG_USER_NS.",
  },
  {
    pattern: /setting up uid map: Permission denied/,
    cause: (_, around) =>
      isRestrictedByAppArmor(around)
        ? "AppArmor restricts user namespaces"
        : "a user namespace gets no users",
    remedy: (around) =>
      isRestrictedByAppArmor(around)
        ? appArmorRemedy(around)
        : around.container
        ? ALLOW_IN_CONTAINER
        : "Look into the log of the kernel for what refused it to bwrap: journalctl -k (as root).",
  },
  {
    pattern: /max_\S*namespaces exceeded|\bENOSPC\b/,
    cause: () => "the number or the depth of namespaces is limited",
    remedy: (around) =>
      `Nest fewer sandboxes, or raise the limits: ${setting("user.max_user_namespaces=10000", around)}, ` +
      "and those of mnt, pid, net, ipc and uts.",
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
    remedy: ({ container }) =>
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
    // Only if the kernel has no filters: lack of memory must not disable the filter.
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
 * Names cause and remedy of a failed set-up. For an unknown error, the cause quotes its first line.
 *
 * @param stderr everything the backend wrote
 */
export function classifySetupFailure(stderr: string, around: SetupConditions): SetupFailure {
  const [cause, next, part] = explain(stderr, around);
  const hint = around.container && !around.machine.chroot ? " This looks like a container." : "";
  return {
    code: "sandbox-setup-failed",
    message: `The sandbox could not be set up, so the command did not run: ${cause}.${hint}`,
    cause: `${cause}.${hint}`,
    next,
    stderr: stderr,
    forModel:
      `The sandbox could not be set up (${cause}); nothing ran. Do not try again: the user has to mend this.`,
    ...(part === undefined ? {} : { part }),
  };
}

function explain(stderr: string, around: SetupConditions): [cause: string, remedy: string, part?: string] {
  for (const { pattern, cause, remedy, part } of CAUSES) {
    const match = pattern.exec(stderr);
    if (match) return [cause(match, around), remedy(around), part];
  }
  const first = stderr.split("\n").find((line) => line.trim() !== "")?.trim();
  return [
    first === undefined ? "the backend ended without a word" : `the backend said "${first}"`,
    "See whether it works by itself: bwrap --unshare-all --ro-bind / / true",
  ];
}
