// A run in place on a faulty machine: afterwards the document is the old one or has the result, and a failure is
// reported in a sentence.

import assert from "node:assert/strict";
import { callsDocument, type Finished, type Scene, withScene } from "../cli/harness.ts";
import { type Participants, sandboxOf } from "./participants.ts";
import { chance } from "./random.ts";
import { stateFaults } from "./state_faults.ts";

const BEFORE = callsDocument([{ id: "c1", command: "echo hello", status: "approved" }]);
const AFTER = BEFORE.replace("```flemma:tool status=approved\n```", "```\nhello\n```");

/** What must have come of it. */
type Ending = "done" | "refused" | "either";

interface MachineFault {
  /** Shell in the folder of the document, which has the name in `$doc`; `flemma` is the program. It ends with the run. */
  readonly shell: string;
  readonly ending: Ending;
  /** Where the document is looked at afterwards. @default a.chat */
  readonly look?: string;
  /** Whether a file system has to be mounted for it. */
  readonly mounts?: true;
  /** What else must be there afterwards, as a test of the shell. */
  readonly also?: string;
}

const RUN = 'flemma advance --no-autopilot "$doc"';
/** Runs a line in a namespace in which file systems can be mounted; the function is made anew there. */
const mounted = (line: string) => `unshare ${Deno.uid() === 0 ? "-m" : "-Urm"} /bin/sh -c '${line}'`;
const longest = "n".repeat(250) + ".chat";
const emoji = "🙂".repeat(62) + ".chat";

/** Faults by what is wrong with the machine. */
export const MACHINE_FAULTS: Readonly<Record<string, MachineFault>> = {
  "nothing": { shell: RUN, ending: "done" },
  "no space for the document": {
    shell: mounted(
      `mkdir m; mount -t tmpfs -o size=8k none m; cp "$doc" m/; dd if=/dev/zero of=m/fill bs=1k >/dev/null 2>&1; cd m; ` +
        `sh -c "$flemma advance --no-autopilot a.chat"; code=$?; cp a.chat ../a.chat; exit $code`,
    ),
    ending: "either",
    mounts: true,
  },
  "no space for the state": {
    shell: mounted(
      `mkdir -p "$XDG_STATE_HOME"; mount -t tmpfs -o size=4k none "$XDG_STATE_HOME"; ` +
        `dd if=/dev/zero of="$XDG_STATE_HOME/fill" bs=1k >/dev/null 2>&1; sh -c "$flemma advance --no-autopilot a.chat"`,
    ),
    ending: "either",
    mounts: true,
  },
  "a folder that is mounted read-only": {
    shell: mounted(
      'mount --bind . .; mount -o remount,ro,bind .; cd "$PWD"; sh -c "$flemma advance --no-autopilot a.chat"',
    ),
    ending: "either",
    mounts: true,
  },
  "a document that is a mount point": {
    shell: mounted('touch other; mount --bind "$doc" "$doc"; sh -c "$flemma advance --no-autopilot a.chat"'),
    ending: "done",
    mounts: true,
  },
  "no HOME": { shell: `unset HOME; ${RUN}`, ending: "either" },
  "a file instead of the state folder": { shell: `: > f; XDG_STATE_HOME=$PWD/f; ${RUN}`, ending: "refused" },
  "a file instead of the folder of locks": {
    shell: `mkdir -p "$XDG_STATE_HOME/flemma"; : > "$XDG_STATE_HOME/flemma/locks"; ${RUN}`,
    ending: "refused",
  },
  "no folder for temporary files": { shell: `TMPDIR=/none; ${RUN}`, ending: "either" },
  "a file instead of the runtime folder": { shell: `: > f; XDG_RUNTIME_DIR=$PWD/f; ${RUN}`, ending: "done" },
  "a document from the far future": { shell: `touch -d 2099-01-01 "$doc"; ${RUN}`, ending: "done" },
  "a document from the first day": { shell: `touch -d @0 "$doc"; ${RUN}`, ending: "done" },
  "a state folder from the far future": {
    shell: `flemma status "$doc" >/dev/null; flemma approve "$doc" c1 >/dev/null 2>&1; ` +
      `find "$XDG_STATE_HOME" -exec touch -d 2099-01-01 {} +; ${RUN}`,
    ending: "done",
  },
  "a lock that another run holds": {
    shell:
      `cp "$doc" b.chat; sed -i 's/echo hello/touch began; exec sleep 600/' "$doc"; flemma advance "$doc" & ` +
      `until [ -e began ]; do sleep 0.05; done; ${RUN}; code=$?; kill $!; wait $!; mv b.chat "$doc"; exit $code`,
    ending: "refused",
  },
  "a lock of a dead run": {
    shell: `mkdir -p "$XDG_STATE_HOME/flemma/locks"; flemma status "$doc" >/dev/null; ` +
      `for f in "$XDG_STATE_HOME"/flemma/locks/*; do [ -f "$f" ] && echo '{"pid":4194303}' > "$f"; done; ${RUN}`,
    ending: "done",
  },
  "a name of maximum length": {
    shell: `mv "$doc" ${longest}; doc=${longest}; ${RUN}`,
    ending: "done",
    look: longest,
  },
  "a name of emoji": { shell: `mv "$doc" ${emoji}; doc=${emoji}; ${RUN}`, ending: "done", look: emoji },
  "a name that is not UTF-8": {
    shell: `n=$(printf 'a\\351.chat'); cp "$doc" "$n"; flemma advance --no-autopilot "$n"`,
    ending: "refused",
  },
  "a name with a line feed": {
    shell: `n=$(printf 'a\\nb.chat'); mv "$doc" "$n"; doc=$n; ${RUN}; code=$?; mv "$n" a.chat; exit $code`,
    ending: "done",
  },
  "a name that looks like an option": {
    shell:
      `mv "$doc" ./--all; flemma advance --no-autopilot -- --all; code=$?; mv ./--all a.chat; exit $code`,
    ending: "done",
  },
  "a second name": { shell: `ln "$doc" second; ${RUN}`, ending: "done", also: "cmp -s a.chat second" },
  "a link": { shell: `mv "$doc" real; ln -s real "$doc"; ${RUN}`, ending: "done", also: "[ -L a.chat ]" },
  "a circular link": { shell: `cp "$doc" b; ln -s y x; ln -s x y; flemma advance x`, ending: "refused" },
  "a broken link": { shell: `ln -s none x; flemma advance x`, ending: "refused", also: "[ ! -e none ]" },
  "a pipe instead of a document": { shell: `mkfifo p; flemma advance p`, ending: "refused" },
  "a device instead of a document": { shell: `flemma advance /dev/zero`, ending: "refused" },
  "a folder instead of a document": { shell: `mkdir d; flemma advance d`, ending: "refused" },
  "a document whose folder was deleted": { shell: `flemma advance none/a.chat`, ending: "refused" },
  "few open files allowed": { shell: `ulimit -n 40; ${RUN}`, ending: "either" },
  "files that may not grow": { shell: `ulimit -f 0; ${RUN}`, ending: "either" },
};

/** Tries so many faults: a quarter of the machine, the others of the state folder. Throws at the first that loses something. */
export async function machineFaults(count: number, seed: number): Promise<string> {
  const ofMachine = Math.ceil(count / 4);
  const reported = await faultsAround(ofMachine, seed);
  return `${reported}; ${await stateFaults(count - ofMachine, seed)}`;
}

/** Tries so many faults of the machine, in order. */
async function faultsAround(count: number, seed: number): Promise<string> {
  const rows = Object.entries(MACHINE_FAULTS);
  const mountable = await canMount();
  let tried = 0;
  for (let at = 0; at < count; at++) {
    // A step of the campaign has four times as many seeds as faults of the machine.
    const [what, fault] = rows[(Math.floor(seed / 4) + at) % rows.length]!;
    const backend = chance(seed + at).pick(["bwrap", "landlock", "none"] as const);
    if (fault.mounts && !mountable) continue;
    tried++;
    try {
      await oneFault(fault, backend);
    } catch (cause) {
      throw new Error(`a machine with ${what}, sandbox ${backend}: ${(cause as Error).message}`, { cause });
    }
  }
  const skipped = tried < count ? `, ${count - tried} were left out: nothing can be mounted here` : "";
  return `${tried} runs on machines that fail lost nothing${skipped}`;
}

/** Tries one; throws when something is lost or not told. */
async function oneFault(
  { shell, ending, look = "a.chat", also }: MachineFault,
  backend: Participants["backend"],
): Promise<void> {
  await withScene(async (place) => {
    place.settings(JSON.stringify({ sandbox: sandboxOf(backend) }));
    place.write("a.chat", BEFORE);
    const finished = await inShell(place, shell);
    const reported = `exit ${finished.code}\n${finished.stderr}`;
    assert.doesNotMatch(
      finished.stderr,
      /Internal error|\(os error \d+\)|^\s+at .*:\d+:\d+\)?$/m,
      reported,
    );
    const after = place.read(look);
    const isDone = after === AFTER;
    assert.ok(isDone || after === BEFORE, `${reported}\n${after}`);
    if (ending !== "either") assert.equal(isDone, ending === "done", reported);
    if (!isDone) {
      assert.notEqual(finished.code, 0, reported);
      assert.match(finished.stderr, /^(?:flemma: )?\S/, reported);
    }
    const names = [...Deno.readDirSync(place.path(""))].map(({ name }) => name);
    assert.deepEqual(names.filter((name) => /tmp$|^\.flemma/.test(name)), [], reported);
    if (also !== undefined) assert.equal((await inShell(place, also)).code, 0, `${also}\n${reported}`);
  });
}

function inShell(place: Scene, line: string): Promise<Finished> {
  const program = place.program.map((word) => `'${word}'`).join(" ");
  const words = place.program.join(" ");
  const prelude = `doc=a.chat; export doc flemma='${words}'; flemma() { ${program} "$@"; }`;
  return place.spawn(["/bin/sh", "-c", `${prelude}\n${line}`], {}).finished;
}

async function canMount(): Promise<boolean> {
  const words = [Deno.uid() === 0 ? "-m" : "-Urm", "mount", "-t", "tmpfs", "none", "/mnt"];
  try {
    return (await new Deno.Command("unshare", { args: words, stderr: "null" }).output()).success;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return false;
    throw thrown;
  }
}
