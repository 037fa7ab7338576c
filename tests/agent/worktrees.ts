// Documents in a git repository whose helpers get worktrees.

import assert from "node:assert/strict";
import { ask, modelOf, type Said } from "./helpers.ts";
import type { Place } from "./place.ts";

/** Settings with a preset that gives worktrees. */
export const TREES = `tools: { $append: [ask_document], auto_approve: [$default, ask_document] }
presets: { $tree: { worktree: true, system: You work. } }
`;

/** Runs git in the folder of the documents as a person does. */
export function git(place: Place, ...args: string[]): string {
  return gitIn(place.path("."), ...args);
}

export function gitIn(folder: string, ...args: string[]): string {
  const { success, stdout, stderr } = new Deno.Command("git", {
    args: ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "protocol.file.allow=always", ...args],
    cwd: folder,
    env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
  }).outputSync();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim();
}

/** Makes the folder of the documents a repository with one commit, and writes a document that asks. */
export function repository(place: Place): void {
  place.settings(TREES);
  start(place.path("."));
  place.write("notes.chat", "@You:\nAsk somebody.\n");
}

/** Makes a folder a repository with one commit. */
export function start(folder: string): void {
  Deno.mkdirSync(`${folder}/sub`, { recursive: true });
  Deno.writeTextFileSync(`${folder}/a.txt`, "a\n");
  Deno.writeTextFileSync(`${folder}/sub/b.txt`, "b\n");
  gitIn(folder, "init", "-q", "-b", "main");
  gitIn(folder, "config", "user.name", "x");
  gitIn(folder, "config", "user.email", "x@x");
  gitIn(folder, "add", "a.txt", "sub");
  gitIn(folder, "commit", "-qm", "start");
}

/** A caller that asks with these calls; helpers run these commands, one a reply, then answer. */
export function working(calls: readonly Said[], commands: Readonly<Record<string, readonly string[]>>) {
  const done = new Map<string, number>();
  return modelOf(({ first, last }) => {
    if (first.includes("Ask somebody")) return last.includes("tool_result") ? ["All done."] : calls;
    const name = Object.keys(commands).find((each) => first.includes(`Task ${each}.`))!;
    const at = done.get(name) ?? 0;
    done.set(name, at + 1);
    const command = commands[name]![at];
    return command === undefined
      ? [`Done ${name}.`]
      : [[`call_${name}_${at}`, "bash", { label: "work", command, timeout: null }]];
  });
}

/** A question to a new helper in a worktree. */
export function inTree(id: string, name: string): Said {
  return ask(id, `Task ${name}.`, { name, preset: "$tree" });
}

/** The folder of a worktree by its branch. */
export function treeOf(place: Place, name: string): string {
  const base = `${place.folder}/home/.local/share/flemma/worktrees`;
  const [repository] = [...Deno.readDirSync(base)];
  return `${base}/${repository!.name}/${name}`;
}
