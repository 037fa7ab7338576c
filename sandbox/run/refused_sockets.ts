// Finds out which socket of the host a failed command tried to use, from its output and from the sockets that exist
// here.

import type { Environment } from "../../base/environment.ts";
import { FsSnapshot } from "../../base/disk/fs_snapshot.ts";
import { isInside } from "../../base/paths.ts";
import type { SocketGroupName } from "../../config/schema/sandbox_words.ts";
import { isGroupWithheld } from "../policy/sockets.ts";
import { gitConfigsOf } from "../git/repositories.ts";

/** The part of a policy that decides about sockets. */
export interface SocketsRefused {
  readonly masked: readonly string[];
  readonly runtime: readonly string[];
  readonly socketGroups: readonly string[];
  readonly sockets: readonly string[];
}

/** The socket, and the entry of `sandbox.policy.sockets` that allows it. */
export interface RefusedSocket {
  readonly what: string;
  readonly entry: string;
}

/** What clients say if they cannot reach a service, by socket group. */
const PHRASES: readonly (readonly [group: SocketGroupName, what: string, phrase: RegExp])[] = [
  ["docker", "the Docker daemon", /connect to the docker (?:daemon|API)|docker daemon socket/i],
  ["podman", "the Podman service", /connect to podman/i],
  [
    "ssh",
    "the ssh agent",
    /connection to your authentication agent|connecting to agent|communication with agent failed|get agent socket|no private key found for|permission denied \(publickey/i,
  ],
  ["gpg", "the gpg agent", /^(?:error: )?gpg(?:-agent)?: .*(?:agent|IPC connect|no secret key|keyboxd)/im],
  // This may be the only message that git prints.
  ["gpg", "the gpg agent", /^error: gpg failed to sign the data/m],
  [
    "session-bus",
    "the session bus",
    /autolaunch d-bus|spawn a message bus|org\.freedesktop\.(?:secrets|dbus)/i,
  ],
  ["session-bus", "the session bus", /failed to connect to (?:session |user scope )?bus/i],
  ["system-bus", "the system bus", /failed to connect to (?:system |system scope )?bus/i],
  [
    "x11",
    "the X server",
    /(?:cannot|can't|could not|unable to) (?:open|connect to) (?:x )?display|\$DISPLAY/i,
  ],
  ["wayland", "the Wayland compositor", /connect to (?:a |the )?wayland/i],
];

/** Matches messages with another cause: the client program itself is missing. */
const NO_CLIENT = /cannot run|command not found/i;

/** Matches messages about a service that does not run, or that refuses to answer. */
const UNREACHABLE =
  /connection refused|ECONNREFUSED|cannot connect|can't connect|could not connect|unable to connect|error connecting|failed to connect|no such file|ENOENT|EACCES|permission denied|not a socket|ENOTSOCK/i;

/** What git says if no credential helper gave a password. */
const NO_PASSWORD = /could not read (?:username|password) for/i;

/** Credential helpers that need a socket of the host, by socket group. */
const HELPERS: readonly (readonly [group: SocketGroupName, helper: RegExp])[] = [
  ["session-bus", /libsecret|gnome-keyring|secretservice|kwallet|manager|oauth/],
];

/** The socket that a failed command could not reach although it exists here; null if its output names none. */
export function refusedSocket(
  output: string,
  environment: Environment,
  policy: SocketsRefused,
): RefusedSocket | null {
  return namedByPath(output, policy) ?? namedByPhrase(output, environment, policy) ??
    wantedByGit(output, environment, policy);
}

function namedByPath(output: string, { masked, runtime, sockets }: SocketsRefused): RefusedSocket | null {
  for (const line of output.split("\n")) {
    if (!UNREACHABLE.test(line)) continue;
    for (const [word] of line.matchAll(/\/[^\s'"`,;()[\]]+/g)) {
      const path = word.replace(/^\/+/, "/").replace(/[:.]+$/, "");
      const isCovered = masked.includes(path) ||
        runtime.some((folder) => isInside(path, folder) && path !== folder);
      if (isCovered && !sockets.includes(path) && isSocket(path)) {
        return { what: `the socket ${path}`, entry: path };
      }
    }
  }
  return null;
}

function isSocket(path: string): boolean {
  return new FsSnapshot().lstat(path)?.isSocket === true;
}

function namedByPhrase(
  output: string,
  environment: Environment,
  policy: SocketsRefused,
): RefusedSocket | null {
  if (NO_CLIENT.test(output)) return null;
  for (const [group, what, phrase] of PHRASES) {
    if (phrase.test(output) && isGroupWithheld(group, environment, policy)) return { what, entry: group };
  }
  return null;
}

function wantedByGit(
  output: string,
  environment: Environment,
  policy: SocketsRefused,
): RefusedSocket | null {
  if (!NO_PASSWORD.test(output)) return null;
  const snapshot = new FsSnapshot();
  const texts = gitConfigsOf(environment).map((path) => snapshot.read(path, MOST_CONFIG) ?? "");
  const helpers = texts.flatMap((text) =>
    [...text.matchAll(/^\s*helper\s*=\s*(.+)$/gm)].map(([, name = ""]) => name)
  );
  for (const [group, pattern] of HELPERS) {
    const helper = helpers.find((name) => pattern.test(name));
    if (helper !== undefined && isGroupWithheld(group, environment, policy)) {
      return { what: `the service behind git's credential helper ${helper.trim()}`, entry: group };
    }
  }
  return null;
}

/** Limit on the bytes of a git configuration file. */
const MOST_CONFIG = 256 * 1024;
