// Attacks: hidden paths and withheld keys.

import type { Attack, Ran, Scene } from "./types.ts";

const reading: Attack[] = ([
  ["a key of the person", () => "cat ~/.ssh/id"],
  [
    "a hidden key through the roots and folders of processes",
    ({ root }) => `for p in /proc/[0-9]*; do cat $p/root${root}/home/.ssh/id; done`,
  ],
  [
    "a hidden key through a link, a copy, an archive",
    () => "ln ~/.ssh/id k; ln -s ~/.ssh l; cat k l/id; cp -r ~/.ssh c; tar cf - ~/.ssh | tar xOf -",
  ],
  [
    "unmounting the cover of a hidden path",
    () =>
      "chmod 777 ~/.ssh; umount ~/.ssh; mv ~/.ssh ~/s; unshare -Urm sh -c 'umount ~/.ssh; cat ~/.ssh/id'; cat ~/.ssh/id ~/s/id",
  ],
  ["flemma's own records", () => "cat ~/.local/state/flemma/trust.json"],
] as [string, Attack["shell"]][]).map(([name, shell]) => ({
  group: "hidden paths",
  name,
  shell,
  won: (_: Scene, { out }: Ran) => out.includes("text of home/"),
}));

const inTwoSteps: Attack[] = [{
  group: "hidden paths",
  name: "moving the parent folder away, for the next command",
  shell: () => "mv ~/.config ~/c; mv ~/.config/gcloud ~/.config/g; mv ~ ../h",
  then: ({ root }) =>
    `cat ${root}/home/c/gcloud/key ~/.config/g/key ~/.config/gcloud/key ${root}/h/.config/gcloud/key`,
  won: (_, { out }) => out.includes("text of home/"),
  policy: () => ({ rw_paths: ["urn:flemma:cwd", "~"] }),
}];

const environment: Attack[] = [{
  group: "hidden paths",
  name: "keys in the environment, of this and of other processes",
  shell: () => "env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'",
  won: (_, { out }) => out.includes("sk-secret") || out.includes("SSH_AUTH_SOCK="),
}];

export const HIDDEN: readonly Attack[] = [...reading, ...inTwoSteps, ...environment];
