// Causes and remedies for the error output of a sandbox that could not be set up.

import type { SetupFailure } from "../types.ts";
import type { KernelFacts } from "./machine.ts";

/** Advice on how to install bubblewrap, for a person whose machine does not have it. */
export const INSTALL_BUBBLEWRAP =
  "Install the package bubblewrap (apt, dnf or pacman), or set sandbox.backends.bwrap.path.";

const ALLOW_IN_CONTAINER =
  "Start the container with a seccomp profile that permits user namespaces and with an unmasked /proc " +
  "(docker: --security-opt seccomp=FILE --security-opt systempaths=unconfined), or accept the container as the " +
  "sandbox: sandbox.backends.container.trusted: true.";

const LEAVE_CHROOT = "Start flemma outside the chroot: the kernel never creates user namespaces inside one.";

export interface SetupConditions {
  readonly container: boolean;
  /** True if the user is the superuser, which loses its privileges in the sandbox. */
  readonly root?: boolean;
  readonly machine: Pick<KernelFacts, "settings" | "chroot">;
}

interface Cause {
  readonly pattern: RegExp;
  /** Returns the end of the sentence "The sandbox could not be set up: …". */
  cause(match: RegExpExecArray, around: SetupConditions): string;
  remedy(around: SetupConditions): string;
  readonly part?: string;
}

/** Kernel settings apply to the whole machine; a container can only read them. */
function setting(assignment: string, { container }: SetupConditions): string {
  return `sysctl ${assignment} (as root${container ? ", on the container's host" : ""})`;
}

function isRestrictedByAppArmor({ machine: { settings } }: SetupConditions): boolean {
  return settings["kernel/apparmor_restrict_unprivileged_userns"] === "1";
}

function appArmorRemedy(around: SetupConditions): string {
  return "Add an AppArmor profile that allows userns for bwrap, or allow it for every program: " +
    `${setting("kernel.apparmor_restrict_unprivileged_userns=0", around)}.`;
}

/** Returns the remedy for refused namespaces. It names a kernel setting only if that setting forbids namespaces. */
function namespacesRemedy(around: SetupConditions): string {
  const { container, machine: { settings, chroot } } = around;
  if (chroot) return LEAVE_CHROOT;
  if (settings["kernel/unprivileged_userns_clone"] === "0") {
    return `Allow them: ${setting("kernel.unprivileged_userns_clone=1", around)}.`;
  }
  if (isRestrictedByAppArmor(around)) return appArmorRemedy(around);
  if (container) return ALLOW_IN_CONTAINER;
  return "No kernel setting forbids them, so the surrounding environment does. " +
    `In a chroot: ${LEAVE_CHROOT} In a container: ${ALLOW_IN_CONTAINER}`;
}

/**
 * Causes of a failed set-up, each with a pattern that is searched in the error output. The first pattern that matches
 * decides.
 */
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
      chroot ? "a chroot has no user namespaces" : "user namespaces are not permitted",
    remedy: namespacesRemedy,
  },
  {
    pattern: /Creating new namespace failed, likely because the kernel does not support/,
    cause: () => "this kernel does not support user namespaces",
    remedy: () => "Use a kernel built with CONFIG_USER_NS.",
  },
  {
    pattern: /setting up uid map: Permission denied/,
    cause: (_, around) =>
      isRestrictedByAppArmor(around)
        ? "AppArmor restricts user namespaces"
        : "users cannot be mapped into a user namespace",
    remedy: (around) =>
      isRestrictedByAppArmor(around)
        ? appArmorRemedy(around)
        : around.container
        ? ALLOW_IN_CONTAINER
        : "See in the kernel log what refused it to bwrap: journalctl -k (as root).",
  },
  {
    pattern: /max_\S*namespaces exceeded|\bENOSPC\b/,
    cause: () => "the limit on the number or depth of namespaces is reached",
    remedy: (around) =>
      `Nest fewer sandboxes, or raise the limits: ${setting("user.max_user_namespaces=10000", around)}, ` +
      "and those of mnt, pid, net, ipc and uts.",
  },
  {
    pattern: /Can't mount proc on [^\n]*: (?:Operation not permitted|Permission denied)/,
    cause: () => "a separate process namespace is refused",
    remedy: () => ALLOW_IN_CONTAINER,
    part: "proc",
  },
  {
    pattern: /Failed to make \/ slave/,
    cause: () => "changing mount propagation is refused",
    remedy: () => ALLOW_IN_CONTAINER,
  },
  {
    pattern: /loopback: Failed RTM_NEWADDR/,
    cause: () => "a separate network namespace is refused",
    remedy: ({ container }) =>
      `Set sandbox.policy.network to true.${container ? ` Or: ${ALLOW_IN_CONTAINER}` : ""}`,
  },
  {
    pattern: /Can't find source path ([^\n]*?): Permission denied/,
    cause: ([, path], { root }) =>
      root === true
        ? `root has no privileges in the sandbox, and the permissions of ${path} do not let it in`
        : `the permissions of ${path} do not let you in`,
    remedy: () => "Run flemma as the owner of that path, or let others read it: chmod o+rX PATH.",
  },
  {
    pattern: /Can't find source path ([^\n]*?)(?:: [^:\n]*)?(?:\n|$)/,
    cause: (match) => `the path ${match[1]} no longer exists`,
    remedy: (_) => "Create it again, or remove it from sandbox.policy.rw_paths.",
  },
  {
    pattern: /Unknown option (--\S+)/i,
    cause: (match) => `this version of bubblewrap does not support ${match[1]}`,
    remedy: () => "Install bubblewrap 0.8 or later, or set sandbox.backends.bwrap.path to such a version.",
  },
  {
    // Matches only the error of a kernel without seccomp filters. An out-of-memory error must not turn the filter off.
    pattern: /PR_SET_(?:SECCOMP|NO_NEW_PRIVS)\S*: (?:Invalid argument|Function not implemented)/,
    cause: () => "the system call filter is refused",
    remedy: () => "Set sandbox.policy.block_unix_sockets to false; then the filter is optional.",
    part: "seccomp",
  },
  {
    pattern: /^(\S.*?) was replaced during the mount/,
    cause: (match) => `another process replaced ${match[1]} while it was being mounted`,
    remedy: () => "Check that path, and which other commands are running.",
  },
  {
    pattern: /Exceeded maximum number of arguments/,
    cause: () => "the policy needs more mounts than bubblewrap accepts",
    remedy: () => "Remove paths from sandbox.policy.",
  },
  {
    pattern: /execvp ([^\n]*?): /,
    cause: (match) => `the program ${match[1]} cannot be started inside the sandbox`,
    remedy: () =>
      "Install that program, or correct its name in the settings (tools.bash.shell for the shell).",
  },
];

/**
 * Returns the cause and the remedy of a failed set-up. For an unknown error, the cause quotes its first line.
 *
 * @param stderr everything the backend wrote
 */
export function classifySetupFailure(stderr: string, around: SetupConditions): SetupFailure {
  const [cause, next, part] = explain(stderr, around);
  // A container matters only to the causes whose remedy mentions it.
  const matters = around.container && !around.machine.chroot && next.includes("container");
  const hint = matters ? " This looks like a container." : "";
  return {
    code: "sandbox-setup-failed",
    message: `The sandbox could not be set up, so the command did not run: ${cause}.${hint}`,
    cause: `${cause}.${hint}`,
    next,
    stderr: stderr,
    forModel:
      `The sandbox could not be set up (${cause}); nothing ran. Do not try again: the user must fix this.`,
    ...(part === undefined ? {} : { part }),
  };
}

/** The failure of a set-up that could not mask a socket, because the socket vanished at that moment. */
export function socketVanished(stderr: string): SetupFailure {
  const cause = "a socket vanished while it was being masked";
  return {
    code: "sandbox-setup-failed",
    message: `The sandbox could not be set up, so the command did not run: ${cause}.`,
    cause: `${cause}.`,
    next: "Run it again.",
    stderr,
    forModel: `The sandbox could not be set up (${cause}); nothing ran. Try again.`,
    isPassing: true,
  };
}

function explain(stderr: string, around: SetupConditions): [cause: string, remedy: string, part?: string] {
  for (const { pattern, cause, remedy, part } of CAUSES) {
    const match = pattern.exec(stderr);
    if (match) return [cause(match, around), remedy(around), part];
  }
  const first = stderr.split("\n").find((line) => line.trim() !== "")?.trim();
  return [
    first === undefined ? "the backend ended without a message" : `the backend said "${first}"`,
    "Check whether bubblewrap works on its own: bwrap --unshare-all --ro-bind / / true",
  ];
}
