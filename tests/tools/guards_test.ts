// Checks around tools' files and commands, one row per condition; and files replaced between check and use.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { sha256 } from "../../base/hash.ts";
import { success } from "../../base/problem.ts";
import { spawn } from "../../sandbox/process/spawn.ts";
import type { PreparedCommand, Sandbox } from "../../sandbox/types.ts";
import { replaceFile, takeSnapshot } from "../../tools/files/replace.ts";
import { queueForPath } from "../../tools/builtin/writable_target.ts";
import { OverflowFile } from "../../tools/overflow/file.ts";
import { STOPPED } from "../../tools/definition.ts";
import { type ContextChanges, openSandbox, type Scene, testInScene as test } from "./scene.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function bashSettings(named: Record<string, unknown>): ContextChanges {
  return { tools: { ...DEFAULT_SETTINGS.tools, named: { bash: named } } };
}

/** A sandbox that starts `argv`, or what it is asked for, and has other members too. */
function wrapping(argv: readonly string[] | null, members: Partial<PreparedCommand> = {}): Sandbox {
  return {
    ...openSandbox(),
    prepare: (inner) =>
      Promise.resolve(success({
        argv: inner,
        wrapped: true,
        start: (options) => spawn(argv ?? inner, options, { open: () => null }),
        handOut: () => success(undefined),
        setupFailure: () => Promise.resolve(null),
        dispose: () => Promise.resolve(),
        ...members,
      })),
  };
}

function locksOf(place: Scene): string {
  return place.path("home/.local/state/flemma/locks/files");
}

async function lockOf(place: Scene, name: string): Promise<string> {
  await Deno.mkdir(locksOf(place), { recursive: true });
  return `${locksOf(place)}/${(await sha256(place.path(name))).slice(0, 32)}`;
}

/** Calls `act` once, right after the first call of this function of Deno that `when` picks, before its caller goes on. */
async function after<Name extends "open" | "stat" | "lstatSync">(
  name: Name,
  when: (path: string) => boolean,
  act: () => void,
  work: () => Promise<void>,
): Promise<void> {
  const original = Deno[name] as (...given: unknown[]) => unknown;
  let done = false;
  const then = (given: unknown, outcome: unknown) => {
    if (!done && when(String(given))) {
      done = true;
      act();
    }
    return outcome;
  };
  const hooked = (...given: unknown[]) => {
    const outcome = original(...given);
    return outcome instanceof Promise
      ? outcome.then((value) => then(given[0], value))
      : then(given[0], outcome);
  };
  Object.assign(Deno, { [name]: hooked });
  try {
    await work();
    assert.ok(done, "the moment arrived");
  } finally {
    Object.assign(Deno, { [name]: original });
  }
}

function exchange(path: string, text: string): void {
  Deno.writeTextFileSync(`${path}~`, text);
  Deno.renameSync(`${path}~`, path);
}

// bash

test("if max_timeout is invalid, bash uses the default maximum", async (place) => {
  for (const max_timeout of [0, -1, "5"]) {
    assert.equal(
      await place.output("bash", { command: "echo in time", timeout: null }, bashSettings({ max_timeout })),
      "in time",
    );
  }
});

test("bash refuses a shell in a writable folder only if commands are sandboxed", async (place) => {
  await Deno.writeTextFile(place.path("mine"), '#!/bin/sh\nexec /bin/sh "$@"\n', { mode: 0o755 });
  const shell = bashSettings({ shell: place.path("mine") });
  const confined = openSandbox([place.folder]);
  assert.match(
    await place.error("bash", { command: "echo ran" }, { ...shell, sandbox: confined }),
    /sandbox can change/,
  );
  const off = { ...confined, enabled: false };
  assert.equal(await place.output("bash", { command: "echo ran" }, { ...shell, sandbox: off }), "ran");
});

test("if a call is stopped while its sandbox is set up, the command does not start", async (place) => {
  const stop = new AbortController();
  let started = false;
  const sandbox = wrapping(null);
  const stopping: Sandbox = {
    ...sandbox,
    prepare: async (argv) => {
      const prepared = await sandbox.prepare(argv);
      stop.abort();
      assert.ok(prepared.ok);
      return success({
        ...prepared.value,
        start: (options) => {
          started = true;
          return prepared.value.start(options);
        },
      });
    },
  };
  const error = await place.error("bash", { command: "true" }, { sandbox: stopping, signal: stop.signal });
  assert.equal(error, STOPPED);
  assert.equal(started, false);
});

test("after a timeout, flemma does not look for a set-up failure, because the command did run", async (place) => {
  let asked = false;
  const sandbox = wrapping(null, {
    setupFailure: (stated) => {
      asked = true;
      return Promise.resolve({
        code: "sandbox-setup-failed",
        message: "m",
        stderr: stated,
        forModel: "Nothing ran.",
      });
    },
  });
  assert.equal(
    await place.error("bash", { command: "sleep 300", timeout: 0.1 }, { sandbox }),
    "The command timed out after 0.1 seconds and was stopped.",
  );
  assert.equal(asked, false);
});

test("messages of the sandbox program are shown only if the command failed without output", async (place) => {
  const rows: readonly (readonly [string, string])[] = [
    ["echo around >&2; exit 3", "around\n\nThe command failed with exit code 3."],
    ["echo around >&2; echo own; exit 3", "own\n\nThe command failed with exit code 3."],
    ["echo around >&2", "(no output)"],
  ];
  for (const [script, expected] of rows) {
    const { success, output, error } = await place.run("bash", { command: "true" }, {
      sandbox: wrapping(["/bin/sh", "-c", script]),
    });
    assert.equal(success ? output : error, expected, script);
  }
});

test("only the beginning of the sandbox program's messages is kept, however long they are", async (place) => {
  let reported = "";
  const sandbox = wrapping(["/bin/sh", "-c", "yes around | head -c 200000 >&2; exit 1"], {
    setupFailure: (stated) => {
      reported = stated;
      return Promise.resolve(null);
    },
  });
  await place.error("bash", { command: "true" }, { sandbox });
  assert.equal(reported, "around\n".repeat(3000).slice(0, 16 * 1024));
});

test("if a command prints very much, progress is reported up to a megabyte, and the result is complete", async (place) => {
  let passed = 0;
  await place.output("bash", { command: "yes | head -c 4000000; echo end" }, {
    onOutput: (chunk) => passed += chunk.length,
  });
  assert.ok(passed >= 1024 * 1024 && passed < 2 * 1024 * 1024, `${passed}`);
});

test("notices of the sandbox are appended to the result of a successful or failed command", async (place) => {
  const note = () => "HEAD is held.";
  const noted = { sandbox: wrapping(null, { note }) };
  assert.equal(await place.output("bash", { command: "echo a" }, noted), "a\n\nHEAD is held.");
  assert.equal(
    await place.error("bash", { command: "exit 2" }, noted),
    "(no output)\n\nThe command failed with exit code 2.\n\nHEAD is held.",
  );
  assert.equal(
    await place.output("bash", { command: "echo a" }, { sandbox: wrapping(null, { note: () => null }) }),
    "a",
  );
});

// read

test("a tool does not read a file that is replaced by a file or link between check and opening", async (place) => {
  const path = place.path("a");
  Deno.writeTextFileSync(place.path("hidden"), "hidden");
  const exchanges = [
    () => exchange(path, "planted"),
    () => {
      Deno.removeSync(path);
      Deno.symlinkSync("hidden", path);
    },
  ];
  for (const act of exchanges) {
    exchange(path, "judged");
    let looks = 0;
    // First the tool asks what the path is, then the function that opens it.
    await after("stat", (looked) => looked === path && ++looks === 2, act, async () => {
      assert.equal(
        await place.error("read", { path: "a" }),
        "a was replaced while it was being opened. Read it again.",
      );
    });
  }
});

test("a tool does not read a file that policy made unreadable after the check", async (place) => {
  Deno.writeTextFileSync(place.path("a"), "text");
  let asked = 0;
  const sandbox: Sandbox = { ...openSandbox(), isPathReadable: () => ++asked === 1 };
  assert.match(await place.error("read", { path: "a" }, { sandbox }), /^a was replaced/);
  assert.equal(asked, 2);
});

// write and edit

test("if a path leads to another file after its call had to wait, the tool does not write", async (place) => {
  for (const name of ["one", "two"]) Deno.writeTextFileSync(place.path(name), name);
  Deno.symlinkSync("one", place.path("link"));
  const lock = await lockOf(place, "one");
  const holder = await Deno.open(lock, { create: true, write: true });
  assert.ok(await holder.tryLock(true));
  const whileItWaits = () => {
    Deno.removeSync(place.path("link"));
    Deno.symlinkSync("two", place.path("link"));
    holder.close();
  };
  await after("open", (path) => path === lock, whileItWaits, async () => {
    assert.match(
      await place.error("write", { path: "link", content: "x" }),
      /link changed while the tool was working on it/,
    );
  });
  for (const name of ["one", "two"]) assert.equal(Deno.readTextFileSync(place.path(name)), name);
});

test("if another process removes its lock file while it is opened, the removed file is not taken for the current lock", async (place) => {
  const lock = await lockOf(place, "f");
  const context = place.context({ name: "t", description: "", input_schema: {} });
  await after("open", (path) => path === lock, () => Deno.removeSync(lock), async () => {
    await queueForPath("f", context, async () => {
      using other = await Deno.open(lock, { read: true, write: true });
      assert.equal(await other.tryLock(true), false, "the file at the path is the one that is held open");
    });
  });
});

test("a run does not remove the unfinished file of another running process", async (place) => {
  const lock = await lockOf(place, "other");
  const temporary = place.path(`.flemma-${crypto.randomUUID()}`);
  await Deno.writeTextFile(temporary, "x");
  await Deno.writeTextFile(lock, temporary);
  using holder = await Deno.open(lock, { write: true });
  assert.ok(await holder.tryLock(true));
  await place.output("write", { path: "f", content: "two\n" });
  assert.equal(await Deno.readTextFile(temporary), "x");
  assert.equal(await Deno.readTextFile(lock), temporary);
});

test("after a crash only files whose names have this program's form are removed, and each part of the form is checked", async (place) => {
  const id = crypto.randomUUID();
  const names = [`.flemma-${id}x`, `x.flemma-${id}`, `.flemma-${id.replaceAll("-", "_")}`, ".flemma-", id];
  for (const name of names) {
    await Deno.writeTextFile(place.path(name), "mine");
    await Deno.writeTextFile(await lockOf(place, name), place.path(name));
  }
  await place.output("write", { path: "f", content: "x" });
  for (const name of names) assert.equal(await Deno.readTextFile(place.path(name)), "mine", name);
  assert.deepEqual([...Deno.readDirSync(locksOf(place))], []);
});

test("a file that was deleted after it was read, or that appeared since, is not overwritten, by rename or in place", async (place) => {
  const path = place.path("f");
  for (const way of ["by a rename", "in place"]) {
    const options = { shownAs: "f", temporary: way === "by a rename" ? ".flemma-test" : null };
    await Deno.writeTextFile(path, "one\n");
    const since = await takeSnapshot(path, "f");
    await assert.rejects(
      replaceFile(path, bytes("ours\n"), { ...options, since: null }),
      /changed while the tool was working on it/,
    );
    assert.equal(await Deno.readTextFile(path), "one\n", way);
    await Deno.remove(path);
    await assert.rejects(
      replaceFile(path, bytes("ours\n"), { ...options, since }),
      /changed while the tool was working on it/,
    );
    await assert.rejects(Deno.lstat(path), Deno.errors.NotFound, way);
  }
});

test("if another program writes into a file that is just being created in place, its text is kept", async (place) => {
  const path = place.path("f");
  const between = () => Deno.writeTextFileSync(path, "theirs\n");
  const options = { shownAs: "f", temporary: null, since: null, between };
  await assert.rejects(
    replaceFile(path, bytes("ours\n"), options),
    /changed while the tool was working on it/,
  );
  assert.equal(await Deno.readTextFile(path), "theirs\n");
});

test("if the replaced file is only truncated afterwards, nothing was saved in it, so the written text stays", async (place) => {
  const path = place.path("f");
  await Deno.writeTextFile(path, "one\ntwo\n");
  using editor = await Deno.open(path, { write: true });
  let calls = 0;
  const between = () => void (++calls === 2 && editor.truncateSync(4));
  const since = await takeSnapshot(path, "f");
  await replaceFile(path, bytes("ours\n"), {
    shownAs: "f",
    temporary: ".flemma-test",
    since,
    between,
  });
  assert.equal(await Deno.readTextFile(path), "ours\n");
});

test("if a folder is replaced by a link while a file in it is written, nothing is written to the link's target", async (place) => {
  for (const name of ["dir", "outside"]) await Deno.mkdir(place.path(name));
  await Deno.writeTextFile(place.path("dir/f"), "old");
  await after("lstatSync", (path) => path.includes("/.flemma-"), () => {
    Deno.renameSync(place.path("dir"), place.path("moved"));
    Deno.symlinkSync("outside", place.path("dir"));
  }, async () => {
    assert.notEqual(await place.error("write", { path: "dir/f", content: "new" }), "");
  });
  assert.deepEqual([...Deno.readDirSync(place.path("outside"))], []);
  assert.equal(await Deno.readTextFile(place.path("moved/f")), "old");
});

test("a file whose owner cannot be kept by a rename is written in place, and any other error is reported", async (place) => {
  const path = place.path("f");
  await Deno.writeTextFile(path, "old");
  const { ino } = await Deno.stat(path);
  const [chownSync, lstatSync] = [Deno.chownSync, Deno.lstatSync];
  const asked: unknown[] = [];
  let fault: Error = new Deno.errors.PermissionDenied("no");
  Deno.chownSync = (_path, uid, gid) => {
    asked.push([uid, gid]);
    throw fault;
  };
  try {
    for (const changed of ["uid", "gid"] as const) {
      Deno.lstatSync = (looked) => {
        const info = lstatSync(looked);
        return String(looked).includes("/.flemma-") ? { ...info, [changed]: 77777 } : info;
      };
      await place.output("write", { path: "f", content: `not mine by ${changed}` });
      assert.equal(await Deno.readTextFile(path), `not mine by ${changed}`);
      assert.equal(lstatSync(path).ino, ino, changed);
    }
    assert.equal(asked.length, 2);
    fault = new Error("kaput (os error 5)");
    assert.match(await place.error("write", { path: "f", content: "x" }), /could not be written: kaput/);
    assert.equal(await Deno.readTextFile(path), "not mine by gid");
  } finally {
    Object.assign(Deno, { chownSync, lstatSync });
  }
});

test("in a read-only folder, a writable file is overwritten, but a new file is refused", async (place) => {
  await Deno.mkdir(place.path("home"));
  await Deno.writeTextFile(place.path("f"), "old");
  const scene = new URL("./scene.ts", import.meta.url).href;
  const code = `const { Scene } = await import(${JSON.stringify(scene)});
      const place = new Scene(${JSON.stringify(place.folder)});
      console.log(await place.output("write", { path: "f", content: "new" }));
      console.log(await place.error("write", { path: "g", content: "new" }));`;
  const { stdout, stderr } = await new Deno.Command("bwrap", {
    args: [
      ...["--dev-bind", "/", "/", "--ro-bind", place.folder, place.folder],
      ...["home", "f"].flatMap((name) => ["--bind", place.path(name), place.path(name)]),
      ...[Deno.execPath(), "eval", "--quiet", code],
    ],
    stdin: "null",
  }).output();
  assert.equal(
    new TextDecoder().decode(stdout),
    "Wrote 3 bytes to f.\nThe file g could not be written: Read-only file system.\n",
    new TextDecoder().decode(stderr),
  );
  assert.equal(await Deno.readTextFile(place.path("f")), "new");
});

// the file with the complete output

test("if a folder is replaced while the complete output is saved, no output goes into the new folder", async (place) => {
  for (const planted of ["outside/o.txt", null]) {
    await Deno.mkdir(place.path("dir"));
    await Deno.mkdir(place.path("outside"), { recursive: true });
    if (planted !== null) await Deno.writeTextFile(place.path(planted), "theirs");
    const file = new OverflowFile(place.path("dir/o.txt"), 100);
    await after("open", (path) => path === place.path("dir/o.txt"), () => {
      Deno.renameSync(place.path("dir"), place.path("moved"));
      Deno.symlinkSync("outside", place.path("dir"));
    }, () => file.write(bytes("secret")));
    file.close();
    assert.equal(file.usablePath, null);
    assert.match(file.problem?.message ?? "", /could not be saved/);
    assert.equal(Deno.readTextFileSync(place.path("moved/o.txt")), "");
    if (planted !== null) assert.equal(Deno.readTextFileSync(place.path(planted)), "theirs");
    for (const name of ["dir", "moved", "outside"]) {
      await Deno.remove(place.path(name), { recursive: true });
    }
  }
});

test("a link in a parent path that a command created is detected before a folder is created, and again afterwards", async (place) => {
  for (const answers of [["/link"], [null, "/link"]]) {
    let asked = 0;
    const file = new OverflowFile(place.path("dir/o.txt"), 100, () => answers[asked++] ?? null);
    await file.write(bytes("secret"));
    await file.write(bytes("more"));
    assert.equal(asked, answers.length, "and nothing is tried again");
    assert.match(
      file.problem?.message ?? "",
      /a command could have created the symbolic link \/link in its path/,
    );
    assert.equal(file.usablePath, null);
  }
  const fine = new OverflowFile(place.path("dir/o.txt"), 100, () => null);
  await fine.write(bytes("text"));
  await fine.discard();
  assert.deepEqual([...Deno.readDirSync(place.path("dir"))], []);
});
