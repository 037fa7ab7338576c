import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { failure, success } from "../../base/problem.ts";
import { spawn } from "../../sandbox/process/spawn.ts";
import { createSandbox } from "../../sandbox/sandbox.ts";
import type { PreparedCommand, Sandbox } from "../../sandbox/types.ts";
import { builtinTools } from "../../tools/builtin/mod.ts";
import { OutputCollector, TAIL_BYTES } from "../../tools/builtin/output_collector.ts";
import { STOPPED } from "../../tools/definition.ts";
import { type ContextChanges, inScene, openSandbox, type Scene, testInScene as test } from "./scene.ts";
import { withWaitInHand } from "../waiting.ts";

function bash(place: Scene, command: string, changes: ContextChanges = {}): Promise<string> {
  return place.output("bash", { label: "l", command }, changes);
}

function bashError(
  place: Scene,
  command: string,
  changes: ContextChanges = {},
  timeout: number | null = null,
): Promise<string> {
  return place.error("bash", { label: "l", command, timeout }, changes);
}

function settings(named: Record<string, unknown>, truncate: Record<string, unknown> = {}): ContextChanges {
  return {
    tools: {
      ...DEFAULT_SETTINGS.tools,
      named: { bash: named },
      truncate: { ...DEFAULT_SETTINGS.tools.truncate, ...truncate },
    },
  };
}

/** The real thing, with the document protected. */
function realSandbox(place: Scene, enabled = true): Sandbox {
  return createSandbox({
    settings: {
      ...DEFAULT_SETTINGS.sandbox,
      enabled,
      backend: "required",
      policy: { ...DEFAULT_SETTINGS.sandbox.policy, rw_paths: ["urn:flemma:buffer:path"] },
    },
    environment: {
      cwd: place.folder,
      home: place.path("home"),
      variables: { PATH: Deno.env.get("PATH") ?? "", XDG_RUNTIME_DIR: place.path("run") },
    },
    document: place.document,
    protect: [place.document],
    listening: () => [],
  });
}

/** A sandbox whose prepared commands can be told apart. */
function preparing(members: Partial<PreparedCommand>): Sandbox {
  return {
    ...openSandbox(),
    prepare: (argv) =>
      Promise.resolve(success({
        argv,
        wrapped: true,
        start: (options) => spawn(members.argv ?? argv, options, { open: () => null }),
        handOut: () => success(undefined),
        setupFailure: () => Promise.resolve(null),
        dispose: () => Promise.resolve(),
        ...members,
      })),
  };
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}

test("a command that is empty, consists of spaces or contains a NUL is an error", async (place) => {
  assert.match(await bashError(place, ""), /empty/);
  assert.match(await bashError(place, " \n"), /empty/);
  assert.match(await bashError(place, "echo \0"), /NUL/);
});

test("the timeout comes from the input, or else from the default, and must be above zero and at most max_timeout", async (place) => {
  const short = { ...settings({}), tools: { ...DEFAULT_SETTINGS.tools, default_timeout: 0.2 } };
  assert.match(await bashError(place, "sleep 60", short), /0\.2 seconds/);
  assert.match(await bashError(place, "sleep 60", short, 0), /0\.2 seconds/);
  assert.match(await bashError(place, "sleep 60", short, -5), /0\.2 seconds/);
  assert.match(await bashError(place, "sleep 60", settings({ max_timeout: 0.1 }), 1e12), /0\.1 seconds/);
  assert.equal(
    await place.output("bash", { command: "echo in time", timeout: 1e12 }, settings({ max_timeout: 1e12 })),
    "in time",
  );
});

test("standard output and standard error share one pipe, so the order of their lines is kept", async (place) => {
  assert.equal(await bash(place, "echo 1; echo 2 >&2; echo 3; echo 4 >&2"), "1\n2\n3\n4");
});

test("flemma puts one line of its own before the command, and passes the command to the shell unchanged", async (place) => {
  let given: readonly string[] = [];
  const sandbox: Sandbox = {
    ...openSandbox(),
    prepare: (argv) => {
      given = argv;
      return openSandbox().prepare(argv);
    },
  };
  const command = "printf '%s' \"$0 é $'\\x41'\"\n# end";
  await bash(place, command, { sandbox });
  assert.match(given[0] ?? "", /^\/.*\/bash$/);
  assert.deepEqual(given.slice(1), ["-c", `read -r _ || exit 125; exec </dev/null; exec 2>&1\n${command}`]);
});

test("a syntax error of the command appears in the result", async (place) => {
  assert.match(await bashError(place, "if then"), /syntax error[^]*exit code 2/);
});

test("the shell, cwd and env of bash come from tools.bash", async (place) => {
  await Deno.mkdir(place.path("sub"));
  const changes = settings({ shell: "sh", cwd: place.path("sub"), env: { EXTRA: "x y" } });
  assert.equal(
    await bash(place, "pwd; echo $EXTRA; echo ${BASH_VERSION:-no bash}", changes),
    `${place.path("sub")}\nx y\nno bash`,
  );
  assert.match(await bashError(place, "true", settings({ cwd: place.document })), /not a folder/);
  assert.match(await bashError(place, "true", settings({ cwd: "missing" })), /not a folder/);
  assert.match(await bashError(place, "true", settings({ cwd: "urn:x" })), /tools\.bash\.cwd/);
  assert.match(await bashError(place, "true", settings({ shell: "no-such-shell" })), /no-such-shell/);
});

test("bash does not use a shell that is in a writable folder", async (place) => {
  await Deno.writeTextFile(place.path("bash"), "#!/bin/sh\necho planted\n", { mode: 0o755 });
  const sandbox = openSandbox([place.folder]);
  const first = { variables: { PATH: `${place.folder}:${Deno.env.get("PATH")}` }, sandbox };
  assert.equal(await bash(place, "echo real", first), "real");
  assert.match(
    await bashError(place, "true", { sandbox, ...settings({ shell: place.path("bash") }) }),
    /sandbox can change/,
  );
});

test('if a command cannot be sandboxed, it does not run, and the error begins with "Sandbox"', async (place) => {
  const sandbox: Sandbox = {
    ...openSandbox(),
    prepare: () => Promise.resolve(failure("unknown-urn", "There is no such place.")),
  };
  assert.match(
    await bashError(place, "touch made", { sandbox }),
    /^Sandbox: There is no such place\. .*not repeat/,
  );
  const reasons = {
    ...sandbox,
    prepare: () => Promise.resolve(failure("backend-unavailable", "No bwrap. No …")),
  };
  assert.equal(
    await bashError(place, "touch made", { sandbox: reasons }),
    "Sandbox: No sandbox works on this machine, so nothing ran. Do not repeat the call; the user must fix this first.",
  );
  await assert.rejects(Deno.stat(place.path("made")), Deno.errors.NotFound);
});

test("a command's standard input is empty", async (place) => {
  assert.equal(await bash(place, "cat; read line || echo end"), "end");
});

test("a command has no terminal, and environment variables keep programs from prompting", async (place) => {
  assert.match(await bashError(place, "exec </dev/tty"), /\/dev\/tty/);
  assert.equal(
    await bash(
      place,
      "test -t 0 || test -t 1 || echo none; echo $PAGER; $EDITOR f 2>/dev/null || echo no editor",
    ),
    "none\ncat\nno editor",
  );
  assert.equal(
    await bash(
      place,
      "read -r _ _ _ _ group session _ < /proc/$$/stat; test $group = $$ -a $session = $$ && echo own",
    ),
    "own",
  );
});

test("a command does not get the API keys of providers", async (place) => {
  const variables = {
    PATH: Deno.env.get("PATH") ?? "",
    ANTHROPIC_API_KEY: "sk-secret",
    OPENAI_API_KEY: "sk-2",
  };
  assert.equal(
    await bash(place, 'printf %s "$ANTHROPIC_API_KEY$OPENAI_API_KEY" | base64; env | grep -c sk- || true', {
      variables,
    }),
    "0",
  );
});

test("a background child process that keeps the pipe open does not delay the result, and is ended with the call", async (place) => {
  const commands = [
    "sleep 300 & echo $!",
    "(yes >/dev/null & echo $!)",
    "sleep 300 >/dev/null 2>&1 & echo $!",
  ];
  for (const command of commands) {
    const pid = Number(await bash(place, command));
    assert.ok(pid > 0);
    assert.equal(isAlive(pid), false, command);
  }
});

test("the result contains all output that was written before the shell ended", async (place) => {
  assert.equal(await bash(place, "seq 1 1500"), Array.from({ length: 1500 }, (_, n) => n + 1).join("\n"));
});

test("output beyond the limits is saved completely in a file, and the notice names the file", async (place) => {
  const shown = await bash(place, "seq 1 30000");
  const path = /Complete output: (.*)\]$/.exec(shown)?.[1] ?? "";
  const whole = Array.from({ length: 30000 }, (_, n) => `${n + 1}\n`).join("");
  assert.ok(path.startsWith(place.path("tmp/flemma_bash_")));
  assert.equal(await Deno.readTextFile(path), whole);
  assert.match(shown, /^28001\n[^]*\n30000\n\n\[Showing lines 28001-30000 of 30000\./);
});

test("keeping only the end of the output in memory gives the same result as keeping all of it", async (place) => {
  for (const lines of [2001, 9000, 40000]) {
    const shown = await bash(place, `seq -f %012g 1 ${lines}`);
    assert.match(shown, new RegExp(`\\n\\n\\[Showing lines ${lines - 1999}-${lines} of ${lines}\\.`));
  }
});

test("the file for long output has a maximum size, and the notice says whether the output reached it", async (place) => {
  const shown = await bash(place, "seq 1 100000", settings({}, { max_file_size: 1000 }));
  const path = /First 1000B of the output: (.*)\]$/.exec(shown)?.[1] ?? "";
  assert.equal((await Deno.stat(path)).size, 1000);
});

test("a command that prints for two seconds without pause ends in time, uses bounded memory, and returns the end of its output", async (place) => {
  const before = Deno.memoryUsage().rss;
  const error = await bashError(place, "yes", settings({}, { max_file_size: 1024 * 1024 }), 2);
  const grown = Deno.memoryUsage().rss - before;
  assert.match(
    error,
    /^y\ny\n[^]*\[Showing lines \d+-\d+ of \d+\. First 1\.0MB of the output: .*\]\n\nThe command timed out after 2 seconds and was stopped\.$/,
  );
  assert.ok(grown < 200e6, `memory grew by ${grown} bytes`);
});

test("a single huge line is cut by bytes", async (place) => {
  const shown = await bash(
    place,
    "head -c 20000000 /dev/zero | tr '\\0' x",
    settings({}, { max_file_size: 100_000 }),
  );
  assert.match(
    shown,
    /^x{51200}\n\n\[Showing only the last 50\.0KB of line 1 \(19\.1MB\)\. First 97\.7KB/,
  );
});

test("bytes that are not valid characters cannot hide the end of the output", async (place) => {
  const shown = await bash(place, "head -c 300000 /dev/zero | tr '\\0' '\\200'");
  assert.match(shown, /^\ufffd+\n\n\[Showing only the last/);
});

test("spaces and line breaks at the end of the output are removed, and those at its beginning are kept", async (place) => {
  assert.equal(await bash(place, "printf '\\n  a  \\nb \\t\\r\\n \\n'"), "\n  a  \nb");
});

test("many spaces after the output neither push it out of the result nor count as output", async (place) => {
  assert.equal(await bash(place, "echo text; yes '' | head -n 300000"), "text");
  assert.deepEqual([...Deno.readDirSync(place.path("tmp"))], []);
  const shown = await bash(place, "echo text; yes '' | head -n 300000; echo end");
  assert.match(shown, /\nend\n\n\[Showing lines 298003-300002 of 300002\./);
});

test("if a command prints nothing, the result contains a message that says so", async (place) => {
  assert.equal(await bash(place, "true"), "(no output)");
  assert.equal(await bashError(place, "false"), "(no output)\n\nThe command failed with exit code 1.");
});

test("output bytes that are not UTF-8 become replacement characters", async (place) => {
  assert.equal(await bash(place, "printf 'a\\377b\\n'"), "a\ufffdb");
});

test("if a command fails, the result contains its output, an empty line, and the exit code or the signal", async (place) => {
  assert.equal(await bashError(place, "echo out; exit 42"), "out\n\nThe command failed with exit code 42.");
  assert.match(await bashError(place, "echo out; kill -9 $$"), /^out\n\n.*SIGKILL/);
  assert.match(await bashError(place, "sh -c 'kill -TERM $$'; exit $?"), /exit code 143 .*SIGTERM/);
});

test("a timeout ends the whole process group, and the result contains the output so far and the number of seconds", async (place) => {
  // Its time is over when something came.
  await withWaitInHand(300, async (due) => {
    const error = await bashError(place, "sleep 300 & echo $!; wait", { onOutput: due }, 0.3);
    const [pid, ...rest] = error.split("\n");
    assert.deepEqual(rest, ["", "The command timed out after 0.3 seconds and was stopped."]);
    assert.equal(isAlive(Number(pid)), false);
  });
  assert.equal(
    await bashError(place, "sleep 300", {}, 0.1),
    "The command timed out after 0.1 seconds and was stopped.",
  );
  assert.match(
    await bashError(place, "sleep 300", settings({ max_timeout: 1 }), 1),
    /after 1 second and was stopped\.$/,
  );
});

test("a command that ignores SIGTERM is killed with SIGKILL", (place) =>
  withWaitInHand(300, async (due) => {
    const command = "trap '' TERM; echo $$; while :; do sleep 0.1; done";
    const error = await bashError(place, command, { onOutput: due }, 0.3);
    assert.match(error, /after 0\.3 seconds and was stopped\.$/);
    assert.equal(isAlive(parseInt(error)), false);
  }));

test("if the person stops a command, its process group ends, its output is kept, and the result says who stopped it", async (place) => {
  const controller = new AbortController();
  let pid = 0;
  const onOutput = (chunk: string): void => {
    pid = parseInt(chunk);
    controller.abort();
  };
  const changes = { signal: controller.signal, onOutput };
  const stated = await bashError(place, "echo $$; sleep 300", changes);
  assert.ok(pid > 0);
  assert.equal(stated, `${pid}\n\n${STOPPED}`);
  assert.equal(isAlive(pid), false);
});

test("messages of a failed sandbox set-up are not returned as output of the command", async (place) => {
  let reported = "";
  const sandbox = preparing({
    argv: ["/bin/sh", "-c", "echo 'bwrap: no namespaces' >&2; exit 1"],
    setupFailure: (stderr) => {
      reported = stderr;
      return Promise.resolve({
        code: "sandbox-setup-failed",
        message: "m",
        stderr: stderr,
        forModel: "Nothing ran.",
      });
    },
  });
  assert.equal(await bashError(place, "true", { sandbox }), "Sandbox: Nothing ran.");
  assert.equal(reported, "bwrap: no namespaces\n");
});

test("a failed sandbox set-up is retried once, and the result contains only the output of the command that ran", async (place) => {
  let attempts = 0;
  const failing = { argv: ["/bin/sh", "-c", "echo nothing; exit 1"] };
  const sandbox: Sandbox = {
    ...openSandbox(),
    prepare: (inner) =>
      preparing(
        ++attempts > 1 ? { argv: inner } : {
          ...failing,
          setupFailure: (stated) =>
            Promise.resolve({
              code: "sandbox-setup-failed",
              message: "m",
              stderr: stated,
              forModel: "Nothing ran.",
            }),
        },
      ).prepare(inner),
  };
  assert.equal(await bash(place, "echo ran", { sandbox }), "ran");
  assert.equal(attempts, 2);
});

test("if a command's sandbox is outdated before the start, the set-up is repeated once, and the command runs once", async (place) => {
  const sandbox = realSandbox(place);
  let attempts = 0;
  let prepares = true;
  const changing: Sandbox = {
    ...openSandbox(),
    prepare: async (inner, options) => {
      const prepared = await sandbox.prepare(inner, options);
      attempts++;
      if (prepares) await Deno.mkdir(`${place.folder}/.vscode`, { recursive: true });
      return prepared;
    },
  };
  prepares = false;
  assert.equal(await bash(place, "true; echo first", { sandbox: changing }), "first");
  prepares = true;
  const tried = attempts;
  const command = "echo ran >> ran; touch .vscode/tasks.json; cat ran";
  assert.match(await bash(place, command, { sandbox: changing }), /Read-only file system\nran$/);
  assert.equal(attempts, tried + 2);
  assert.ok((await Deno.stat(`${place.folder}/.vscode`)).isDirectory, "it is the person's, and stays");
});

for (const outdated of [0, 2, 8, 9]) {
  const runs = outdated < 9;
  test(`a command whose sandbox is outdated ${outdated} times ${runs ? "runs once" : "does not run"}`, async (place) => {
    let attempts = 0;
    let disposed = 0;
    const sandbox: Sandbox = {
      ...openSandbox(),
      prepare: (inner) =>
        preparing({
          argv: inner,
          dispose: () => Promise.resolve(void disposed++),
          ...(attempts++ < outdated
            ? { start: () => failure("sandbox-outdated", "It changed.", "Again.") }
            : {}),
        }).prepare(inner),
    };
    const command = "echo ran >> log; cat log";
    if (runs) assert.equal(await bash(place, command, { sandbox }), "ran");
    else assert.match(await bashError(place, command, { sandbox }), /It changed\./);
    assert.deepEqual([attempts, disposed], Array(2).fill(runs ? outdated + 1 : 9));
  });
}

test("resources that were prepared for a call are released however the call ends", async (place) => {
  let disposed = 0;
  const dispose = (): Promise<void> => Promise.resolve(void disposed++);
  await bash(place, "true", { sandbox: preparing({ dispose }) });
  await bashError(place, "sleep 9", { sandbox: preparing({ dispose }) }, 0.1);
  await bashError(place, "true", { sandbox: preparing({ dispose, argv: ["/no/such/program"] }) });
  assert.equal(disposed, 3);
});

test("progress is reported while the command runs", async (place) => {
  const chunks: string[] = [];
  await bash(place, "printf 'é\\n'", { onOutput: (chunk) => chunks.push(chunk) });
  assert.equal(chunks.join(""), "é\n");
});

test("after very long output, samples of later output are still reported, with constant memory", async (place) => {
  let passed = 0;
  const late: string[] = [];
  await bash(
    place,
    "head -c 3000000 /dev/zero | tr '\\0' x; until test -e seen; do sleep 0.05; echo after; done",
    {
      onOutput: (chunk) => {
        passed += chunk.length;
        if (!chunk.startsWith("\n[…]\n")) return;
        late.push(chunk);
        if (/after\n$/.test(chunk)) Deno.writeTextFileSync(place.path("seen"), "");
      },
    },
  );
  assert.ok(late.some((chunk) => /after\n$/.test(chunk)), "the end of the output is seen");
  for (const chunk of late) assert.ok(chunk.length <= 1024 + 5);
  assert.ok(passed < 1.2e6, `${passed} characters were passed on`);
});

Deno.test("the description of bash for the model contains the current limits", () => {
  const [tool] = builtinTools({
    ...DEFAULT_SETTINGS.tools,
    default_timeout: 7,
    truncate: { ...DEFAULT_SETTINGS.tools.truncate, max_lines: 123, max_bytes: 4096 },
  });
  assert.match(`${tool?.description}`, /beyond 123 lines or 4\.0KB/);
  assert.match(JSON.stringify(tool?.input_schema), /null: 7/);
});

test("in the real sandbox, a command can write next to the document, but not into /etc or the document", async (place) => {
  const sandbox = realSandbox(place);
  assert.equal(await bash(place, "echo x > made && cat made && pwd", { sandbox }), `x\n${place.folder}`);
  assert.match(await bashError(place, "echo x > /etc/flemma-test", { sandbox }), /Read-only file system/);
  assert.match(await bashError(place, "echo x >> talk.chat", { sandbox }), /exit code/);
  assert.equal(await Deno.readTextFile(place.document), "@You:\nhello\n");
});

for (const enabled of [true, false]) {
  Deno.test(`${enabled ? "with" : "without"} the real sandbox, exit codes are passed through, daemons end, and a timeout leaves no process`, () =>
    inScene((place) => leavesNothing(place, realSandbox(place, enabled))));
}

async function leavesNothing(place: Scene, sandbox: Sandbox): Promise<void> {
  assert.match(await bashError(place, "exit 42", { sandbox }), /exit code 42/);
  const mark = `300.${Math.floor(Math.random() * 1e9)}`;
  const running = async (): Promise<number> => {
    let count = 0;
    for await (const { name } of Deno.readDir("/proc")) {
      if (!/^\d+$/.test(name) || !isAlive(Number(name))) continue;
      const line = await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => "");
      if (line === `sleep\0${mark}\0`) count++;
    }
    return count;
  };
  assert.equal(await bash(place, `setsid sleep ${mark} & echo done`, { sandbox }), "done");
  // A daemon has a session of its own and no parent that belongs to the command.
  assert.equal(await bash(place, `( setsid sleep ${mark} & ); echo done`, { sandbox }), "done");
  assert.equal(await running(), 0);
  assert.match(
    await bashError(place, `( setsid sleep ${mark} & ); sleep ${mark}`, { sandbox }, 0.5),
    /after 0\.5 seconds/,
  );
  assert.equal(await running(), 0);
  const stop = new AbortController();
  const onOutput = () => stop.abort();
  const started = `( setsid sleep ${mark} & ); echo started; sleep ${mark}`;
  assert.match(await bashError(place, started, { sandbox, signal: stop.signal, onOutput }), /^started\n/);
  assert.equal(await running(), 0);
}

test("with the real sandbox, a backend that cannot work is reported as a sandbox error", async (place) => {
  const sandbox = createSandbox({
    settings: {
      ...DEFAULT_SETTINGS.sandbox,
      backend: "required",
      backends: { bwrap: { path: "/no/such/bwrap", extra_args: [] } },
    },
    environment: {
      cwd: place.folder,
      home: place.path("home"),
      variables: { XDG_RUNTIME_DIR: place.path("run") },
    },
    document: place.document,
    protect: [],
  });
  assert.match(await bashError(place, "touch made", { sandbox }), /^Sandbox: /);
  await assert.rejects(Deno.stat(place.path("made")), Deno.errors.NotFound);
});

test("the output collector never keeps more than its limit in memory, however the output is divided", async (place) => {
  const collector = new OutputCollector({
    maxLines: 10,
    maxBytes: 100,
    maxFileSize: 0,
    path: place.path("output"),
  });
  for (let n = 0; n < 300_000; n++) await collector.push(new Uint8Array([97 + n % 26]));
  await collector.push(new TextEncoder().encode("\nend"));
  const shown = await collector.finish();
  assert.match(shown, /^end\n\n\[Showing lines 2-2 of 2 \(limit 100B\)\.\]$/);
  assert.equal(TAIL_BYTES, 128 * 1024);
});
