// Decisions by keys in real editors: keys typed fast, calls that are long or have changed, and an undo past a result.

import assert from "node:assert/strict";
import { callsDocument } from "../cli/harness.ts";
import { WAIT } from "./paced_server.ts";
import { type Runtime, RUNTIMES } from "./runtime.ts";
import { onStage, QUESTION, type Stage } from "./stage.ts";
import { missingPrograms } from "./terminal.ts";

const missing = await missingPrograms();

const test = (
  names: readonly string[],
  what: string,
  play: (stage: Stage, runtime: Runtime) => Promise<void>,
  { replies = [["Done."]], before, columns }: {
    readonly replies?: Parameters<typeof onStage>[1];
    readonly before: string;
    readonly columns?: number;
  },
) => {
  for (const name of names) {
    const runtime = RUNTIMES[name]!;
    Deno.test({
      name: `${name}: ${what}`,
      ignore: missing.includes(runtime.program),
      fn: () => onStage(runtime, replies, (stage) => play(stage, runtime), before, "q.chat", columns),
    });
  }
};

const VIMS = ["Vim", "Neovim"];
const ALL = [...VIMS, "Kakoune"];
const pending = (...commands: readonly string[]) =>
  callsDocument(commands.map((command, at) => ({ id: `c${at + 1}`, command, status: "pending" })));

test(
  ALL,
  "decisions typed without a pause each act on their own call, and a run typed behind them waits",
  async ({ server, does, sees, saved }, { keys, complete }) => {
    const decide = (decision: readonly string[]) => [...keys.nextWaiting, ...decision];
    await does([...keys.top, ...decide(keys.approve), ...decide(keys.approve)]);
    await does([...decide(keys.reject), "No, thanks.", "Enter", ...keys.advance]);
    await sees(complete);
    await does(keys.end, "Done.");
    const text = await saved((text) => text.includes("Done."));
    assert.match(text, /`c1`\n\n```\none\n```\n\n\*\*Tool Result:\*\* `c2`\n\n```\ntwo\n```/);
    assert.match(text, /`c3` \(error\)\n\n```\nNo, thanks\.\n```/);
    assert.equal(server.requests.length, 1);
  },
  { before: pending("echo one", "echo two", "echo three") },
);

/** A command far higher than half of a small screen, in one line. */
const LONG = `echo ${Array.from({ length: 400 }, (_, at) => `word${at}`).join(" ")} the-end`;

test(
  VIMS,
  "a call is approved in its window only once its end was shown, also if the window is narrow",
  async ({ session, place, does, sees }, { keys }) => {
    await does([...keys.top, ...keys.nextWaiting]);
    await does(keys.show, "a approves");
    const seen = new Set<string>();
    for (let screen = ""; !screen.includes("the-end");) {
      const before = screen = await session.screen();
      for (const [word] of screen.replaceAll("\n", "").matchAll(/word\d+(?=\D)/g)) seen.add(word);
      if (screen.includes("the-end")) break;
      assert.ok(!screen.includes("approved"), screen);
      await session.type(["a"]);
      await session.until(async () => await session.screen() !== before, "it shows more");
    }
    assert.deepEqual(
      Array.from({ length: 400 }, (_, at) => `word${at}`).filter((word) => !seen.has(word)),
      [],
    );
    await does(["a"]);
    await sees("approved");
    assert.ok(place.read("q.chat").includes("pending"));
  },
  { before: pending(LONG), columns: 40 },
);

test(
  ["Kakoune"],
  "a call is shown with all of its long lines, also if the window is narrow",
  async ({ does }, { keys }) => {
    await does([...keys.top, ...keys.nextWaiting]);
    await does([...keys.show, ...keys.end], "the-end");
  },
  { before: pending(`${LONG.slice(0, 600)} the-end`), columns: 40 },
);

test(
  VIMS,
  "keys typed before a call is shown decide nothing",
  async ({ does, saved }, { keys }) => {
    await does([...keys.top, ...keys.nextWaiting]);
    await does(["Ka"], "keys typed before this was shown were not taken");
    await does(["q"]);
    assert.equal(await saved(() => true), pending("echo one"));
  },
  { before: pending("echo one") },
);

test(
  VIMS,
  "a reason to reject is asked for only on a call",
  async ({ session, does, saved }, { keys, asks }) => {
    await does([...keys.top, ...keys.reject], "no call is on line 1");
    assert.ok(!(await session.screen()).includes(asks));
    await does([...keys.nextWaiting, ...keys.reject], asks);
    await does(["Not now.", "Enter"], "rejected");
    assert.match(await saved((text) => text.includes("rejected")), /status=rejected\nNot now\.\n/);
  },
  { before: pending("echo one") },
);

test(
  VIMS,
  "a call that changed since it was shown is not approved",
  async ({ does, saved }, { keys }) => {
    await does([...keys.top, ...keys.nextWaiting]);
    await does(keys.show, "a approves");
    await does(["C-w", "w", ":%s/echo one/echo two/", "Enter"], '"echo two"');
    await does(["C-w", "w", "a"], "has changed since it was shown");
    assert.equal(await saved((text) => text.includes("two")), pending("echo two"));
  },
  { before: pending("echo one") },
);

test(
  ALL,
  "a call that already ran waits after an undo past its result, and the editor says why",
  async ({ session, place, does, sees }, { keys, undo, complete }) => {
    place.settings(
      "tools: { auto_approve_sandboxed: false, auto_approve: [] }\ntrust: { approvals: here }\n",
    );
    await does([...keys.top, ...keys.nextWaiting]);
    await does(keys.approve, "status=approved");
    await does([...keys.end, ...keys.advance], "Done.");
    await sees(complete);
    for (let undone = 1; !(await session.screen()).includes("status=approved"); undone++) {
      assert.ok(undone < 20, await session.screen());
      // The editor answers once the undo is done and shown. What is typed looks different from the answer.
      await does([...undo, `:echo 'undone' ${undone}`, "Enter"], `undone ${undone}`);
    }
    await does(keys.advance, "it has already run");
    await does([], "status=pending");
    assert.equal(place.read("runs"), "ran\n");
  },
  { before: pending("echo ran >> runs"), replies: [["Done."], ["Again."]] },
);

test(
  ALL,
  "quitting during a reply saves what has arrived, with its mark",
  async ({ session, place, does }, { keys }) => {
    await does(keys.advance, "Half an");
    await session.saveAndQuit();
    assert.match(
      place.read("q.chat"),
      /^@You:\nHow are you\?\n\n@Assistant:\nHalf an\s+<!-- flemma:aborted: .* -->\n+$/,
    );
  },
  { before: QUESTION, replies: [["Half an ", WAIT, "answer."]] },
);

test(
  [...ALL, "Emacs"],
  "an edit above a reply and a question below it stay while it arrives, and the reply is complete",
  async ({ server, does, sees, saved }, { keys, complete }) => {
    await does(keys.advance, "First");
    await does([...keys.top, ...keys.append(" Hello!")], "@You: Hello!");
    await does(keys.write("@You:", "And you?"), "And you?");
    server.goOn();
    await sees("First answer.", complete);
    const text = await saved((text) => text.includes("First answer."));
    assert.equal(
      text.trimEnd(),
      "@You: Hello!\nHow are you?\n\n@Assistant:\nFirst answer.\n\n@You:\nAnd you?",
    );
  },
  { before: QUESTION, replies: [["First ", WAIT, "answer."]] },
);

test(
  [...ALL, "Emacs"],
  "after a run was killed, the person learns that the call may have run before they approve it again",
  async ({ place, does }, { keys }) => {
    const killed = place.start(["advance", "--no-autopilot", "q.chat"]);
    await place.appears("started", killed);
    killed.kill("SIGKILL");
    await killed.finished;
    await does(keys.advance, "was running when flemma ended");
  },
  {
    before: callsDocument([{ id: "c1", command: "touch started; sleep 600", status: "approved" }]),
    columns: 200,
  },
);
