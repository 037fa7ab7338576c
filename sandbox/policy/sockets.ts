// Finds sockets of the host that give a command more authority. Decides which stay reachable, and lists the variables
// that name them.

import type { Environment } from "../../base/environment.ts";
import type { SocketGroupName } from "../../config/schema/sandbox_words.ts";
import { listeningSockets } from "./listening.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { realPath } from "../../base/disk/real_path.ts";
import { isInside, parentOf } from "../../base/paths.ts";
import type { MountablePolicy } from "../types.ts";

interface SocketGroup {
  /**
   * Absolute patterns; `*` matches any characters of one name. `$RUNTIME` is the folder of runtime sockets. A pattern
   * with a final slash is a folder that contains nothing else: it is covered as a whole, with everything that appears
   * in it later.
   */
  readonly paths: readonly string[];
  /** Environment variables that contain the path or address of such a socket, or that select one. */
  readonly variables: readonly string[];
}

/** Socket groups, by the name that a policy may list. The table is data; add a line if a group is missing. */
export const SOCKET_GROUPS: Readonly<Record<SocketGroupName, SocketGroup>> = {
  docker: {
    paths: [
      "/run/docker.sock",
      "~/.docker/run/docker.sock",
      "~/.docker/desktop/docker.sock",
      "$RUNTIME/docker.sock",
    ],
    variables: ["DOCKER_HOST"],
  },
  podman: { paths: ["/run/podman/*.sock", "$RUNTIME/podman/*.sock"], variables: ["CONTAINER_HOST"] },
  containerd: {
    paths: ["/run/containerd/*.sock", "/run/k3s/containerd/*.sock", "/run/buildkit/*.sock"],
    variables: ["CONTAINERD_ADDRESS", "BUILDKIT_HOST"],
  },
  crio: { paths: ["/run/crio/*.sock"], variables: [] },
  lxd: {
    paths: [
      "/var/lib/lxd/unix.socket",
      "/var/snap/lxd/common/lxd/unix.socket",
      "/run/incus/unix.socket",
      "/var/lib/incus/unix.socket",
    ],
    variables: ["LXD_SOCKET", "INCUS_SOCKET"],
  },
  libvirt: { paths: ["/run/libvirt/*-sock"], variables: ["LIBVIRT_DEFAULT_URI"] },
  snapd: { paths: ["/run/snapd.socket", "/run/snapd-snap.socket"], variables: [] },
  systemd: {
    paths: [
      "/run/systemd/private",
      "/run/systemd/io.systemd.Manager",
      "/run/systemd/machine/*",
      "$RUNTIME/systemd/private",
    ],
    variables: [],
  },
  // Access to Windows programs outside WSL.
  wsl: { paths: ["/run/WSL/*_interop"], variables: ["WSL_INTEROP"] },
  tailscale: { paths: ["/run/tailscale/tailscaled.sock"], variables: [] },
  "system-bus": { paths: ["/run/dbus/system_bus_socket"], variables: ["DBUS_SYSTEM_BUS_ADDRESS"] },
  "session-bus": { paths: ["$RUNTIME/bus", "/tmp/dbus-*"], variables: ["DBUS_SESSION_BUS_ADDRESS"] },
  ssh: {
    paths: ["/tmp/ssh-*/", "~/.ssh/*", "~/.ssh/*/*", "$RUNTIME/ssh-agent*", "$RUNTIME/keyring/*"],
    variables: ["SSH_AUTH_SOCK"],
  },
  gpg: { paths: ["~/.gnupg/S.*", "$RUNTIME/gnupg/S.*"], variables: ["GPG_AGENT_INFO"] },
  tmux: { paths: ["/tmp/tmux-*/"], variables: ["TMUX"] },
  screen: { paths: ["/run/screen/S-*/", "/tmp/screens/S-*/", "~/.screen/*"], variables: ["STY"] },
  x11: { paths: ["/tmp/.X11-unix/", "/tmp/.ICE-unix/"], variables: ["DISPLAY", "SESSION_MANAGER"] },
  wayland: { paths: ["$RUNTIME/wayland-*"], variables: ["WAYLAND_DISPLAY", "WAYLAND_SOCKET"] },
  nvim: {
    paths: ["/tmp/nvim.*/*", "/tmp/nvim.*/*/*", "$RUNTIME/nvim.*"],
    variables: ["NVIM", "NVIM_LISTEN_ADDRESS"],
  },
  emacs: { paths: ["/tmp/emacs*/", "$RUNTIME/emacs/*"], variables: [] },
  kakoune: { paths: ["/tmp/kakoune-*/", "$RUNTIME/kakoune/*"], variables: [] },
  vscode: {
    paths: ["/tmp/vscode-*.sock", "$RUNTIME/vscode-*.sock"],
    variables: ["VSCODE_IPC_HOOK_CLI", "VSCODE_IPC_HOOK", "VSCODE_GIT_IPC_HANDLE"],
  },
  terminal: {
    paths: [
      "/tmp/kitty*",
      "$RUNTIME/kitty*",
      "$RUNTIME/wezterm/*",
      "/tmp/zellij-*/",
      "$RUNTIME/zellij/*/*",
    ],
    variables: ["KITTY_LISTEN_ON", "WEZTERM_UNIX_SOCKET", "ZELLIJ", "SWAYSOCK", "I3SOCK"],
  },
};

export const SOCKET_VARIABLES: readonly string[] = Object.values(SOCKET_GROUPS).flatMap((group) =>
  group.variables
);

export interface SocketPolicy {
  /** Real paths that stay reachable: a socket, or a folder of sockets. */
  readonly sockets: readonly string[];
  readonly socketGroups: readonly string[];
}

/** What to do with the existing sockets, as real paths. */
export interface FoundSockets {
  /** Folders that contain sockets. In the sandbox, an empty folder is mounted over each. */
  readonly runtime: readonly string[];
  /** Sockets outside those folders. Each of them is masked. */
  readonly masked: readonly string[];
  /** Sockets that stay reachable. */
  readonly kept: readonly string[];
}

/**
 * Finds the sockets of every group, those that variables name, and those that programs listen on now. A socket needs no
 * mask if the program that listens on it belongs to another user, or if commands cannot reach it.
 *
 * @param listening paths of sockets that programs listen on
 */
export function findSockets(
  environment: Environment,
  policy: SocketPolicy,
  snapshot = new FsSnapshot(),
  listening: readonly string[] = listeningSockets(),
): FoundSockets {
  const runtime = runtimeFoldersOf(environment, snapshot);
  const folders = new Set(runtime);
  const masked = new Set<string>();
  const kept = new Set<string>();
  const isListed = (real: string) => policy.sockets.some((listed) => isInside(real, listed));
  const cover = (path: string, keepsGroup: boolean) => {
    const real = realPath(path, "/", snapshot);
    if (real === null || !snapshot.lstat(real)?.isSocket) return;
    if (keepsGroup || isListed(real)) kept.add(real);
    else if (needsMask(real, snapshot)) masked.add(real);
  };
  const keptFolders: string[] = [];
  for (const [name, group] of Object.entries(SOCKET_GROUPS)) {
    const keepsGroup = policy.socketGroups.includes(name);
    for (const pattern of group.paths.flatMap((pattern) => expandPattern(pattern, environment, runtime))) {
      if (!pattern.endsWith("/")) {
        for (const path of matching(pattern, snapshot)) cover(path, keepsGroup);
        continue;
      }
      for (const path of matching(pattern.slice(0, -1), snapshot)) {
        if (keepsGroup) keptFolders.push(path);
        else if (snapshot.lstat(path)?.isDirectory && actsForUser(path, snapshot)) folders.add(path);
      }
    }
    for (const variable of group.variables) {
      for (const path of socketsNamedBy(environment.variables[variable] ?? "")) cover(path, keepsGroup);
    }
  }
  for (const path of listening) cover(path, keptFolders.some((folder) => isInside(path, folder)));
  // A socket that the policy lists by path stays reachable, even if it is in no group.
  for (const path of policy.sockets) if (snapshot.has(path)) kept.add(path);
  const empty = [...folders].filter((folder) => !isListed(folder)).sort();
  const isCovered = (path: string) => [...folders].some((folder) => isInside(path, folder));
  return {
    runtime: empty,
    masked: [...masked].filter((path) => !isCovered(path) && !kept.has(path)).sort(),
    kept: [...kept].sort(),
  };
}

/**
 * Returns the sockets, as real paths, that need a mask and have none in a policy that was made earlier.
 *
 * @param listening paths of sockets that programs listen on now
 */
export function unmaskedSockets(
  listening: readonly string[],
  { runtime, masked, sockets }: Pick<MountablePolicy, "runtime" | "masked" | "sockets">,
  snapshot = new FsSnapshot(),
): string[] {
  const known = new Set(masked);
  const covered = [...runtime, ...sockets];
  const isKnown = (path: string) => known.has(path) || covered.some((place) => isInside(path, place));
  return listening.filter((path) => !isKnown(path))
    .map((path) => realPath(path, "/", snapshot))
    .filter((real): real is string => real !== null && !isKnown(real) && needsMask(real, snapshot));
}

/** True if a real path is a socket that gives commands more authority. */
function needsMask(real: string, snapshot: FsSnapshot): boolean {
  return snapshot.lstat(real)?.isSocket === true && actsForUser(real, snapshot) && mayConnect(real, snapshot);
}

/**
 * True if the socket belongs to this user or the superuser, and commands could reach it. Commands have only this
 * user's rights.
 */
function actsForUser(path: string, snapshot: FsSnapshot): boolean {
  const user = Deno.uid();
  const { uid } = snapshot.lstat(path) ?? { uid: null };
  if (uid !== user && uid !== 0) return false;
  for (let folder = parentOf(path); folder !== "/"; folder = parentOf(folder)) {
    const info = snapshot.lstat(folder);
    if (info === null) return false;
    // It is unknown whether this user is a member of other groups.
    if (((info.mode ?? 0o111) & (info.uid === user ? 0o100 : 0o011)) === 0) return false;
  }
  return true;
}

/** True if this user may write to a socket, which connecting requires. */
function mayConnect(path: string, snapshot: FsSnapshot): boolean {
  const { uid, mode } = snapshot.lstat(path) ?? { uid: null, mode: null };
  // It is unknown whether this user is a member of other groups.
  return ((mode ?? 0o222) & (uid === Deno.uid() ? 0o200 : 0o022)) !== 0;
}

/**
 * True if a real path is in a folder of runtime sockets that commands do not see, and the policy does not keep that
 * path by name.
 */
export function isReplaced(
  real: string,
  environment: Environment,
  { sockets }: Pick<SocketPolicy, "sockets">,
  snapshot = new FsSnapshot(),
): boolean {
  return runtimeFoldersOf(environment, snapshot).some((folder) => isInside(real, folder)) &&
    !sockets.some((listed) => isInside(real, listed));
}

/** Returns the variables that stay although they name sockets, because the policy keeps those sockets. */
export function socketVariablesOf(environment: Environment, policy: SocketPolicy): string[] {
  return Object.entries(SOCKET_GROUPS).flatMap(([name, { variables }]) => {
    if (policy.socketGroups.includes(name)) return variables;
    return variables.filter((variable) =>
      socketsNamedBy(environment.variables[variable] ?? "").some((path) => {
        const real = realPath(path, "/");
        return real !== null && policy.sockets.some((listed) => isInside(real, listed));
      })
    );
  });
}

/** True if a group has a socket on this machine, and the policy keeps none of them. */
export function isGroupWithheld(
  name: SocketGroupName,
  environment: Environment,
  policy: SocketPolicy,
  snapshot = new FsSnapshot(),
): boolean {
  const { paths, variables } = SOCKET_GROUPS[name];
  const runtime = runtimeFoldersOf(environment, snapshot);
  const patterns = paths.map((pattern) => pattern.endsWith("/") ? `${pattern}*` : pattern);
  const sockets = [
    ...patterns.flatMap((pattern) => expandPattern(pattern, environment, runtime)).flatMap((pattern) =>
      matching(pattern, snapshot)
    ),
    ...variables.flatMap((variable) => socketsNamedBy(environment.variables[variable] ?? "")),
  ].map((path) => realPath(path, "/", snapshot))
    .filter((path) => path !== null && snapshot.lstat(path)?.isSocket === true);
  const isKept = (path: string | null) => policy.sockets.some((listed) => isInside(path!, listed));
  return sockets.length > 0 && !policy.socketGroups.includes(name) && !sockets.some(isKept);
}

/** The paths in a variable's value: a path, `unix:path=…` of D-Bus, `unix://…`, `PATH,PID,…` of tmux. */
function socketsNamedBy(value: string): string[] {
  return value.split(/[;,]/)
    .map((part) => part.replace(/^unix:path=/, "").replace(/^(unix|ssh-agent):(\/\/)?(?=\/)/, ""))
    .filter((part) => part.startsWith("/") && !part.includes("\0"));
}

/** Returns `$XDG_RUNTIME_DIR` and this user's default runtime folder, which exists even if the variable is not set. */
export function runtimeFoldersOf({ variables }: Environment, snapshot = new FsSnapshot()): string[] {
  const folders = [variables.XDG_RUNTIME_DIR, `/run/user/${Deno.uid()}`]
    .filter((folder): folder is string => folder !== undefined && folder.startsWith("/"))
    .map((folder) => realPath(folder, "/", snapshot))
    // A variable may name the root or a top-level folder. Covering such a folder would hide everything in it.
    .filter((folder): folder is string =>
      folder !== null && folder.split("/").length > 2 && snapshot.lstat(folder)?.isDirectory === true
    );
  return [...new Set(folders)].sort();
}

function expandPattern(
  pattern: string,
  { home, variables }: Environment,
  runtime: readonly string[],
): string[] {
  if (pattern.startsWith("~/")) return [`${home}${pattern.slice(1)}`];
  if (pattern.startsWith("$RUNTIME/")) return runtime.map((folder) => `${folder}${pattern.slice(8)}`);
  // Programs create their sockets in $TMPDIR instead of /tmp if that variable is set. tmux has a variable of its own
  // for this.
  if (!pattern.startsWith("/tmp/")) return [pattern];
  const places = [
    "/tmp",
    variables.TMPDIR,
    pattern.startsWith("/tmp/tmux-") ? variables.TMUX_TMPDIR : undefined,
  ]
    .filter((place): place is string => place !== undefined && place.startsWith("/"));
  return [...new Set(places.map((place) => place.replace(/\/+$/, "")))].map((place) =>
    `${place}${pattern.slice(4)}`
  );
}

/** The existing paths that match a pattern. */
function matching(pattern: string, snapshot: FsSnapshot): string[] {
  let found = [""];
  for (const part of pattern.split("/").slice(1)) {
    if (!part.includes("*")) {
      found = found.map((folder) => `${folder}/${part}`);
      continue;
    }
    const [before = "", after = ""] = part.split("*");
    found = found.filter((folder) => folder === "" || snapshot.has(folder)).flatMap((folder) =>
      snapshot.names(folder || "/", before, after).map((name) => `${folder}/${name}`)
    );
  }
  return found.filter((path) => snapshot.has(path));
}
