// Attacks: sockets of programs that act for the person.

import { type Attack, DENO, listenAt, type Ran, type Scene } from "./types.ts";

const connected = (scene: Scene, { out }: Ran) =>
  out.includes("PWNED") || scene.reached.some((path) => path.startsWith("/"));

/** Sockets of programs that start others, below the folder of the person's runtime files. */
const SERVICES = ["docker.sock", "podman/podman.sock", "gnupg/S.gpg-agent", "systemd/private", "keyring/ssh"];

const sockets: Attack[] = ([
  ["the person's key agent", ({ agent }) => `${DENO} connect.js ${agent} "$SSH_AUTH_SOCK"`],
  ["the terminal multiplexer", ({ tmux }) => `${DENO} connect.js ${tmux}`],
  ["the session bus", ({ bus }) => `${DENO} connect.js ${bus} /proc/1/root${bus}`],
  [
    "unmounting the cover of a socket",
    ({ agent, tmux, bus, root }) =>
      `umount ${agent} ${tmux} ${root}/run; rm -f ${agent} ${tmux}; unshare -Urm umount ${agent}; ${DENO} connect.js ${agent} ${tmux} ${bus}`,
  ],
  [
    "moving the socket's folder, and another link to it",
    ({ root, tmux, agent }) =>
      `mv ${root}/tmp/tmux-7 t; ln ${tmux} s; ln ${agent} a; cp -l ${agent} b; ${DENO} connect.js t/default s a b ${root}/tmp/tmux-7/default`,
  ],
  [
    "another socket in the folder of the multiplexer, and one that appears later",
    ({ root }) =>
      `ls ${root}/tmp/tmux-7/ | grep -q . && echo PWNED; for f in ${root}/tmp/tmux-7/*; do ${DENO} connect.js $f; done`,
  ],
  [
    "container engines, agents for keys, and the manager of the person's services",
    ({ root }) => `${DENO} connect.js ${SERVICES.map((path) => `${root}/run/${path}`).join(" ")}`,
  ],
  [
    "a socket through the roots of other processes",
    ({ agent }) => `for p in /proc/[0-9]*; do set -- "$@" $p/root${agent}; done; ${DENO} connect.js "$@"`,
  ],
] as [string, Attack["shell"]][]).map(([name, shell]) => ({
  group: "sockets",
  name,
  shell,
  plant: ({ root, reached }) => {
    for (const path of SERVICES) listenAt(`${root}/run/${path}`, reached);
  },
  won: connected,
  policy: ({ root }) => ({ rw_paths: ["urn:flemma:cwd", `${root}/tmp`] }),
}));

const carriedSocket: Attack[] = [{
  group: "sockets",
  name: "moving the parent folder of a socket away, for the next command",
  shell: ({ root }) => `mv ${root}/tmp/tmux-7 ${root}/tmp/t`,
  then: ({ root }) => `${DENO} connect.js ${root}/tmp/t/default`,
  won: connected,
  policy: ({ root }) => ({ rw_paths: ["urn:flemma:cwd", `${root}/tmp`] }),
}];

export const SOCKETS: readonly Attack[] = [...sockets, ...carriedSocket];
