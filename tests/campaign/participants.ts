// A run in which everything takes part: a call, a background job, a helper and hooks, under each sandbox. What a document,
// its folder and the process table must look like afterwards.

import assert from "node:assert/strict";
import type { Scene } from "../cli/harness.ts";
import { frames, SSE, stop } from "../cycle/sending.ts";
import { parse } from "../../parser/mod.ts";
import { documentJobs } from "../../parser/view/jobs.ts";
import { type Chance, pause } from "./random.ts";

export const QUESTION = "Do everything.\n";

/** Who takes part in a run. */
export interface Participants {
  /** The sandbox; `none` turns it off. */
  readonly backend: "bwrap" | "landlock" | "none";
  readonly job: boolean;
  readonly hook: boolean;
  readonly helper: boolean;
  /** True if one reply has all calls. */
  readonly together: boolean;
}

/** Chooses participants. Three of four runs have all that their sandbox allows. */
export function chooseParticipants(random: Chance): Participants {
  const backend = random.pick(["bwrap", "landlock", "none"] as const);
  const all = random.below(4) > 0;
  const may = () => all || random.below(2) === 0;
  return {
    backend,
    job: may(),
    hook: may(),
    // Under a sandbox that repairs files, documents cannot ask helpers.
    helper: backend !== "landlock" && may(),
    together: random.below(2) === 0,
  };
}

/** A call by the text in a request by which it is recognized. */
interface Called {
  readonly mark: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export class Company {
  readonly who: Participants;
  /** A word in the command lines of all processes of this run. */
  readonly mark = `mark-${crypto.randomUUID()}`;
  readonly env: Readonly<Record<string, string>>;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #calls: readonly Called[];

  constructor(place: Scene, who: Participants) {
    this.who = who;
    const bash = (command: string, more: object) => ({
      mark: command,
      name: "bash",
      input: { command: `: ${this.mark}; ${command}`, label: "x", timeout: null, ...more },
    });
    const background = (isBackground: boolean) => who.job ? { "flemma.background": isBackground } : {};
    const asked = { question: "Question one.", document: null, name: "one", preset: null, files: null };
    this.#calls = [
      ...who.job ? [bash("echo job >> jobs; exec sleep 900", background(true))] : [],
      bash("echo ran >> runs; sleep 0.05; echo over", background(false)),
      ...who.helper ? [{ mark: "Question one.", name: "ask_document", input: asked }] : [],
    ];
    this.#server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      async (request) => stream(this.#answer(await request.json())),
    );
    this.env = {
      ANTHROPIC_API_KEY: "k",
      FLEMMA_ANTHROPIC_BASE_URL: `http://127.0.0.1:${this.#server.addr.port}`,
    };
    place.settings(settingsOf(who, place));
    if (!who.hook) return;
    place.write("before.sh", "cat > /dev/null; echo hook >> hooks\n");
    place.write(
      "after.sh",
      `cat > /dev/null; echo '{"hookSpecificOutput":{"additionalContext":"Noted."}}'\n`,
    );
  }

  close(): Promise<void> {
    return this.#server.shutdown();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #answer({ messages }: { readonly messages: readonly { readonly content: unknown }[] }): readonly object[] {
    const all = JSON.stringify(messages);
    if (!JSON.stringify(messages[0]!.content).includes("Do everything.")) {
      return JSON.stringify(messages.at(-1)!.content).includes("tool_result")
        ? text("Answer ", "one.")
        : calls([{ mark: "", name: "calculator", input: { expression: "1 + 1" } }], "h");
    }
    const next = this.#calls.filter(({ mark }) => !all.includes(mark));
    if (next.length === 0) return text("All is ", "well.\n", "Indeed.");
    return calls(this.who.together ? next : next.slice(0, 1), `m${messages.length}`);
  }

  /** Goes on with a document until the model has its last word, as a person would: what has run does not run again. */
  async settle(place: Scene): Promise<void> {
    // A kill may have cut the last word, which is then continued.
    const most = /All is/.test(place.read("a.chat")) && !isComplete(place) ? 2 : 1;
    for (let again = 0;; again++) {
      const more = again === 0 && isComplete(place) ? [] : ["--continue"];
      const next = await place.process(["advance", ...more, "a.chat"], { env: this.env });
      const now = place.read("a.chat");
      const reported = `${JSON.stringify(this.who)}\nexit ${next.code}\n${next.stderr}\n${now}`;
      this.check(place, reported);
      assert.ok(now.split("\nIndeed.").length - 1 <= most, `the last word twice: ${reported}`);
      if (next.code === 0 && isComplete(place)) return;
      assert.ok([0, 3].includes(next.code) && again < 8, reported);
      await this.#decide(place);
    }
  }

  async #decide(place: Scene): Promise<void> {
    const ids = parse(new TextEncoder().encode(place.read("a.chat"))).calls;
    for (const { id, input } of ids) {
      const command = JSON.stringify(input);
      const hasRun = (command.includes(">> runs") && lines(place, "runs") > 0) ||
        (command.includes(">> jobs") && lines(place, "jobs") > 0);
      await place.process([hasRun ? "reject" : "approve", "a.chat", id], { env: this.env });
    }
    if (!this.who.helper) return;
    // A call can wait in the helper, too.
    const { stdout } = await place.process(["status", "a.chat.d/one.chat", "--json"], { env: this.env });
    if (!stdout.startsWith("{")) return;
    const { calls } = JSON.parse(stdout) as { calls: readonly { readonly id: string }[] };
    for (const { id } of calls) await place.process(["approve", "a.chat", `one/${id}`], { env: this.env });
  }

  /** What must be true after every run that was not killed. */
  check(place: Scene, reported: string): void {
    const now = place.read("a.chat");
    assert.ok(now.startsWith(`@You:\n${QUESTION}`), reported);
    for (const name of ["runs", "jobs"]) assert.ok(lines(place, name) <= 1, `${name} twice: ${reported}`);
    const chat = parse(new TextEncoder().encode(now));
    const results = chat.results.map(({ id }) => id);
    assert.equal(new Set(results).size, results.length, `two results of one call: ${reported}`);
    for (const { id, finished } of documentJobs(chat)) {
      assert.ok(finished, `${id} has no result: ${reported}`);
      assert.equal(now.split(`**Job Result:** \`${id}\``).length, 2, `${id}: ${reported}`);
    }
    assert.ok(now.split("Noted.").length - 1 <= results.length, `a hook's text twice: ${reported}`);
    assert.deepEqual(processesWith(this.mark), [], `a process lives on: ${reported}`);
    const left = [...Deno.readDirSync(place.path(""))].map(({ name }) => name).filter((name) =>
      /tmp$|^\./.test(name)
    );
    assert.deepEqual(left, [], reported);
    if (!place.exists("a.chat.d/one.chat")) return;
    const helper = place.read("a.chat.d/one.chat");
    assert.equal(helper.split("Question one.").length, 2, `asked twice: ${reported}\n${helper}`);
    assert.deepEqual(
      [...Deno.readDirSync(place.path("a.chat.d"))].map(({ name }) => name),
      ["one.chat"],
      reported,
    );
  }
}

/** Settings of a sandbox that cannot write the folder for temporary files, in which the program itself may be. */
export function sandboxOf(backend: Participants["backend"]): object {
  return backend === "none" ? { enabled: false } : { backend, policy: { rw_paths: ["urn:flemma:cwd"] } };
}

function settingsOf({ backend, hook }: Participants, place: Scene): string {
  const entry = (name: string) => [{
    matcher: "",
    hooks: [{ type: "command", command: `sh ${place.path(name)}` }],
  }];
  const names = ["bash", "ask_document", "calculator"];
  return JSON.stringify({
    tools: { $append: ["ask_document"], auto_approve: names },
    sandbox: sandboxOf(backend),
    ...hook ? { hooks: { PreToolUse: entry("before.sh"), PostToolUse: entry("after.sh") } } : {},
  });
}

const BEGIN = { type: "message_start", message: { usage: { input_tokens: 1 } } };
const END = { type: "message_stop" };

function text(...pieces: readonly string[]): readonly object[] {
  return [
    BEGIN,
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...pieces.map((piece) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: piece },
    })),
    { type: "content_block_stop", index: 0 },
    stop("end_turn"),
    END,
  ];
}

function calls(all: readonly Called[], prefix: string): readonly object[] {
  return [
    BEGIN,
    ...all.flatMap(({ name, input }, index) => [
      {
        type: "content_block_start",
        index,
        content_block: { type: "tool_use", id: `${prefix}-${index}`, name, input: {} },
      },
      {
        type: "content_block_delta",
        index,
        delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
      },
      { type: "content_block_stop", index },
    ]),
    stop("tool_use"),
    END,
  ];
}

/** A stream that comes slowly, so that a kill or a save hits every part of it. */
function stream(events: readonly object[]): Response {
  const body = ReadableStream.from((async function* () {
    for (const event of events) {
      await pause(8);
      yield new TextEncoder().encode(frames(event));
    }
  })());
  return new Response(body, { headers: SSE });
}

/** True if the model has its last word. */
export function isComplete(place: Scene): boolean {
  return /\nIndeed\.\n[^]*\n@You:\s*$/.test(place.read("a.chat"));
}

/** Number of lines in a file. */
function lines(place: Scene, name: string): number {
  return place.exists(name) ? place.read(name).trimEnd().split("\n").length : 0;
}

/** Processes whose command line contains a word. */
function processesWith(word: string): string[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => name).filter((name) => /^\d+$/.test(name)).filter(
    (pid) => {
      try {
        return Deno.readTextFileSync(`/proc/${pid}/cmdline`).includes(word);
      } catch {
        return false; // The process has ended.
      }
    },
  );
}
