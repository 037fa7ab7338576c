// Background jobs of a run: how they start, what the model learns of them, and how they end with the run.

import assert from "node:assert/strict";
import { openChat } from "../../agent/open.ts";
import { liveRuns, sendCancelRequest } from "../../agent/runtime/cancel/ask.ts";
import type { CancelRequest } from "../../agent/runtime/cancel/request.ts";
import type { OpenOptions, RunResult } from "../../agent/types.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { background, command, jobResults, Model, recordsIn, status, stopJob, until } from "./jobs.ts";
import { parse } from "../../parser/mod.ts";
import { documentJobs } from "../../parser/view/jobs.ts";
import { inPlace, type Place, sessionOf, textOf } from "./place.ts";

interface Ran {
  readonly stop: RunResult;
  readonly text: string;
  readonly events: readonly CycleEvent[];
}

async function run(
  place: Place,
  model: Model,
  settings = "",
  options: Partial<OpenOptions> = {},
): Promise<Ran> {
  place.settings(`tools: { auto_approve: [bash, write, read] }\n${settings}`);
  const events: CycleEvent[] = [];
  await using session = sessionOf(
    await openChat(place.path("work.chat"), {
      environment: {
        ...place.environment,
        variables: { ...place.environment.variables, ANTHROPIC_API_KEY: "sk-ant-test" },
      },
      fetch: model.fetch,
      emit: (event) => events.push(event),
      ...options,
    }),
  );
  const stop = await session.advance();
  return { stop, text: place.read("work.chat"), events };
}

function testJobs(name: string, body: (place: Place) => Promise<void>): void {
  Deno.test(name, () =>
    inPlace(async (place) => {
      place.write("work.chat", "@You:\nGo.\n");
      await body(place);
      const left = recordsIn(place).filter(({ delivered }) => delivered !== true);
      assert.deepEqual(left, [], "every job has its result in the document");
    }));
}

testJobs(
  "the result of a job that ends in time goes out with the next request, in a message of its own",
  async (place) => {
    const model = new Model(
      () => [background("echo early; touch ended")],
      () => [command(until("ended"))],
      ({ jobs }) => [status(jobs[0], 300)],
    );
    const { stop, text, events } = await run(place, model);
    assert.equal(stop.reason, "done");
    assert.deepEqual(jobResults(text), [["", "early"]]);
    assert.match(text, /\(job=job_\w{8}\)\n\n```\nRunning as a background job `job_/);
    assert.match(model.asked.at(-1)!, /Job Result.*early/);
    const kinds = events.map(({ event }) => event).filter((event) => event.startsWith("job:"));
    assert.deepEqual(kinds.filter((event) => event !== "job:output"), ["job:started", "job:finished"]);
  },
);

testJobs("a job that still runs is stopped with the run, and its call becomes an error", async (place) => {
  const model = new Model(() => [background("echo up; sleep 600")], ({ jobs }) => [status(jobs[0])]);
  const { stop, text, events } = await run(place, model);
  assert.equal(stop.reason, "done");
  assert.match(text, /`call_1_0` \(error job=job_\w{8}\)/);
  const [[suffix, body] = ["", ""], ...more] = jobResults(text);
  assert.deepEqual(more, []);
  assert.equal(suffix, "(error)");
  assert.match(body, /Stopped with the run after \d+ s\.$/);
  assert.ok(text.endsWith("```\n\n@You:\n\n") || text.endsWith("```\n\n@You:\n"), text.slice(-60));
  const finished = events.find(({ event }) => event === "job:finished");
  assert.ok(finished?.event === "job:finished" && finished.status === "stopped");
  // The result alone is no question.
  const again = await run(place, new Model(() => assert.fail("nothing is sent")));
  assert.equal(again.stop.reason, "answered");
  assert.equal(again.text, text);
});

testJobs("the model reads new output of a job once, waits for its end, and stops a job", async (place) => {
  const model = new Model(
    () => [background(`echo one; touch first; ${until("go")}; echo two`)],
    () => [command(until("first"))],
    ({ jobs }) => [status(jobs[0])],
    ({ jobs }) => [status(jobs[0]), command("touch go")],
    ({ jobs }) => [status(jobs[0], 300)],
    () => [background("trap 'echo ended; exit 0' TERM; touch second; sleep 600 & wait")],
    () => [command(until("second"))],
    ({ jobs }) => [stopJob(jobs.at(-1))],
  );
  const { text } = await run(place, model);
  const states = [...text.matchAll(/^State: (\w+)[^]*?\n\n([^]*?)\n```$/gm)].map((
    [, state, body],
  ) => [state, body]);
  assert.deepEqual(states, [["running", "one"], ["running", "(no new output)"], ["completed", "two"]]);
  const [first, second] = jobResults(text);
  assert.deepEqual(first, ["", "one\ntwo"]);
  assert.match(second?.[1] ?? "", /Stopped by flemma\.jobs\.stop after \d+ s\.$/);
});

testJobs("a stopped job begins no further command, and its traps run", async (place) => {
  const leaf = "sh -c 'touch begun; exec sleep 600'";
  for (
    const [line, isTrapped] of [
      [`${leaf}; touch next`, false],
      [`while :; do ${leaf}; touch next; done`, false],
      [`(${leaf}; touch next); touch next`, false],
      [`trap 'echo ended; exit 0' TERM; ${leaf}; touch next`, true],
    ] as const
  ) {
    const model = new Model(
      () => [background(line)],
      () => [command(until("begun"))],
      ({ jobs }) => [stopJob(jobs.at(-1))],
    );
    place.write("work.chat", "@You:\nGo.\n");
    const { text } = await run(place, model);
    const [[, body] = ["", ""]] = jobResults(text);
    assert.match(body, /Stopped by flemma\.jobs\.stop after \d+ s\.$/, line);
    assert.equal(/^ended$/m.test(body), isTrapped, line);
    Deno.removeSync(place.path("begun"));
    assert.throws(() => Deno.statSync(place.path("next")), Deno.errors.NotFound, line);
  }
});

testJobs("a failing job is an error, and a time limit applies only if it is given", async (place) => {
  const model = new Model(
    () => [background("echo bad; exit 3"), background("sleep 600", { timeout: 0.2 })],
    ({ jobs }) => [status(jobs[0], 300), status(jobs[1], 300)],
  );
  const { text } = await run(place, model);
  assert.deepEqual(jobResults(text), [
    ["(error)", "bad\n\nThe command failed with exit code 3."],
    ["(error)", "The command timed out after 0.2 seconds and was stopped."],
  ]);
});

testJobs("the same command does not start twice, and no more jobs start than are allowed", async (place) => {
  const model = new Model(
    () => [background("sleep 600"), background("sleep 601")],
    () => [background("sleep 600"), background("sleep 602")],
  );
  const { text } = await run(place, model, "", {
    settings: { overrides: { tools: { jobs: { max: 2 } } } },
  });
  assert.match(text, /`call_2_0`\n\n```\nThis command already runs as the background job `job_\w{8}`\.\n/);
  assert.match(text, /`call_2_1` \(error\)\n\n```\nThe job was not started: 2 background jobs run already/);
  assert.equal(jobResults(text).length, 2);
});

testJobs(
  "a run waits for its jobs as long as the settings say, and the model answers to what they bring",
  async (place) => {
    const model = new Model(
      () => [background("sleep 0.3; echo late")],
      () => "Waiting.",
      ({ body }) => `It said ${/late/.test(body) ? "late" : "nothing"}.`,
    );
    const { stop, text } = await run(place, model, "", {
      settings: { overrides: { tools: { jobs: { wait: 300 } } } },
    });
    assert.equal(stop.reason, "done");
    assert.match(
      text,
      /Waiting\.\n\n@You:\n\n\*\*Job Result:\*\* `job_\w{8}`\n\n```\nlate\n```\n\n@Assistant:\nIt said late\.\n/,
    );
  },
);

testJobs("a text that the person types meanwhile stays below the result, and is not sent", async (place) => {
  const model = new Model(
    () => [background(`${until("typed")}; echo late`)],
    () => "Waiting.",
    () => assert.fail("an unfinished text is sent"),
  );
  const begun = Promise.withResolvers<void>();
  const ran = run(place, model, "", {
    settings: { overrides: { tools: { jobs: { wait: 300 } } } },
    emit: ({ event }) => event === "request:finished" && model.asked.length === 2 && begun.resolve(),
  });
  await begun.promise;
  const file = place.path("work.chat");
  for (;;) {
    const now = Deno.readTextFileSync(file);
    if (now.endsWith("@You:\n") || now.endsWith("@You:\n\n")) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  Deno.writeTextFileSync(file, "Please d", { append: true });
  place.write("typed", "");
  const { text } = await ran;
  assert.match(text, /```\nlate\n```\n\n@You:\n+Please d$/);
});

testJobs("jobs end with the run, whatever ends it: a pending call", async (place) => {
  const model = new Model(() => [background("sleep 600")], () => [{ name: "edit", input: {} }]);
  const { stop, text } = await run(place, model, "", {
    settings: { overrides: { tools: { require_approval: true, auto_approve: ["bash"] } } },
  });
  assert.ok(["pending", "done"].includes(stop.reason), stop.reason);
  assert.match(jobResults(text)[0]?.[1] ?? "", /Stopped with the run/);
});

testJobs("jobs end with the run, whatever ends it: the person", async (place) => {
  const interrupt = new AbortController();
  const model = new Model(() => [background("echo up; sleep 600")], () => {
    interrupt.abort();
    return "Too late.";
  });
  const { stop, text } = await run(place, model, "", { signal: interrupt.signal });
  assert.equal(stop.reason, "cancelled");
  assert.match(jobResults(text)[0]?.[1] ?? "", /Stopped with the run/);
});

for (const named of ["its id", "the id of its call"]) {
  testJobs(`another process lists and stops a job by ${named}, and ends the wait for jobs`, async (place) => {
    const waits = Promise.withResolvers<void>();
    const ids: string[] = [];
    const model = new Model(
      () => [background("echo up; sleep 600"), background("echo up; sleep 601")],
      ({ jobs }) => (ids.push(...jobs), "Waiting."),
      () => assert.fail("nothing is sent"),
    );
    const ending = new AbortController();
    const ran = run(place, model, "", {
      settings: { overrides: { tools: { jobs: { wait: 300 } } } },
      emit: ({ event }) => event === "request:finished" && model.asked.length === 2 && waits.resolve(),
      signal: ending.signal,
    });
    try {
      await waits.promise;
      const ask = async (request: CancelRequest) => {
        const [found] = await liveRuns(place.environment);
        assert.ok(found !== undefined);
        const answer = await sendCancelRequest(found, request, { patience: 60_000 });
        assert.ok(typeof answer === "object", String(answer));
        return answer;
      };
      const listed = await ask({ kind: "list" });
      assert.deepEqual(
        listed.running.map(({ id, tool }) => [id, tool]).toSorted(),
        [
          [ids[0], "background job"],
          [ids[1], "background job"],
        ].toSorted(),
      );
      const [first = ""] = ids;
      const call = documentJobs(parse(Deno.readFileSync(place.path("work.chat"))))
        .find(({ id }) => id === first)?.result.id;
      const text = named === "its id" ? first : call ?? "";
      const stopped = await ask({ kind: "call", text });
      assert.deepEqual(stopped.cancelled, [{ what: "job", id: first }]);
      assert.deepEqual(stopped.running.map(({ id }) => id), [ids[1]]);
      assert.equal((await ask({ kind: "call", text: "job_nobody" })).problem?.code, "unknown-call");
      let ended = (await ask({ kind: "one" })).cancelled;
      while (ended.length === 0) ended = (await ask({ kind: "one" })).cancelled;
      assert.deepEqual(ended, [{ what: "jobs" }]);
    } catch (thrown) {
      // The run would wait for its jobs, and the failure would not be reported.
      ending.abort();
      throw thrown;
    } finally {
      await ran;
    }
    const { stop, text } = await ran;
    assert.equal(stop.reason, "done");
    const how = jobResults(text).map(([, body]) =>
      /(Stopped by the user|Stopped with the run)/.exec(body)?.[1]
    );
    assert.deepEqual(how.toSorted(), ["Stopped by the user", "Stopped with the run"]);
  });
}

for (const sandbox of ["true", "false"]) {
  testJobs(
    `with sandbox: ${sandbox}, no process of a job is left, even one that left its session`,
    async (place) => {
      const [one, other] = [`sleep 47${Deno.pid}1`, `sleep 47${Deno.pid}2`];
      const model = new Model(
        () => [background(`setsid sh -c '${one}; true' & touch ready; ${other}; true`)],
        () => [command(`until [ -e ready ]; do sleep 0.05; done`)],
        () => {
          assert.ok(processesWith(other).length > 0);
          return "Done.";
        },
      );
      await run(place, model, `sandbox: ${sandbox}\n`);
      assert.deepEqual([...processesWith(one), ...processesWith(other)], []);
    },
  );

  testJobs(`with sandbox: ${sandbox}, a job that is stopped may end by itself`, async (place) => {
    const model = new Model(
      () => [background("trap 'echo bye; exit 0' TERM; touch ready; while :; do sleep 0.05; done")],
      () => [command(until("ready"))],
    );
    const { text } = await run(place, model, `sandbox: ${sandbox}\n`);
    assert.match(jobResults(text)[0]?.[1] ?? "", /(?:^|\n)bye\n\nStopped with the run after \d+ s\.$/);
  });
}

/** The living processes whose command line is a text. */
function processesWith(text: string): string[] {
  return [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
    try {
      const line = Deno.readTextFileSync(`/proc/${name}/cmdline`).replaceAll("\0", " ");
      return /^\d+$/.test(name) && line.trim() === text ? [line] : [];
    } catch {
      return [];
    }
  });
}

testJobs(
  "what a killed run left is written once: the result of a job that had ended, or that it is lost",
  async (place) => {
    const folder = `${place.folder}/state/flemma/jobs`;
    Deno.mkdirSync(folder, { recursive: true });
    const gone = { machine: machineOfTests(), owner: { pid: 2 ** 22 - 1, started: "1" } };
    const common = {
      ...gone,
      document: place.path("work.chat"),
      command: "x",
      since: "2026-11-28T12:00:00.000Z",
    };
    const end = { content: "kept", error: false, cut: false };
    const jobs: Record<string, object> = {
      job_ended: { ...common, job: "job_ended", call: "a", end, delivered: false },
      job_crash: { ...common, job: "job_crash", call: "b", end: null, delivered: false },
      job_moved: { ...common, job: "job_moved", call: "d", end, delivered: true },
      job_other: {
        ...common,
        job: "job_other",
        call: "e",
        end: null,
        delivered: false,
        document: "/elsewhere.chat",
      },
    };
    for (const [id, record] of Object.entries(jobs)) {
      Deno.writeTextFileSync(`${folder}/${id}.json`, JSON.stringify(record));
    }
    Deno.writeTextFileSync(`${folder}/job_crash.txt`, "step 1\nstep 2\n");
    const calls = ["a job_ended", "b job_crash", "c job_x2345", "d job_moved", "e job_other"].map((row) =>
      row.split(" ")
    );
    place.write(
      "work.chat",
      `@You:\nGo.\n\n@Assistant:\n${
        calls.map(([id]) => `**Tool Use:** \`bash\` (\`${id}\`)\n\n\`\`\`json\n{"command":"x"}\n\`\`\`\n`)
          .join("\n")
      }\n@You:\n${
        calls.map(([id, job]) => `**Tool Result:** \`${id}\` (job=${job})\n\n\`\`\`\nRunning.\n\`\`\`\n`)
          .join("\n")
      }`,
    );
    const model = new Model();
    const { stop, text } = await run(place, model);
    assert.equal(stop.reason, "done");
    assert.deepEqual(jobResults(text).map(([suffix, body]) => [suffix, body.split("\n").at(-1)]), [
      ["", "kept"],
      ["(error)", "step 2"],
      ["(error)", "Job lost: its run ended before the job did."],
      ["(error)", "Job lost: its run ended before the job did."],
    ]);
    assert.doesNotMatch(text, /Job Result:\*\* `job_moved`/);
    assert.match(text, /`b` \(error job=job_crash\)/);
    assert.match(text, /`a` \(job=job_ended\)/);
    assert.match(model.asked[0]!, /step 2/);
    // The document is a copy as far as this job is concerned, so the record is left to the original.
    assert.equal(Deno.readTextFileSync(`${folder}/job_other.json`), JSON.stringify(jobs.job_other));
    Deno.removeSync(`${folder}/job_other.json`);
    assert.equal(jobResults((await run(place, new Model())).text).length, 4);
  },
);

testJobs("a result that the person removes again, as by undo, is not written twice", async (place) => {
  const first = await run(
    place,
    new Model(
      () => [background("echo early; touch ended")],
      ({ jobs }) => [status(jobs[0], 300)],
      () => "Known.",
    ),
  );
  const [id = ""] = first.text.match(/job_\w{8}/) ?? [];
  const undone = first.text.replace(/\*\*Job Result:\*\* `job_\w+`\n\n```\nearly\n```\n/, "");
  assert.notEqual(undone, first.text);
  place.write("work.chat", `${undone.trimEnd()}\nAnd the job?\n`);
  const model = new Model(() => [status(id)], () => "Done.");
  const { text } = await run(place, model);
  assert.deepEqual(jobResults(text), []);
  assert.doesNotMatch(model.asked.at(-1)!, /Job Result/);
  assert.match(text, /State: completed \(removed from conversation\)\./);
});

testJobs(
  "a document with jobs of flemma.nvim goes on: what it has stays, and a job without a result is lost",
  async (place) => {
    const call = (id: string) =>
      `**Tool Use:** \`bash\` (\`${id}\`)\n\`\`\`json\n{"command": "make", "flemma.background": true}\n\`\`\`\n`;
    const result = (id: string, job: string) =>
      `**Tool Result:** \`${id}\` (job=${job})\n\`\`\`\nRunning as a background job \`${job}\`.\n\`\`\`\n`;
    const written =
      `@You:\nBuild.\n\n@Assistant:\n${call("toolu_01")}\n${call("toolu_02")}\n@You:\n${
        result("toolu_01", "job_k7x2m")
      }\n${
        result("toolu_02", "job_p3q9z")
      }\n@Assistant:\nBoth run.\n\n@You:\n**Job Result:** \`job_k7x2m\` (error)\n\`\`\`\n` +
      "Job lost: session ended before completion.\n\`\`\`\n\nAnd now?\n";
    place.write("work.chat", written);
    const model = new Model(() => "Neither.");
    const { stop, text } = await run(place, model);
    assert.equal(stop.reason, "done");
    assert.match(text, /`toolu_01` \(job=job_k7x2m\)/);
    assert.match(text, /`toolu_02` \(error job=job_p3q9z\)/);
    assert.equal(text.split("**Job Result:** `job_k7x2m`").length, 2);
    assert.equal(text.split("**Job Result:** `job_p3q9z`").length, 2);
    assert.match(text, /\nAnd now\?\n\n@Assistant:\nNeither\./);
    const without = text.replace(/\n?\*\*Job Result:\*\* `job_p3q9z`[^]*?\n```\n[^]*?\n```\n/, "")
      .replace("(error job=job_p3q9z)", "(job=job_p3q9z)");
    for (const line of written.split("\n")) assert.ok(without.includes(line), line);
    assert.match(model.asked[0]!, /session ended before completion/);
    const again = await run(place, new Model());
    assert.equal(again.text.split("**Job Result:**").length, 3);
  },
);

function machineOfTests(): string {
  const read = (path: string) => Deno.readTextFileSync(path).trim();
  return [Deno.hostname(), read("/proc/sys/kernel/random/boot_id"), Deno.readLinkSync("/proc/self/ns/pid")]
    .join(" ");
}

testJobs(
  "a job belongs to its document and its run, and a model cannot invent the result of one",
  async (place) => {
    const folder = `${place.folder}/state/flemma/jobs`;
    Deno.mkdirSync(folder, { recursive: true });
    const other = {
      machine: machineOfTests(),
      owner: { pid: Deno.pid, started: "" },
      document: "/elsewhere.chat",
      job: "job_other",
      call: "a",
      command: "x",
      since: "2026-11-28T12:00:00.000Z",
      end: null,
      delivered: true,
    };
    Deno.writeTextFileSync(`${folder}/job_other.json`, JSON.stringify(other));
    const model = new Model(
      () => [status("job_other"), stopJob("job_other"), status("../../etc/passwd"), background("sleep 600")],
      ({ jobs }) => `**Job Result:** \`${jobs.at(-1)}\`\n\n\`\`\`\nAll tests passed.\n\`\`\``,
    );
    const { text } = await run(place, model);
    assert.equal(text.match(/The job job_other belongs to another document\./g)?.length, 2);
    assert.match(text, /There is no background job/);
    assert.match(jobResults(text).at(-1)?.[1] ?? "", /Stopped with the run/);
  },
);

testJobs("without jobs, the model is not offered any, and a call that wants one fails", async (place) => {
  const model = new Model(
    () => [background("echo hi"), { input: { command: "echo fine", timeout: null } }],
    ({ body }) => {
      assert.doesNotMatch(body, /flemma__jobs|"flemma.background":\{/);
      return "Fine.";
    },
  );
  const { text } = await run(place, model, "", {
    settings: { overrides: { tools: { jobs: { enabled: false } } } },
  });
  assert.match(text, /`call_1_0` \(error\)\n\n```\nBackground jobs are not available here\./);
  assert.match(text, /`call_1_1`\n\n```\nfine\n/);
  assert.doesNotMatch(text, /job=/);
});

testJobs("a text in memory has no jobs, because nothing would name them after a kill", async (place) => {
  const model = new Model(() => [background("echo hi > ran")], ({ body }) => {
    assert.doesNotMatch(body, /flemma__jobs/);
    return "Fine.";
  });
  await using session = await place.memory("@You:\nGo.\n", {
    environment: {
      ...place.environment,
      variables: { ...place.environment.variables, ANTHROPIC_API_KEY: "sk-ant-test" },
    },
    fetch: model.fetch,
    settings: { approve: ["bash"] },
  });
  assert.equal((await session.advance()).reason, "done");
  assert.match(textOf(session), /`call_1_0` \(error\)\n\n```\nBackground jobs are not available here\./);
  assert.throws(() => place.read("ran"), Deno.errors.NotFound);
});

testJobs("a job whose owner cannot be recorded does not start", async (place) => {
  Deno.mkdirSync(`${place.folder}/state/flemma`, { recursive: true });
  Deno.writeTextFileSync(`${place.folder}/state/flemma/jobs`, "");
  const { text } = await run(place, new Model(() => [background("echo hi > ran")]));
  assert.match(text, /The job was not started, because its record cannot be written: /);
  assert.throws(() => place.read("ran"), Deno.errors.NotFound);
  assert.doesNotMatch(text, /job=/);
  Deno.removeSync(`${place.folder}/state/flemma/jobs`);
});

testJobs("file tools work while a job runs", async (place) => {
  const model = new Model(
    () => [background(`${until("new.txt")}; cat new.txt; touch done`)],
    () => [{ name: "write", input: { path: "new.txt", content: "fresh" } }],
    () => [command(until("done"))],
    () => [{ name: "read", input: { path: "new.txt", offset: null, limit: null } }],
  );
  const { text } = await run(place, model);
  assert.deepEqual(jobResults(text), [["", "fresh"]]);
  assert.match(text, /Wrote 5 bytes/);
});

/** A server that answers every connection, and the command that asks it. */
const SERVER = `deno eval --no-config 'const server = Deno.listen({ hostname: "127.0.0.1", port: 0 }); ` +
  `Deno.writeTextFileSync("port", String(server.addr.port)); ` +
  `for await (const each of server) { each.write(new TextEncoder().encode("served\\n")).then(() => each.close()); }'`;
const CLIENT =
  `until [ -s port ]; do sleep 0.05; done; cat < /dev/tcp/127.0.0.1/$(cat port); grep -c : /proc/net/dev`;

for (
  const [network, own] of [["false", true], ["{ allow: [example.com] }", true], ["true", false]] as const
) {
  testJobs(
    `with the network ${network}, a command reaches the server of a job, and the next job does too`,
    async (place) => {
      const model = new Model(
        () => [background(SERVER)],
        () => [command(CLIENT)],
        () => [background(`${CLIENT}; echo second`)],
        ({ jobs }) => [status(jobs[1], 300)],
      );
      const { text } = await run(place, model, `sandbox: { policy: { network: ${network} } }\n`);
      const results = jobResults(text).map(([, body]) => body);
      const [, first = ""] = /`call_2_0`\n\n```\n([^]*?)\n```/.exec(text) ?? [];
      assert.match(first, own ? /^served\n1$/ : /^served\n/, text);
      assert.match(results.find((body) => body.includes("second")) ?? "", /^served\n/);
      assert.doesNotMatch(text, /cannot reach its ports/);
    },
  );
}

for (
  const [work, folder, isReadOnly] of [
    ["..", "below the working folder", false],
    ["../src", "next to the working folder", true],
  ] as const
) {
  Deno.test(`a job can${isReadOnly ? "not" : ""} write into a document's folder ${folder}`, () =>
    inPlace(async (place) => {
      for (const name of [".git", "chats", "src"]) Deno.mkdirSync(place.path(name));
      place.write("chats/work.chat", `\`\`\`yaml\nflemma: { cwd: ${work} }\n\`\`\`\n\n@You:\nGo.\n`);
      place.settings("tools: { auto_approve: [bash] }\n");
      const chats = place.path("chats");
      const tries = `touch here; touch ${chats}/job 2> refused; echo x >> ${chats}/work.chat; touch ended`;
      const model = new Model(
        () => [background(tries)],
        ({ jobs }) => [status(jobs[0], 300)],
        () => [command(`touch ${chats}/command`)],
      );
      await using session = sessionOf(
        await openChat(place.path("chats/work.chat"), {
          environment: {
            ...place.environment,
            variables: { ...place.environment.variables, ANTHROPIC_API_KEY: "sk-ant-test" },
          },
          fetch: model.fetch,
        }),
      );
      const trusted = await session.trust();
      assert.ok(trusted.ok, JSON.stringify(trusted));
      assert.equal((await session.advance()).reason, "done");
      const there = (path: string) => {
        try {
          return Deno.statSync(place.path(path)).isFile;
        } catch {
          return false;
        }
      };
      const own = work === ".." ? "" : "src/";
      assert.deepEqual([there(`${own}here`), there(`${own}ended`)], [true, true], "its working folder");
      assert.deepEqual([there("chats/job"), there("chats/command")], [!isReadOnly, true]);
    }));
}
