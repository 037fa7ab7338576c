// Rate limits and providers that cannot answer, as a person sees them: waits, order, other models, and the end.

import assert from "node:assert/strict";
import { testWithScene as test } from "./harness.ts";
import { type Reply, textReply, withServer } from "./replies.ts";

const KEY = { ANTHROPIC_API_KEY: "test-key" };
const QUESTION = "@You:\nHi\n";
const FIRST = "claude-sonnet-5-5";
const SECOND = "claude-opus-5-5";

function refuse(status: number, type: string, headers: Record<string, string> = {}): Reply {
  return { status, headers, body: JSON.stringify({ type: "error", error: { type, message: "Too many" } }) };
}

const limited = (headers: Record<string, string> = {}) => refuse(429, "rate_limit_error", headers);
const OVERLOADED = refuse(529, "overloaded_error", { "retry-after-ms": "1" });

/** A server that refuses every third request, once for each question. */
async function withRate(
  body: (server: {
    readonly env: Readonly<Record<string, string>>;
    readonly answered: readonly string[];
    readonly refused: readonly string[];
  }) => Promise<void>,
): Promise<void> {
  const answered: string[] = [];
  const refused: string[] = [];
  let requests = 0;
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const { messages } = await request.json();
    const question = messages.at(-1).content[0].text;
    if (++requests % 3 === 0 && !refused.includes(question)) {
      refused.push(question);
      const { status, headers, body } = limited({ "retry-after-ms": "25" });
      return new Response(body, { status, headers });
    }
    answered.push(question);
    const text = textReply(`To ${question}`).events!.map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join("");
    return new Response(text, { headers: { "content-type": "text/event-stream" } });
  });
  try {
    const env = { ...KEY, FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.addr.port}` };
    await body({ env, answered, refused });
  } finally {
    await server.shutdown();
  }
}

test("eight documents at one rate limit all finish, and each wait and each end is printed with its document", (place) =>
  withRate(async ({ env, answered, refused }) => {
    const files = Array.from({ length: 8 }, (_, at) => `q${at}.chat`);
    for (const [at, file] of files.entries()) place.write(file, `@You:\nQuestion ${at}\n`);
    const { stderr } = await place.exits(0, ["advance", "--jobs", "8", "--wait-limit", "1h", ...files], {
      env,
    });
    assert.deepEqual([...answered].sort(), files.map((_, at) => `Question ${at}`));
    assert.ok(refused.length > 0);
    for (const [at, file] of files.entries()) assert.match(place.read(file), new RegExp(`To Question ${at}`));
    for (const question of new Set(refused)) {
      assert.match(
        stderr,
        new RegExp(
          `^flemma: q${
            question.at(-1)
          }\\.chat: rate_limit_error — Too many\\. Retrying in 0 s \\(attempt 2\\)\\.$`,
          "m",
        ),
      );
    }
    assert.match(stderr, /^\[8\/8\] q\d\.chat: complete$/m);
  }));

test("with --wait-limit flemma asks more often than six times, for advance and for ask", (place) =>
  withServer(
    [...Array(8).fill(limited({ "retry-after-ms": "1" })), textReply("Hello!")],
    async ({ env, requests }) => {
      place.write("a.chat", QUESTION);
      const { stderr } = await place.exits(0, ["advance", "a.chat", "--wait-limit", "90"], {
        env: { ...KEY, ...env },
      });
      assert.equal(requests.length, 9);
      assert.match(stderr, /\(attempt 9\)\.$/m);
      assert.match(place.read("a.chat"), /Hello!/);
    },
  ).then(() =>
    withServer(
      [...Array(8).fill(limited({ "retry-after-ms": "1" })), textReply("Hello!")],
      async ({ env }) => {
        const { stdout } = await place.exits(0, ["ask", "Hi", "--wait-limit", "1h"], {
          env: { ...KEY, ...env },
        });
        assert.equal(stdout, "Hello!\n");
      },
    )
  ));

test("run.wait_for_limit in the settings has the same effect, and the duration 6h gets a hint", async (place) => {
  const replies = [...Array(7).fill(limited({ "retry-after-ms": "1" })), textReply("Hello!")];
  await withServer(replies, async ({ env }) => {
    place.settings("run: { wait_for_limit: 60 }\n");
    place.write("a.chat", QUESTION);
    await place.exits(0, ["advance", "a.chat"], { env: { ...KEY, ...env } });
    const status = await place.run(["status", "a.chat"], { env: KEY });
    assert.match(status.stdout, /^waits for limits: up to 1 min in a run$/m);
  });
  place.settings('run: { wait_for_limit: "6h" }\n');
  const wrong = await place.exits(2, ["status", "a.chat"], { env: KEY });
  assert.match(wrong.stderr, /write 21600/);
});

test("a limit that ends later than allowed stops the run with its time, and the printed option leads on", async (place) => {
  await withServer([limited({ "retry-after": "7200" })], async ({ env, requests }) => {
    place.write("a.chat", QUESTION);
    const { stdout, stderr } = await place.exits(1, ["advance", "a.chat", "--json"], {
      env: { ...KEY, ...env },
    });
    const stopped = stdout.trim().split("\n").map((line) => JSON.parse(line)).at(-1);
    assert.deepEqual([stopped.reason, stopped.exit, requests.length], ["limited", 1, 1]);
    assert.match(stopped.problem.retry_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.match(stderr, /Try again after \S+Z, or let flemma wait: --wait-limit 3h$/m);
    assert.equal(place.read("a.chat"), QUESTION);
  });
  await withServer([limited({ "retry-after": "7200" })], async ({ env, received }) => {
    const started = place.start(["advance", "a.chat", "--events", "events", "--wait-limit", "3h"], {
      env: { ...KEY, ...env },
    });
    await received(1);
    while (!place.exists("events") || !place.read("events").includes("request:retrying")) {
      await new Promise((done) => setTimeout(done, 5));
    }
    started.kill("SIGINT");
    const { code, stderr } = await started.finished;
    assert.equal(code, 130);
    assert.match(stderr, /Retrying in 2 h, at \d\d:\d\d:\d\d \(attempt 2\)\.$/m);
    assert.equal(place.read("a.chat"), QUESTION);
  });
});

for (const signal of ["SIGKILL", "SIGINT"] as const) {
  test(`while a run waits, status says so and another run works; ${signal} ends the wait and leaves nothing`, (place) =>
    withServer(
      [limited({ "retry-after": "7200" }), textReply("Hello!"), textReply("Yes.")],
      async ({ env }) => {
        place.write("a.chat", QUESTION);
        const started = place.start(["advance", "a.chat", "--wait-limit", "3h"], { env: { ...KEY, ...env } });
        let status = "";
        while (!status.includes("waits for the provider")) {
          status = (await place.exits(0, ["status", "a.chat"], { env: KEY })).stdout;
        }
        assert.match(
          status,
          /^process \d+ on \S+ waits for the provider; meanwhile you can change the document$/m,
        );
        const json = JSON.parse((await place.exits(0, ["status", "a.chat", "--json"], { env: KEY })).stdout);
        assert.deepEqual([json.in_use_by, typeof json.waiting_run.pid], [null, "number"]);
        const second = await place.exits(0, ["advance", "a.chat"], { env: { ...KEY, ...env } });
        const answered = place.read("a.chat");
        assert.match(answered, /@Assistant:\nHello!/);
        started.kill(signal);
        const { code } = await started.finished;
        if (signal === "SIGINT") assert.equal(code, 130);
        assert.equal(place.read("a.chat"), answered);
        const after = await place.exits(0, ["status", "a.chat"], { env: KEY });
        assert.doesNotMatch(after.stdout, /waits for the provider/);
        place.write("a.chat", `${answered}And?\n`);
        const third = await place.exits(0, ["advance", "a.chat"], { env: { ...KEY, ...env } });
        assert.doesNotMatch(`${second.stderr}${third.stderr}`, /without finishing|is in use/);
      },
    ));
}

test("--fallback asks another model, says so at once and at the end, and usage and status name both", (place) =>
  withServer([OVERLOADED, OVERLOADED, OVERLOADED, textReply("Hello!")], async ({ env, requests }) => {
    place.write("a.chat", QUESTION);
    const { stderr, stdout } = await place.exits(0, [
      "advance",
      "a.chat",
      "--json",
      "--fallback",
      `openai/x, ${SECOND}`,
    ], {
      env: { ...KEY, ...env },
    });
    assert.deepEqual(requests.map(({ model }) => model), [FIRST, FIRST, FIRST, SECOND]);
    const asks =
      `anthropic/${FIRST} cannot answer: overloaded_error — Too many. Asking anthropic/${SECOND} for this reply.`;
    assert.ok(stderr.includes(`flemma: ${asks}\n`), stderr);
    assert.match(
      stderr,
      /This reply is by anthropic\/claude-opus-5-5, because anthropic\/claude-sonnet-5-5 could not/,
    );
    assert.match(stderr, /Not by openai\/x: .*key/i);
    const events = stdout.trim().split("\n").map((line) => JSON.parse(line));
    const { record } = events.findLast(({ event }) => event === "request:finished");
    assert.deepEqual([record.model, record.instead_of], [SECOND, `anthropic/${FIRST}`]);
    const status = await place.run(["status", "a.chat", "--config", "/dev/null"], { env: KEY });
    assert.match(
      status.stdout,
      /^last reply: by anthropic\/claude-opus-5-5, because anthropic\/claude-sonnet-5-5 could not answer$/m,
    );
    const usage = await place.run(["usage", "a.chat"], { env: KEY });
    assert.match(usage.stdout, /anthropic claude-opus-5-5/);
  }));

test("only the person's own settings and the command line name other models", async (place) => {
  place.settings(`fallback: { models: [${SECOND}, $nosuch] }\n`);
  place.write("a.chat", QUESTION);
  const wrong = await place.exits(2, ["status", "a.chat"], { env: KEY });
  assert.match(wrong.stderr, /"fallback\.models" names the preset "\$nosuch", which does not exist/);
  place.settings(`fallback: { models: [${SECOND}], on: [limited] }\n`);
  const status = await place.exits(0, ["status", "a.chat"], { env: KEY });
  assert.match(status.stdout, new RegExp(`^fallback: ${SECOND} \\(if limited\\)$`, "m"));
  place.write(
    "b.chat",
    "```yaml\nflemma:\n  fallback: { models: [openai/x] }\n  run: { wait_for_limit: 5 }\n```\n\n@You:\nHi\n",
  );
  const checked = await place.run(["check", "b.chat"], { env: KEY });
  assert.match(checked.stdout, /fallback\.models/);
  assert.match(checked.stdout, /run\.wait_for_limit/);
  place.settings("");
  await Deno.mkdir(place.path(".flemma"));
  place.write(".flemma/config.yaml", "fallback: { models: [openai/x] }\nrun: { wait_for_limit: 5 }\n");
  for (const trust of [false, true]) {
    if (trust) await place.exits(0, ["trust", ".flemma/config.yaml"], { env: KEY });
    const project = await place.exits(0, ["status", "a.chat"], { env: KEY });
    assert.doesNotMatch(project.stdout, /fallback:|waits for limits/);
    const check = await place.run(["config", "check"], { env: KEY });
    for (const key of ["fallback.models", "run.wait_for_limit"]) {
      assert.ok(
        `${check.stdout}${check.stderr}`.includes(`"${key}" `),
        `${trust} ${check.stdout}${check.stderr}`,
      );
    }
  }
});

test("an option with a wrong time is refused before anything is sent", async (place) => {
  place.write("a.chat", QUESTION);
  for (const value of ["soon", "-1", "6x", ""]) {
    const { stderr } = await place.exits(2, ["advance", "a.chat", "--wait-limit", value], { env: KEY });
    assert.match(stderr, /--wait-limit needs seconds or a duration, such as 90, 30m or 6h/, value);
  }
});
