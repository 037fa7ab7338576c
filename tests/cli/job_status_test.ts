// What `flemma status` and `flemma check` say about the background jobs of a document, without any run.

import assert from "node:assert/strict";
import { testWithScene as test } from "./harness.ts";

const DOCUMENT =
  '@You:\nGo.\n\n@Assistant:\n**Tool Use:** `bash` (`c1`)\n\n```json\n{"command":"x"}\n```\n\n' +
  "@You:\n**Tool Result:** `c1` (job=job_abcde)\n\n```\nRunning.\n```\n";
const RESULT = "\n@You:\n**Job Result:** `job_abcde`\n\n```\nout\n```\n";

const FINDINGS: Readonly<Record<string, RegExp>> = {
  running: /^a\.chat:12:1: info job_running The background job job_abcde runs \(process \d+\)\.$/m,
  ended:
    /^a\.chat:12:1: info job_ended The background job job_abcde has ended\. The next run writes its result\.$/m,
  lost: /^a\.chat:12:1: warning job_lost The background job job_abcde is lost: its program is gone\. /m,
};

test("status and check name a job without a result: lost, ended, running or unknown; and none that has its result", async (place) => {
  const folder = `${place.folder}/state/flemma/jobs`;
  Deno.mkdirSync(folder, { recursive: true });
  const read = (path: string) => Deno.readTextFileSync(path).trim();
  const machine = [
    Deno.hostname(),
    read("/proc/sys/kernel/random/boot_id"),
    Deno.readLinkSync("/proc/self/ns/pid"),
  ].join(" ");
  const stat = read("/proc/self/stat");
  const started = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  const record = {
    machine,
    owner: { pid: Deno.pid, started },
    document: place.path("a.chat"),
    job: "job_abcde",
    call: "c1",
    command: "make watch",
    since: "2026-11-28T12:00:00.000Z",
    end: null,
    delivered: false,
  };
  const rows: [change: object | null, says: RegExp | null, state: string | null][] = [
    [{}, /^background job job_abcde runs since 12:00:00 UTC \(process \d+\): make watch$/m, "running"],
    [
      { owner: { pid: Deno.pid, started: "1" } },
      /^background job job_abcde was lost with its run; .*: make watch$/m,
      "lost",
    ],
    [
      { end: { content: "x", error: false, cut: false } },
      /^background job job_abcde has ended; .*: make watch$/m,
      "ended",
    ],
    [
      { machine: "other 1 2" },
      /^background job job_abcde belongs to a run on another machine: make watch$/m,
      "elsewhere",
    ],
    [{ delivered: true }, null, null],
    [null, /^background job job_abcde was lost with its run; the next advance writes this$/m, "lost"],
  ];
  place.write("a.chat", DOCUMENT);
  for (const [change, says, state] of rows) {
    if (change === null) Deno.removeSync(`${folder}/job_abcde.json`);
    else Deno.writeTextFileSync(`${folder}/job_abcde.json`, JSON.stringify({ ...record, ...change }));
    const { stdout } = await place.run(["status", "a.chat"]);
    if (says === null) assert.doesNotMatch(stdout, /background job/);
    else assert.match(stdout, says);
    const json = JSON.parse((await place.run(["status", "a.chat", "--json"])).stdout);
    assert.deepEqual(json.jobs.map((job: { state: string }) => job.state), state === null ? [] : [state]);
    const checked = await place.exits(0, ["check", "a.chat"]);
    const finding = state === null ? undefined : FINDINGS[state];
    if (finding === undefined) assert.doesNotMatch(checked.stdout, /job_/, state ?? "none");
    else assert.match(checked.stdout, finding);
  }
  place.write("a.chat", DOCUMENT + RESULT);
  assert.doesNotMatch((await place.exits(0, ["check", "a.chat"])).stdout, /job_/);
  assert.doesNotMatch((await place.run(["status", "a.chat"])).stdout, /background job/);
});
