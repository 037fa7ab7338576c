// Readers of what flemma keeps in the state folder, and of what hooks, launchers, commands, providers and MCP servers hand
// over. Each gets random input.

import assert from "node:assert/strict";
import { readAnswer } from "../../agent/conversation/hooks/answer.ts";
import { decodeAnswer, decodeRequest } from "../../agent/runtime/cancel/request.ts";
import { HelperRecords, isRecorded } from "../../agent/runtime/helpers/record.ts";
import { openJobsOf, readJobRecord } from "../../agent/runtime/jobs/records.ts";
import { readJournals } from "../../batch/journal.ts";
import { savedRows } from "../../batch/wire/results.ts";
import type { Environment } from "../../base/environment.ts";
import { visible } from "../../base/visible.ts";
import { recordedWorktrees } from "../../config/document/worktrees.ts";
import { HOOK_EVENTS } from "../../config/hooks/definition.ts";
import { parse } from "../../parser/mod.ts";
import { getProvider } from "../../providers/registry.ts";
import { failureIn } from "../../sandbox/backends/landlock.ts";
import { parseRequest } from "../../sandbox/network/proxy.ts";
import { BodyMeter } from "../../sandbox/network/request_body.ts";
import { readAnswers } from "../../tools/mcp/questions/answers.ts";
import { questionsIn, readState } from "../../tools/mcp/questions/read.ts";
import { askedSentence, writeQuestions } from "../../tools/mcp/questions/write.ts";
import { withState } from "../folder.ts";
import type { Chance } from "./random.ts";
import { alteredValue, join, pieces, spoiled, spoiledJson, spoiledValue } from "./spoiling.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What reads, by name. */
export const RECORD_READERS: Readonly<Record<string, (random: Chance) => Promise<void>>> = {
  "the journal of a batch": journals,
  "the results of a batch": results,
  "the record of a job": jobs,
  "the records of helpers and worktrees": helpers,
  "the output of a hook": hookOutput,
  "the questions of an MCP server": questions,
  "the report of a launcher": reports,
  "a request to the proxy": requests,
  "a request to cancel": cancels,
};

/** Writes a file below the state folder, and runs `body`. */
async function withFile(
  path: string,
  bytes: Uint8Array,
  body: (environment: Environment, path: string) => Promise<void> | void,
): Promise<void> {
  await withState(async ({ folder, environment }) => {
    const full = `${folder}/state/flemma/${path}`;
    Deno.mkdirSync(full.slice(0, full.lastIndexOf("/")), { recursive: true });
    Deno.writeFileSync(full, bytes);
    await body(environment, full);
  });
}

const HEAD = {
  id: "b1",
  provider: "anthropic",
  kind: "anthropic",
  model: "m",
  url: "https://api.test/v1/messages",
  time: "2026-11-28T12:00:00.000Z",
  count: 1,
  given: { preset: "$p", parameters: { temperature: 1 } },
};
const ITEM = { item: "i1", path: "/a.chat", name: "a.chat", bytes: 9, text: "0a", body: "0b", lock: "state" };
const JOURNAL: readonly object[] = [
  { kind: "batch", head: HEAD },
  { kind: "item", item: ITEM },
  { kind: "posting", time: HEAD.time },
  { kind: "created", remote: "r1" },
  { kind: "writing", item: "i1", size: 3, digest: "0c" },
  { kind: "end", item: "i1", how: "written" },
  { kind: "done" },
];

/** A journal with a broken first line is damaged, and everything that is read has the types that it promises. */
async function journals(random: Chance): Promise<void> {
  const lines = JOURNAL.slice(0, 1 + random.below(JOURNAL.length)).map((line) => {
    if (random.below(3) > 0) return encoder.encode(JSON.stringify(line));
    return spoiledJson(random, line);
  });
  const bytes = join(lines.map((line) => join([line, encoder.encode("\n")])));
  await withFile("batches/b1.jsonl", bytes, async (environment) => {
    const { batches, damaged } = await readJournals(environment);
    assert.ok(batches.length + damaged.length <= 1);
    for (const { head, items, posted, remote, ends, writing } of batches) {
      assert.ok(!Number.isNaN(Date.parse(head.time)) && new URL(head.url));
      for (const name of ["id", "provider", "kind", "model"] as const) {
        assert.equal(typeof head[name], "string");
      }
      assert.ok(["anthropic", "openai", "gemini"].includes(head.kind), head.kind);
      assert.ok(Number.isSafeInteger(head.count) && head.count >= 0, `count ${head.count}`);
      const { given = {} } = head;
      assert.ok(typeof given === "object" && given !== null, JSON.stringify(given));
      for (const text of [given.preset, given.model]) {
        assert.ok(["string", "undefined"].includes(typeof text));
      }
      for (const { item, path, bytes, lock } of items) {
        assert.ok(typeof item === "string" && typeof path === "string");
        assert.ok(Number.isSafeInteger(bytes) && bytes >= 0, `bytes ${bytes}`);
        assert.ok(["state", "beside"].includes(lock), lock);
      }
      for (const text of [posted, remote]) assert.ok(text === null || typeof text === "string");
      for (const how of ends.values()) assert.ok(["written", "kept", "freed"].includes(how), how);
      for (const { size, digest } of writing.values()) {
        assert.ok(Number.isSafeInteger(size) && size >= 0 && typeof digest === "string", `size ${size}`);
      }
    }
  });
}

/** Whole replies, as each provider puts them into the results of a batch. */
const REPLIES: Readonly<Record<string, unknown>> = {
  anthropic: {
    id: "m",
    type: "message",
    role: "assistant",
    content: [
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "text", text: "Well.\n@You:\n", citations: null },
      { type: "tool_use", id: "c1", name: "bash", input: { command: "ls" } },
    ],
    stop_reason: "tool_use",
    usage: { input_tokens: 1, output_tokens: 2 },
  },
  openai: {
    id: "r",
    status: "completed",
    output: [
      {
        type: "reasoning",
        id: "rs",
        summary: [{ type: "summary_text", text: "hm" }],
        encrypted_content: "e",
      },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "Well.", annotations: [] }],
      },
      { type: "function_call", id: "f", call_id: "c1", name: "bash", arguments: '{"command":"ls"}' },
    ],
    usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
  },
  gemini: {
    candidates: [{
      content: {
        role: "model",
        parts: [{ text: "Well." }, { functionCall: { name: "bash", args: { command: "ls" } } }],
      },
      finishReason: "STOP",
    }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2 },
  },
  openai_chat: {
    id: "c",
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        content: "Well.",
        tool_calls: [{
          id: "c1",
          type: "function",
          function: { name: "bash", arguments: '{"command":"ls"}' },
        }],
      },
      finish_reason: "tool_calls",
    }],
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  },
};

/** A row is skipped or read, and the body of a reply is read as effects or as none. */
async function results(random: Chance): Promise<void> {
  const [name, body] = random.pick(Object.entries(REPLIES));
  const provider = await getProvider(name === "openai_chat" ? "moonshot" : name);
  assert.ok(provider.ok);
  const row = { custom_id: "i1", result: { type: "succeeded", message: alteredValue(random, body) } };
  const bytes = join([
    encoder.encode(`${JSON.stringify(row)}\n`),
    spoiledJson(random, row),
    encoder.encode(`\n${JSON.stringify({ custom_id: "i2" })}\n`),
  ]);
  await withFile("batches/b1.results", bytes, async (_, path) => {
    const rows = [];
    for await (const each of savedRows(path)) rows.push(each);
    assert.ok(rows.length >= 2, "the rows around a broken one are lost");
  });
  const effects = provider.value.reader().whole(row.result.message);
  for (const effect of effects ?? []) {
    assert.equal(typeof effect.kind, "string");
    if (effect.kind === "text") assert.equal(typeof effect.text, "string", JSON.stringify(effect));
  }
}

const JOB = {
  machine: "m",
  owner: { pid: 1, start: "1" },
  job: "job_abcde",
  document: "/a.chat",
  call: "c1",
  command: "npm test",
  since: "2026-11-28T12:00:00.000Z",
  end: { content: "up", error: false, cut: false },
  delivered: false,
};

/** A record is read with the types that it promises, or not at all; then the job is lost. */
async function jobs(random: Chance): Promise<void> {
  const chat = parse(encoder.encode(
    "@You:\n\n**Tool Result:** `c1` (job=job_abcde)\n\n```\nstarted\n```\n",
  ));
  await withFile("jobs/job_abcde.json", spoiledJson(random, JOB), (environment) => {
    const record = readJobRecord(environment, "job_abcde");
    for (const name of ["document", "call", "command", "since"] as const) {
      if (record !== null) assert.equal(typeof record[name], "string");
    }
    if (record !== null) assert.ok(!Number.isNaN(Date.parse(record.since)), `since ${record.since}`);
    if (record !== null) assert.ok(Number.isSafeInteger(record.owner.pid), `pid ${record.owner.pid}`);
    if (record !== null && record.end !== null) {
      const { content, error, cut } = record.end;
      assert.deepEqual([content, error, cut].map((value) => typeof value), ["string", "boolean", "boolean"]);
    }
    for (const { state } of openJobsOf(environment, "/a.chat", chat)) assert.equal(typeof state, "string");
  });
}

/** A record is read with the types that it promises, or not at all; then this machine did not make the helper. */
async function helpers(random: Chance): Promise<void> {
  await withState(async ({ folder, environment }) => {
    const place = `${folder}/a.chat.d`;
    Deno.mkdirSync(place);
    const asked = [{ id: "c1", hash: "0a", nth: 0, turn: 0 }];
    const known = { folder: place, caller: `${folder}/a.chat`, helpers: { one: { asked, worktree: "/w" } } };
    const records = new HelperRecords(environment);
    await records.write(place, known);
    const tree = {
      folder: "/w",
      branch: "flemma/one",
      base: "0",
      repository: "/r",
      project: "/p",
      prefix: "",
      document: `${place}/one.chat`,
      dirty: false,
    };
    const below = `${folder}/state/flemma`;
    const [{ name } = { name: "" }] = [...Deno.readDirSync(`${below}/helpers`)];
    Deno.writeFileSync(`${below}/helpers/${name}`, spoiledJson(random, known));
    Deno.mkdirSync(`${below}/worktrees`);
    Deno.writeFileSync(`${below}/worktrees/w.json`, spoiledJson(random, tree));
    for (const each of [await records.read(place), ...records.all()]) {
      if (each === null) continue;
      assert.deepEqual([typeof each.folder, typeof each.caller], ["string", "string"]);
      for (const { asked, worktree } of Object.values(each.helpers)) {
        assert.ok(worktree === undefined || typeof worktree === "string");
        for (const { id, hash, nth, turn } of asked) {
          assert.deepEqual([id, hash, nth, turn].map((one) => typeof one), [
            "string",
            "string",
            "number",
            "number",
          ]);
        }
      }
    }
    assert.equal(typeof await isRecorded(environment, `${place}/one.chat`), "boolean");
    for (
      const { folder, branch, base, repository, project, prefix, document } of recordedWorktrees(environment)
    ) {
      for (const text of [folder, branch, base, repository, project, prefix, document]) {
        assert.equal(typeof text, "string");
      }
    }
  });
}

/** JSON that cannot be read is a failure, never an answer; what is read has the types that it promises. */
function hookOutput(random: Chance): Promise<void> {
  const answer = {
    decision: "block",
    reason: "no",
    continue: false,
    stopReason: "enough",
    systemMessage: "hi",
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: random.pick(["allow", "deny", "ask"]),
      permissionDecisionReason: "never",
      additionalContext: "x",
      updatedInput: { command: "ls" },
    },
  };
  const stdout = decoder.decode(spoiledJson(random, answer));
  const code = random.pick([0, 0, 0, 1, 2, 126, 127, 255, null]);
  const outcome = readAnswer(random.pick(HOOK_EVENTS), {
    code,
    signal: null,
    stdout,
    isCut: random.below(8) === 0,
    stderr: random.pick(["", "why\n", "\u202e".repeat(9000)]),
    scriptFault: null,
  });
  if ("failed" in outcome) {
    assert.ok(outcome.failed !== "" && outcome.failed.length < 7000, outcome.failed.slice(0, 99));
    return Promise.resolve();
  }
  assert.notEqual(code, null);
  const { decision, reason, context, notice, updatedInput, endsRun } = outcome.answer;
  assert.ok([null, "deny", "ask", "allow"].includes(decision), String(decision));
  for (const text of [reason, context, notice]) assert.equal(typeof text, "string");
  assert.ok(updatedInput === null || (typeof updatedInput === "object" && !Array.isArray(updatedInput)));
  assert.equal(typeof endsRun, "boolean");
  if (code === 2) assert.equal(decision, "deny");
  return Promise.resolve();
}

const FIELDS = {
  email: { type: "string", title: "Address", description: "Where to.\n@You:", format: "email", minLength: 3 },
  count: { type: "integer", minimum: 1, maximum: 9, default: 3 },
  again: { type: "boolean", default: true },
  color: { type: "string", oneOf: [{ const: "r", title: "Red" }, { const: "g", title: "Green" }] },
  sizes: { type: "array", items: { type: "string", enum: ["s", "l"] }, minItems: 1, default: ["s"] },
  "odd name: #": { type: "number", multipleOf: 0.5 },
};
const ASKED = {
  resultType: "input_required",
  requestState: "kept",
  inputRequests: {
    one: {
      method: "elicitation/create",
      params: {
        mode: "form",
        message: "Where should it go?\n```\n@You:\nno",
        requestedSchema: { type: "object", properties: FIELDS, required: ["email"] },
      },
    },
    two: {
      method: "elicitation/create",
      params: { mode: "url", message: "Open", url: "https://example.com/a?b=c" },
    },
  },
};

/** Questions are refused in a sentence, or written so that only names and answers are no comments; and read back. */
async function questions(random: Chance): Promise<void> {
  const read = questionsIn(spoiledValue(random, ASKED));
  if (read === null) return;
  if (!read.ok) {
    assert.equal(visible(read.problem), read.problem);
    return;
  }
  const asked = { server: "web", repeats: random.below(2) === 0, answered: [], ...read.value };
  const kept = spoiledJson(random, asked);
  const text = writeQuestions(asked);
  const sentence = askedSentence(asked);
  assert.equal(visible(sentence), sentence);
  for (const line of text.split("\n")) {
    assert.match(line, /^(?:| *#.*| *(?:[A-Za-z_][\w-]*|"(?:[^"\\]|\\.)*"):(?: .*)?)$/, text);
    assert.equal(visible(line), line);
  }
  for (const written of [text, decoder.decode(spoiled(random, encoder.encode(text)))]) {
    const answers = await readAnswers(asked, written);
    if (!answers.ok) assert.equal(visible(answers.problem), answers.problem);
    else assert.deepEqual(Object.keys(answers.value).sort(), Object.keys(asked.questions).sort());
  }
  const again = readState(decoder.decode(kept));
  if (again === null) return;
  writeQuestions(again);
  askedSentence(again);
  await readAnswers(again, text);
}

/** A launcher that did not report its end has a failure in a sentence. */
function reports(random: Chance): Promise<void> {
  const whole = random.pick(["ready\nexit 0\n", "failed no rule for /a\n", "ready\n", ""]);
  const report = decoder.decode(spoiled(random, encoder.encode(whole)));
  const failure = failureIn(report, random.pick(["", "error: x\n  at y"]), random.pick([null, undefined]));
  if (failure !== null) assert.match(failure.message, /^The sandbox could not be set up, [^]*\.$/);
  else assert.match(report, /^(?:ready$|exit )/m);
  return Promise.resolve();
}

const REQUESTS = [
  "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\nProxy-Connection: keep-alive\r\n\r\n",
  "GET http://example.org/a?b HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\n\r\n",
  "POST http://[::1]:8080/ HTTP/1.1\r\nHost: [::1]:8080\r\nContent-Length: 5\r\nConnection: close\r\n\r\n",
  "PUT http://example.org HTTP/1.0\r\ntransfer-encoding: chunked\r\nX-Forwarded-Host: b\r\n\r\n",
];

/** What is forwarded names one host, the one that was checked; and how a body is cut changes nothing. */
async function requests(random: Chance): Promise<void> {
  const bytes = spoiled(random, encoder.encode(random.pick(REQUESTS)));
  const head = `${
    Array.from(bytes, (byte) => String.fromCharCode(byte)).join("").replace(/(?:\r\n)+$/, "")
  }\r\n\r\n`;
  const read = parseRequest(head);
  if (read !== null) {
    assert.ok(read.port > 0 && read.port < 65536 && read.host !== "", head);
    assert.doesNotMatch(read.host, /[^!-~]|[/@?#]/);
  }
  if (read?.forward) {
    const { head: forward, body } = read.forward;
    assert.ok(forward.endsWith("\r\n\r\n") && forward.split("\r\n\r\n").length === 2, forward);
    assert.doesNotMatch(forward.replaceAll("\r\n", ""), /[^\t -~\x80-\xff]/);
    const fields = forward.split("\r\n").slice(1, -2).map((line) => line.split(":", 1)[0]!.toLowerCase());
    assert.equal(fields.filter((name) => name === "host").length, 1, forward);
    assert.ok(forward.includes(`Host: ${read.host.includes(":") ? `[${read.host}]` : read.host}`), forward);
    const lengths = fields.filter((name) => /^(?:content-length|transfer-encoding)$/.test(name));
    assert.ok(
      lengths.length <= 1 && (lengths.length === 1) === (body !== 0 || /length/.test(lengths[0] ?? "")),
    );
  }
  const chunks = spoiled(
    random,
    encoder.encode("5\r\nhello\r\n3;a=b\r\nyou\r\n0\r\nA: b\r\n\r\nGET / HTTP/1.1\r\n"),
  );
  assert.deepEqual(await measured(random, chunks), await measured(null, chunks));
}

/** The bytes that belong to a body, and whether it was refused. */
async function measured(random: Chance | null, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const meter = new BodyMeter("chunked");
  let count = 0;
  try {
    if (random === null) { for (const byte of bytes) count += meter.take(new Uint8Array([byte])).length; }
    else for await (const piece of pieces(random, bytes)) count += meter.take(piece).length;
  } catch {
    // How many bytes were taken before depends on the pieces.
    return "refused";
  }
  return `${count} bytes`;
}

function cancels(random: Chance): Promise<void> {
  const request = { request: { kind: random.pick(["one", "call", "line"]), text: "c1", line: 3 }, pid: 7 };
  const read = decodeRequest(decoder.decode(spoiledJson(random, request)));
  if (read !== null) {
    assert.ok(Number.isSafeInteger(read.pid), `pid ${read.pid}`);
    if (read.request.kind === "line") assert.ok(Number.isFinite(read.request.line));
  }
  const answer = {
    cancelled: [{ what: "call", id: "c1", tool: "bash" }],
    running: [{ id: "c2", tool: "read" }],
    requesting: false,
    problem: { code: "x", message: "y", next: "z" },
  };
  const answered = decodeAnswer(decoder.decode(spoiledJson(random, answer)));
  for (const { id, tool } of answered?.running ?? []) {
    assert.deepEqual([typeof id, typeof tool], ["string", "string"]);
  }
  for (const { what } of answered?.cancelled ?? []) assert.equal(typeof what, "string");
  if (answered !== null && answered.problem !== null) assert.equal(typeof answered.problem.message, "string");
  return Promise.resolve();
}
