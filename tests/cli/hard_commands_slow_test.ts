// Commands that are hard on similar programs, run with the whole program: results, memory and leftovers.

import assert from "node:assert/strict";
import {
  type BashCall,
  callsDocument,
  type Finished,
  type Scene,
  type Started,
  testWithScene as test,
} from "./harness.ts";

/** MiB that the program may hold at any time. */
const MOST_MEMORY = 200;

/** A running process told apart from all others by an argument. */
const MARK = () => `300.${Math.floor(Math.random() * 1e9)}`;

/** The result in the document of a call; fails when there is none. */
function resultOf(text: string, id: string): { readonly error: boolean; readonly text: string } {
  const found = new RegExp(
    `\\*\\*Tool Result:\\*\\* \`${id}\`( \\(error\\))?\\n\\n(\`{3,})\\n([^]*?)\\n\\2\\n`,
  ).exec(text);
  assert.ok(found, `no result of ${id} in:\n${text.slice(0, 3000)}`);
  return { error: found[1] !== undefined, text: found[3]! };
}

/** How a process ended, with the most memory that it ever held, in MiB; null where the system does not tell. */
async function watched(started: Started): Promise<Finished & { readonly memory: number | null }> {
  let memory: number | null = null;
  let over = false;
  started.finished.then(() => over = true);
  while (!over) {
    const status = await Deno.readTextFile(`/proc/${started.pid}/status`).catch(() => "");
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
    if (kilobytes !== undefined) memory = Number(kilobytes) / 1024;
    await new Promise((done) => setTimeout(done, 10));
  }
  return { ...await started.finished, memory };
}

/** How many processes that are no zombies have the mark among their arguments. */
function running(mark: string): number {
  return [...Deno.readDirSync("/proc")].filter(({ name }) => {
    try {
      return /^\d+$/.test(name) && Deno.readTextFileSync(`/proc/${name}/cmdline`).split("\0").includes(mark);
    } catch {
      // It ended while it was looked at.
      return false;
    }
  }).length;
}

/** Runs the calls, all at the same time, and answers with the document and the most memory that was held. */
async function ran(
  place: Scene,
  calls: readonly BashCall[],
  { sandbox, seconds = {} }: {
    readonly sandbox: boolean;
    readonly seconds?: Readonly<Record<string, number>>;
  },
): Promise<{ readonly text: string; readonly memory: number | null }> {
  place.settings("tools:\n  max_concurrent: 0\n  truncate: { max_file_size: 1048576 }\n");
  const document = callsDocument(calls.map((call) => ({ ...call, status: "approved" }))).replace(
    /"command":("(?:[^"\\]|\\.)*"),"timeout":null/g,
    (whole, command: string) => {
      const { id } = calls.find((call) => JSON.stringify(call.command) === command)!;
      return seconds[id] === undefined ? whole : `"command":${command},"timeout":${seconds[id]}`;
    },
  );
  place.write("a.chat", document);
  const switches = ["--no-autopilot", sandbox ? "--sandbox" : "--no-sandbox"];
  const { stderr, memory } = await watched(
    place.start(["advance", "a.chat", ...switches], { env: { EDITOR: "vi", VISUAL: "vi" } }),
  );
  assert.match(stderr, /Continue with: flemma advance a\.chat\n$/);
  return { text: place.read("a.chat"), memory };
}

for (const sandbox of [true, false]) {
  const where = sandbox ? "in the sandbox" : "without a sandbox";

  test(`${where}: no command blocks the run or leaves processes behind`, async (place) => {
    const mark = MARK();
    const commit =
      "git init -q repo && cd repo && git -c user.name=a -c user.email=a@b.c commit --allow-empty";
    const { text } = await ran(place, [
      { id: "background", command: `sleep ${mark} & echo done` },
      { id: "session", command: `setsid sleep ${mark} & echo done` },
      { id: "daemon", command: `( setsid sleep ${mark} & ) ; echo done` },
      { id: "silenced", command: `(yes ${mark} >/dev/null &)` },
      { id: "input", command: "cat" },
      { id: "prompt", command: "read -r answer </dev/tty" },
      { id: "editor", command: commit },
      { id: "colours", command: "printf '\\033[31mred\\033[0m\\n'" },
      { id: "bytes", command: "printf 'a\\377b\\n'" },
      { id: "nothing", command: "false" },
    ], { sandbox });
    for (const id of ["background", "session", "daemon"]) {
      assert.deepEqual(resultOf(text, id), { error: false, text: "done" }, id);
    }
    assert.deepEqual(resultOf(text, "silenced"), { error: false, text: "(no output)" });
    assert.deepEqual(resultOf(text, "input"), { error: false, text: "(no output)" });
    assert.match(resultOf(text, "prompt").text, /\/dev\/tty/);
    assert.ok(resultOf(text, "editor").error);
    assert.match(resultOf(text, "editor").text, /editor/);
    assert.deepEqual(resultOf(text, "colours"), { error: false, text: "\u001b[31mred\u001b[0m" });
    assert.deepEqual(resultOf(text, "bytes"), { error: false, text: "a\ufffdb" });
    assert.deepEqual(resultOf(text, "nothing"), {
      error: true,
      text: "(no output)\n\nThe command failed with exit code 1.",
    });
    assert.equal(running(mark), 0);
  });

  test(`${where}: a command with excessive output stops at its limit, in bounded memory`, async (place) => {
    const mark = MARK();
    const { text, memory } = await ran(place, [
      { id: "flood", command: `yes ${mark}` },
      { id: "line", command: "head -c 200000000 /dev/zero | tr '\\0' x" },
    ], { sandbox, seconds: { flood: 3, line: 120 } });
    assert.match(
      resultOf(text, "flood").text,
      /\[Showing lines \d+-\d+ of \d+\. First 1\.0MB of the output: .*\]/,
    );
    assert.match(
      resultOf(text, "flood").text,
      /\n\nThe command timed out after 3 seconds and was stopped\.$/,
    );
    assert.match(
      resultOf(text, "line").text,
      /^x{51200}\n\n\[Showing only the last 50\.0KB of line 1 \(190\.7MB\)/,
    );
    assert.equal(running(mark), 0);
    if (Deno.build.os === "linux") {
      assert.ok(memory !== null && memory < MOST_MEMORY, `${memory} MiB were held`);
    }
  });
}

test("without a limit, ten calls that wait for each other run in parallel", async (place) => {
  const meet = (n: number) =>
    `touch met-${n}; until [ $(ls met-* | wc -l) = 10 ]; do sleep 0.05; done; echo met`;
  const calls = Array.from({ length: 10 }, (_, n) => ({ id: `call_${n}`, command: meet(n) }));
  const { text } = await ran(place, calls, { sandbox: true });
  for (const { id } of calls) assert.deepEqual(resultOf(text, id), { error: false, text: "met" });
});

test("two edits of one file in one turn both take effect, in order", async (place) => {
  place.settings("tools:\n  max_concurrent: 2\n");
  place.write("notes.txt", "one\ntwo\n");
  const edits = [["one", "first"], ["two", "second"], ["first\nsecond", "both"]];
  const input = edits.map(([oldText, newText]) => JSON.stringify({ path: "notes.txt", oldText, newText }));
  const uses = input.map((json, n) =>
    `**Tool Use:** \`edit\` (\`e${n}\`)\n\n\`\`\`json\n${json}\n\`\`\`\n\n`
  );
  const blocks = input.map((_, n) =>
    `\n**Tool Result:** \`e${n}\`\n\n\`\`\`flemma:tool status=approved\n\`\`\`\n`
  );
  place.write("a.chat", `@You:\nGo.\n\n@Assistant:\n${uses.join("")}@You:\n${blocks.join("")}`);
  const { stderr } = await place.run(["advance", "a.chat", "--no-autopilot"]);
  const again = await place.run(["advance", "a.chat", "--no-autopilot"]);
  assert.equal(place.read("notes.txt"), "both\n", stderr + again.stderr);
});
