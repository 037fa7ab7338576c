// Faults of the state folder after runs with helpers, jobs, hooks and batches: every file of it damaged, replaced or
// missing, and the folder full, read-only or removed. No command crashes, and no document loses a byte.

import assert from "node:assert/strict";
import { callsDocument, type Finished, type Scene, withScene } from "../cli/harness.ts";
import { Company } from "./participants.ts";
import { type Chance, chance } from "./random.ts";
import { alteredValue, spoiled } from "./spoiling.ts";

/** Faults in one scene, because it takes a run to fill a state folder. */
const IN_ONE_SCENE = 10;

const CALL = "echo ran >> again; echo hello";
const BEFORE = callsDocument([{ id: "c9", command: CALL, status: "approved" }]);
const AFTER = BEFORE.replace("```flemma:tool status=approved\n```", "```\nhello\n```");

/** Commands that read or write the state folder. */
const COMMANDS: readonly string[] = [
  "advance --no-autopilot b.chat",
  "advance --no-autopilot b.chat",
  "advance --no-autopilot b.chat",
  "execute b.chat c9",
  "approve b.chat c9",
  "advance a.chat",
  "status a.chat",
  "check a.chat",
  "show a.chat --full --plain",
  "undo a.chat --list",
  "cancel a.chat",
  "subagents list",
  "subagents clean",
  "batch status",
  "batch fetch",
  "recover --list",
  "usage",
  "session show",
  "trust --list",
  "fork a.chat d.chat",
  "doctor",
];

/** Ways to damage one file, as a name and what stands at its path then. */
const DAMAGES: Readonly<Record<string, (random: Chance, path: string) => void>> = {
  "missing": (_, path) => Deno.removeSync(path),
  "empty": (_, path) => Deno.truncateSync(path),
  "cut": (random, path) => Deno.truncateSync(path, random.below(Deno.statSync(path).size + 1)),
  "doubled": (_, path) => {
    const bytes = Deno.readFileSync(path);
    Deno.writeFileSync(path, bytes, { append: true });
  },
  "other bytes": (random, path) => Deno.writeFileSync(path, spoiled(random, Deno.readFileSync(path))),
  "other values": (random, path) => {
    const lines = Deno.readTextFileSync(path).split("\n").map((line) => {
      try {
        return JSON.stringify(alteredValue(random, JSON.parse(line)));
      } catch {
        return line;
      }
    });
    Deno.writeTextFileSync(path, lines.join("\n"));
  },
  "null": (_, path) => Deno.writeTextFileSync(path, "null\n"),
  "a list": (_, path) => Deno.writeTextFileSync(path, "[[]]\n"),
  "zeros": (_, path) => Deno.writeFileSync(path, new Uint8Array(4096)),
  "another folder": (_, path) => {
    Deno.removeSync(path);
    Deno.mkdirSync(path);
  },
  "a broken link": (_, path) => {
    Deno.removeSync(path);
    Deno.symlinkSync("none", path);
  },
  "a circular link": (_, path) => {
    Deno.removeSync(path);
    Deno.symlinkSync(path.slice(path.lastIndexOf("/") + 1), path);
  },
};

/** Faults of the whole folder, as shell around the command `"$@"`; `$state` is the folder. */
const FOLDER_FAULTS: Readonly<Record<string, string>> = {
  "missing": 'rm -rf "$state"; "$@"',
  "a file": 'rm -rf "$state"; : > "$state"; "$@"',
  "removed in the middle": '(sleep 0.3; rm -rf "$state") & "$@"; code=$?; wait; exit $code',
  "read-only": 'mount --bind "$state" "$state"; mount -o remount,ro,bind "$state"; "$@"',
  "full":
    'cp -a "$state" "$state.copy"; mount -t tmpfs -o size=1m none "$state"; cp -a "$state.copy/." "$state/"; ' +
    'dd if=/dev/zero of="$state/fill" bs=1k >/dev/null 2>&1; "$@"',
  "without inodes":
    'cp -a "$state" "$state.copy"; mount -t tmpfs -o nr_inodes=200 none "$state"; cp -a "$state.copy/." "$state/"; ' +
    'i=0; while true > "$state/f$i"; do i=$((i+1)); done 2>/dev/null; "$@"',
};

/** Makes so many faults; answers what it did, and throws at the first after which something is wrong. */
export async function stateFaults(count: number, seed: number): Promise<string> {
  const files = new Set<string>();
  for (let at = 0; at < count;) {
    const now = Math.min(IN_ONE_SCENE, count - at);
    await inScene(chance(seed + at), async (place) => {
      for (const end = at + now; at < end; at++) {
        const random = chance(seed + at);
        let what = "";
        try {
          await oneFault(place, random, (fault, file) => {
            what = fault;
            files.add(file);
          });
        } catch (cause) {
          throw new Error(`state fault ${seed + at}, ${what}: ${(cause as Error).message}`, { cause });
        }
      }
    });
  }
  return `${count} faults of the state folder, in ${files.size} kinds of files and folders: nothing lost`;
}

/** Runs `body` after runs that filled the state folder. */
async function inScene(random: Chance, body: (place: Scene) => Promise<void>): Promise<void> {
  await withScene(async (place) => {
    place.write("b.chat", BEFORE);
    const backend = random.pick(["bwrap", "none"] as const);
    const who = { backend, job: true, hook: true, helper: true, together: random.below(2) === 0 };
    await using company = new Company(place, who);
    place.write("a.chat", "@You:\nDo everything.\n");
    for (const line of ["advance a.chat", "session set thinking=high", "trust a.chat"]) {
      await place.process(line.split(" "), { env: company.env });
    }
    const head = { id: "b1", provider: "anthropic", kind: "anthropic", model: "m", count: 1 };
    const time = new Date().toISOString();
    const item = { item: "i1", path: place.path("a.chat"), name: "a.chat", bytes: 9, text: "0", body: "0" };
    const journal = [
      { kind: "batch", head: { ...head, url: `${company.env.FLEMMA_ANTHROPIC_BASE_URL}/v1/messages`, time } },
      { kind: "item", item: { ...item, lock: "state" } },
      { kind: "end", item: "i1", how: "written" },
      { kind: "done" },
    ];
    Deno.mkdirSync(`${stateOf(place)}/batches`, { recursive: true });
    Deno.writeTextFileSync(
      `${stateOf(place)}/batches/b1.jsonl`,
      journal.map((line) => `${JSON.stringify(line)}\n`).join(""),
    );
    await copy(stateOf(place), `${place.folder}/whole`);
    await body(place);
  });
}

const stateOf = ({ folder }: Scene) => `${folder}/state/flemma`;

/** Makes one fault and runs one command; then the state folder is as before. */
async function oneFault(
  place: Scene,
  random: Chance,
  report: (what: string, file: string) => void,
): Promise<void> {
  const state = stateOf(place);
  await place.spawn(["rm", "-rf", state], {}).finished;
  await copy(`${place.folder}/whole`, state);
  place.write("b.chat", BEFORE);
  for (const name of ["again", "d.chat"]) if (place.exists(name)) Deno.removeSync(place.path(name));
  const before = place.read("a.chat");
  const helper = place.read("a.chat.d/one.chat");
  const command = random.pick(COMMANDS);
  const finished = random.below(6) === 0
    ? await inFolderFault(place, random, command, report)
    : await withDamage(place, random, command, report);
  const reported = `flemma ${command}\nexit ${finished.code}\n${finished.stderr}\n${
    finished.stdout.slice(0, 500)
  }`;
  assert.ok([0, 1, 2, 3].includes(finished.code), reported);
  const said = finished.stdout + finished.stderr;
  assert.doesNotMatch(said, /Internal error|\(os error \d+\)|^\s+at .*:\d+:\d+\)?$/m, reported);
  if (finished.code !== 0) assert.match(said, /\S/, reported);
  const now = place.read("b.chat");
  const ran = place.exists("again") ? place.read("again").split("\n").length - 1 : 0;
  assert.ok(ran <= 1, `it ran twice: ${reported}`);
  if (command.startsWith("advance --no-autopilot") || command.startsWith("execute")) {
    const isDone = now === AFTER;
    assert.ok(
      isDone || now.startsWith(BEFORE.slice(0, BEFORE.indexOf("```flemma:tool"))),
      `${reported}\n${now}`,
    );
    if (isDone) assert.equal(ran, 1, reported);
    else if (now === BEFORE) assert.notEqual(finished.code, 0, reported);
  } else assert.equal(now, BEFORE, reported);
  assert.ok(place.read("a.chat").startsWith(before.trimEnd()), `${reported}\n${place.read("a.chat")}`);
  assert.equal(place.read("a.chat.d/one.chat"), helper, reported);
  const left = [...Deno.readDirSync(place.path(""))].map(({ name }) => name);
  assert.deepEqual(left.filter((name) => /tmp$|^\.flemma/.test(name)), [], reported);
}

async function withDamage(
  place: Scene,
  random: Chance,
  command: string,
  report: (what: string, file: string) => void,
): Promise<Finished> {
  const files = filesBelow(stateOf(place)).sort();
  const path = random.pick(files);
  const [name, damage] = random.pick(Object.entries(DAMAGES));
  const file = path.slice(stateOf(place).length + 1);
  report(`${file}: ${name}, ${command}`, file.replace(/[0-9a-z_]{6,}/g, "x"));
  damage(random, path);
  return await run(place, ["sh", "-c", `exec "$@"`, "sh", ...words(place, command)]);
}

async function inFolderFault(
  place: Scene,
  random: Chance,
  command: string,
  report: (what: string, file: string) => void,
): Promise<Finished> {
  const [name, shell] = random.pick(Object.entries(FOLDER_FAULTS));
  report(`state folder ${name}, ${command}`, `the folder ${name}`);
  const isMounted = shell.includes("mount ");
  const inner = ["sh", "-c", `state=$XDG_STATE_HOME/flemma; ${shell}`, "sh", ...words(place, command)];
  const finished = await run(place, isMounted ? ["unshare", "-m", ...inner] : inner);
  await place.spawn(["rm", "-rf", `${stateOf(place)}.copy`], {}).finished;
  return finished;
}

function words(place: Scene, command: string): readonly string[] {
  return [...place.program, ...command.split(" ")];
}

/** Runs words; what takes longer than two minutes counts as hanging. */
function run(place: Scene, line: readonly string[]): Promise<Finished> {
  const env = { ANTHROPIC_API_KEY: "k", FLEMMA_ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
  return place.spawn(["timeout", "-k", "5", "120", ...line], { env }).finished;
}

function filesBelow(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesBelow(`${folder}/${name}`) : [`${folder}/${name}`]
  );
}

async function copy(from: string, to: string): Promise<void> {
  const { success } = await new Deno.Command("cp", { args: ["-a", from, to] }).output();
  assert.ok(success);
}
