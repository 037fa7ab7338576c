// Attacks: what a command cannot reach, by way of the tools that read and write in this program itself.

import { type Attack, changed, inGroup, into, outsideChanged, type Ran, type Scene } from "./types.ts";

/** The key of the scene, or the variables of any program. */
const leaked = (_: Scene, { out, err }: Ran) => /sk-secret|PATH=|HOME=/.test(out + err);

const system = inGroup("file tools", [
  {
    name: "S1: the variables of this program, by a link that a command made",
    shell: () => "ln -s /proc/self/environ env.txt",
    calls: () => [["read", { path: "env.txt" }]],
    won: leaked,
  },
  {
    name: "S1: the same in a cloned repository, through a folder and a second link",
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
    name: "S1: the passage that an edit looks for and does not find",
    shell: () => "ln -s /proc/self/environ env.txt",
    calls: () => [["edit", { path: "env.txt", oldText: "HOME=\nx", newText: "" }]],
    policy: () => ({ rw_paths: ["/"] }),
    won: leaked,
  },
  {
    name: "S1: a switch of the kernel, with everything writable",
    calls: () => [
      ["write", { path: "/proc/self/comm", content: "PWNED" }],
      ["write", { path: "/proc/self/coredump_filter", content: "0x7f" }],
      ["edit", { path: "/proc/self/comm", oldText: "deno", newText: "PWNED" }],
    ],
    policy: () => ({ rw_paths: ["/"] }),
    won: () => Deno.readTextFileSync("/proc/self/comm") === "PWNED\n",
  },
  {
    name: "S1: the messages of the kernel, which never end",
    shell: () => "ln -s /proc/kmsg k; ln -s /dev/kmsg d",
    calls: () => [["read", { path: "k" }], ["read", { path: "d" }], ["read", { path: "/proc/kmsg" }]],
    won: (_, { err }) => err.split("may not be read").length !== 4,
  },
  {
    name: "S1: the folder of runtime files, which a command finds empty",
    plant: ({ root }) => Deno.writeTextFileSync(`${root}/run/auth.json`, "PWNED"),
    calls: ({ root }) => [["read", { path: `${root}/run/auth.json` }]],
    won: (_, { out }) => out.includes("PWNED"),
  },
  {
    name: "S1: a device by another name",
    shell: () => "ln -s /dev/zero z; ln -s /dev/stdin i; mkfifo f",
    calls: () => [["read", { path: "z" }], ["read", { path: "i" }], ["read", { path: "f" }]],
    won: (_, { out }) => out.trim() !== "",
  },
]);

const links = inGroup("file tools", [
  {
    name: "writing through links and dots that lead out",
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
    name: "the document and the settings of the project, by links to them",
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
    name: "a hidden key by a link, and by its folder under another name",
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

export const FILE_TOOLS: readonly Attack[] = [...system, ...links];
