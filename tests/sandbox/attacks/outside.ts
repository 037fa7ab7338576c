// Attacks: writing where a command may not write.

import { type Attack, into, outsideChanged } from "./types.ts";

const outside: Attack[] = ([
  ["plain writing", ({ root }) => into(`${root}/outside/file`)],
  [
    "appending, truncating, changing the mode",
    ({ root }) =>
      `cd ${root}/outside; echo x >> file; truncate -s 0 file; chmod 777 file; rm -f file; touch new`,
  ],
  [
    "mounting the root writable again",
    ({ root }) => `mount -o remount,bind,rw /; mount -o remount,rw /; ${into(`${root}/outside/file`)}`,
  ],
  [
    "mounting a folder onto itself as writable",
    ({ root }) =>
      `mount --bind ${root}/outside ${root}/outside; mount -o remount,bind,rw ${root}/outside; ${
        into(`${root}/outside/file`)
      }`,
  ],
  [
    "unmounting the mounts on top",
    ({ root }) => `umount -l ${root}/project /proc /; ${into(`${root}/outside/file`)}`,
  ],
  [
    "a separate mount namespace",
    ({ root }) =>
      `unshare -Urm sh -c 'mount -o remount,bind,rw /; umount -l /; ${into(`${root}/outside/file`)}'`,
  ],
  [
    "two nested user namespaces",
    ({ root }) =>
      `unshare -Ur unshare -Urm sh -c 'mount -o remount,bind,rw /; ${into(`${root}/outside/file`)}'`,
  ],
  [
    "a sandbox inside the sandbox, with everything writable",
    ({ root }) => `bwrap --bind / / --dev-bind /dev /dev sh -c '${into(`${root}/outside/file`)}'`,
  ],
  [
    "an overlay over the folder",
    ({ root }) =>
      `mkdir -p u w; unshare -Urm sh -c 'mount -t overlay o -o lowerdir=${root}/outside,upperdir=u,workdir=w ${root}/outside; umount ${root}/outside; ${
        into(`${root}/outside/file`)
      }'`,
  ],
  ["the root of process 1", ({ root }) => into(`/proc/1/root${root}/outside/file`)],
  [
    "the roots and folders of all processes",
    ({ root }) =>
      `for p in /proc/[0-9]*; do ${into(`$p/root${root}/outside/file`)}; ${
        into("$p/cwd/../outside/file")
      }; done`,
  ],
  [
    "an open descriptor of the root",
    ({ root }) => `exec 7</; ${into(`/proc/self/fd/7${root}/outside/file`)}`,
  ],
  [
    "the memory map and the memory of the parent",
    ({ root }) =>
      `for p in /proc/[0-9]*; do echo x > $p/mem; done; ${into(`/proc/$PPID/root${root}/outside/file`)}`,
  ],
  [
    "entering the namespaces of process 1",
    ({ root }) => `nsenter -t 1 -m -u -p sh -c '${into(`${root}/outside/file`)}'`,
  ],
  ["changing the root", ({ root }) => `chroot /proc/1/root sh -c '${into(`${root}/outside/file`)}'`],
  ["a hard link into the project", ({ root }) => `ln ${root}/outside/file here; ${into("here")}`],
  [
    "a symbolic link in the project",
    ({ root }) => `ln -s ${root}/outside here; ${into("here/file")}; touch here/new`,
  ],
  [
    "a race of links against writes",
    ({ root }) =>
      `mkdir a; (while :; do ln -sfn a d; ln -sfn ${root}/outside d; done) & i=0; while [ $i -lt 300 ]; do ${
        into("d/file")
      }; i=$((i+1)); done`,
  ],
  [
    "moving the project and its sibling folders",
    ({ root }) => `mv ${root}/project ${root}/p; mv ${root}/outside o; mv ${root}/outside ${root}/o`,
  ],
  [
    ".. that leads up",
    () => "echo PWNED > ../outside/file; cp main.ts ../outside/; cd ..; touch outside/new",
  ],
  [
    "an archive with a path that leads up",
    () => "mkdir t; tar cf a.tar --transform 's,^,../outside/,' main.ts; tar xPf a.tar",
  ],
  [
    "a patch that leads up",
    ({ root }) =>
      `printf -- '--- /dev/null\\n+++ ${root}/outside/new\\n@@ -0,0 +1 @@\\n+x\\n' | git apply --unsafe-paths -p0`,
  ],
] as [string, Attack["shell"]][]).map(([name, shell]) => ({
  group: "write outside",
  name,
  shell,
  won: outsideChanged,
}));

export const OUTSIDE: readonly Attack[] = outside;
