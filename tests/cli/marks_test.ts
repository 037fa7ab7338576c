// approve, reject, execute, send and status: targets, fragments and exit codes.

import assert from "node:assert/strict";
import { callsDocument, type Scene, testWithScene as test } from "./harness.ts";
import { textReply, withServer } from "./replies.ts";

const TWO = callsDocument([
  { id: "call_1", command: "echo one >> log", status: "pending" },
  { id: "call_2", command: "echo two >> log", status: "pending" },
]);

const CLI = new URL("../../cli.ts", import.meta.url).href;
const MAIN = new URL("../../commands/main.ts", import.meta.url).href;

/** A program that prints the modules which the command line imports before it knows what is wanted. */
/** Prints the modules that come with the one at a path before anything of it runs. */
const loadedWith = (path: string) => `
    const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json", ${
  JSON.stringify(path)
}] }).output();
    const { modules, roots } = JSON.parse(new TextDecoder().decode(stdout));
    const byName = new Map(modules.map((module) => [module.specifier, module]));
    const seen = new Set();
    const visit = (specifier) => {
      if (seen.has(specifier)) return;
      seen.add(specifier);
      for (const { code, isDynamic } of byName.get(specifier)?.dependencies ?? []) {
        if (!isDynamic && code?.specifier) visit(code.specifier);
      }
    };
    visit(roots[0]);
    console.log([...seen].join("\\n"));
  `;

const KEY = { ANTHROPIC_API_KEY: "test-key" };

async function statuses(place: Scene, name: string): Promise<Record<string, string>> {
  const { stdout } = await place.run(["status", name, "--json"]);
  const { calls } = JSON.parse(stdout) as { calls: { id: string; status: string }[] };
  return Object.fromEntries(calls.map(({ id, status }) => [id, status]));
}

test("approve without a target lists the pending calls if there are several, and changes nothing", async (place) => {
  place.write("a.chat", TWO);
  const { stderr } = await place.exits(2, ["approve", "a.chat"]);
  assert.match(stderr, /name one, or use --all\.\n {2}Pending: 1 call_1, 2 call_2\n/);
  assert.match(
    stderr,
    /\n {2}1 {2}bash: \$ echo one >> log {3}call_1\n {2}2 {2}bash: \$ echo two >> log {3}call_2\n$/,
  );
  assert.equal(place.read("a.chat"), TWO);
});

test("approve takes ids, unique prefixes of ids, lines, tools or all as targets, and runs nothing", async (place) => {
  const line = TWO.split("\n").findIndex((text) => text.startsWith("**Tool Result:** `call_2`")) + 1;
  const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
    [["call_1"], ["call_1"]],
    [["call_2", "call_1"], ["call_1", "call_2"]],
    [["--line", String(line)], ["call_2"]],
    [["--tool", "bash"], ["call_1", "call_2"]],
    [["--all"], ["call_1", "call_2"]],
  ];
  for (const [targets, approved] of cases) {
    place.write("a.chat", TWO);
    await place.exits(0, ["approve", "a.chat", ...targets]);
    const found = await statuses(place, "a.chat");
    for (const id of ["call_1", "call_2"]) {
      assert.equal(found[id], approved.includes(id) ? "approved" : "pending", `${targets.join(" ")}: ${id}`);
    }
  }
  assert.ok(!place.exists("log"));
  place.write("a.chat", TWO);
  const [ambiguous, unknown] = [
    await place.run(["approve", "a.chat", "call_"]),
    await place.run(["reject", "a.chat", "x"]),
  ];
  assert.deepEqual([ambiguous.code, unknown.code], [2, 1]);
  assert.equal(place.read("a.chat"), TWO);
});

test("a rejection sends its message to the model", async (place) => {
  place.write("a.chat", TWO);
  await place.exits(0, ["reject", "a.chat", "call_1", "-m", "Use ```rg```."]);
  assert.match(place.read("a.chat"), /`call_1`\n\n````flemma:tool status=rejected\nUse ```rg```\.\n````\n/);
  await place.exits(0, ["execute", "a.chat", "call_1"]);
  assert.match(place.read("a.chat"), /`call_1` \(error\)\n\n````\nUse ```rg```\.\n````\n/);
});

test("approve and reject change a block that an editor selected as a fragment, and keep the rest of it", async (place) => {
  const block = "**Tool Result:** `c1`\n\n```flemma:tool status=pending\n```\n";
  const fragment = `text above\r\n${block}\n  text below`;
  const [approved, rejected, nothing] = await Promise.all([
    place.run(["approve"], { stdin: fragment }),
    place.run(["reject", "-", "c1", "-m", "No."], { stdin: block }),
    place.run(["approve"], { stdin: "no block here\n" }),
  ]);
  assert.equal(approved.stdout, fragment.replace("pending", "approved"));
  assert.equal(rejected.stdout, "**Tool Result:** `c1`\n\n```flemma:tool status=rejected\nNo.\n```\n");
  assert.deepEqual([approved.code, rejected.code], [0, 0]);
  assert.equal(nothing.stdout, "no block here\n");
  assert.notEqual(nothing.code, 0);
});

test("a call with a shortened preview can be approved only by its id", async (place) => {
  const command = `echo ${"x".repeat(200)}; touch ran`;
  const document = callsDocument([{ id: "c1", command, status: "pending" }]);
  place.write("a.chat", document);
  for (const target of [[], ["--all"], ["--tool", "bash"]]) {
    const { stderr } = await place.exits(2, ["approve", "a.chat", ...target]);
    assert.match(stderr, /preview does not show all of the call c1/);
  }
  assert.equal(place.read("a.chat"), document);
  await place.exits(0, ["approve", "a.chat", "c1"]);
});

test("an approval applies only to the approved text of the call: if the text changes, the call waits again", async (place) => {
  place.write("a.chat", callsDocument([{ id: "c1", command: "touch good", status: "pending" }]));
  await place.exits(0, ["approve", "a.chat"]);
  place.write("a.chat", place.read("a.chat").replace("touch good", "touch evil"));
  await place.exits(3, ["advance", "a.chat"]);
  assert.ok(!place.exists("evil"));
  assert.match(place.read("a.chat"), /status=pending/);
});

test("execute runs one call, whatever its status, and is refused if it is unclear which call is meant", async (place) => {
  place.write("a.chat", TWO);
  await place.exits(2, ["execute", "a.chat"]);
  await place.exits(0, ["execute", "a.chat", "call_2"]);
  assert.equal(place.read("log"), "two\n");
  assert.deepEqual(await statuses(place, "a.chat"), { call_1: "pending" });
});

test("send is refused while calls are open and names them, and --dry-run shows the request body without a key", (place) =>
  withServer([textReply("Done.")], async ({ env, requests }) => {
    place.write("a.chat", TWO);
    const refused = await place.exits(3, ["send", "a.chat"], { env: { ...KEY, ...env } });
    assert.match(refused.stderr, /call_1, call_2/);
    assert.equal(place.read("a.chat"), TWO);
    assert.equal(requests.length, 0);
    place.write("b.chat", "@System:\nBrief.\n\n@You:\nHi\n");
    const dry = await place.exits(0, ["send", "b.chat", "--dry-run"], { env });
    const shown = await place.run(["send", "b.chat", "--dry-run", "--headers"], {
      env: { ...KEY, ...env },
    });
    assert.ok(shown.stdout.endsWith(`\n\n${dry.stdout}`));
    assert.match(shown.stdout, /^POST http:\/\/127\.0\.0\.1:\d+\/v1\/messages\n/);
    assert.doesNotMatch(shown.stdout, /test-key/);
    await place.exits(0, ["send", "b.chat"], { env: { ...KEY, ...env } });
    assert.deepEqual(requests, [JSON.parse(dry.stdout)]);
    assert.match(place.read("b.chat"), /@Assistant:\nDone\.\n\n@You:\n\n$/);
  }));

test("status shows the status of each call, the effect of the next advance, and who decides", async (place) => {
  place.settings("tools: { auto_approve_sandboxed: false }\n");
  const next = async (document: string) => {
    place.write("a.chat", document);
    const { stdout, stderr } = await place.run(["status", "a.chat", "--json"]);
    assert.equal(place.read("a.chat"), document);
    return stdout === "" ? stderr : JSON.parse(stdout);
  };
  const open = await next(callsDocument([{ id: "c1", command: "true" }]));
  assert.equal(open.next, "categorise");
  const { line: _, chain, ...call } = open.calls[0];
  assert.deepEqual(chain.map(({ priority }: { priority: number }) => priority), [110, 100, 90, 80, 25]);
  assert.deepEqual(call, {
    id: "c1",
    number: 1,
    name: "bash",
    status: "open",
    preview: "bash: $ true",
    decision: "require_approval",
    source: "default",
    detail: null,
    rule: null,
    commands: [],
    path: null,
    waits_for: [],
    questions: null,
    profile: "founding",
  });
  assert.equal(open.document, place.path("a.chat"));
  assert.equal(
    (await next(callsDocument([{ id: "c1", command: "true", status: "approved" }]))).next,
    "execute",
  );
  assert.equal((await next(TWO)).next, "wait");
  assert.equal((await next("@You:\nHi\n")).next, "send");
  assert.equal((await next("@You:\n\n")).next, "idle");
  const human = await place.run(["status"], { stdin: TWO });
  assert.match(human.stdout, /^pending {3}bash: \$ echo one >> log {3}line \d+ {3}#1 call_1\n/);
  assert.match(human.stdout, /\nnext: flemma approve call_1/);
});

test("several calls are listed with short names and their effects, and the advice mentions --all", async (place) => {
  const ids = ["toolu_01QyZbTtNqkVbqgC2pXw7Fh3", "toolu_01LmNoPqRsTuVwXyZaBcDeFg"];
  const text = callsDocument(ids.map((id) => ({ id, command: `echo ${id.slice(-4)}`, status: "pending" })));
  place.write("a.chat", text);
  const advance = await place.run(["advance", "a.chat"], { env: KEY });
  const advice = "flemma review a.chat, or all of them: flemma approve a.chat --all\n";
  assert.ok(advance.stderr.endsWith(`2 calls wait for you (${ids.join(", ")}): ${advice}`), advance.stderr);
  const status = await place.run(["status", "a.chat"]);
  assert.ok(status.stdout.includes(`\nnext: ${advice}`), status.stdout);
  assert.ok(status.stdout.includes(`   #2 ${ids[1]}\n`), status.stdout);
  const approve = await place.run(["approve", "a.chat", "2"]);
  assert.match(
    approve.stderr,
    /^ {2}2 {2}bash: \$ echo DeFg {3}toolu_01Lm\w+\nApproved: toolu_01Lm\w+\. Nothing has run yet/,
  );
  place.write("a.chat", text);
  const all = await place.run(["approve", "a.chat", "--all"]);
  assert.ok(
    all.stderr.startsWith(
      `  1  bash: $ echo 7Fh3   ${ids[0]}\n  2  bash: $ echo DeFg   ${ids[1]}\nApproved: `,
    ),
    all.stderr,
  );
  place.write("a.chat", text);
  await place.exits(0, ["reject", "a.chat", "7Fh3", "#2"]);
  const short = await place.exits(1, ["reject", "a.chat", "Fh3"]);
  assert.match(short.stderr, /a part of an id needs at least 4 characters/);
});

test("control characters in a model's text are escaped, at a terminal and in JSON", async (place) => {
  const command = "echo \x1b[2J\u202e ok";
  place.write("a.chat", callsDocument([{ id: "c1", command, status: "pending" }]));
  const [human, json, parsed] = await Promise.all([
    place.run(["status", "a.chat"]),
    place.run(["status", "a.chat", "--json"]),
    place.run(["parse", "a.chat", "--json"]),
  ]);
  assert.match(human.stdout, /\\x1b\[2J\\u202e ok/);
  for (const { stdout } of [human, json, parsed]) assert.match(stdout, /^[\x20-\x7e\n]*$/);
  assert.equal(JSON.parse(parsed.stdout).messages[1].segments[1].input.command, command);
});

test("new creates a document once, and says what to do next", async (place) => {
  const made = await place.exits(0, ["new", "my notes.chat", "--system", "Be brief."]);
  assert.match(made.stderr, /flemma advance 'my notes\.chat'\n$/);
  assert.equal(place.read("my notes.chat"), "@System:\nBe brief.\n\n@You:\n\n");
  const again = await place.exits(1, ["new", "my notes.chat"]);
  assert.match(again.stderr, /was not changed/);
  assert.equal(place.read("my notes.chat"), "@System:\nBe brief.\n\n@You:\n\n");
});

test("sandbox run confines a command and returns its exit code, and sandbox status shows the policy", async (place) => {
  const line = "echo x > ../outside || echo kept > here; echo $ANTHROPIC_API_KEY >> here; exit 7";
  await place.exits(7, ["sandbox", "run", "--", "sh", "-c", line], { env: KEY });
  assert.equal(place.read("here"), "kept\n\n");
  const status = await place.exits(0, ["sandbox", "status", "--json"]);
  const { enabled, available, writable } = JSON.parse(status.stdout);
  assert.deepEqual([enabled, available], [true, true]);
  assert.ok(writable.some(({ path }: { path: string }) => place.path("").startsWith(`${path}/`)));
  const off = await place.exits(0, ["sandbox", "status", "--no-sandbox"]);
  assert.match(off.stdout, /off[\s\S]*command line/);
});

test("version and help need no document, and neither loads the code of the other parts of the program", async (place) => {
  const version = await place.run(["--version"]);
  assert.match(version.stdout, /^flemma \d+\.\d+\.\d+\n$/);
  const help = await place.run(["--help"]);
  assert.match(help.stdout, /flemma new notes\.chat/);
  const loaded = async (path: string) => {
    const graph = await place.spawn([Deno.execPath(), "eval", loadedWith(path)], {}).finished;
    assert.equal(graph.code, 0, graph.stderr);
    assert.doesNotMatch(graph.stdout, /parser\/|providers\/|sandbox\/|tools\/|yaml|ajv/);
    return graph.stdout;
  };
  assert.match(await loaded(MAIN), /commands\/line\/table\.ts/);
  const first = await loaded(CLI);
  assert.match(first, /commands\/line\/version\.ts/);
  assert.doesNotMatch(first, /table\.ts|help\.ts|commands\/main\.ts/);
});

test("new creates no document if it cannot record that it created one", async (place) => {
  place.write("no-folder", "");
  const { stderr } = await place.exits(1, ["new", "a.chat"], {
    env: { XDG_STATE_HOME: place.path("no-folder") },
  });
  assert.match(stderr, /^flemma: a\.chat was not created, because your trust [^\n]*[^.]\.\n {2}Make /);
  assert.equal(place.exists("a.chat"), false);
});

test("a refused approval names the exact command that would work", async (place) => {
  place.write("my notes.chat", callsDocument([{ id: "c1", command: "x ".repeat(400), status: "pending" }]));
  const { stderr } = await place.exits(2, ["approve", "my notes.chat"]);
  assert.match(stderr, /flemma approve 'my notes\.chat' c1\n$/);
});

test("send gives the same advice about a failure as advance, and says when a rate limit ends", (place) => {
  const body = JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "slow down" } });
  const limit = { status: 429, headers: { "retry-after": "9" }, body };
  return withServer([limit, limit], async ({ env }) => {
    for (const command of ["advance", "send"]) {
      const { stderr } = await place.exits(1, [command, "--no-retry"], {
        stdin: "@You:\nHi\n",
        env: { ...KEY, ...env },
      });
      assert.match(
        stderr,
        /slow down\n {2}retry-after: 9\n {2}Try again[^\n]*\n {2}Continue with: flemma advance\n$/,
        command,
      );
    }
  });
});

test("no advice leads to a request that would be refused again", (place) => {
  const error = (status: number, type: string, message: string, headers = {}) => ({
    status,
    headers,
    body: JSON.stringify({ type: "error", error: { type, message } }),
  });
  const rows: readonly (readonly [ReturnType<typeof error>, RegExp])[] = [
    [
      error(404, "not_found_error", "model: x"),
      /x\n {2}Check the model name \(flemma models list anthropic\)[^\n]*\n$/,
    ],
    [error(401, "authentication_error", "bad key"), /bad key\n {2}Check the key [^\n]*\n$/],
    [error(429, "insufficient_quota", "spent"), /spent\n {2}Retrying does not help[^\n]*\n$/],
    [
      error(400, "invalid_request_error", "odd"),
      /Inspect it with: flemma advance --no-tools --dry-run a\.chat\n$/,
    ],
    [error(500, "api_error", "down"), /down\n[^]*\n {2}Continue with: flemma advance a\.chat\n$/],
  ];
  return withServer(rows.map(([reply]) => reply), async ({ env }) => {
    place.write("a.chat", "@You:\nHi\n");
    for (const [, expected] of rows) {
      const { stderr } = await place.run(["advance", "a.chat", "--no-retry"], { env: { ...KEY, ...env } });
      assert.match(stderr, expected);
    }
    // What is advised works.
    await place.exits(0, ["send", "a.chat", "--dry-run"], { env: { ...KEY, ...env } });
  });
});

test("status reports a call that was running when the program ended, and an approved block that contains text", async (place) => {
  place.write("a.chat", callsDocument([{ id: "c1", command: "touch began; sleep 60", status: "approved" }]));
  const run = place.start(["advance", "a.chat"]);
  await place.appears("began", run);
  run.kill("SIGKILL");
  await run.finished;
  const killed = await place.run(["status", "a.chat"]);
  assert.match(killed.stdout, /^next: flemma advance a\.chat asks you again about c1$/m);
  const filled = callsDocument([{ id: "c2", command: "true", status: "approved" }])
    .replace("status=approved\n", "status=approved\nmy own words\n");
  const { stdout } = await place.run(["status"], { stdin: filled });
  assert.match(stdout, /^next: check c2: approved, but there is text in the block/m);
});

test("an id that looks like an option is never suggested as an argument", async (place) => {
  const text = callsDocument([{ id: "--all", command: "echo one", status: "pending" }]);
  place.write("a.chat", text);
  const status = await place.run(["status", "a.chat"]);
  const [, typed] = /^next: (flemma approve .+), or reject/m.exec(status.stdout) ?? [];
  assert.equal(typed, "flemma approve a.chat 1");
  const advance = await place.run(["advance", "a.chat"]);
  assert.match(advance.stderr, /: flemma approve a\.chat 1\n$/);
  const two = callsDocument([
    { id: "--all", command: "echo one", status: "pending" },
    { id: "c2", command: "echo two", status: "pending" },
  ]);
  const piped = await place.run(["status"], { stdin: two });
  assert.match(piped.stdout, /^next: flemma approve 1, or all of them: flemma approve --all$/m);
  place.write("a.chat", two);
  const { code, stderr } = await place.shell(typed!);
  assert.equal(code, 0, stderr);
  assert.deepEqual(await statuses(place, "a.chat"), { "--all": "approved", c2: "pending" });
});

test("approve --line and reject --line take only the call on that line or its block, and show it", async (place) => {
  const text = callsDocument([
    { id: "c1", command: "echo one", status: "pending" },
    { id: "c2", command: "echo two", status: "pending" },
  ]);
  const lineOf = (words: string) => text.slice(0, text.indexOf(words)).split("\n").length;
  const [call, result] = [lineOf("**Tool Use:** `bash` (`c2`)"), lineOf("**Tool Result:** `c2`")];
  for (const line of [9999, 1, lineOf("@Assistant:"), text.split("\n").length + 1]) {
    for (const command of ["approve", "reject"]) {
      place.write("a.chat", text);
      const { stderr } = await place.exits(1, [command, "a.chat", "--line", String(line)]);
      assert.match(
        stderr,
        new RegExp(
          `No call is on line ${line}\\.\n {2}The nearest: c([12]) \\(line \\d+\\), c(?!\\1)[12] \\(line \\d+\\)\n`,
        ),
      );
      assert.equal(place.read("a.chat"), text);
    }
  }
  for (const line of [call, call + 1, result, result + 1]) {
    place.write("a.chat", text);
    const { stderr } = await place.exits(0, ["approve", "a.chat", "--line", String(line)]);
    assert.match(stderr, /bash: \$ echo two {3}c2\nApproved: c2\./);
  }
});
