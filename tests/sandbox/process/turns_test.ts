// File tools wait until no command runs that could swap the files.

import assert from "node:assert/strict";
import { Turns } from "../../../sandbox/process/turns.ts";
import type { FileTurn } from "../../../sandbox/types.ts";
import { runTool } from "../../../tools/run.ts";
import { createContext } from "../../../tools/context.ts";
import { builtinTools } from "../../../tools/builtin/mod.ts";
import { DEFAULT_SETTINGS } from "../../../config/settings.generated.ts";
import { plant, projectSandbox, requireBubblewrap, world } from "../fixture.ts";
import { descriptorsInto, testInFolder as test } from "../../folder.ts";

interface Hands extends FileTurn {
  readonly waited: string[];
  /** Resolves when the turn has to wait. */
  readonly hasToWait: Promise<void>;
}

function hands(path: string, signal = new AbortController().signal): Hands {
  const waited: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    paths: () => [path],
    signal,
    waited,
    hasToWait: promise,
    waiting(whose) {
      waited.push(whose);
      resolve();
    },
  };
}

const turnsIn = (root: string, notes: string[] = []) =>
  new Turns(world(root), ({ code }) => notes.push(code));
const living = (root: string) =>
  [...Deno.readDirSync(`${root}/home/.local/state/flemma/commands`)].filter(({ name }) =>
    !name.startsWith(".")
  );

test("a tool that reads or writes waits for a command of the same run, and the wait is reported once", async (root) => {
  const turns = turnsIn(root);
  assert.ok((await turns.commandBegins(["/w"])).ok);
  const order: string[] = [];
  const [reader, writer] = [hands("/elsewhere"), hands("/elsewhere")];
  const both = [
    turns.files("read", reader, () => Promise.resolve(order.push("read"))),
    turns.files("write", writer, () => Promise.resolve(order.push("written"))),
  ];
  await Promise.all([reader.hasToWait, writer.hasToWait]);
  order.push("command ended");
  await turns.commandEnded();
  await Promise.all(both);
  assert.deepEqual(order, ["command ended", "read", "written"]);
  assert.deepEqual([reader.waited, writer.waited], [["this run"], ["this run"]]);
  assert.deepEqual(living(root), []);
});

test("a command waits while a tool reads or writes a file", async (root) => {
  for (const access of ["read", "write"] as const) {
    const turns = turnsIn(root);
    const order: string[] = [];
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const work = turns.files(access, hands("/w/x"), async () => {
      begun.resolve();
      await end.promise;
      order.push("file");
    });
    await begun.promise;
    const command = turns.commandBegins(["/w"]).then(() => order.push("command"));
    end.resolve();
    await Promise.all([work, command]);
    assert.deepEqual(order, ["file", "command"], access);
    await turns.commandEnded();
    assert.deepEqual(living(root), [], "an ended command leaves no entry");
  }
});

test("tools of one run write one after the other, without waiting for another run", async (root) => {
  const turns = turnsIn(root);
  const order: string[] = [];
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = turns.files("write", hands("/w/a"), async () => {
    begun.resolve();
    await end.promise;
    order.push("first");
  });
  await begun.promise;
  const turn = hands("/w/b");
  const second = turns.files("write", turn, () => Promise.resolve(order.push("second")));
  await new Promise((done) => setTimeout(done));
  end.resolve();
  await Promise.all([first, second]);
  assert.deepEqual([order, turn.waited], [["first", "second"], []]);
});

test("a tool waits to write where a command of another run can write, but not to read or to write at other paths", async (root) => {
  const [one, other] = [turnsIn(root), turnsIn(root)];
  assert.ok((await other.commandBegins(["/w", "/t"])).ok);
  assert.ok((await other.commandBegins(["/w", "/t"])).ok);
  for (const [access, path] of [["read", "/w/a"], ["write", "/wx/a"], ["write", "/"]] as const) {
    const turn = hands(path);
    assert.equal(await one.files(access, turn, () => Promise.resolve(path)), path);
    assert.deepEqual(turn.waited, [], path);
  }
  let ended = false;
  const waits = Promise.withResolvers<void>();
  let checks = 0;
  const turn: Hands = {
    ...hands("/t/a/b"),
    paths: () => {
      if (++checks === 3) waits.resolve();
      return ["/t/a/b"];
    },
  };
  const writing = one.files("write", turn, () => Promise.resolve(ended));
  await waits.promise;
  await other.commandEnded();
  assert.equal(living(root).length, 1, "the second command still lives");
  ended = true;
  await other.commandEnded();
  assert.equal(await writing, true);
  assert.deepEqual(turn.waited, ["another run"], "reported once, however often it is checked");
});

test("after each wait the path is checked again, since a link may lead to another target by then", async (root) => {
  const [one, other] = [turnsIn(root), turnsIn(root)];
  assert.ok((await other.commandBegins(["/w"])).ok);
  let path = "/w/a";
  const turn = { ...hands(""), paths: () => [path], waiting: () => path = "/elsewhere" };
  assert.equal(await one.files("write", turn, () => Promise.resolve("written")), "written");
  await other.commandEnded();
});

test("leftovers of a killed run delay no tool and no command", async (root) => {
  plant(root, "home/.local/state/flemma/commands/");
  Deno.writeTextFileSync(`${root}/home/.local/state/flemma/commands/old`, "/w");
  const turn = hands("/w/a");
  await turnsIn(root).files("write", turn, () => Promise.resolve());
  assert.deepEqual([turn.waited, living(root)], [[], []]);
});

test("an entry of a command that cannot be read is reported, and does not count as an ended command", async (root) => {
  plant(root, "home/.local/state/flemma/commands/odd/");
  const notes: string[] = [];
  const written = await turnsIn(root, notes).files("write", hands("/w/a"), () => Promise.resolve("written"));
  assert.deepEqual([written, notes], ["written", ["state-unwritable"]]);
});

test("if a person stops the wait for a command of this or another run, the wait ends and the tool does nothing", async (root) => {
  const [one, other] = [turnsIn(root), turnsIn(root)];
  assert.ok((await other.commandBegins(["/w"])).ok);
  for (const turns of [one, other]) {
    const controller = new AbortController();
    const turn = hands("/w/a", controller.signal);
    const writing = turns.files("write", turn, () => Promise.reject(new Error("it was done")));
    await turn.hasToWait;
    controller.abort(new Error("stopped"));
    await assert.rejects(writing, { message: "stopped" });
  }
  await other.commandEnded();
});

test("if the state folder cannot be written, the person gets one message, and tools of the same run still take turns", async (root) => {
  plant(root, "home/.local/state/flemma");
  const notes: string[] = [];
  const turns = turnsIn(root, notes);
  assert.ok((await turns.commandBegins(["/w"])).ok);
  assert.deepEqual(notes, ["state-unwritable"], "other runs cannot see this command");
  const turn = hands("/w/a");
  const writing = turns.files("write", turn, () => Promise.resolve("written"));
  await turn.hasToWait;
  await turns.commandEnded();
  assert.equal(await writing, "written");
  assert.deepEqual(new Set(notes), new Set(["state-unwritable"]));
});

test("a command that another run's write keeps from starting does not count as live", async (root) => {
  plant(root, "home/.local/state/flemma/commands/");
  const turns = turnsIn(root);
  const gate = Deno.openSync(`${root}/home/.local/state/flemma/commands/.gate`, {
    create: true,
    write: true,
  });
  gate.lockSync(true);
  const now = performance.now;
  let elapsed = 0;
  performance.now = () => elapsed += 10_000;
  try {
    const begun = await turns.commandBegins(["/w"]);
    assert.equal(begun.ok ? null : begun.problem.code, "files-busy");
  } finally {
    performance.now = now;
    gate.close();
  }
  assert.deepEqual(descriptorsInto(root), []);
  const turn = hands("/w/a");
  assert.equal(await turns.files("read", turn, () => Promise.resolve("read")), "read");
  assert.deepEqual(turn.waited, []);
  assert.ok((await turns.commandBegins(["/w"])).ok, "the next command tries again");
  await turns.commandEnded();
});

test("waiting does not count towards a tool's timeout, and the person sees what the tool waits for", async (root) => {
  plant(root, "project/f");
  const sandbox = projectSandbox(root);
  await requireBubblewrap(sandbox);
  const command = await sandbox.prepare(["/bin/true"]);
  assert.ok(command.ok);
  const definition = builtinTools().find(({ name }) => name === "read")!;
  const order: string[] = [];
  const reported = Promise.withResolvers<void>();
  const context = createContext({
    definition,
    toolId: "call_1",
    document: `${root}/project/notes.chat`,
    settings: { tools: DEFAULT_SETTINGS.tools },
    environment: sandbox.host.environment,
    sandbox,
    signal: new AbortController().signal,
    onWait(message) {
      order.push(message);
      reported.resolve();
    },
  });
  const watched = new Proxy(context, {
    get(target, name) {
      if (name === "timeout") order.push("its time begins");
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  const reading = runTool(definition, { path: "f" }, watched);
  await reported.promise;
  order.push("the command ends");
  await command.value.dispose();
  assert.deepEqual(await reading, { success: true, output: "text of project/f" });
  assert.deepEqual(order, [
    "read is waiting for a command of this run to end.",
    "the command ends",
    "its time begins",
  ]);
});

test("without a sandbox no tool waits, since a command could write anything anyway", async (root) => {
  plant(root, "project/");
  const off = projectSandbox(root, { enabled: false });
  assert.ok((await off.prepare(["/bin/true"])).ok);
  assert.equal(await off.betweenCommands("write", hands(`${root}/project/x`), () => Promise.resolve(1)), 1);
});

test("file work in the background waits only for commands of its own run, and commands of other runs do not wait for it", async (root) => {
  const [one, other] = [turnsIn(root), turnsIn(root)];
  const apart = (waited: string[]): FileTurn => ({
    paths: () => ["/w/x"],
    runsApart: true,
    signal: new AbortController().signal,
    waiting: (whose) => waited.push(whose),
  });
  const waited: string[] = [];
  assert.ok((await other.commandBegins(["/w"])).ok);
  assert.equal(await one.files("write", apart(waited), () => Promise.resolve("written")), "written");
  assert.deepEqual(waited, []);
  await other.commandEnded();
  await one.files("write", apart(waited), async () => {
    assert.ok((await other.commandBegins(["/w"])).ok, "the other run's command starts meanwhile");
    await other.commandEnded();
  });
  assert.ok((await one.commandBegins(["/w"])).ok);
  const own = one.files("write", apart(waited), () => Promise.resolve("then"));
  await Promise.resolve();
  await one.commandEnded();
  assert.equal(await own, "then");
  assert.deepEqual(waited, ["this run"]);
});
