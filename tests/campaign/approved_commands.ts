// Random commands that rules approve, run by a real bash whose programs are recorders: only programs named by the
// policy may start, with allowed arguments, and no file may appear.

import assert from "node:assert/strict";
import { evaluateCommand, inFolder } from "../tools/rules/policy.ts";
import { chance } from "./random.ts";
import { shellCommand } from "./shell_commands.ts";

/** Programs that the grammar of commands knows, allowed or not. */
const RECORDED =
  ("cat ls head tail wc grep rg sort cut git touch rm sh bash env xargs sudo tee sed awk find dash python3 perl make npm " +
    "npx ssh su nohup timeout nice mkfifo cp mv ln dd tar").split(" ");
/** The allowed ones. What bash is itself is not recorded; that it does no harm is seen by what appears. */
const ALLOWED: ReadonlySet<string> = new Set("cat ls head tail wc grep rg sort cut git".split(" "));
const GIT: ReadonlySet<string> = new Set(["status", "log", "diff", "grep"]);
/** Options that no approved command may hold, written apart from the table that the program goes by. */
const HARMFUL: Readonly<Record<string, { readonly short: RegExp; readonly long: readonly string[] }>> = {
  sort: { short: /^-\w*[oT]/, long: ["--output", "--compress-program", "--temporary-directory"] },
  rg: { short: /^-\w*z/, long: ["--pre", "--hostname-bin", "--search-zip"] },
  git: { short: /^-O/, long: ["--output", "--ext-diff", "--textconv", "--open-files-in-pager"] },
};

/**
 * Judges random commands and runs what is approved.
 *
 * @returns how many there were, and how many of them ran
 */
export async function approvedCommands(count: number, seed: number): Promise<string> {
  let ran = 0;
  let started = 0;
  await inFolder(async (folder) => {
    const work = `${folder}/work`;
    await prepare(folder);
    for (let at = 0; at < count; at++) {
      const command = shellCommand(chance(seed + at));
      const { approved } = await evaluateCommand(command, {
        folder: work,
        path: `${folder}/bin`,
        writable: [work],
      });
      if (!approved) continue;
      ran += 1;
      const calls = await record(command, folder, work);
      started += calls.length;
      const reported = `seed ${seed + at}: ${JSON.stringify(command)}`;
      for (const call of calls) {
        assert.equal(whatIsWrong(call), null, `${reported} started ${JSON.stringify(call)}`);
      }
      assert.deepEqual(
        await listing(work),
        await listing(`${folder}/template`),
        `${reported} changed the folder`,
      );
    }
  });
  return `${ran} of ${count} commands were approved and started ${started} programs, none that the policy does not name`;
}

/** Runs one command as if it were approved, in a folder of its own; throws at what it must not do. */
export async function checkApproved(command: string, folder: string): Promise<void> {
  const own = await Deno.makeTempDir({ dir: folder });
  await prepare(own);
  await run(command, own, "alone");
}

/** Runs an approved command; throws at what it must not do. Answers how many programs it started. */
async function run(command: string, folder: string, from: string): Promise<number> {
  const calls = await record(command, folder, `${folder}/work`);
  const reported = `${from}: ${JSON.stringify(command)}`;
  for (const call of calls) {
    assert.equal(whatIsWrong(call), null, `${reported} started ${JSON.stringify(call)}`);
  }
  const before = await listing(`${folder}/template`);
  assert.deepEqual(await listing(`${folder}/work`), before, `${reported} changed the folder`);
  return calls.length;
}

/** A folder of recorders, a folder to work in, and a copy of it that shows what it was like. */
async function prepare(folder: string): Promise<void> {
  await Deno.mkdir(`${folder}/bin`);
  for (const name of RECORDED) {
    // Its words, counted and ended by NUL, in one write: programs of a pipe record at the same time.
    const script = `#!/bin/sh\nprintf '%s\\0' $# "${name}" "$@" >>"$RECORD"\n`;
    await Deno.writeTextFile(`${folder}/bin/${name}`, script, { mode: 0o755 });
  }
  for (const place of [`${folder}/work`, `${folder}/template`]) {
    await Deno.mkdir(`${place}/src`, { recursive: true });
    await Deno.mkdir(`${place}/.git`);
    // What runs where PATH is made to lead into the folder.
    await Deno.mkdir(`${place}/3`);
    await Deno.writeTextFile(`${place}/3/ls`, "#!/bin/sh\n: >pwned\n", { mode: 0o755 });
    for (const name of ["a", "b.txt", "--output=pwned", "-opwned", "src/a.ts"]) {
      await Deno.writeTextFile(`${place}/${name}`, "x");
    }
  }
}

/** Runs a command as the tool does, with variables that do harm where they are evaluated. */
async function record(command: string, folder: string, work: string): Promise<string[][]> {
  const log = `${folder}/record`;
  await Deno.writeTextFile(log, "");
  await new Deno.Command("/bin/bash", {
    args: ["-c", `exec 2>&1\n${command}`],
    cwd: work,
    clearEnv: true,
    env: {
      PATH: `${folder}/bin`,
      HOME: `${work}`,
      RECORD: log,
      LC_ALL: "C.UTF-8",
      x: "a[$(touch pwned)]",
      y: "--output=pwned",
      a: "b[$(touch pwned)]",
    },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
  return callsIn(await Deno.readTextFile(log));
}

function callsIn(text: string): string[][] {
  const words = text.split("\0");
  const calls: string[][] = [];
  for (let at = 0; at + 1 < words.length;) {
    const count = Number(words[at]) + 1;
    calls.push(words.slice(at + 1, at + 1 + count));
    at += 1 + count;
  }
  return calls;
}

/** What the policy says against a program that was started; null when nothing. */
function whatIsWrong([program = "", ...words]: readonly string[]): string | null {
  if (!ALLOWED.has(program)) return "no rule names it";
  if (program === "git" && !GIT.has(words[0] ?? "")) return "no rule names the subcommand";
  const end = words.indexOf("--");
  const options = end === -1 ? words : words.slice(0, end);
  const harmful = HARMFUL[program];
  if (harmful === undefined) return null;
  const isHarmful = (word: string) => {
    const name = word.split("=")[0]!;
    if (program === "git" && words[0] !== "grep" && word.startsWith("-O")) return false;
    if (name === "--text") return false;
    return name.startsWith("--") && name.length > 2
      ? harmful.long.some((option) => option.startsWith(name))
      : harmful.short.test(word);
  };
  return options.some(isHarmful) ? "it may write or run" : null;
}

async function listing(folder: string, prefix = ""): Promise<string[]> {
  const names: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${folder}/${prefix}`)) {
    const path = `${prefix}${name}`;
    if (isDirectory) names.push(`${path}/`, ...await listing(folder, `${path}/`));
    else names.push(`${path} ${(await Deno.stat(`${folder}/${path}`)).size}`);
  }
  return names.sort();
}
