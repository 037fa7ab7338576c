// Attacks: reaching what a command cannot reach through the program's own file tools.

import { type Attack, changed, DENO, inGroup, into, outsideChanged, type Ran, type Scene } from "./types.ts";

/** The key of the scene, or the variables of any program. */
const leaked = (_: Scene, { out, err }: Ran) => /sk-secret|PATH=|HOME=/.test(out + err);

const system = inGroup("file tools", [
  {
    name: "reading through a link: flemma's environment variables, through a link made by a command",
    shell: () => "ln -s /proc/self/environ env.txt",
    calls: () => [["read", { path: "env.txt" }]],
    won: leaked,
  },
  {
    name:
      "reading through a link: flemma's environment variables in a cloned repository, through a folder and a second link",
    plant: ({ project }) => {
      Deno.symlinkSync("/proc", `${project}/p`);
      Deno.symlinkSync("p/self/environ", `${project}/e`);
    },
    calls: () => [
      ["read", { path: "e" }],
      ["read", { path: "p/self/environ" }],
      ["read", { path: "p/self/task/../environ" }],
      ["read", { path: `p/${Deno.pid}/environ` }],
      ["read", { path: "p/self/root/proc/self/environ" }],
    ],
    won: leaked,
  },
  {
    name: "reading through a link: the text that an edit searches for and does not find",
    shell: () => "ln -s /proc/self/environ env.txt",
    calls: () => [["edit", { path: "env.txt", oldText: "HOME=\nx", newText: "" }]],
    policy: () => ({ rw_paths: ["/"] }),
    won: leaked,
  },
  {
    name: "reading through a link: a kernel switch, with everything writable",
    calls: () => [
      ["write", { path: "/proc/self/comm", content: "PWNED" }],
      ["write", { path: "/proc/self/coredump_filter", content: "0x7f" }],
      ["edit", { path: "/proc/self/comm", oldText: "deno", newText: "PWNED" }],
    ],
    policy: () => ({ rw_paths: ["/"] }),
    won: () => Deno.readTextFileSync("/proc/self/comm") === "PWNED\n",
  },
  {
    name: "reading through a link: the kernel's messages, which never end",
    shell: () => "ln -s /proc/kmsg k; ln -s /dev/kmsg d",
    calls: () => [["read", { path: "k" }], ["read", { path: "d" }], ["read", { path: "/proc/kmsg" }]],
    won: (_, { err }) => err.split("tools may not read").length !== 4,
  },
  {
    name: "reading through a link: the folder of runtime files, which is empty for a command",
    plant: ({ root }) => Deno.writeTextFileSync(`${root}/run/auth.json`, "PWNED"),
    calls: ({ root }) => [["read", { path: `${root}/run/auth.json` }]],
    won: (_, { out }) => out.includes("PWNED"),
  },
  {
    name: "reading through a link: a device under another name",
    shell: () => "ln -s /dev/zero z; ln -s /dev/stdin i; mkfifo f",
    calls: () => [["read", { path: "z" }], ["read", { path: "i" }], ["read", { path: "f" }]],
    won: (_, { out }) => out.trim() !== "",
  },
]);

const links = inGroup("file tools", [
  {
    name: "writing through links and .. that lead out",
    shell: ({ root }) =>
      `ln -s ${root}/outside o; ln -s ${root}/outside/new n; mkdir d; ln -s ../../outside d/o`,
    calls: ({ root }) => [
      ["write", { path: "o/file", content: "PWNED" }],
      ["write", { path: "n", content: "PWNED" }],
      ["write", { path: "d/o/x/y", content: "PWNED" }],
      ["write", { path: "../outside/new", content: "PWNED" }],
      ["write", { path: `${root}/outside/new`, content: "PWNED" }],
      ["edit", { path: "o/file", oldText: "text", newText: "PWNED" }],
    ],
    won: outsideChanged,
  },
  {
    name: "the document and the project's settings, through links to them",
    shell: () => "ln -s notes.chat n; ln -s .flemma f; ln notes.chat h",
    calls: () => [
      ["write", { path: "n", content: "PWNED" }],
      ["write", { path: "h", content: "PWNED" }],
      ["edit", { path: "notes.chat", oldText: "text", newText: "PWNED" }],
      ["write", { path: "f/config.yaml", content: "PWNED" }],
    ],
    won: (scene) => changed("project/notes.chat")(scene) || changed("project/.flemma/config.yaml")(scene),
  },
  {
    name: "a hidden key through a link, and through its folder under another name",
    shell: () => `ln -s ~/.ssh/id k; ln -s ~/.ssh s; ${into("x")}`,
    calls: () => [
      ["read", { path: "k" }],
      ["read", { path: "s/id" }],
      ["read", { path: "~/.ssh/id" }],
      ["read", { path: "~/.config/gcloud/key" }],
    ],
    won: (_, { out }) => out.includes("text of home/"),
  },
]);

/** Number of `renameat2`. */
const RENAME = { x86_64: 316, aarch64: 276 }[Deno.build.arch];
const exchanging = (a: string, b: string) => `${DENO} exchange.js ${RENAME} ${a} ${b}`;
const fifty = <T>(one: (index: number) => T): T[] => Array.from({ length: 50 }, (_, index) => one(index));

const races = inGroup("races", [
  {
    name: "writing while paths change: a folder swapped with a link to the outside, during fifty writes",
    plant: ({ root, project }) => {
      Deno.mkdirSync(`${project}/d`);
      Deno.symlinkSync(`${root}/outside`, `${project}/lnk`);
    },
    shell: () => exchanging("d", "lnk"),
    beside: () =>
      fifty((index) => ["write", { path: `d/file${index % 2 === 0 ? "" : index}`, content: "PWNED" }]),
    won: outsideChanged,
  },
  {
    name:
      "writing while paths change: a folder swapped with a link to the outside, during fifty edits and new folders",
    plant: ({ root, project }) => {
      Deno.mkdirSync(`${project}/d`);
      Deno.writeTextFileSync(`${project}/d/file`, "text of outside/file\n");
      Deno.symlinkSync(`${root}/outside`, `${project}/lnk`);
    },
    shell: () => exchanging("d", "lnk"),
    beside: () =>
      fifty((index) =>
        index % 2 === 0
          ? ["edit", { path: "d/file", oldText: "text", newText: "PWNED text" }]
          : ["write", { path: `d/n${index}/x`, content: "PWNED" }]
      ),
    won: outsideChanged,
  },
  {
    name: "writing while paths change: a file swapped with a link to the document and to the settings",
    plant: ({ project }) => {
      Deno.mkdirSync(`${project}/d`);
      Deno.writeTextFileSync(`${project}/d/config.yaml`, "");
      Deno.symlinkSync(".flemma", `${project}/lnk`);
    },
    shell: () => exchanging("d", "lnk"),
    beside: () => fifty(() => ["write", { path: "d/config.yaml", content: "PWNED" }]),
    won: changed("project/.flemma/config.yaml"),
  },
  {
    name: "reading while paths change: a folder swapped with a link to hidden keys, during a hundred reads",
    plant: ({ root, project }) => {
      Deno.mkdirSync(`${project}/d`);
      Deno.writeTextFileSync(`${project}/d/id`, "harmless");
      Deno.symlinkSync(`${root}/home/.ssh`, `${project}/lnk`);
    },
    shell: () => exchanging("d", "lnk"),
    beside: () => [...fifty(() => 0), ...fifty(() => 0)].map(() => ["read", { path: "d/id" }]),
    won: (_, { out }) => out.includes("text of home/"),
  },
  {
    name: "reading while paths change: a folder swapped with a link to flemma's environment variables",
    plant: ({ project }) => {
      Deno.mkdirSync(`${project}/d`);
      Deno.writeTextFileSync(`${project}/d/environ`, "harmless");
      Deno.symlinkSync("/proc/self", `${project}/lnk`);
    },
    shell: () => exchanging("d", "lnk"),
    beside: () => fifty(() => ["read", { path: "d/environ" }]),
    won: leaked,
  },
]);

export const FILE_TOOLS: readonly Attack[] = [...system, ...links, ...(RENAME === undefined ? [] : races)];
