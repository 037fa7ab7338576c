import assert from "node:assert/strict";
import { PlainLines } from "../../commands/io/display/plain_lines.ts";
import { Terminal } from "../../commands/io/display/terminal.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { testWithScene as test } from "./harness.ts";
import { callReply, textReply, withServer } from "./replies.ts";

/** A stream that keeps what is written (escape characters as ␛), with a clock that stands still until it is moved. */
class World {
  written = "";
  #now = 1000;
  #ticks: (() => void)[] = [];

  readonly write = (text: string) => void (this.written += text.replaceAll("\x1b", "␛"));
  readonly now = () => this.#now;
  readonly every = (_: number, act: () => void) => {
    this.#ticks.push(act);
    return () => void (this.#ticks = this.#ticks.filter((each) => each !== act));
  };

  /** Lets time pass: one frame at its end. Answers what was written meanwhile. */
  pass(milliseconds: number): string {
    this.written = "";
    this.#now += milliseconds;
    for (const tick of this.#ticks) tick();
    return this.written;
  }

  get ticking(): boolean {
    return this.#ticks.length > 0;
  }
}

const messages = () => ({ beforeLine: () => {} });
const sending: CycleEvent = { event: "request:sending", provider: "anthropic", model: "m" };
const text = (words: string): CycleEvent => ({ event: "text", text: words });
const thinks = (characters: number): CycleEvent => ({
  event: "reply:progress",
  block: "thinking",
  characters,
});
const writes = (characters: number): CycleEvent => ({
  event: "reply:progress",
  block: "call",
  name: "bash",
  characters,
});
const done: CycleEvent = { event: "request:finished", status: "completed", usage: null };

function drawn() {
  const world = new World();
  const terminal = new Terminal(messages(), world);
  return {
    world,
    terminal,
    show: (...events: CycleEvent[]) => events.forEach((each) => terminal.show(each)),
  };
}

Deno.test("the terminal shows progress while the model thinks and while the input of a call streams in", () => {
  const { world, show } = drawn();
  show(sending);
  assert.match(world.pass(100), /anthropic m.*0\.1s/);
  show(thinks(0));
  assert.match(world.pass(100), /anthropic m {2}thinks␛.*0\.2s/);
  show(thinks(2345));
  assert.match(world.pass(100), /thinks, 2,345 characters/);
  show(text("Now I look."), writes(0));
  assert.match(world.pass(100), /writing a call of bash␛/, "immediately, without the pause for text");
  show(writes(400));
  assert.match(world.pass(100), /writing a call of bash, 400 characters/);
  show(done);
  assert.equal(world.ticking, false);
});

Deno.test("the spinner appears below an unfinished line of text and disappears when the text continues", () => {
  const { world, show } = drawn();
  show(sending, text("Half a sen"));
  assert.equal(world.pass(900), "", "a short pause does not count");
  const below = world.pass(200);
  assert.match(below, /^␛D␛\[A␛7␛\[B\r␛\[K.*anthropic m.*␛8$/s);
  assert.doesNotMatch(below, /\n/);
  assert.match(world.pass(100), /^␛7␛\[B.*␛8$/s, "the line below is there already");
  world.written = "";
  show(text("tence.\n"));
  assert.equal(world.written, "␛7␛[B\r␛[K␛8tence.\n");
});

Deno.test("the provider and model are shown on a line of their own, once at the start and again after each change", () => {
  const { world, show } = drawn();
  show(sending, done, sending, done);
  assert.equal(world.written.match(/anthropic m/g)?.length, 1);
  show({ event: "request:sending", provider: "anthropic", model: "other" });
  assert.match(world.written, /anthropic other/);
});

Deno.test("a thinking block is shown separately from the text once it is complete, and cannot move the cursor", () => {
  const thought: CycleEvent = { event: "thinking", text: "I look\u001b[2J\nat it." };
  const { world, show } = drawn();
  show(sending, text("Half a line"));
  world.written = "";
  show(thought);
  assert.match(world.written, /^\n␛\[2mI look\S+2J\nat it\.␛\[0m\n$/);
  const plain = new World();
  const read = new PlainLines(messages(), { text: true }, plain);
  for (const event of [text("Half a line"), thought, text("Then")]) read.show(event);
  assert.match(plain.written, /^Half a line\nthinks {3}I look\S+2J\nat it\.\nThen$/);
  const log = new World();
  new PlainLines(messages(), { text: false }, log).show(thought);
  assert.equal(log.written, "");
});

Deno.test("no status line appears inside streamed text, and waiting calls are shown with their line numbers", () => {
  const { world, show } = drawn();
  show(sending, text("Half a line"));
  world.written = "";
  show(
    { event: "tool:executing", id: "a", name: "bash", preview: "bash: $ ls" },
    { event: "tool:finished", id: "a", name: "bash", status: "error", note: "exit code 2" },
  );
  assert.match(world.written, /^\n.*✗.* bash: \$ ls .*exit code 2.*\n$/s);
  world.written = "";
  show({
    event: "approval:pending",
    id: "b",
    name: "bash",
    preview: "bash: $ rm x",
    line: 7,
    source: "default",
  });
  assert.match(world.written, /bash: \$ rm x.*line 7 {2}b/);
});

const runs = (id: string): CycleEvent => ({
  event: "tool:executing",
  id,
  name: "bash",
  preview: `bash: $ work ${id}`,
});
const putsOut = (id: string, words: string): CycleEvent => ({ event: "tool:output", id, text: words });

Deno.test("a running tool shows its elapsed time and last line of output, and both disappear when it ends", () => {
  const { world, show } = drawn();
  show(runs("a"));
  assert.match(world.pass(100), /^\r␛\[K\S bash: \$ work a␛\[2m {2}0\.1s␛\[0m$/, "silent: one row");
  const rows: readonly (readonly [string, string])[] = [
    ["compiling 1\n", "compiling 1"],
    ["compil", "compil"],
    ["ing 2\n\n \n", "compiling 2"],
    ["10 %\r20 %\r", "20 %"],
    ["\u001b[1;32mgreen\u001b[0m\n", "green"],
    ["cut \u001b[3", "cut"],
    ["1mred", "cut red"],
    ["\n\u001b]0;title\u0007named\tone\u202e", "named one\\\\u202e"],
    ["\n" + "x".repeat(9000), "x{76}…"],
  ];
  for (const [words, expected] of rows) {
    show(putsOut("a", words));
    assert.match(world.pass(100), new RegExp(`\n␛\\[2m  ${expected}.?␛\\[0m$`), words.slice(0, 40));
  }
  world.written = "";
  show({ event: "tool:finished", id: "a", name: "bash", status: "success" });
  assert.match(
    world.written,
    /^\r␛\[K␛\[A\r␛\[K␛\[32m✓␛\[0m bash: \$ work a {2}.*\n$/,
    "two rows are removed",
  );
  assert.equal(world.ticking, false);
  show(putsOut("a", "late\n"));
  assert.equal(world.ticking, false, "what a tool puts out after its end begins nothing");
});

Deno.test("each of several parallel tools has its own row, and the tools that do not fit on the screen are counted", () => {
  const { world, show } = drawn();
  show(runs("a"), runs("b"), putsOut("b", "said by b\n"));
  assert.match(world.pass(100), /work a.*\n.*work b.*\n.*said by b␛\[0m$/);
  world.written = "";
  show({ event: "tool:finished", id: "a", name: "bash", status: "success" });
  assert.match(world.written, /^\r␛\[K␛\[A\r␛\[K␛\[A\r␛\[K␛\[32m✓/);
  assert.match(world.pass(100), /^\r␛\[K\S bash: \$ work b.*\n.*said by b␛\[0m$/);
  show(...["c", "d", "e", "f", "g"].map(runs));
  assert.match(
    world.pass(100),
    /work b.*\n.*said by b.*\n.*work c.*\n.*work d.*\n.*work e.*\n.*and 2 more␛\[0m$/,
  );
});

Deno.test("plain output reports calls, results, requests and replies without control characters", () => {
  const world = new World();
  const lines = new PlainLines(messages(), { text: false }, world);
  const events: CycleEvent[] = [
    sending,
    thinks(10),
    text("Words.\x1b[31m"),
    writes(10),
    done,
    {
      event: "approval:pending",
      id: "b",
      name: "bash",
      preview: "bash: $ rm \x1b[1mx",
      line: 7,
      source: "default",
    },
    { event: "tool:executing", id: "a", name: "bash", preview: "bash: $ ls" },
    { event: "tool:finished", id: "a", name: "bash", status: "error", note: "exit code 2" },
    { event: "request:finished", status: "cancelled", usage: null },
    { event: "request:finished", status: "errored", usage: null },
  ];
  for (const event of events) lines.show(event);
  lines.close();
  assert.deepEqual(world.written.split("\n"), [
    "request  anthropic m",
    "reply    ✓  0.0s",
    "waits    bash: $ rm \\x1b[1mx  b",
    "call     bash: $ ls",
    "result   ✗ bash: $ ls  0.0s  exit code 2",
    "reply    ✗ stopped  0.0s",
    "reply    ✗ failed  0.0s",
    "",
  ]);
});

Deno.test("without colors the reply appears as it streams, and status lines stay on lines of their own", () => {
  const world = new World();
  const host = messages();
  const lines = new PlainLines(host, { text: true }, world);
  for (const event of [sending, text("Half a"), text(" line"), writes(0), done]) lines.show(event);
  assert.equal(world.written, "request  anthropic m\nHalf a line\nreply    ✓  0.0s\n");
  world.written = "";
  lines.show(text("More"));
  host.beforeLine();
  assert.equal(world.written, "More\n", "a message begins a line of its own");
});

test("advance in a pipe prints a line for each request, call and result, except with --quiet or --json", (place) => {
  const replies = [callReply("toolu_1", "echo made"), textReply("Done.")];
  return withServer([...replies, ...replies, textReply("Done.")], async ({ env }) => {
    place.settings("tools:\n  auto_approve: [bash]\nsandbox: false\n");
    const advance = (...more: string[]) => {
      place.write("a.chat", "@You:\nGo.\n");
      return place.run(["advance", "a.chat", ...more], { env: { ANTHROPIC_API_KEY: "k", ...env } });
    };
    const { code, stderr } = await advance();
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /^request +anthropic .*\nreply +✓ .*\ncall +bash: \$ echo made\nresult +✓ bash: .*\nrequest .*\nreply .*\nflemma: .* tokens in, .*\nThe reply is complete/m,
    );
    assert.doesNotMatch(stderr, /[^\P{Cc}\n]/u);
    assert.equal((await advance("--quiet")).stderr, "");
    assert.doesNotMatch((await advance("--json")).stderr, /^request/m);
  });
});

test("a command that would read a document from the terminal says what it needs and prints its help", async (place) => {
  const script = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
said = b""
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    said += piece
sys.stdout.buffer.write(said)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;
  const at = (...words: string[]) =>
    place.spawn(["python3", "-c", script, ...place.program, ...words], {}).finished;
  const approve = await at("approve");
  assert.equal(approve.code, 2);
  assert.match(
    approve.stdout,
    /^flemma: approve needs a FILE, or a document on standard input\.\r\n\r\nMark calls as approved/,
  );
  const bare = await at();
  assert.equal(bare.code, 2);
  const page = (await place.run(["--help"])).stdout;
  assert.equal(bare.stdout.replaceAll("\r\n", "\n"), `flemma: Name a command or a FILE.\n\n${page}`);
  assert.ok(bare.stdout.split("\n").length <= 40, bare.stdout);
});
