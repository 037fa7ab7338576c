// Background jobs that a program keeps between the runs of a document, as `watch`, ACP and the language server do.

import assert from "node:assert/strict";
import { openChat } from "../../agent/open.ts";
import { liveRuns, sendCancelRequest } from "../../agent/runtime/cancel/ask.ts";
import { JobKeeper } from "../../agent/runtime/jobs/keeper.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { background, command, jobResults, Model, recordsIn, status, stopJob, until } from "./jobs.ts";
import { inPlace, type Place } from "./place.ts";

const OWNER = { ends: "when the test ends", stopped: "with the test" };

/** A program that runs a document again and again. */
class Host {
  readonly keeper = new JobKeeper(OWNER);
  readonly events: CycleEvent[] = [];
  readonly #heard = new Map<string, PromiseWithResolvers<void>>();

  constructor(readonly place: Place, readonly model: Model) {}

  async open(more: { readonly signal?: AbortSignal; readonly keeps?: boolean } = {}) {
    const { environment } = this.place;
    const opened = await openChat(this.place.path("work.chat"), {
      environment: {
        ...environment,
        variables: { ...environment.variables, ANTHROPIC_API_KEY: "sk-ant-test" },
      },
      fetch: this.model.fetch,
      emit: (event) => this.#hear(event),
      signal: more.signal,
      ...(more.keeps === false ? {} : { jobKeeper: this.keeper }),
    });
    assert.ok(opened.ok, opened.ok ? "" : opened.problem.message);
    return opened.value;
  }

  async run(question: string, more: Parameters<Host["open"]>[0] = {}) {
    const text = this.text;
    this.place.write("work.chat", /@You:\s*$/.test(text) ? `${text.trimEnd()}\n${question}\n` : text);
    await using session = await this.open(more);
    const { reason } = await session.advance();
    return reason;
  }

  #hear(event: CycleEvent): void {
    this.events.push(event);
    this.#heard.get(event.event)?.resolve();
  }

  /** Settles at the first such event. */
  async heard(event: CycleEvent["event"]): Promise<void> {
    const waiting = Promise.withResolvers<void>();
    this.#heard.set(event, waiting);
    if (!this.events.some((each) => each.event === event)) await waiting.promise;
  }

  get text(): string {
    return this.place.read("work.chat");
  }

  get notices(): readonly string[] {
    return this.events.flatMap((event) =>
      event.event === "notice" ? [`${event.code}: ${event.message}`] : []
    );
  }

  /** Ends the program. */
  end(): Promise<void> {
    return this.keeper.end(async () => {
      const session = await this.open({ keeps: false });
      return { ok: true, value: session };
    });
  }
}

function testKept(
  name: string,
  turns: ConstructorParameters<typeof Model>,
  body: (host: Host) => Promise<void>,
): void {
  Deno.test(name, () =>
    inPlace(async (place) => {
      place.write("work.chat", "@You:\n");
      place.settings("tools: { auto_approve: [bash] }\n");
      const host = new Host(place, new Model(...turns));
      await body(host);
      await host.end();
      assert.equal(host.keeper.parts, null);
      assert.deepEqual(recordsIn(place).filter(({ end }) => end === null), [], "no job runs");
    }));
}

const job = (text: string): string => /`(job_\w{8})`/.exec(text)![1]!;

/** A call that waits for the person. */
const WRITE = { name: "write", input: { path: "x", content: "y" } };

/** A server that says when it is there, and answers each request with a line. */
const SERVER =
  "python3 -c 'import http.server as h; h.test(h.SimpleHTTPRequestHandler, port=8123, bind=\"127.0.0.1\")'";
const ASK = "until curl -sf http://127.0.0.1:8123/ -o /dev/null; do sleep 0.05; done; echo reached";

testKept(
  "a job of one run goes on, the next run reads and stops it, and its result goes out with the next request",
  [
    () => [background(`echo first; ${until("go")}; echo second; sleep 60`)],
    () => "It runs.",
    ({ jobs }) => [command("touch go"), status(jobs[0])],
    ({ jobs }) => [status(jobs[0], 1), stopJob(jobs[0])],
    () => "Stopped.",
  ],
  async (host) => {
    assert.equal(await host.run("Start."), "done");
    assert.match(host.text, /It ends when the test ends\. Its result comes in a message/);
    assert.deepEqual(jobResults(host.text), []);
    assert.notEqual(host.keeper.parts, null);
    assert.equal(await host.run("Use it."), "done");
    assert.deepEqual(jobResults(host.text).map(([suffix]) => suffix), ["(error)"]);
    assert.match(host.text, /State: running for \d+ s/);
    assert.match(host.text, /Stopped by flemma\.jobs\.stop after/);
    assert.equal(host.keeper.parts, null);
  },
);

for (const network of ["network: false", "network: { allow: [example.org] }", ""]) {
  testKept(
    `a server of one run is reached by the commands of the next, with ${network || "the whole network"}`,
    [
      () => [background(SERVER)],
      () => "It runs.",
      () => [command(ASK)],
      () => "Reached.",
    ],
    async (host) => {
      host.place.settings(
        `tools: { auto_approve: [bash] }\nsandbox: { policy: { ${network} } }\n`,
      );
      assert.equal(await host.run("Start."), "done");
      assert.equal(await host.run("Use it."), "done");
      assert.match(host.text, /\nreached\n/);
    },
  );
}

testKept(
  "the result of a job that ended between two runs is written by the next, above the new question",
  [
    () => [background(until("go"))],
    () => "It runs.",
    ({ body }) => /Job Result/.test(body) ? "Known." : "Unknown.",
  ],
  async (host) => {
    await host.run("Start.");
    host.place.write("go", "");
    await host.keeper.ended();
    assert.deepEqual(jobResults(host.text), [], "nothing is written into a text that may be typed");
    assert.ok(host.events.some(({ event }) => event === "job:finished"));
    await host.run("And?");
    assert.equal(jobResults(host.text).length, 1);
    assert.match(host.text, /Job Result[^]*And\?\n\n@Assistant:\nKnown\./);
  },
);

testKept(
  "a job goes on while a call waits for the person, and others can approve the call and stop the job",
  [
    () => [background(until("go")), WRITE],
    () => "Never.",
  ],
  async (host) => {
    assert.equal(await host.run("Start."), "pending");
    assert.notEqual(host.keeper.parts, null);
    const other = await host.open({ keeps: false });
    const approved = await other.approve("call_1_1");
    assert.ok(approved.ok, JSON.stringify(approved));
    await other.close();
    assert.match(host.text, /status=approved/);
    const [found] = await liveRuns(host.place.environment);
    assert.ok(found !== undefined);
    const none = await sendCancelRequest(found, { kind: "one" }, { patience: 60_000 });
    assert.ok(typeof none === "object");
    assert.match(none.problem?.next ?? "", /^To stop a background job, name it: job_/);
    const asked = await sendCancelRequest(found, { kind: "call", text: job(host.text) }, {
      patience: 60_000,
    });
    assert.ok(typeof asked === "object" && asked.problem === null, JSON.stringify(asked));
    await host.keeper.ended();
    assert.match(host.notices.join("\n"), /cancelled-elsewhere: .*the background job/);
  },
);

testKept(
  "a canceled run ends its jobs, and so does the end of the program; results are written",
  [() => [background("sleep 60"), command(until("never"))], () => [background("sleep 60")], () => "It runs."],
  async (host) => {
    const controller = new AbortController();
    const running = host.run("Start.", { signal: controller.signal });
    await host.heard("job:started");
    controller.abort();
    assert.equal(await running, "cancelled");
    assert.equal(host.keeper.parts, null);
    assert.match(jobResults(host.text)[0]![1], /Stopped with the run after/);
    host.place.write("work.chat", "@You:\n");
    assert.equal(await host.run("Again."), "done");
    await host.end();
    assert.match(jobResults(host.text)[0]![1], /Stopped with the test after/);
  },
);

testKept(
  "if the sandbox of the next run would be another one, or jobs are switched off, the jobs end and their results say why",
  [
    () => [background("sleep 60")],
    () => "It runs.",
    () => "It was stopped.",
    () => [background("sleep 61")],
    () => "It runs.",
    () => "It was stopped.",
  ],
  async (host) => {
    for (
      const settings of ["sandbox: { policy: { network: false } }", "tools: { jobs: { enabled: false } }"]
    ) {
      host.place.settings("tools: { auto_approve: [bash] }\n");
      host.place.write("work.chat", "@You:\n");
      await host.run("Start.");
      host.place.settings(`${settings}\n`);
      await host.run("Go on.");
      assert.match(jobResults(host.text)[0]![1], /Stopped after .*, because the settings changed\./);
    }
  },
);

for (const isReplaced of [false, true]) {
  const how = isReplaced
    ? "in a file that an editor replaced waits, because the job could have written it"
    : "in place counts";
  testKept(
    `an approval typed between two runs ${how}`,
    [() => [background(`echo on; ${until("go")}`)], () => [WRITE], () => "Written."],
    async (host) => {
      assert.equal(await host.run("Start."), "pending");
      await host.heard("job:output");
      const approved = host.text.replace("status=pending", "status=approved");
      // A rename takes the file out of the job's read-only mount.
      host.place.arrive(isReplaced ? "new" : "work.chat", approved);
      if (isReplaced) Deno.renameSync(host.place.path("new"), host.place.path("work.chat"));
      await using session = await host.open();
      assert.equal((await session.advance()).reason, isReplaced ? "pending" : "done");
      assert.equal(/Written\./.test(host.text), !isReplaced);
    },
  );
}
