// Waits for rate limits: how long, for how many documents, and what happens to the document meanwhile.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import { RunLimits } from "../../cycle/send/limits.ts";
import { waitSentence } from "../../cycle/run/waits.ts";
import { openFile } from "../../cycle/storage/file_store.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import type { CycleEvent, DocumentStore } from "../../cycle/types.ts";
import { parse } from "../../parser/mod.ts";
import { RequestLimiter } from "../../providers/http/limiter.ts";
import type { ProviderError } from "../../providers/types.ts";
import type { Answer } from "../providers/loopback.ts";
import { StoppedClock } from "../providers/stopped_clock.ts";
import { BEFORE, bytes, delta, END, senderTo, sent, SSE, stop, streamed } from "./sending.ts";

const NEVER = new AbortController().signal;
const GOOD = streamed(delta("Hello!"), stop("end_turn", 1), END);

function limited(headers: Record<string, string> = {}, status = 429, type = "rate_limit_error"): Answer {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ type: "error", error: { type, message: "No" } }),
  };
}

function withLimit(seconds: number): Settings {
  return { ...DEFAULT_SETTINGS, run: { ...DEFAULT_SETTINGS.run, wait_for_limit: seconds } };
}

async function send(answers: readonly Answer[], seconds: number, more: Parameters<typeof sent>[1] = {}) {
  const clock = new StoppedClock();
  const run = await sent(answers, { clock, retry: true, settings: withLimit(seconds), ...more });
  const problem = run.outcome.kind === "failed" ? run.outcome.problem as ProviderError : null;
  return { ...run, clock, problem };
}

Deno.test("a request waits as long as the provider asks, if the person allows it, and says until when", async () => {
  const run = await send([limited({ "retry-after": "7200" }), GOOD], 6 * 3600);
  assert.equal(run.outcome.kind, "completed");
  assert.deepEqual(run.clock.waits, [7200]);
  const retrying = run.events.find((event) => event.event === "request:retrying");
  assert.deepEqual(
    [retrying?.attempt, retrying?.of, retrying?.wait, retrying?.until],
    [2, null, 7200, "2026-11-28T14:00:00Z"],
  );
  assert.match(
    waitSentence(retrying!),
    /^rate_limit_error — No\. Retrying in 2 h, at \d\d:00:00 \(attempt 2\)\.$/,
  );
});

Deno.test("the header of each provider that names a time is obeyed", async () => {
  const rows: readonly (readonly [Answer, number])[] = [
    [limited({ "retry-after": "900" }), 900],
    [limited({ "anthropic-ratelimit-requests-remaining": "0", "x-ratelimit-reset-requests": "15m0s" }), 900],
    [limited({ "ratelimit-reset": "900" }), 900],
    [
      { ...limited(), body: JSON.stringify({ error: { message: "No", details: [{ retryDelay: "900s" }] } }) },
      900,
    ],
    [{ ...limited(), body: JSON.stringify({ error: { message: "Please try again in 15m." } }) }, 900],
    [limited({ "retry-after": "900" }, 529, "overloaded_error"), 900],
    [limited({ "retry-after": "900" }, 503, "api_error"), 900],
  ];
  for (const [answer, wait] of rows) {
    const run = await send([answer, GOOD], 1000);
    assert.deepEqual([run.outcome.kind, run.clock.waits], ["completed", [wait]], JSON.stringify(answer));
  }
});

Deno.test("a wait that is longer than allowed ends the request at once, and names the time and the option", async () => {
  const run = await send([limited({ "retry-after": "7200" })], 3600);
  assert.deepEqual([run.requests.length, run.clock.waits], [1, []]);
  assert.equal(run.problem?.retry_at, "2026-11-28T14:00:00Z");
  assert.equal(
    run.problem?.next,
    "Try again after 2026-11-28T14:00:00Z, or let flemma wait: --wait-limit 4h",
  );
  assert.equal(run.after, BEFORE);
});

Deno.test("an absurd or missing time counts as no time", async () => {
  for (const value of ["2592001", "soon", "-1", "Sat, 28 Nov 2026 11:00:00 GMT"]) {
    const run = await send([limited({ "retry-after": value }), GOOD], 0);
    assert.deepEqual([run.outcome.kind, run.clock.waits], ["completed", [2]], value);
  }
  const run = await send([limited()], 0);
  assert.deepEqual([run.requests.length, run.problem?.retry_at], [6, undefined]);
  assert.equal(run.problem?.next, "Try again later, or let flemma wait longer: --wait-limit 1h");
});

Deno.test("a spent balance, a refused key and an unknown model are never waited for", async () => {
  const body = JSON.stringify({ error: { code: "insufficient_quota", message: "No" } });
  for (
    const answer of [
      { ...limited({ "retry-after": "1" }), body },
      limited({ "retry-after": "1" }, 401, "authentication_error"),
      limited({ "retry-after": "1" }, 404, "not_found_error"),
      limited({ "retry-after": "1" }, 402, "billing_error"),
    ]
  ) {
    const run = await send([answer, GOOD], 36_000);
    assert.deepEqual([run.outcome.kind, run.clock.waits], ["failed", []], JSON.stringify(answer));
    assert.doesNotMatch(run.problem?.next ?? "", /wait-limit/);
  }
});

Deno.test("the allowed time is for the whole run, and not for each request", async () => {
  const settings = withLimit(4000);
  const clock = new StoppedClock();
  const limits = new RunLimits(settings);
  const options = { clock, settings, limits, retry: true };
  const first = await sent([limited({ "retry-after": "3000" }), GOOD], options);
  assert.equal(first.outcome.kind, "completed");
  const second = await sent([limited({ "retry-after": "3000" }), GOOD], options);
  assert.equal(second.outcome.kind, "failed");
  limits.begin();
  const third = await sent([limited({ "retry-after": "3000" }), GOOD], options);
  assert.equal(third.outcome.kind, "completed");
});

Deno.test("once a reply began, no advice to wait is given", async () => {
  const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const run = await send([streamed(delta("Half"), error)], 3600);
  assert.deepEqual([run.requests.length, run.outcome.kind], [1, "failed"]);
  assert.doesNotMatch(run.problem?.next ?? "", /wait-limit/);
});

/** A document that another program changes once. */
class ChangedStore extends MemoryStore {
  #theirs: string | null = null;
  #taken: ReturnType<typeof parse> | null = null;

  constructor() {
    super(bytes(BEFORE), null);
  }

  override get chat() {
    return this.#taken ?? super.chat;
  }

  change(text: string): void {
    this.#theirs = text;
  }

  refresh(): Promise<null> {
    if (this.#theirs !== null) this.#taken ??= parse(bytes(this.#theirs));
    return Promise.resolve(null);
  }
}

/** Sends a document that is changed during the wait; returns the bodies of the requests and the outcome. */
async function changedDuringWait(text: string, blockers: () => [] = () => []) {
  const store = new ChangedStore();
  const clock = new StoppedClock();
  clock.onWait = () => store.change(text);
  const bodies: string[] = [];
  const fetched: typeof fetch = async (_, init) => {
    bodies.push(await new Response(init?.body).text());
    return bodies.length === 1 ? response(limited({ "retry-after": "5" })) : response(GOOD);
  };
  const send = senderTo("http://127.0.0.1:1", store as DocumentStore, { clock, fetch: fetched, blockers });
  return { outcome: await send(NEVER), bodies };
}

function response({ status = 200, headers = SSE, body }: Answer): Response {
  return new Response(body as string, { status, headers });
}

Deno.test("a document that is changed during a wait is sent as it then is", async () => {
  const { outcome, bodies } = await changedDuringWait("@You:\nSomething else.\n");
  assert.equal(outcome.kind, "completed");
  assert.equal(bodies.length, 2);
  assert.match(bodies[0]!, /"hi"/);
  assert.match(bodies[1]!, /Something else/);
  assert.doesNotMatch(bodies[1]!, /"hi"/);
});

Deno.test("a text that an editor saves during the wait is read again, sent, and kept", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/a.chat`;
    await Deno.writeTextFile(path, BEFORE);
    const environment = { cwd: folder, home: folder, variables: {} };
    const opened = await openFile(path, { environment, wait: 0 });
    assert.ok(opened.ok);
    const store = opened.value;
    const clock = new StoppedClock();
    clock.onWait = () => Deno.writeTextFileSync(path, "@You:\nSomething else.\n");
    const bodies: string[] = [];
    const fetched: typeof fetch = async (_, init) => {
      bodies.push(await new Response(init?.body).text());
      return response(bodies.length === 1 ? limited({ "retry-after": "5" }) : GOOD);
    };
    const outcome = await senderTo("http://127.0.0.1:1", store, { clock, fetch: fetched })(NEVER);
    await store.close();
    assert.deepEqual([outcome.kind, bodies.length], ["completed", 2]);
    assert.match(bodies[1]!, /Something else/);
    assert.equal(
      await Deno.readTextFile(path),
      "@You:\nSomething else.\n\n@Assistant:\nHello!\n\n@You:\n\n",
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a document with open calls, a reply or other settings after a wait is not sent", async () => {
  const call = "@You:\nhi\n\n@Assistant:\n**Tool Use:** `bash` (`c1`)\n\n```json\n{}\n```\n\n@You:\n" +
    "**Tool Result:** `c1`\n\n```flemma:tool status=pending\n```\n";
  const opened = await changedDuringWait(call);
  assert.deepEqual([opened.outcome.kind, opened.bodies.length], ["changed", 1]);
  for (
    const text of ["@You:\nhi\n\n@Assistant:\nHello!\n", "@You:\nhi\n\n@Assistant:\nHello!\n\n@You:\n\n"]
  ) {
    const answered = await changedDuringWait(text);
    assert.deepEqual([answered.outcome.kind, answered.bodies.length], ["changed", 1], text);
  }
  const found = [{ code: "frontmatter_changed", type: "frontmatter", severity: "error", message: "m" }];
  const blocked = await changedDuringWait("@You:\nSomething else.\n", () => found as unknown as []);
  assert.deepEqual([blocked.outcome.kind, blocked.bodies.length], ["blocked", 1]);
});

Deno.test("eight documents at one rate limit all finish in the order in which they came, and report their waits", async () => {
  const clock = new StoppedClock();
  const limiter = new RequestLimiter();
  /** Documents in the order in which they came to the limiter. */
  const came: number[] = [];
  const noticed = (at: number) => ({
    enter: (...words: Parameters<RequestLimiter["enter"]>) => {
      if (!came.includes(at)) came.push(at);
      return limiter.enter(...words);
    },
  } as RequestLimiter);
  const answered: number[] = [];
  const refused = new Set<number>();
  let window = { from: -Infinity, count: 0 };
  /** Accepts two requests in a minute. */
  const fetched: typeof fetch = async (_, init) => {
    if (clock.now() - window.from >= 60_000) window = { from: clock.now(), count: 0 };
    const left = Math.ceil(60 - (clock.now() - window.from) / 1000);
    const accepted = window.count < 2;
    if (accepted) window.count++;
    // Requests are answered in the order in which they come, however long it takes to read them.
    const place = accepted ? answered.push(-1) - 1 : null;
    const number = Number(/Question (\d)/.exec(await new Response(init?.body).text())![1]);
    if (place !== null) answered[place] = number;
    else refused.add(number);
    return response(accepted ? GOOD : limited({ "retry-after": String(left) }));
  };
  const events: CycleEvent[][] = Array.from({ length: 8 }, () => []);
  const outcomes = await Promise.all(
    events.map((list, at) =>
      senderTo("http://127.0.0.1:1", new MemoryStore(bytes(`@You:\nQuestion ${at}\n`), null), {
        clock,
        limiter: noticed(at),
        fetch: fetched,
        emit: (event) => list.push(event),
      })(NEVER)
    ),
  );
  assert.deepEqual(outcomes.map(({ kind }) => kind), Array(8).fill("completed"));
  // All are admitted at first, and the server accepts any two. The others wait in their order. Two that are admitted
  // together can reach the server in either order.
  const waited = came.filter((at) => !answered.slice(0, 2).includes(at));
  assert.deepEqual(answered.slice(2).toSorted(), waited.toSorted());
  for (const [place, at] of answered.slice(2).entries()) {
    assert.ok(Math.abs(waited.indexOf(at) - place) <= 1, `${answered} after ${came}`);
  }
  assert.ok(refused.size >= 3, String(refused.size));
  for (const at of refused) {
    assert.ok(events[at]!.some(({ event }) => event === "request:retrying"), String(at));
  }
});

Deno.test("a request that comes while others wait says how many are in front", async () => {
  const clock = new StoppedClock();
  const limiter = new RequestLimiter();
  const place = await limiter.enter("a", { most: null, clock, signal: NEVER });
  place!.leave("refused", 120);
  const reported: unknown[] = [];
  const enter = (onWait?: (wait: unknown) => void) =>
    limiter.enter("a", { most: null, clock, signal: NEVER, onWait });
  const first = enter((wait) => reported.push(wait));
  const second = enter((wait) => reported.push(wait));
  (await first)!.leave("answered");
  await second;
  assert.deepEqual(reported, [{ seconds: 120, ahead: 0 }, { seconds: 0, ahead: 1 }]);
  const event = {
    event: "request:waiting",
    provider: "openai",
    wait: 120,
    until: "2026-11-28T12:02:00Z",
    ahead: 3,
  };
  assert.match(
    waitSentence(event as never),
    /^Waiting for the rate limit of openai for at least 2 min, at \d\d:02:00; 3 requests are in front\.$/,
  );
});
