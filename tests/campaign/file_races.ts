// Races over file names: while a command of another run swaps a folder with a link as fast as it can, the file tools
// write nothing outside, read nothing hidden and leave nothing behind.

import assert from "node:assert/strict";
import { record } from "../../sandbox/process/leftovers.ts";
import { plant, projectSandbox, requireBubblewrap } from "../sandbox/fixture.ts";
import { inFolder } from "../folder.ts";
import { type Tools, withHelper } from "../tools/helper_scene.ts";

const EXCHANGE = `
import ctypes, random, sys, time
libc = ctypes.CDLL(None)
pairs = sys.argv[1:]
while True:
    for at in range(0, len(pairs), 2):
        libc.renameat2(-100, pairs[at].encode(), -100, pairs[at + 1].encode(), 2)
    time.sleep(random.random() * 0.006)
`;

const SECRET = "the hidden text";

/** Folders of the project, each with the link that takes its place and where that leads. */
const PAIRS: readonly (readonly [folder: string, target: string])[] = [
  ["d", "../outside"],
  ["h", ".git/hooks"],
  ["s", "secret"],
];

/** Runs so many tries of each race; what happened, in one line. Throws where a race was lost. */
export async function fileRaces(count: number): Promise<string> {
  const succeeded = { write: 0, edit: 0, read: 0, ls: 0, find: 0, grep: 0 };
  await inFolder(async (root) => {
    plant(
      root,
      ...[
        "project/notes.chat",
        "project/d/sub/",
        "project/h/",
        "project/s/plain",
        "project/.git/hooks/",
        "project/.git/config",
      ],
      ...["outside/file", "outside/sub/", "project/secret/inner/"],
    );
    Deno.writeTextFileSync(`${root}/project/.git/HEAD`, "ref: refs/heads/main\n");
    for (const name of ["plain", "inner/deep"]) {
      Deno.writeTextFileSync(`${root}/project/secret/${name}`, SECRET);
    }
    for (const name of ["project/d/file", "outside/file"]) Deno.writeTextFileSync(`${root}/${name}`, "old\n");
    for (const [folder, target] of PAIRS) Deno.symlinkSync(target, `${root}/project/to_${folder}`);
    const project = `${root}/project`;
    const sandbox = projectSandbox(root, { policy: { deny_read: [`${project}/secret`] } });
    await requireBubblewrap(sandbox);
    const kept = [`${root}/outside`, `${project}/.git`].map((folder) =>
      [folder, everything(folder)] as const
    );
    const exchanging = new Deno.Command("python3", {
      args: [
        "-c",
        EXCHANGE,
        ...PAIRS.flatMap(([folder]) => [`${project}/${folder}`, `${project}/to_${folder}`]),
      ],
      stdin: "null",
    }).spawn();
    try {
      // As a command of another run is known to all runs.
      const file = record(sandbox.host.environment, exchanging.pid, { writable: [project], before: "null" });
      Deno.renameSync(file, file.replace(`/${Deno.pid}-`, "/1-"));
      await withHelper(sandbox, `${project}/notes.chat`, async (tools) => {
        for (let at = 0; at < count; at++) await round(tools, at, succeeded);
      });
    } finally {
      exchanging.kill("SIGKILL");
      await exchanging.status;
    }
    for (const [folder, before] of kept) {
      assert.deepEqual(everything(folder), before, "nothing outside is written");
    }
    assert.deepEqual(
      everything(project).filter((line) => line.includes("/.flemma-")),
      [],
      "nothing is left behind",
    );
  });
  return Object.entries(succeeded).map(([name, times]) => `${name} ${times}`).join(", ");
}

async function round({ run }: Tools, at: number, succeeded: Record<string, number>): Promise<void> {
  const calls: readonly (readonly [string, Record<string, unknown>])[] = [
    ["write", { path: `d/w${at}`, content: "PWNED" }],
    ["write", { path: `d/made${at}/deep/x`, content: "PWNED" }],
    ["write", { path: `h/pre-commit`, content: "PWNED" }],
    ["edit", {
      path: "d/file",
      oldText: at % 2 === 0 ? "old" : "new",
      newText: at % 2 === 0 ? "new" : "old",
    }],
    ["read", { path: "s/plain" }],
    ["read", { path: "s/inner/deep" }],
    ["ls", { path: "s", max_depth: 3 }],
    ["find", { pattern: "*", path: "s" }],
    ["grep", { pattern: "hidden|plain", path: "s" }],
  ];
  // Some alone and some beside others.
  const results = at % 2 === 0
    ? await Promise.all(calls.map(([name, input]) => run(name, input)))
    : await inSequence(calls.map(([name, input]) => () => run(name, input)));
  for (const [index, { success, output, error }] of results.entries()) {
    const [name, input] = calls[index]!;
    const reported = `${output ?? ""}${error ?? ""}`;
    assert.ok(!reported.includes(SECRET), `${name} gave hidden text: ${reported}`);
    if (name !== "read") {
      assert.ok(
        !reported.includes("inner") && !reported.includes("deep:"),
        `${name} named what is hidden: ${reported}`,
      );
    }
    if (success && input.path !== "s/inner/deep") succeeded[name]!++;
  }
}

async function inSequence<T>(works: readonly (() => Promise<T>)[]): Promise<T[]> {
  const done: T[] = [];
  for (const work of works) done.push(await work());
  return done;
}

/** What lies in a folder, with modes and texts. */
function everything(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory, isSymlink }) => {
    const path = `${folder}/${name}`;
    const mode = (Deno.lstatSync(path).mode ?? 0).toString(8);
    if (isSymlink) return [`${path} link`];
    return isDirectory
      ? [`${path} ${mode}`, ...everything(path)]
      : [`${path} ${mode} ${Deno.readTextFileSync(path)}`];
  }).sort();
}

if (import.meta.main) {
  await Deno.stdout.write(new TextEncoder().encode(`${await fileRaces(Number(Deno.args[0]))}\n`));
}
