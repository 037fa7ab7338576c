// Requests to the file helper and its answers: what is sent, what is cancelled, and when the helper is ended.

import assert from "node:assert/strict";
import { OWN_ACCESS } from "../../base/disk/folder_access.ts";
import { packError } from "../../base/disk/failures.ts";
import { success } from "../../base/problem.ts";
import { WHOLE_VIEW } from "../../sandbox/policy/view.ts";
import type { RunSandbox } from "../../sandbox/mod.ts";
import type { SandboxWorker } from "../../sandbox/types.ts";
import { FileHelper } from "../../tools/files/file_helper.ts";
import { HELPER_SOURCE } from "../../tools/files/helper.generated.ts";
import { perform } from "../../tools/files/operations.ts";
import { encodeFrame, frameOf, FrameReader, type FromHelper } from "../../tools/files/protocol.ts";
import { inFolder } from "../folder.ts";
import { withWaitInHand } from "../waiting.ts";

const NEVER = new AbortController().signal;
const GRACE = 500;

/** A file helper whose process is played by the test. */
function scene() {
  const helpers: { sent: Uint8Array[]; kills: number; say: (frame: FromHelper | Uint8Array) => void }[] = [];
  const start = (): SandboxWorker => {
    const ended = Promise.withResolvers<null>();
    let say!: ReadableStreamDefaultController<Uint8Array>;
    const output = new ReadableStream<Uint8Array>({ start: (controller) => void (say = controller) });
    const helper = {
      sent: [] as Uint8Array[],
      kills: 0,
      say: (frame: FromHelper | Uint8Array) =>
        say.enqueue(frame instanceof Uint8Array ? frame : frameOf(frame)),
    };
    helpers.push(helper);
    const input = new WritableStream<Uint8Array>({ write: (bytes) => void helper.sent.push(bytes) });
    return {
      wrapped: true,
      input: input.getWriter(),
      output,
      ended: ended.promise,
      kill: () => {
        helper.kills++;
        if (helper.kills === 1) {
          try {
            say.close();
          } catch {
            // An invalid frame has cancelled the output.
          }
          ended.resolve(null);
        }
        return Promise.resolve();
      },
    };
  };
  let worker: SandboxWorker | null = null;
  const sandbox: Pick<RunSandbox, "startWorker"> = {
    startWorker: () => Promise.resolve(success(worker ??= start())),
  };
  const disk = new FileHelper({
    sandbox: sandbox as RunSandbox,
    program: () => success("/bin/true"),
    standalone: false,
  });
  return { disk, helpers, replace: () => void (worker = null) };
}

/** What was sent after the program and the greeting. */
function frames(sent: readonly Uint8Array[]): unknown[] {
  const reader = new FrameReader();
  return sent.slice(2).flatMap((bytes) => [...reader.push(bytes)]);
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((done) => setTimeout(done));
}

Deno.test("a helper gets its program, then what it may see, then requests, and each answer goes to its request", async () => {
  const { disk, helpers } = scene();
  const first = disk.perform("read", { real: "/a" }, NEVER);
  const second = disk.perform("names", { folder: "/" }, NEVER);
  await until(() => helpers[0]?.sent.length === 4);
  const [{ sent, say } = assert.fail()] = helpers;
  assert.deepEqual(sent[0], encodeFrame(new TextEncoder().encode(HELPER_SOURCE)));
  assert.match(new TextDecoder().decode(sent[1]), /"view":.*"rg":"\/bin\/true"/);
  assert.deepEqual(frames(sent), [
    { id: 1, operation: "read", request: { real: "/a" } },
    { id: 2, operation: "names", request: { folder: "/" } },
  ]);
  say({ ready: true });
  say({ id: 7, value: "for nobody" });
  say({ id: 2, value: ["b"] });
  say({ id: 1, error: packError(new Deno.errors.NotFound("gone")) });
  assert.deepEqual(await second, ["b"]);
  await assert.rejects(first, Deno.errors.NotFound);
});

Deno.test("a cancelled request is cancelled in the helper, which goes on if it answers in time", async () => {
  const { disk, helpers } = scene();
  const stop = new AbortController();
  await withWaitInHand(GRACE, async (due) => {
    const asked = disk.perform("grep", {}, stop.signal);
    await until(() => helpers[0]?.sent.length === 3);
    const [helper = assert.fail()] = helpers;
    stop.abort(new Error("by the person"));
    await until(() => helper.sent.length === 4);
    assert.deepEqual(frames(helper.sent)[1], { cancel: 1 });
    helper.say({ ready: true });
    helper.say({ id: 1, error: packError(new Error("aborted")) });
    await assert.rejects(asked, /by the person/);
    due();
    assert.equal(helper.kills, 0);
  });
});

Deno.test("a request that is cancelled while the helper starts is cancelled in the helper", async () => {
  const { disk, helpers } = scene();
  const stop = new AbortController();
  await withWaitInHand(GRACE, async () => {
    const asked = disk.perform("grep", {}, stop.signal);
    stop.abort(new Error("by the person"));
    await until(() => (helpers[0]?.sent.length ?? 0) >= 3);
    const [helper = assert.fail()] = helpers;
    // A second request is sent after whatever the first one sends.
    const other = disk.perform("names", {}, NEVER);
    await until(() => frames(helper.sent).some((frame) => JSON.stringify(frame).includes("names")));
    assert.deepEqual(frames(helper.sent)[1], { cancel: 1 });
    helper.say({ ready: true });
    helper.say({ id: 1, error: packError(new Error("aborted")) });
    helper.say({ id: 2, value: [] });
    await assert.rejects(asked, /by the person/);
    assert.deepEqual(await other, []);
  });
});

Deno.test("a helper that does not react to a cancellation is ended, unless it is overwriting a file", async () => {
  for (const overwrites of [false, true]) {
    const { disk, helpers } = scene();
    const stop = new AbortController();
    await withWaitInHand(GRACE, async (due) => {
      const asked = disk.perform("write", {}, stop.signal);
      await until(() => helpers[0]?.sent.length === 3);
      const [helper = assert.fail()] = helpers;
      helper.say({ ready: true });
      if (overwrites) helper.say({ id: 1, overwriting: true });
      const other = disk.perform("names", {}, NEVER);
      await until(() => helper.sent.length === 4);
      helper.say({ id: 2, value: [] });
      await other;
      stop.abort(new Error("by the person"));
      due();
      assert.equal(helper.kills, overwrites ? 0 : 1);
      if (overwrites) helper.say({ id: 1, value: null });
      await (overwrites ? asked : assert.rejects(asked, /by the person/));
    });
  }
});

Deno.test("a signal that aborts after the answer sends nothing, and one that has aborted before starts no helper", async () => {
  const { disk, helpers } = scene();
  const stop = new AbortController();
  const asked = disk.perform("names", {}, stop.signal);
  await until(() => helpers[0]?.sent.length === 3);
  helpers[0]!.say({ ready: true });
  helpers[0]!.say({ id: 1, value: [] });
  await asked;
  stop.abort(new Error("too late"));
  await assert.rejects(disk.perform("names", {}, stop.signal), /too late/);
  const next = disk.perform("names", {}, NEVER);
  await until(() => helpers[0]!.sent.length === 4);
  assert.deepEqual(frames(helpers[0]!.sent)[1], { id: 2, operation: "names", request: {} });
  helpers[0]!.say({ id: 2, value: [] });
  await next;
});

Deno.test("a helper that sends invalid data is ended, and only a request that changes nothing is repeated", async () => {
  for (const operation of ["read", "write"]) {
    const { disk, helpers, replace } = scene();
    const asked = disk.perform(operation, {}, NEVER);
    const outcome = asked.then(() => "done", (thrown: Error) => thrown.message);
    await until(() => helpers[0]?.sent.length === 3);
    helpers[0]!.say({ ready: true });
    replace();
    helpers[0]!.say(encodeFrame(new TextEncoder().encode("no JSON")));
    await until(() => helpers[0]!.kills === 1);
    if (operation === "write") {
      assert.match(await outcome, /the file may or may not have changed/);
      continue;
    }
    await until(() => helpers[1]?.sent.length === 3);
    helpers[1]!.say({ ready: true });
    helpers[1]!.say({ id: 1, value: null });
    assert.equal(await outcome, "done");
  }
});

Deno.test("the helper stops work that is cancelled, and serves further requests", () =>
  inFolder(async (folder) => {
    const program = `${folder}/main.js`;
    await Deno.writeTextFile(`${folder}/helper.js`, HELPER_SOURCE);
    await Deno.writeTextFile(program, 'import { serve } from "./helper.js";\nawait serve();\n');
    for (const name of ["a", "b"]) await Deno.mkdir(`${folder}/tree/${name}`, { recursive: true });
    const list = { start: `${folder}/tree`, depth: 3, limit: 10 };
    const greeting = { view: WHOLE_VIEW, systemDevices: [], rg: null };
    const asked = [
      greeting,
      { id: 1, operation: "list", request: list },
      { cancel: 1 },
      { id: 2, operation: "names", request: { folder: `${folder}/tree`, most: 5 } },
    ].map(frameOf);
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-config", "-A", program],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(Uint8Array.from(asked.flatMap((frame) => [...frame])));
    const reader = new FrameReader();
    const answers: FromHelper[] = [];
    const output = child.stdout.getReader();
    while (answers.length < 3) {
      const { value, done } = await output.read();
      if (done) break;
      answers.push(...reader.push(value) as Iterable<FromHelper>);
    }
    await writer.close();
    await output.cancel();
    assert.deepEqual(answers[0], { ready: true });
    const byId = new Map(
      answers.slice(1).map((answer) => "id" in answer ? [answer.id, answer] : assert.fail()),
    );
    assert.ok("error" in byId.get(1)!, JSON.stringify(answers));
    assert.deepEqual((byId.get(2) as { value?: string[] }).value?.toSorted(), ["a", "b"]);
    assert.equal((await child.status).code, 0);
  }));

const DISK = { ...OWN_ACCESS, isReadable: () => true, rg: null };

Deno.test("a discarded file is gone, discarding it again does nothing, and every other failure is reported", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/a`, "");
    for (let count = 0; count < 2; count++) {
      assert.equal(await perform("discard", { real: `${folder}/a` }, DISK, NEVER), null);
      assert.throws(() => Deno.lstatSync(`${folder}/a`), Deno.errors.NotFound);
    }
    await Deno.mkdir(`${folder}/b/c`, { recursive: true });
    await assert.rejects(perform("discard", { real: `${folder}/b` }, DISK, NEVER));
  }));

Deno.test("an operation that was cancelled ends with the reason: one row per operation", () =>
  inFolder(async (folder) => {
    const real = `${folder}/a`;
    await Deno.writeTextFile(real, "text\n".repeat(10_000));
    const stopped = AbortSignal.abort(new Error("by the person"));
    const search = { start: folder, excluded: [], limit: 10, seconds: 60, pattern: "x" };
    const range = { offset: 1, count: null, maxLines: 10, maxBytes: 100 };
    const rows = {
      list: () => perform("list", { start: folder, depth: 1, limit: 10 }, DISK, stopped),
      find: () => perform("find", search, DISK, stopped),
      grep: () => perform("grep", { ...search, glob: null }, DISK, stopped),
      read: () => perform("read", { real, named: real, range, remember: false }, DISK, stopped),
    };
    for (const [row, run] of Object.entries(rows)) await assert.rejects(run(), /by the person/, row);
  }));

Deno.test("frames are read in whatever pieces they arrive", () => {
  const values = [{ ready: true }, { id: 1, value: "é".repeat(100) }, { id: 2, value: [] }];
  const bytes = Uint8Array.from(values.flatMap((value) => [...frameOf(value)]));
  for (const size of [1, 3, 6, 50, bytes.length]) {
    const reader = new FrameReader();
    const read: unknown[] = [];
    const piece = new Uint8Array(size);
    for (let at = 0; at < bytes.length; at += size) {
      const part = bytes.subarray(at, at + size);
      // Whoever reads may use the same memory for the next piece.
      piece.set(part);
      read.push(...reader.push(piece.subarray(0, part.length)));
    }
    assert.deepEqual(read, values, `${size}`);
  }
});

Deno.test("reading and listing end with the reason of a cancel, also in the middle", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/a`, "x\n".repeat(50_000));
    await Deno.mkdir(`${folder}/b`);
    const stopped = AbortSignal.abort(new Error("by the person"));
    const range = { offset: 1, count: null, maxLines: 10, maxBytes: 1000 };
    const read = { real: `${folder}/a`, named: "a", range, remember: false };
    await assert.rejects(perform("read", read, DISK, stopped), /by the person/);
    const list = { start: folder, depth: 2, limit: 10 };
    await assert.rejects(perform("list", list, DISK, stopped), /by the person/);
    let looked = 0;
    const meanwhile = new AbortController();
    const disk = { ...DISK, isReadable: () => ++looked > 0 && (meanwhile.abort(new Error("later")), true) };
    await assert.rejects(perform("list", list, disk, meanwhile.signal), /later/);
  }));
