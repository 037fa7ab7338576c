// Requests by another process to a run: answered once, only by the run, and never late.

import assert from "node:assert/strict";
import { liveRuns, sendCancelRequest, waitForEnd } from "../../agent/runtime/cancel/ask.ts";
import { listen, removeRunFolder } from "../../agent/runtime/cancel/listen.ts";
import { runsFolder } from "../../agent/runtime/cancel/request.ts";
import type { CancelAnswer } from "../../agent/runtime/cancel/request.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { asking, type Place, running, testInPlace as test, waiting } from "./place.ts";

/** A machine may be busy. */
const LONG = { patience: 60_000 };

const NOTHING: CancelAnswer = { cancelled: [], running: [], requesting: false, problem: null };

/** Listens in a place and answers with nothing; gives the way to end it and what was asked. */
async function listening({ environment }: Place, answer: () => CancelAnswer = () => NOTHING) {
  const asked: unknown[] = [];
  const deaf: unknown[] = [];
  const end = await listen({
    environment,
    path: "/a.chat",
    answer: ({ request }) => {
      asked.push(request);
      return answer();
    },
    reportFailure: (thrown) => deaf.push(thrown),
  });
  const [run] = await liveRuns(environment);
  assert.ok(run !== undefined);
  return { end, asked, deaf, run };
}

test("if two processes cancel the same call, one learns that the call was stopped, and the other that it is not running", async (place) => {
  const { tool } = waiting();
  const events: CycleEvent[] = [];
  const both = Promise.withResolvers<void>();
  const session = await place.memory(asking(["call_a", "wait"], ["call_b", "wait"]), {
    path: "a.chat",
    tools: [tool],
    settings: { approve: ["wait"] },
    emit: (event) => {
      events.push(event);
      if (event.event === "tool:executing" && event.id === "call_b") both.resolve();
    },
  });
  const advancing = session.advance();
  await both.promise;
  let runs = await liveRuns(place.environment);
  while (runs.length === 0) runs = await liveRuns(place.environment);
  const [run] = runs;
  assert.equal(run?.path, place.path("a.chat"));
  const [one, other] = await Promise.all(
    [1, 2].map(() => sendCancelRequest(run, { kind: "call", text: "call_a" }, LONG)),
  );
  const outcomes = [one, other].map((each) =>
    typeof each === "string" ? each : each?.problem?.code ?? "done"
  );
  assert.deepEqual(outcomes.toSorted(), ["done", "not-running"]);
  const rest = await sendCancelRequest(run, { kind: "all" }, LONG);
  assert.deepEqual(typeof rest === "string" ? rest : rest.cancelled, [
    { what: "call", id: "call_b", tool: "wait" },
  ]);
  const stop = await advancing;
  assert.equal(stop.reason, "cancelled");
  assert.ok(await waitForEnd(run, 0));
  assert.deepEqual(await liveRuns(place.environment), []);
  const reported = events.flatMap((event) => event.event === "notice" ? [event.code] : []).filter((code) =>
    code.startsWith("cancel")
  );
  assert.deepEqual(reported, ["cancelled-elsewhere", "cancelled-elsewhere"]);
});

test("the list of runs omits texts without a path and runs that have ended", async (place) => {
  const { advancing, end } = await running(place);
  assert.deepEqual(await liveRuns(place.environment), []);
  end();
  await advancing;
});

test("if a run ends before it responds to a cancel request, it is reported as ended and leaves no files", async (place) => {
  const { end, run } = await listening(place);
  await end();
  assert.equal(await sendCancelRequest(run, { kind: "one" }), "over");
  // The same, with the question put before the end was known.
  const second = await listening(place, () => assert.fail("nobody answers"));
  const asking = sendCancelRequest(second.run, { kind: "one" }, LONG);
  await removeRunFolder(second.run.folder);
  assert.equal(await asking, "over");
  await second.end();
  assert.deepEqual(second.deaf, []);
  assert.deepEqual([...Deno.readDirSync(runsFolder(place.environment))], []);
});

test("a run whose state folder was removed can still be found", async (place) => {
  const { end, deaf, run } = await listening(place);
  Deno.removeSync(`${place.folder}/state/flemma`, { recursive: true });
  let runs = await liveRuns(place.environment);
  while (runs.length === 0) runs = await liveRuns(place.environment);
  assert.notEqual(runs[0]?.folder, run.folder);
  assert.deepEqual(await sendCancelRequest(runs[0]!, { kind: "one" }, LONG), NOTHING);
  await end();
  assert.deepEqual(deaf, []);
  assert.deepEqual([...Deno.readDirSync(runsFolder(place.environment))], []);
});

test("if a cancel request ends the run, its response is still delivered", async (place) => {
  for (let round = 0; round < 5; round++) {
    const { end, run } = await listening(place, () => {
      ended = end();
      return NOTHING;
    });
    let ended: Promise<void> | undefined;
    assert.deepEqual(await sendCancelRequest(run, { kind: "one" }, LONG), NOTHING);
    await ended;
  }
});

test("a run that does not respond to a cancel request is reported as silent, and the request is withdrawn", async (place) => {
  const folder = `${runsFolder(place.environment)}/stopped`;
  Deno.mkdirSync(folder, { recursive: true });
  using file = Deno.openSync(`${folder}/run`, { create: true, write: true });
  file.lockSync(true);
  const info = { path: "/a.chat", pid: 1, host: "vm", since: "2026-01-01T00:00:00Z" };
  file.writeSync(new TextEncoder().encode(JSON.stringify(info)));
  const [run] = await liveRuns(place.environment);
  assert.ok(run !== undefined);
  assert.equal(await sendCancelRequest(run, { kind: "all" }, { patience: 0 }), "silent");
  assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["run"]);
});

test("a cancel request that is invalid or from a later version is skipped, and the next request gets a response", async (place) => {
  const { end, asked, run } = await listening(place);
  const wrong = ["", "[]", '{"pid":1}', '{"pid":1,"request":{"kind":"other"}}', '{"request":{"kind":"all"}}'];
  for (const [at, text] of wrong.entries()) Deno.writeTextFileSync(`${run.folder}/0${at}.ask`, text);
  assert.deepEqual(await sendCancelRequest(run, { kind: "line", line: 3 }, LONG), NOTHING);
  assert.deepEqual(asked, [{ kind: "line", line: 3 }]);
  await end();
});

test("if the state folder is full, a run continues and reports that it cannot be cancelled from outside", async (place) => {
  Deno.mkdirSync(`${place.folder}/state/flemma`);
  Deno.writeTextFileSync(`${place.folder}/state/flemma/running`, "a file in the way");
  const { tool, end } = waiting();
  const events: CycleEvent[] = [];
  const session = await place.memory(asking(["a", "wait"]), {
    path: "a.chat",
    tools: [tool],
    settings: { approve: ["wait"], overrides: { tools: { autopilot: { enabled: false } } } },
    emit: (event) => events.push(event),
  });
  end();
  assert.equal((await session.advance()).reason, "stepped");
  const reported = events.flatMap((event) => event.event === "notice" ? [event.code] : []).filter((code) =>
    code.startsWith("cancel")
  );
  assert.deepEqual(reported, ["cancel-unheard"]);
});
