// Attacks: the running document, settings, tool files, and flemma's own records.

import { type Attack, changed, into, there } from "./types.ts";

const documentChanged = changed("project/notes.chat");

const document: Attack[] = ([
  ["writing the running document", () => into("notes.chat")],
  [
    "editing the running document in place",
    () =>
      "sed -i s/text/PWNED/ notes.chat; truncate -s 0 notes.chat; dd if=main.ts of=notes.chat conv=notrunc",
  ],
  [
    "moving another file over the running document",
    () =>
      "echo PWNED > n; mv -f n notes.chat; cp --remove-destination main.ts notes.chat; ln -f main.ts notes.chat",
  ],
  [
    "removing and recreating the running document",
    () => `rm -f notes.chat; unlink notes.chat; ${into("notes.chat")}`,
  ],
  ["a hard link to the running document", () => `ln notes.chat other; ${into("other")}`],
  [
    "the running document's descriptor, opened again for writing",
    () => "exec 7<notes.chat; echo PWNED > /proc/self/fd/7; echo PWNED > /proc/self/fd/7",
  ],
  [
    "unmounting the document's protection",
    () =>
      `umount notes.chat; umount -l notes.chat; unshare -Urm sh -c 'umount notes.chat; ${
        into("notes.chat")
      }'`,
  ],
  [
    "replacing the document's folder",
    ({ root }) => `mkdir ../p2; cp notes.chat ../p2; mv ../project ../p; cd ${root}; mv project x`,
  ],
  [
    "checking out another version of the document with git",
    () =>
      "git add -f notes.chat; git -c user.name=a -c user.email=a@b commit -qm a; rm -f .git/index; echo PWNED | git hash-object -w --stdin > h; git update-index --add --cacheinfo 100644,$(cat h),notes.chat; git checkout-index -f notes.chat",
  ],
] as [string, Attack["shell"]][]).map(([name, shell]) => ({
  group: "the document",
  name,
  shell,
  won: documentChanged,
}));

/** The document was opened by this name. */
const plantLink = ({ project }: { readonly project: string }) =>
  Deno.symlinkSync("notes.chat", `${project}/link.chat`);

const named: Attack[] = ([
  ["a forged document in place of the link to it", "rm -f link.chat; echo PWNED > link.chat"],
  [
    "pointing the document's link elsewhere",
    "echo PWNED > forged; ln -sf forged link.chat; ln -sfn forged link.chat",
  ],
  ["moving a forged document over the link to it", "echo PWNED > forged; mv -f forged link.chat"],
  ["a folder in place of the document's link", "rm -f link.chat; mkdir -p link.chat/PWNED"],
] as const).map(([name, shell]) => ({
  group: "the document",
  name,
  plant: plantLink,
  shell: () => shell,
  won: ({ project }) => {
    const link = `${project}/link.chat`;
    return !Deno.lstatSync(link).isSymlink || Deno.readLinkSync(link) !== "notes.chat";
  },
}));

const settingsAttacks: Attack[] = ([
  [
    "the project's settings",
    () => `${into(".flemma/config.yaml")}; rm -rf .flemma; mv .flemma f`,
    changed("project/.flemma/config.yaml"),
  ],
  ["a tool file", () => into(".flemma/tools/tool.ts"), changed("project/.flemma/tools/tool.ts")],
  [
    "one more tool file",
    () => into(".flemma/tools/evil.ts"),
    ({ root }) => there(`${root}/project/.flemma/tools/evil.ts`),
  ],
  [
    "the person's settings",
    () => `${into("$HOME/.config/flemma/config.yaml")}; mv $HOME/.config c`,
    changed("home/.config/flemma/config.yaml"),
  ],
  [
    "flemma's own records",
    () => `${into("$HOME/.local/state/flemma/trust.json")}; rm -rf $HOME/.local/state`,
    changed("home/.local/state/flemma/trust.json"),
  ],
  [
    "the shell's start-up file, with a writable home folder",
    () => into("$HOME/.bashrc"),
    changed("home/.bashrc"),
  ],
] as [string, Attack["shell"], Attack["won"]][]).map(([name, shell, won]) => ({
  group: "settings",
  name,
  shell,
  won,
  policy: () => ({ rw_paths: ["urn:flemma:cwd", "~"] }),
}));

export const DOCUMENT: readonly Attack[] = [...document, ...named, ...settingsAttacks];
