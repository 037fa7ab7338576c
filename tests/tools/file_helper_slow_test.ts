// The file helper: file tools access the disk inside the same sandbox as commands.

import assert from "node:assert/strict";
import { failure, success } from "../../base/problem.ts";
import { HELPER_WORD } from "../../commands/main.ts";
import { WHOLE_VIEW } from "../../sandbox/policy/view.ts";
import { FileHelper } from "../../tools/files/file_helper.ts";
import { plant, projectSandbox, requireBubblewrap, runInside } from "../sandbox/fixture.ts";
import { inFolder, testInFolder as test } from "../folder.ts";
import { askedFor, withHelper } from "./helper_scene.ts";

/** Runs `body` with the tools of a project. */
function inProject(
  changes: Parameters<typeof projectSandbox>[1],
  body: (root: string, tools: Parameters<Parameters<typeof withHelper>[2]>[0]) => Promise<void>,
): Promise<void> {
  return inFolder(async (root) => {
    plant(root, "project/notes.chat", "project/a.txt", "outside/file");
    const sandbox = projectSandbox(root, changes);
    await withHelper(sandbox, `${root}/project/notes.chat`, (tools) => body(root, tools));
  });
}

Deno.test("every file tool works inside the sandbox", () =>
  inProject({}, async (root, { sandbox, output }) => {
    await requireBubblewrap(sandbox);
    assert.equal(await output("read", { path: "a.txt" }), "text of project/a.txt");
    assert.equal(
      await output("write", { path: "sub/b.txt", content: "one\ntwo \ud800\n" }),
      "Wrote 12 bytes to sub/b.txt.",
    );
    assert.equal(
      await output("edit", { path: "sub/b.txt", oldText: "one", newText: "1" }),
      "Edited sub/b.txt.",
    );
    assert.equal(Deno.readTextFileSync(`${root}/project/sub/b.txt`), "1\ntwo \ufffd\n");
    assert.equal(
      await output("ls", { path: ".", max_depth: 2 }),
      "sub/\na.txt\nnotes.chat\nsub/b.txt\n\n[4 entries, depth=2]",
    );
    assert.equal(await output("find", { pattern: "*.txt" }), "a.txt\nsub/b.txt");
    assert.equal(await output("grep", { pattern: "^tw\\w" }), "sub/b.txt:2:two \ufffd\n\n[1 match]");
  }));

Deno.test("file tools return the same error messages with and without the helper process", () =>
  inProject({}, async (root, { error }) => {
    assert.match(
      await error("read", { path: "A.txt" }),
      /The file A\.txt does not exist; .*\/project contains "a\.txt"/,
    );
    assert.match(await error("read", { path: "." }), /is a folder/);
    assert.match(
      await error("edit", { path: "none", oldText: "a", newText: "b" }),
      /The file none does not exist/,
    );
    assert.match(
      await error("edit", { path: "a.txt", oldText: "zzz", newText: "b" }),
      /oldText was not found in a\.txt/,
    );
    assert.match(
      await error("write", { path: "a.txt/b", content: "" }),
      /part of the path is a file, not a folder/,
    );
    assert.match(
      await error("write", { path: `${root}/outside/x`, content: "" }),
      /tools may not write to /,
    );
    assert.match(await error("write", { path: "notes.chat", content: "" }), /document of this conversation/);
    assert.match(await error("grep", { pattern: "(" }), /is not valid: missing closing/);
  }));

Deno.test("one helper process serves a whole run, including parallel calls, and if it is killed, a new one replaces it", () =>
  inProject({}, async (_, { disk, sandbox, output }) => {
    const worker = async () => {
      const started = await sandbox.startWorker(...await askedFor(sandbox, disk));
      assert.ok(started.ok);
      return started.value;
    };
    await output("read", { path: "a.txt" });
    const first = await worker();
    const all = Array.from({ length: 20 }, (_, at) => output("write", { path: `f${at}`, content: `${at}` }));
    await Promise.all(all);
    assert.equal(await output("find", { pattern: "f1?" }).then((found) => found.split("\n").length), 10);
    assert.equal(await worker(), first);
    await first.kill();
    await first.ended;
    assert.equal(await output("read", { path: "f7" }), "7");
    assert.notEqual(await worker(), first);
  }));

test("in the helper process, the kernel also blocks hidden paths, protected paths and all paths outside the allowed folders", async (root) => {
  plant(
    root,
    "project/notes.chat",
    "project/keys/secret",
    "project/single",
    "project/.git/hooks/",
    "project/.git/config",
  );
  plant(root, "outside/file", "project/.git/HEAD");
  const project = `${root}/project`;
  const sandbox = projectSandbox(root, { policy: { deny_read: [`${project}/keys`, `${project}/single`] } });
  // As if every judgement of the program itself had been got around.
  sandbox.pathView = () => WHOLE_VIEW;
  await withHelper(sandbox, `${project}/notes.chat`, async ({ disk }) => {
    const { signal } = new AbortController();
    const range = { offset: 1, count: null, maxLines: 100, maxBytes: 1000 };
    const read = (real: string) =>
      disk.perform("read", { real, named: real, range, remember: false }, signal);
    const target = (real: string, temporary: string | null) => ({
      real,
      shown: real,
      temporary,
      seen: null,
    });
    const write = (real: string, temporary: string | null = ".flemma-test") =>
      disk.perform("write", { ...target(real, temporary), content: "PWNED" }, signal);
    await assert.rejects(read(`${project}/keys/secret`), /Permission denied|No such file/);
    assert.equal(await read(`${project}/single`), null, "a device is there");
    for (const temporary of [".flemma-test", null]) {
      for (const path of ["project/.git/config", "project/notes.chat", "outside/file"]) {
        await assert.rejects(write(`${root}/${path}`, temporary), /Read-only|Permission denied|busy/i, path);
      }
      for (const path of ["project/.git/hooks/pre-commit", "outside/new", "outside/deep/new"]) {
        await assert.rejects(write(`${root}/${path}`, temporary), /Read-only|Permission denied/i, path);
      }
    }
    await assert.rejects(disk.perform("discard", { real: `${root}/outside/file` }, signal), /Read-only/);
    await write(`${project}/fine`);
  });
  assert.equal(Deno.readTextFileSync(`${root}/outside/file`), "text of outside/file\n");
  assert.equal(Deno.readTextFileSync(`${project}/fine`), "PWNED");
});

Deno.test("file tools do not enter a folder that is replaced by a link, with or without the sandbox", async () => {
  for (const enabled of [true, false]) {
    await inProject({ enabled }, async (root, { disk }) => {
      plant(root, "project/in/file", "project/link -> ../outside");
      const { signal } = new AbortController();
      const real = `${root}/project/link/file`;
      const range = { offset: 1, count: null, maxLines: 100, maxBytes: 1000 };
      await assert.rejects(
        disk.perform("read", { real, named: real, range, remember: false }, signal),
        /was replaced during the operation/,
      );
      for (const temporary of [".flemma-test", null]) {
        const target = { real, shown: "f", temporary, seen: null, content: "PWNED" };
        await assert.rejects(disk.perform("write", target, signal), /was replaced during the operation/);
        const made = { ...target, real: `${root}/project/link/deep/new` };
        await assert.rejects(disk.perform("write", made, signal), /was replaced during the operation/);
      }
      assert.deepEqual(await disk.perform("names", { folder: `${root}/project/link`, most: 9 }, signal), []);
      assert.deepEqual([...Deno.readDirSync(`${root}/outside`)].map(({ name }) => name), ["file"]);
      assert.equal(Deno.readTextFileSync(`${root}/outside/file`), "text of outside/file\n");
    });
  }
});

Deno.test("the helper process is reused while its mounts would be the same, and otherwise restarted", () =>
  inProject({}, async (root, { sandbox, disk, output, error }) => {
    const asked = await askedFor(sandbox, disk);
    const worker = async () => {
      const started = await sandbox.startWorker(...asked);
      assert.ok(started.ok);
      return started.value;
    };
    const first = await worker();
    plant(root, "project/src/a", "project/b");
    assert.equal(await worker(), first, "files that mean nothing change nothing");
    const ran = await runInside(sandbox, "echo x > made");
    assert.equal(ran.code, 0);
    Deno.writeTextFileSync(`${root}/project/notes.chat~`, "@You:\n");
    Deno.renameSync(`${root}/project/notes.chat~`, `${root}/project/notes.chat`);
    assert.equal(await worker(), first, "what this program writes changes nothing while no command lives");
    plant(root, "project/.vscode/tasks.json");
    const second = await worker();
    assert.notEqual(second, first, "a protected path is there by now");
    assert.match(await error("write", { path: ".vscode/tasks.json", content: "x" }), /may not write/);
    assert.equal(await output("read", { path: "b" }), "text of project/b");
    assert.equal(await worker(), second);
  }));

Deno.test("if a helper process lost its mount of the document, it is not used while a command runs", () =>
  inProject({}, async (root, { sandbox, disk }) => {
    const asked = await askedFor(sandbox, disk);
    const worker = async () => {
      const started = await sandbox.startWorker(...asked);
      assert.ok(started.ok);
      return started.value;
    };
    const first = await worker();
    Deno.writeTextFileSync(`${root}/project/notes.chat~`, "@You:\n");
    Deno.renameSync(`${root}/project/notes.chat~`, `${root}/project/notes.chat`);
    const prepared = await sandbox.prepare(["/bin/true"]);
    assert.ok(prepared.ok);
    const beside = await worker();
    assert.notEqual(beside, first);
    await prepared.value.dispose();
    assert.equal(await worker(), beside);
  }));

Deno.test("if a helper process does not respond, it is ended when the call times out or is stopped, and a new one replaces it", () =>
  inProject({}, async (_, { sandbox, run, output, callsMayTake }) => {
    const { startWorker: worker } = sandbox;
    const silent = () => worker.call(sandbox, ["/bin/sleep", "600"], {});
    for (const cause of ["time", "stop"] as const) {
      callsMayTake(cause === "time" ? 0.3 : 3600);
      sandbox.startWorker = silent;
      const stop = new AbortController();
      const calls = ["read", "ls", "find", "grep", "write", "edit"].map((name) =>
        run(name, {
          path: name === "write" ? "w" : name === "ls" || name === "find" ? "." : "a.txt",
          pattern: "x",
          content: "x",
          oldText: "t",
          newText: "u",
        }, stop.signal)
      );
      if (cause === "stop") setTimeout(() => stop.abort(), 50);
      for (const { success, error } of await Promise.all(calls)) {
        assert.equal(success, false);
        assert.match(error ?? "", cause === "stop" ? /stopped/ : /no answer within|ended|did not start/);
      }
      sandbox.startWorker = worker;
      await sandbox.endWorker();
    }
    callsMayTake(30);
    assert.equal(await output("read", { path: "a.txt" }), "text of project/a.txt");
  }));

Deno.test("if a helper process sends invalid data or exits immediately, the call fails with a one-sentence error", () =>
  inProject({}, async (_, { sandbox, error }) => {
    const { startWorker: worker } = sandbox;
    for (const words of [["/bin/echo", "no frame of ours"], ["/bin/true"], ["/bin/cat"]]) {
      sandbox.startWorker = () => worker.call(sandbox, words, {});
      assert.match(
        await error("read", { path: "a.txt" }),
        /process for file tools (?:did not start|ended)/,
        words[0],
      );
      assert.match(
        await error("write", { path: "b", content: "x" }),
        /process for file tools (?:did not start|ended)/,
        words[0],
      );
      await sandbox.endWorker();
    }
    sandbox.startWorker = () => Promise.resolve(failure("backend-setup", "It cannot be set up."));
    assert.match(
      await error("read", { path: "a.txt" }),
      /^Sandbox: It cannot be set up\. Do not repeat the call/,
    );
  }));

Deno.test("without a working sandbox, the helper process works in folders that it holds open", async () => {
  for (const changes of [{ enabled: false }, { backend: "none-of-ours" }]) {
    await inProject(changes, async (_, { sandbox, disk, output }) => {
      const started = await sandbox.startWorker(...await askedFor(sandbox, disk));
      assert.ok(started.ok && !started.value.wrapped);
      assert.equal(await output("write", { path: "x/y", content: "1" }), "Wrote 1 byte to x/y.");
      assert.equal(await output("read", { path: "x/y" }), "1");
    });
  }
});

Deno.test("flemma compiled to a binary acts as its own helper process", () =>
  inProject({}, async (root, { sandbox }) => {
    const { startWorker: worker } = sandbox;
    const asked: (readonly string[])[] = [];
    const cli = new URL("../../cli.ts", import.meta.url).pathname;
    sandbox.startWorker = (argv) => {
      asked.push(argv);
      // What the compiled program does with these words, done by the one that is here.
      const words = [
        Deno.execPath(),
        "run",
        "-A",
        "--quiet",
        "--no-lock",
        "--cached-only",
        cli,
        ...argv.slice(1),
      ];
      const { HOME = "/", DENO_DIR = `${HOME}/.cache/deno` } = Deno.env.toObject();
      return worker.call(sandbox, words, { HOME, DENO_DIR });
    };
    const disk = new FileHelper({ sandbox, program: () => failure("none", "none"), standalone: true });
    const { signal } = new AbortController();
    assert.deepEqual(await disk.perform("names", { folder: `${root}/outside`, most: 9 }, signal), ["file"]);
    assert.deepEqual(asked, [[Deno.execPath(), HELPER_WORD]]);
  }));

Deno.test("the helper process has no network, and Deno lets it start nothing but rg", () =>
  inProject({}, async (root, { sandbox }) => {
    const { startWorker: worker } = sandbox;
    const asked: string[] = [];
    sandbox.startWorker = (argv, ...more) => {
      asked.push(...argv);
      return worker.call(sandbox, argv, ...more);
    };
    const disk = new FileHelper({
      sandbox,
      program: (name) => success(name === "rg" ? "/usr/bin/rg" : Deno.execPath()),
      standalone: false,
    });
    await disk.perform("names", { folder: `${root}/outside`, most: 9 }, new AbortController().signal);
    const rights = asked.filter((word) => /^(?:-A|--allow)/.test(word));
    assert.deepEqual(rights, ["--allow-read", "--allow-write", "--allow-ffi", "--allow-run=/usr/bin/rg"]);
    const told = `const { revoke } = Deno.permissions;
      Deno.permissions.revoke = async (right) => {
        const status = await revoke.call(Deno.permissions, right);
        console.error(right.name, status.state === "granted" ? "granted" : "refused");
        return status;
      };`;
    await Deno.writeTextFile(`${root}/told.ts`, told);
    const cli = new URL("../../cli.ts", import.meta.url).pathname;
    const { stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--quiet",
        "--no-lock",
        "--cached-only",
        "--preload",
        `${root}/told.ts`,
        cli,
        HELPER_WORD,
      ],
      stdin: "null",
    }).output();
    assert.equal(new TextDecoder().decode(stderr), "net refused\n");
  }));
