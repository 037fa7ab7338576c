// Finds the local sockets that programs of this machine listen on, from the table of the kernel.

import { isInside } from "../../base/paths.ts";

const TABLE = "/proc/net/unix";

/** The flag of a socket that accepts connections. */
const ACCEPTS = 0x10000;
/** The type of a socket that receives messages without a connection. */
const DATAGRAM = "0002";

/** Sockets of name services, real paths. They stay reachable: they answer questions about names and users. */
const NAME_SERVICES: readonly string[] = [
  "/run/nscd",
  "/run/nslcd",
  "/run/systemd/resolve",
  "/run/systemd/userdb",
  "/run/avahi-daemon/socket",
  "/run/samba/winbindd",
  "/var/lib/sss/pipes",
];

/**
 * Returns the absolute paths at which programs listen or receive messages, sorted, each once. Leaves out name services,
 * and `/dev`, of which commands have their own. Empty on systems without the table; a socket with a relative path is
 * not found.
 */
export function listeningSockets(text: string = readTable()): string[] {
  const found = new Set<string>();
  for (const line of text.split("\n")) {
    const [, flags = "", type = "", path = ""] = /^\S+: \S+ \S+ (\S+) (\S+) \S+ +\d+ (\/.*)$/.exec(line) ??
      [];
    const isOpen = (parseInt(flags, 16) & ACCEPTS) !== 0 || type === DATAGRAM;
    if (path !== "" && isOpen && !isInside(path, "/dev") && !isNameService(path)) found.add(path);
  }
  return [...found].sort();
}

/** True if a path is that of a name service. `/var/run` leads to `/run`. */
function isNameService(path: string): boolean {
  const real = path.replace(/^\/var\/run(?=\/)/, "/run");
  return NAME_SERVICES.some((place) => isInside(real, place));
}

function readTable(): string {
  if (Deno.build.os !== "linux") return "";
  try {
    return Deno.readTextFileSync(TABLE);
  } catch {
    return ""; // Without a /proc, only the known places and variables remain.
  }
}
