// `kill -9` during commands that create or change documents, settings and state: afterwards each file is the old or
// the new one, whole, and repeating the command completes it.

import assert from "node:assert/strict";
import { type Finished, type Scene, withScene } from "../cli/harness.ts";
import { COMMANDS, type KilledCommand } from "./command_kill_rows.ts";
import { textReply, withServer } from "../cli/replies.ts";
import { type Chance, chance } from "./random.ts";

/** System calls that change what stands under a name. A process that is traced can be killed at one of them. */
const CHANGES = "rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,ftruncate,fsync," +
  "fdatasync,fchmod,flock";

/** Files and folders by their path, with what they hold; folders hold null. */
type Tree = ReadonlyMap<string, string | null>;

/** Makes so many kills, the commands in turn; answers what it did, and throws at the first thing that is wrong. */
export async function commandKills(
  count: number,
  seed: number,
  commands: readonly KilledCommand[] = COMMANDS,
): Promise<string> {
  const random = chance(seed);
  const done = new Map<KilledCommand, Whole>();
  let early = 0;
  for (let at = 0; at < count; at++) {
    const command = commands[(seed + at) % commands.length]!;
    const whole = done.get(command) ?? await undisturbed(command);
    done.set(command, whole);
    try {
      if (await oneKill(command, whole, instant(whole, random))) early++;
    } catch (cause) {
      throw new Error(`${command.what}, kill ${seed + at}: ${(cause as Error).message}`, { cause });
    }
  }
  return `${count} kills of commands, ${early} of them before the end: every file whole, everything done when asked again`;
}

/** What a command does when nobody kills it. */
interface Whole {
  readonly before: Tree;
  readonly after: Tree;
  readonly code: number;
  readonly milliseconds: number;
  /** The calls of `CHANGES` that it made, in their order. */
  readonly calls: readonly string[];
}

/** Runs a command that nobody kills; rejects where it changes nothing. */
export async function undisturbed(command: KilledCommand): Promise<Whole> {
  const traced = await canTrace();
  let whole: Whole | null = null;
  await inPlace(command, async (place, line) => {
    const before = treeOf(place);
    const begun = performance.now();
    const log = `${place.folder}/calls`;
    const finished = await line(traced ? `strace -f -qq -o ${log} -e trace=${CHANGES} -e signal=none` : "");
    const after = treeOf(place);
    const reported = `exit ${finished.code}\n${finished.stderr}`;
    if (command.settled === undefined) {
      assert.notDeepEqual([...after], [...before], `nothing changed: ${reported}`);
    }
    const calls = traced
      ? [...Deno.readTextFileSync(log).matchAll(/^\d+ +(\w+)\(/gm)].map(([, name = ""]) => name)
      : [];
    whole = { before, after, code: finished.code, milliseconds: performance.now() - begun, calls };
  });
  return whole!;
}

/** Words that start a program and kill it at some instant. */
function instant({ calls, milliseconds, before, after }: Whole, random: Chance): (folder: string) => string {
  const changed = [...after].filter(([path, content]) => before.get(path) !== content).map(([path]) => path);
  const way = random.below(8);
  if (calls.length === 0 || way === 0) {
    return () => `timeout -s KILL ${(random.below(Math.ceil(milliseconds)) / 1000 + 0.01).toFixed(3)}`;
  }
  const trace = "strace -f -qq -o /dev/null -e signal=none";
  if (way === 1 && changed.length > 0) {
    // Right before bytes go into a file under its own name, where it was emptied or only just made.
    const path = random.pick(changed);
    return (folder) => `${trace} -P ${folder}/${path} -e trace=write -e inject=write:signal=KILL:when=1`;
  }
  const name = random.pick(calls);
  // Strace counts for each thread, and which one makes a call is the runtime's choice.
  const at = 1 + random.below(Math.min(4, calls.filter((each) => each === name).length));
  return () => `${trace} -e trace=${name} -e inject=${name}:signal=KILL:when=${at}`;
}

/** Kills a command once; true when it had not ended by then. */
async function oneKill(
  command: KilledCommand,
  whole: Whole,
  aimed: (folder: string) => string,
): Promise<boolean> {
  let early = false;
  await inPlace(command, async (place, line) => {
    const killedBy = aimed(place.folder);
    const killed = await line(killedBy);
    early = killed.code !== whole.code;
    const stated = `${killedBy}\nexit ${killed.code}\n${killed.stderr}`;
    for (const [path, content] of treeOf(place)) {
      if (isTemporary(path) || path === command.grows) continue;
      const may = [whole.before, whole.after].filter((tree) => tree.has(path)).map((tree) => tree.get(path));
      const reported = content !== null && command.reported?.test(content) === true;
      const between = path === command.stepwise && isBetween(content ?? "", may.map((text) => text ?? ""));
      assert.ok(
        reported || between || may.includes(content),
        `${path} is neither old nor new:\n${content}\n${stated}`,
      );
    }
    for (const path of whole.before.keys()) {
      assert.ok(treeOf(place).has(path) || !whole.after.has(path), `${path} is gone\n${stated}`);
    }
    const again = await line("", command.again ?? command.line);
    const then = `${stated}\nthen exit ${again.code}\n${again.stderr}`;
    if (command.settled === undefined) assert.ok([whole.code, 0].includes(again.code), then);
    assert.doesNotMatch(again.stderr, /Internal error|\(os error \d+\)/, then);
    if (command.settled !== undefined) command.settled(place, again);
    else assert.equal(differences(treeOf(place), whole.after), "", then);
    if (command.holds !== undefined) {
      const retained = await place.shell(command.holds);
      assert.equal(retained.code, 0, `${command.holds}\n${retained.stdout}${retained.stderr}\n${then}`);
    }
  });
  return early;
}

/** Whether a text has all lines that these have in common, and none that none of them has. */
function isBetween(text: string, all: readonly string[]): boolean {
  const [lines, ...others] = [text, ...all].map((each) => new Set(each.split("\n")));
  const known = new Set(others.flatMap((each) => [...each]));
  return [...known].every((line) => lines!.has(line) || !others.every((each) => each.has(line))) &&
    [...lines!].every((line) => known.has(line));
}

/** Each path that two trees do not have in common, with the first line that is another one. */
function differences(found: Tree, wanted: Tree): string {
  return [...new Set([...found.keys(), ...wanted.keys()])].sort().flatMap((path) => {
    const [is, should] = [found, wanted].map((
      tree,
    ) => (tree.has(path) ? tree.get(path) ?? "a folder" : "nothing"));
    if (is === should) return [];
    const lines = should!.split("\n");
    const at = is!.split("\n").findIndex((line, index) => line !== lines[index]);
    return [
      `${path}, line ${at + 1}: ${is!.split("\n")[at]?.slice(0, 200)}, not ${lines[at]?.slice(0, 200)}`,
    ];
  }).join("\n");
}

/** What a command was about to put in place; the next run takes it away. */
function isTemporary(path: string): boolean {
  return /\.tmp$|\/\.flemma-[0-9a-f-]{36}$|\.lock$/.test(path);
}

async function inPlace(
  command: KilledCommand,
  body: (place: Scene, line: (killedBy: string, line?: string) => Promise<Finished>) => Promise<void>,
): Promise<void> {
  await withScene(async (place) => {
    await command.prepare(place);
    const words = place.program.map((word) => `'${word}'`).join(" ");
    // Found on the path as well, by git.
    Deno.mkdirSync(`${place.folder}/bin`);
    Deno.writeTextFileSync(`${place.folder}/bin/flemma`, `#!/bin/sh\nexec $KILLED_BY ${words} "$@"\n`, {
      mode: 0o755,
    });
    const answers = Array.from({ length: command.asks ? 3 : 0 }, () => textReply("It was about much."));
    await withServer(answers, async ({ env }) => {
      const PATH = `${place.folder}/bin:${place.env.PATH}`;
      await body(place, async (killedBy, line = command.line) => {
        const all = { ...env, ANTHROPIC_API_KEY: "k", PATH, KILLED_BY: killedBy };
        return await place.spawn(["/bin/sh", "-c", line], { env: all }).finished;
      });
    });
  });
}

/** The person's files: where documents lie, and the home. What git keeps for itself is its own. */
function treeOf({ folder }: Scene): Tree {
  const tree = new Map<string, string | null>();
  const walk = (path: string) => {
    for (const { name, isDirectory, isFile } of Deno.readDirSync(path)) {
      const below = `${path}/${name}`;
      if (/\/\.git\/(?!config$)|\/\.(?:cache|npm)$/.test(below)) continue;
      if (isDirectory) walk(below);
      tree.set(
        below.slice(folder.length + 1),
        isFile ? textOf(below, folder.slice(folder.lastIndexOf("/") + 1)) : null,
      );
    }
  };
  for (const name of ["place", "home"]) walk(`${folder}/${name}`);
  return tree;
}

/** What a file holds; what is another one each time is not: the folder of the test, and which name was free. */
function textOf(path: string, folder: string): string {
  return Deno.readTextFileSync(path).replaceAll(folder, "FOLDER").replace(/(_c1)-\d+(\.txt)/, "$1$2");
}

async function canTrace(): Promise<boolean> {
  try {
    return (await new Deno.Command("strace", { args: ["-qq", "-o", "/dev/null", "true"], stderr: "null" })
      .output()).success;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return false;
    throw thrown;
  }
}
