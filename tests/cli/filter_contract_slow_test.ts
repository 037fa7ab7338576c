// What editors rely on: no filter call ever empties a buffer, whatever its input and whatever ends it.

import assert from "node:assert/strict";
import { callsDocument, type Scene, SOURCES, withScene } from "./harness.ts";
import { ROOT } from "../../scripts/gate/root.ts";
import { callReply, textReply, withServer } from "./replies.ts";

const QUESTION = "@You:\nHow are you?\n";
const PENDING = callsDocument([{ id: "call_1", command: "touch ran", status: "pending" }]);
const APPROVED = PENDING.replace("status=pending", "status=approved");
const RUNNABLE = callsDocument([{ id: "c1", command: "echo hello", status: "approved" }]);
const RESULT = RUNNABLE.replace("```flemma:tool status=approved\n```", "```\nhello\n```");

Deno.test("if a document is piped, an argument that is an id names one of its calls", () =>
  withScene(async (place) => {
    const approved = await place.run(["approve", "call_1"], { stdin: PENDING });
    assert.deepEqual([approved.code, approved.stdout], [0, APPROVED]);
    const rejected = await place.run(["reject", "call_1", "-m", "No."], { stdin: PENDING });
    assert.match(rejected.stdout, /status=rejected\nNo\.\n```\n$/);
    const executed = await place.run(["execute", "c1"], { stdin: RUNNABLE });
    assert.equal(executed.stdout, RESULT);
    const unknown = await place.run(["approve", "call_9"], { stdin: PENDING });
    assert.deepEqual([unknown.code, unknown.stdout], [1, PENDING]);
  }));

Deno.test("if no document is piped, an unknown first argument is reported as a missing file", () =>
  withScene(async (place) => {
    for (const options of [{}, { stdin: "" }]) {
      const { code, stdout, stderr } = await place.run(["approve", "call_1"], options);
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(stderr, /There is no file call_1\./);
    }
  }));

Deno.test("if a filter gets both a FILE and a piped document, it prints the document unchanged and does not touch the FILE", () =>
  withScene(async (place) => {
    place.write("a.chat", RUNNABLE);
    place.write("in", PENDING);
    const lines = [
      "advance a.chat",
      "approve a.chat call_1",
      "a.chat",
      "advance missing.chat",
      "approve missing.chat call_1",
      "send a.chat",
      "approve a.chat --no-such-option",
    ];
    for (const line of lines) {
      for (const call of [`flemma ${line} < in`, `cat in | flemma ${line}`]) {
        const { stdout, stderr } = await place.shell(`{ ${call}; echo "exit $?" >&2; } | cat`);
        assert.equal(stdout, PENDING, call);
        assert.match(stderr, /exit 2\n$/, call);
        if (!line.includes("no-such")) {
          assert.match(stderr, /A filter takes no FILE/, call);
        }
      }
    }
    assert.equal(place.read("a.chat"), RUNNABLE);
  }));

Deno.test("a FILE is changed in place if standard input is empty, a device, or a list of names", () =>
  withScene(async (place) => {
    for (const name of ["a.chat", "b.chat"]) place.write(name, RUNNABLE);
    place.write("list", "a.chat\nb.chat\n");
    const loop = 'while read -r file; do flemma advance --no-autopilot "$file"; done < list | cat';
    const { stderr } = await place.shell(loop);
    for (const name of ["a.chat", "b.chat"]) assert.equal(place.read(name), RESULT, stderr);
    place.write("a.chat", RUNNABLE);
    await place.shell(": | flemma advance --no-autopilot a.chat | cat");
    assert.equal(place.read("a.chat"), RESULT);
  }));

Deno.test("an in-place run starts even if the editor's pipe stays open and empty", () =>
  withScene(async (place) => {
    place.write("a.chat", RUNNABLE);
    await Deno.mkdir(place.path("p"));
    const { code } = await place.shell(
      "mkfifo p/in; sleep 600 > p/in & flemma advance --no-autopilot a.chat < p/in | cat; kill $!",
      {
        env: { VIMRUNTIME: "/usr/share/vim" },
      },
    );
    assert.equal(code, 0);
    assert.equal(place.read("a.chat"), RESULT);
  }));

Deno.test("if a selection contains only a status block and blank lines, approve changes the status and keeps the blank lines", () =>
  withScene(async (place) => {
    const cases: readonly (readonly [string, string])[] = [
      ["```flemma:tool status=pending\n```\n", "```flemma:tool status=approved\n```\n"],
      ["```flemma:tool status=pending\n```", "```flemma:tool status=approved\n```"],
      ["```flemma:tool status=pending\n```\n\n\n", "```flemma:tool status=approved\n```\n\n\n"],
    ];
    for (const [before, after] of cases) {
      const { code, stdout, stderr } = await place.run(["approve"], { stdin: before });
      assert.deepEqual([code, stdout], [0, after], stderr);
    }
    for (const text of ["```flemma:tool status=pending\n```\ntext\n", "```js\n1\n```\n", "text\n"]) {
      const { code, stdout } = await place.run(["approve"], { stdin: text });
      assert.equal(stdout, text);
      assert.notEqual(code, 0, text);
    }
  }));

Deno.test("a line number past the end approves nothing, and the message names the nearest call", () =>
  withScene(async (place) => {
    const { code, stdout, stderr } = await place.run(["approve", "--line", "999"], { stdin: PENDING });
    assert.deepEqual([code, stdout], [1, PENDING]);
    assert.match(stderr, /^flemma: No call is on line 999\.\n {2}The nearest: call_1 \(line \d+\)/);
  }));

Deno.test("advice printed by a filter names no file, and the advised command works", () =>
  withScene(async (place) => {
    place.write("a.chat", "older\n");
    for (const name of [[], ["--name", "a.chat"]]) {
      const stdin = PENDING;
      const strict = await place.run(["advance", "--exit-code", ...name], { stdin });
      assert.match(strict.stderr, /flemma approve call_1\n$/);
      const status = await place.run(["status", ...name], { stdin });
      assert.match(status.stdout, /flemma approve call_1, or/);
      const marked = await place.run(["approve", "--messages", "stderr", ...name], { stdin });
      assert.match(marked.stderr, /Continue with: flemma advance\n$/);
    }
  }));

Deno.test("if a filter's output goes to an empty file, this file contains the old text while the filter runs, and the new text afterwards", () =>
  withScene(async (place) => {
    const long =
      callsDocument([{ id: "c1", command: "cat out > seen; exec sleep 600", status: "approved" }]) +
      "\n".repeat(50);
    place.write("in", long);
    const killed = place.spawn(["/bin/sh", "-c", `exec ${program(place)} advance < in > out`], {});
    await place.appears("seen", killed);
    killed.kill("SIGKILL");
    await killed.finished;
    assert.equal(place.read("out"), long);
    place.write("in", RUNNABLE);
    await place.shell("flemma advance --no-autopilot < in > out");
    assert.equal(place.read("out"), RESULT);
    // A shorter text leaves nothing of the longer one behind, and what comes after it comes after it.
    const verbose = PENDING.replace(
      "```flemma:tool status=pending\n```",
      "```flemma:tool status=pending\n```" + "\n".repeat(3),
    );
    place.write("in", verbose);
    await place.shell("{ flemma reject < in; echo after; } > out");
    assert.equal(place.read("out"), verbose.replace("pending", "rejected") + "after\n");
    await place.shell("echo before > out; flemma reject < in >> out");
    assert.equal(place.read("out"), "before\n" + verbose.replace("pending", "rejected"));
    await Deno.writeTextFile(place.path("out"), "");
    await place.shell("flemma reject < in >> out");
    assert.equal(place.read("out"), verbose.replace("pending", "rejected"));
  }));

Deno.test("a filter reports a working folder that was deleted or is not UTF-8, and prints the text unchanged", () =>
  withScene(async (place) => {
    place.write("in", QUESTION);
    const here = place.path("in");
    // The runtime under the program does not start in a deleted folder, so it is deleted once it stands there.
    const script = `Deno.removeSync(Deno.cwd());
      const { main } = await import(${JSON.stringify(SOURCES.at(-1)!.replace("cli.ts", "commands/main.ts"))});
      Deno.exit(await main(["advance"]));`;
    place.write("gone.ts", script);
    const start = [...SOURCES.slice(0, -1), "../gone.ts"].join(" ");
    const deleted = await place.shell(`mkdir d; cd d; ${start} < ${here}; echo $? >&2`);
    const latin = await place.shell(
      `mkdir "$(printf 'a\\351')"; cd "$(printf 'a\\351')"; flemma advance < ${here}; echo $? >&2`,
    );
    for (const { stdout, stderr } of [deleted, latin]) {
      assert.equal(stdout, QUESTION);
      assert.match(stderr, /The working folder cannot be used.*\n1\n$/);
    }
  }));

Deno.test("a non-blocking standard output still receives the whole document", () =>
  withScene(async (place) => {
    const document = `@You:\n${"a line of text\n".repeat(20_000)}\n${"long ".repeat(60_000)}\n\nend`;
    place.write("in", document);
    // The reader begins when the stream is full, as a busy editor does.
    const script = `
import array, fcntl, os, select, socket, subprocess, sys, termios
kind, *program = sys.argv[1:]
r, w = (s.detach() for s in socket.socketpair()) if kind == "socket" else os.pipe()
fcntl.fcntl(w, fcntl.F_SETFL, fcntl.fcntl(w, fcntl.F_GETFL) | os.O_NONBLOCK)
child = subprocess.Popen(program, stdin=open("in", "rb"), stdout=w)
select.select([r], [], [])
while select.select([], [w], [], 0)[1] and child.poll() is None: pass
os.close(w)
while piece := os.read(r, 1 << 16): sys.stdout.buffer.write(piece)
`;
    for (const kind of ["pipe", "socket"]) {
      const run = place.spawn(["python3", "-c", script, kind, ...place.program, "approve", "zzzz"], {});
      const { stdout, stderr } = await run.finished;
      assert.equal(stdout.length, document.length, stderr);
      assert.equal(stdout, document);
    }
  }));

Deno.test("events can be written to an open descriptor, including a socket", () =>
  withScene(async (place) => {
    const check = (text: string) => {
      const events = text.trimEnd().split("\n").map((line) => JSON.parse(line));
      assert.equal(events.at(-1).event, "stopped", text);
      const stated = events.filter(({ event }) => event === "message");
      assert.deepEqual(stated.at(-1), {
        event: "message",
        level: "note",
        text: "Continue with: flemma advance",
      });
    };
    place.write("in", RUNNABLE);
    const stderr = await place.run(["advance", "--no-autopilot", "--events", "stderr"], { stdin: RUNNABLE });
    assert.equal(stderr.stdout, RESULT);
    check(stderr.stderr);
    const pipe = await place.shell("{ flemma advance --no-autopilot --events fd:7 < in > out; } 7>&1");
    check(pipe.stdout);
    const script = `
import os, socket, subprocess, sys
ours, theirs = socket.socketpair()
subprocess.run(sys.argv[1:] + [f"fd:{theirs.fileno()}"], stdin=open("in", "rb"), stdout=open("out", "wb"), pass_fds=[theirs.fileno()])
theirs.close()
while piece := ours.recv(1 << 16): sys.stdout.buffer.write(piece)
`;
    const args = [...place.program, "advance", "--no-autopilot", "--events"];
    const socket = await place.spawn(["python3", "-c", script, ...args], {}).finished;
    check(socket.stdout);
    assert.equal(place.read("out"), RESULT);
    for (const target of ["fd:0", "fd:1", "fd:99"]) {
      const wrong = await place.run(["advance", "--events", target], { stdin: RUNNABLE });
      assert.deepEqual([wrong.code, wrong.stdout], [2, RUNNABLE], target);
      assert.match(wrong.stderr, /--events fd:/);
    }
  }));

Deno.test("if an editor reads both outputs through sockets, it gets the document from standard output and nothing from standard error", () =>
  withScene(async (place) => {
    place.write("in", QUESTION);
    const script = `
import os, socket, subprocess, sys, threading
pairs = [socket.socketpair(), socket.socketpair()]
child = subprocess.Popen(sys.argv[1:], stdin=open("in", "rb"), stdout=pairs[0][1].fileno(), stderr=pairs[1][1].fileno())
for pair in pairs: pair[1].close()
def read(at):
    with open(["out", "err"][at], "wb") as file:
        while piece := pairs[at][0].recv(1 << 16): file.write(piece)
threads = [threading.Thread(target=read, args=[at]) for at in (0, 1)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(child.wait())
`;
    const env = { VIMRUNTIME: "/usr/share/nvim/runtime", NVIM: "/run/nvim.sock" };
    const run = place.spawn(["python3", "-c", script, ...place.program, "advance"], { env });
    const { stdout } = await run.finished;
    assert.deepEqual([stdout, place.read("out"), place.read("err")], ["1\n", QUESTION, ""]);
    assert.match((await place.run(["status", "--last"])).stdout, /ANTHROPIC_API_KEY/);
  }));

Deno.test("if the reader of a pipe closes it, the command that writes a report ends without an error message", () =>
  withScene(async (place) => {
    const bad = "**Tool Use:** `x` (`y`)\n\n```json\n[1]\n```\n\n";
    place.write("a.chat", `@Assistant:\n${bad.repeat(3000)}`);
    for (const command of ["check a.chat", "parse a.chat", "check --json a.chat"]) {
      const { stdout, stderr } = await place.shell(`flemma ${command} | head -c 1`);
      assert.deepEqual([stdout.length, stderr], [1, ""], command);
    }
    const help = await place.shell("{ flemma --help; echo code $? >&2; } | true");
    assert.doesNotMatch(help.stderr, /flemma:/);
  }));

function program(place: Scene): string {
  return place.program.map((word) => `'${word}'`).join(" ");
}

Deno.test("with --edits the events report each change of the text, and applying all of them gives the output", () =>
  withServer(
    [callReply("c1", "echo hello"), textReply("Well\n@You: then\n\n```\nöäü")],
    ({ env }) =>
      withScene(async (place) => {
        place.settings("tools: { auto_approve: [bash] }\n");
        const before = "@You:\nHow are you?";
        const keys = { ...env, ANTHROPIC_API_KEY: "k" };
        const run = (...more: string[]) =>
          place.run(["advance", "--events", "stderr", ...more], { stdin: before, env: keys });
        const { stdout, stderr } = await run("--edits");
        const events = stderr.trimEnd().split("\n").map((line) => JSON.parse(line));
        const lines = before.split("\n");
        for (const { event, line, removed, lines: now } of events) {
          if (event === "edit") lines.splice(line - 1, removed, ...now);
        }
        assert.match(stdout, /hello[^]*öäü/);
        assert.equal(`${lines.join("\n")}\n`, stdout);
        const first = events.findIndex(({ event }) => event === "edit");
        assert.ok(first < events.findIndex(({ event }) => event === "tool:executing"), "as it happens");
      }),
  ));

Deno.test("under Helix, which inserts standard error into the buffer, a failing filter saves its messages and does not print them", () =>
  withScene(async (place) => {
    // A process has the name of the file that it was started by.
    for (const name of ["hx", ".hx-wrapped", "helix"]) {
      Deno.symlinkSync("/bin/sh", place.path(name));
      const program = place.program.map((word) => `'${word}'`).join(" ");
      const below = async (line: string, stdin = QUESTION) => {
        // The line ends with something else, so that the shell stays there.
        const { stdout, stderr } = await place.spawn(
          [place.path(name), "-c", `/bin/sh -c "$1; true"; true`, name, line.replace("flemma", program)],
          { stdin },
        ).finished;
        return [stdout, stderr];
      };
      assert.deepEqual(await below("flemma advance"), [QUESTION, ""], name);
      if (name !== "hx") continue;
      assert.match((await place.run(["status", "--last"])).stdout, /ANTHROPIC_API_KEY/, name);
      for (
        const words of [
          "",
          "approve call_9",
          "reject call_8",
          "approve missing.chat call_1",
          "advance --no-such-option",
          "advance --messages /no/such/folder/file",
        ]
      ) {
        assert.deepEqual(await below(`flemma ${words}`, PENDING), [PENDING, ""], `${name}: ${words}`);
      }
      const [, asked] = await below("flemma advance --messages stderr");
      assert.match(asked!, /ANTHROPIC_API_KEY/, "what was asked for is printed");
      const [, report] = await below("flemma status --last --name none.chat", "");
      assert.notEqual(report, "", "a command that is not a filter says why");
    }
    Deno.symlinkSync("/bin/sh", place.path("hxd"));
    const other = await place.spawn(
      [place.path("hxd"), "-c", `${place.program.map((word) => `'${word}'`).join(" ")} advance; true`],
      { stdin: QUESTION },
    ).finished;
    assert.match(other.stderr, /ANTHROPIC_API_KEY/, "any other process is not that editor");
  }));

Deno.test("with the key bindings for Helix, standard error stays empty, whatever fails", () =>
  withScene(async (place) => {
    const lines = [...Deno.readTextFileSync(`${ROOT}/editors/helix/config.toml`).matchAll(/":pipe (.*?)"/g)];
    assert.equal(lines.length, 4);
    for (const [, line] of lines) {
      for (const stdin of [QUESTION, "no document", PENDING.replace("pending", "approved")]) {
        const { stdout, stderr, code } = await place.shell(line!, {
          stdin,
          env: { FLEMMA_ANTHROPIC_BASE_URL: "http://127.0.0.1:9" },
        });
        assert.equal(stderr, "", line);
        assert.ok(code !== 0 || stdout !== "", line);
      }
    }
  }));
