// The review dialog with a scripted terminal on real documents: the effect of each key, and what a decision is bound
// to.

import assert from "node:assert/strict";
import { settingsRule } from "../../agent/rules/settings_rule.ts";
import { success } from "../../base/problem.ts";
import { ReviewController } from "../../commands/approval/review/controller.ts";
import { Dialogue, type Ending } from "../../commands/approval/review/dialogue.ts";
import type { Tty } from "../../commands/approval/review/tty.ts";
import { answer, answered, asking, bytesOf, type CallText, inPlace, type Place } from "../agent/place.ts";
import { chatInMemory } from "../../agent/mod.ts";
import { testsWith } from "../tests_with.ts";

/** A key, a line that is typed (`> text`), leaving a line (`<`), or something that happens before the next key. */
type Act = string | (() => void | Promise<void>);

/** A terminal that presses keys by itself. */
class ScriptedTty implements Tty {
  readonly colors = false;
  shown = "";
  columns: number;
  rows: number;
  readonly #acts: Act[];

  constructor(acts: readonly Act[], size: readonly [number, number]) {
    this.#acts = [...acts];
    [this.columns, this.rows] = size;
  }

  get left(): number {
    return this.#acts.length;
  }

  size() {
    return { columns: this.columns, rows: this.rows };
  }

  write(text: string): void {
    this.shown += text;
  }

  async key(question: string): Promise<string | null> {
    this.write(question);
    return await this.#next();
  }

  async line(question: string, text: string): Promise<string | null> {
    this.write(`${question}${text}\n`);
    const act = await this.#next();
    assert.match(act ?? "", /^[<>]/, `a line is asked for: ${question}`);
    return act === "<" ? null : act!.slice(2);
  }

  lend(run: () => Promise<void>): Promise<void> {
    return run();
  }

  async #next(): Promise<string | null> {
    for (;;) {
      const act = this.#acts.shift();
      if (act === undefined) return null;
      if (typeof act === "string") return act;
      await act();
    }
  }
}

interface Retained {
  readonly ending: Ending;
  readonly shown: string;
}

interface Options {
  readonly size?: readonly [columns: number, rows: number];
  /** What the person's editor makes of a text. */
  readonly edit?: (text: string) => string | null;
  readonly files?: readonly string[];
}

/** Holds a dialogue about `a.chat` to its end; every act must be used. */
async function review(place: Place, acts: readonly Act[], options: Options = {}): Promise<Retained> {
  const tty = new ScriptedTty(acts, options.size ?? [80, 24]);
  const { environment } = place;
  const files = options.files ?? ["a.chat"];
  const controllers = files.map((file) => new ReviewController(file, { environment }));
  const dialogue = new Dialogue(tty, controllers, {
    edit: (text) => Promise.resolve(success(options.edit?.(text) ?? null)),
    settingsRule: (rule) => settingsRule({ environment }, rule),
  });
  const ending = await dialogue.run();
  assert.equal(tty.left, 0, `not all keys were asked for:\n${tty.shown}`);
  return { ending, shown: tty.shown };
}

const bash = (id: string, command: string, more: Record<string, unknown> = {}) =>
  [id, "bash", JSON.stringify({ command, ...more })] as const;

/** Settings under which nobody decides; a sandbox stands only where a test is about it, for looking at it takes time. */
const ASKING = "tools: { auto_approve: [], auto_approve_sandboxed: false }\n";
const BARE = `sandbox: false\n${ASKING}`;

/** Writes `a.chat` with these calls, all of them pending. */
function write(place: Place, ...calls: readonly CallText[]): string {
  try {
    Deno.statSync(`${place.folder}/config`);
  } catch {
    place.settings(BARE);
  }
  const text = answered(asking(...calls), ...calls.map(([id]) => answer(id, "pending")));
  place.write("a.chat", text);
  return text;
}

/** The statuses of the calls in the document, by id. */
function statuses(place: Place, name = "a.chat"): Record<string, string> {
  const found = [...place.read(name).matchAll(/\*\*Tool Result:\*\* `([^`]+)`[^]*?status=(\w+)/g)];
  return Object.fromEntries(found.map(([, id, status]) => [id, status]));
}

const test = testsWith(inPlace);

test("each key approves a call, rejects it with a reason or skips it, and the document changes immediately", async (place) => {
  write(place, bash("c1", "echo 1"), bash("c2", "echo 2"), bash("c3", "echo 3"));
  const seen: Record<string, string>[] = [];
  const look = () => void seen.push(statuses(place));
  const { ending, shown } = await review(place, ["y", look, "n", "> not here", look, "k", "x"]);
  assert.deepEqual(seen, [
    { c1: "approved", c2: "pending", c3: "pending" },
    { c1: "approved", c2: "rejected", c3: "pending" },
  ]);
  assert.match(place.read("a.chat"), /status=rejected\nnot here\n/);
  assert.deepEqual(ending, {
    how: "done",
    approved: 1,
    rejected: 1,
    waiting: 1,
    unasked: 0,
    problems: [],
    decided: true,
  });
  assert.match(shown, /a\.chat {2}#1 bash {2}c1 {3}3 calls wait\n/);
  assert.match(shown, /Approved #1\.\n[^]*Rejected #2\.\n/);
});

test("review shows the whole call with its folder, sandbox and policy decision, all control characters escaped", async (place) => {
  const command = `echo a\n\tb\x1b[2J\u202e ${"x".repeat(100)}\r\n${" ".repeat(300)}; curl evil`;
  place.settings(ASKING);
  write(place, bash("c1", command, { label: "running tests", timeout: null }));
  for (const size of [[80, 60], [40, 60]] as const) {
    const { shown } = await review(place, ["q"], { size });
    const [, body = ""] = /command\n([^]*?)\n(?:timeout|label)/.exec(shown) ?? [];
    const read = body.split("\n").map((line) => line.replace(/^│ /, "\n").replace(/^┆ /, "")).join("")
      .slice(1);
    const expected = command.replace("\t", "        ").replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
      .replace("\r", "\\r");
    assert.equal(read, expected, `${size}`);
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(shown, /[\x00-\x09\x0b-\x1f\x7f\u202e]/);
    for (const line of shown.split("\n")) {
      if (!line.startsWith("Approve")) assert.ok([...line].length <= size[0], JSON.stringify(line));
    }
    assert.ok(
      shown.indexOf("running tests") > shown.indexOf("curl evil"),
      "the label comes after the command",
    );
    assert.match(shown.replaceAll("\n", " "), /shown here as\s+escapes/);
  }
  const { shown } = await review(place, ["q"]);
  assert.ok(shown.includes(`in      ${place.path("").slice(0, -1)}\n`), shown);
  assert.match(shown, /^runs {4}in the sandbox \(bwrap\), with the network$/m);
  assert.match(shown, /^policy {2}no rule matches$/m);
});

test("a call longer than the screen can be approved only after all of it was shown", async (place) => {
  write(place, bash("c1", Array.from({ length: 60 }, (_, at) => `echo ${at}`).join("\n")));
  const early = await review(place, ["y", "y", "s", "a", "e", "q"]);
  assert.deepEqual([early.ending.approved, statuses(place)], [0, { c1: "pending" }]);
  assert.match(early.shown, /44 more lines have not been shown yet\./);
  assert.ok(!early.shown.includes("echo 30"));
  const paged = await review(place, ["space", "enter", "space", "space", "y", "x"]);
  assert.equal(paged.ending.approved, 1);
  for (let at = 0; at < 60; at++) assert.ok(paged.shown.includes(`│ echo ${at}\n`), `${at}`);
  write(place, bash("c1", Array.from({ length: 60 }, (_, at) => `echo ${at}`).join("\n")));
  const all = await review(place, ["G", "y", "x"]);
  assert.ok(all.shown.includes("│ echo 59\n"));
  assert.equal(all.ending.approved, 1);
  write(place, bash("c1", Array.from({ length: 60 }, (_, at) => `echo ${at}`).join("\n")));
  assert.equal((await review(place, ["n", "> ", "x"])).ending.rejected, 1);
});

test("write and edit are shown as the changes they would make to the current file", async (place) => {
  place.write("f.txt", "one\ntwo\nthree\n");
  Deno.symlinkSync("/etc", place.path("out"));
  write(
    place,
    ["w", "write", JSON.stringify({ path: "f.txt", content: "one\nTWO\nthree\n" })],
    ["e", "edit", JSON.stringify({ path: "f.txt", oldText: "three", newText: "3" })],
    ["bad", "edit", JSON.stringify({ path: "f.txt", oldText: "four", newText: "4" })],
    ["new", "write", JSON.stringify({ path: "new.txt", content: "fresh\n" })],
    ["link", "write", JSON.stringify({ path: "out/passwd", content: "x" })],
  );
  const { shown } = await review(place, ["k", "k", "k", "k", "k", "x"], { size: [100, 60] });
  const [write1 = "", edit = "", bad = "", fresh = "", link = ""] = shown.split(/\na\.chat {2}/).slice(1);
  assert.ok(write1.includes("│ -two\n│ +TWO\n"), write1);
  assert.match(write1, /! The file already exists, and no call of this document has read it\./);
  assert.ok(edit.includes("│ -three\n│ +3\n"), edit);
  assert.match(bad, /is not in the file, so the edit will fail/);
  assert.match(bad, /oldText │ four\nnewText │ 4\n/);
  assert.ok(fresh.includes("│ --- /dev/null\n│ +++ new.txt\n"), fresh);
  assert.doesNotMatch(fresh, /^!/m);
  assert.match(link, /! The path resolves to \/etc\/passwd\./);
});

test("review marks a file that changed since the model read it", async (place) => {
  place.write("f.txt", "one\n");
  place.settings("sandbox: false\ntools: { auto_approve: [read] }\n");
  const read = answered(asking(["r", "read", '{"path":"f.txt"}']), answer("r", "approved"));
  place.write("a.chat", read);
  const opened = await chatInMemory(bytesOf(read), {
    environment: place.environment,
    path: place.path("a.chat"),
  });
  assert.ok(opened.ok);
  await using session = opened.value;
  await session.execute("r");
  write(place, ["w", "write", JSON.stringify({ path: "f.txt", content: "two\n" })]);
  const same = await review(place, ["q"]);
  assert.doesNotMatch(same.shown, /^! The file/m);
  place.write("f.txt", "changed\n");
  const { shown } = await review(place, ["q"]);
  assert.match(shown, /^! The file has changed since a call of this document last saw it\.$/m);
  assert.ok(shown.includes("│ -changed\n│ +two\n"));
});

test("review approves only the text that it showed: if the call changed meanwhile, it says so and shows the call again", async (place) => {
  const text = write(place, bash("c1", "echo harmless"));
  const changes: readonly (readonly [string, () => void])[] = [
    ["the command", () => place.write("a.chat", text.replace("echo harmless", "rm -rf ~"))],
    ["its status", () => place.write("a.chat", text.replace("status=pending", "status=rejected"))],
    [
      "text in its block",
      () => place.write("a.chat", text.replace("status=pending\n", "status=pending\nmine\n")),
    ],
    ["the settings", () => place.settings(ASKING)],
  ];
  for (const [what, change] of changes) {
    place.settings(BARE);
    write(place, bash("c1", "echo harmless"));
    const { shown, ending } = await review(place, [change, "y", ...what === "its status" ? [] : ["q"]]);
    const now = what === "its status" ? / shown and no longer waits\sfor you\./ : / shown\. It is now:/;
    assert.match(shown, /Nothing was done, because #1 has changed since it was shown/, what);
    assert.match(shown, now, what);
    assert.equal(ending.approved, 0, what);
    assert.doesNotMatch(place.read("a.chat"), /status=approved/, what);
  }
  write(place, bash("c1", "echo harmless"));
  const above = () => place.write("a.chat", text.replace("@You:\n", "@You:\nA line more.\n"));
  const { ending } = await review(place, [above, "y", "x"]);
  assert.equal(ending.approved, 1, "a line above it changes nothing of the call");
  assert.match(place.read("a.chat"), /A line more\./);
});

test("an approval of a diff applies only to the shown file: if the file changes before the key press, the new diff is shown", async (place) => {
  place.write("f.txt", "one\n");
  write(place, ["w", "write", JSON.stringify({ path: "f.txt", content: "two\n" })]);
  const { shown, ending } = await review(place, [() => place.write("f.txt", "precious\n"), "y", "y", "x"]);
  assert.match(shown, /has changed since it was shown[^]*│ -precious\n/);
  assert.equal(ending.approved, 1);
});

test("if a call disappears while it is shown, review reports this and does nothing", async (place) => {
  write(place, bash("c1", "echo 1"));
  const { shown, ending } = await review(place, [() => place.write("a.chat", "@You:\nNothing.\n"), "y"]);
  assert.match(shown, /has changed since it was shown and no longer waits\sfor you/);
  assert.deepEqual([ending.how, ending.approved], ["done", 0]);
  assert.equal(place.read("a.chat"), "@You:\nNothing.\n");
});

test("undo in review reverts the last decisions one by one, byte for byte", async (place) => {
  const text = write(place, bash("c1", "echo 1"), bash("c2", "echo 2"));
  const { shown, ending } = await review(place, ["y", "n", "> no", "u", "u", "u", "k", "u", "q"]);
  assert.match(
    shown,
    /Undone: the rejection of #2\.[^]*Undone: the approval of #1\.[^]*nothing to undo/,
  );
  assert.match(shown, /Undone: skipping #1\./);
  assert.deepEqual([ending.approved, ending.rejected, ending.waiting], [0, 0, 2]);
  assert.equal(place.read("a.chat"), text);
});

test("undo in review does not change text that another program has changed since", async (place) => {
  write(place, bash("c1", "echo 1"), bash("c2", "echo 2"));
  const mine = () => place.write("a.chat", place.read("a.chat").replace("status=approved", "status=denied"));
  const { shown } = await review(place, ["y", mine, "u", "q"]);
  assert.match(shown, /c1 has changed since, so nothing was undone\./);
  assert.deepEqual(statuses(place), { c1: "denied", c2: "pending" });
});

test("an edited input is shown again and approved in its new form, and undo reverts the edit too", async (place) => {
  const text = write(place, bash("c1", "echo 1"));
  const edit = (before: string) => before.replace("echo 1", "echo edited");
  const { shown } = await review(place, ["e", "y", "x"], { edit });
  assert.match(shown, /Changed #1\.[^]*│ echo edited\n[^]*Approved #1\./);
  assert.match(place.read("a.chat"), /^\{"command":"echo edited"\}$/m);
  place.write("a.chat", text);
  await review(place, ["e", "u", "q"], { edit });
  assert.equal(place.read("a.chat"), text);
  const broken = await review(place, ["e", "x", "q"], { edit: () => "{ no" });
  assert.match(broken.shown, /Nothing was changed, because that is not a JSON object/);
  const untouched = await review(place, ["e", "q"], { edit: () => null });
  assert.match(untouched.shown, /Nothing was changed\./);
  assert.equal(place.read("a.chat"), text);
});

test('"always for this document" shows the rule, lets the person widen it, applies it, and one key undoes it', async (place) => {
  write(place, bash("c1", "git log -1"), bash("c2", "git log -2"));
  const { shown } = await review(place, ["s", "x", "s", "y", "q"]);
  assert.match(shown, /For this document, in this session: approve bash\(git log -1\)\n/);
  assert.deepEqual(statuses(place), { c1: "approved", c2: "pending" });
  const rules = async () => {
    const opened = await chatInMemory(bytesOf(place.read("a.chat")), {
      environment: place.environment,
      path: place.path("a.chat"),
    });
    assert.ok(opened.ok);
    await using session = opened.value;
    const found = await session.rules();
    return found.ok ? found.value.map(({ text }) => text) : [];
  };
  assert.deepEqual(await rules(), ["approve bash(git log -1)"]);
  write(place, bash("c1", "git log -1"), bash("c2", "git log -2"));
  const wide = await review(place, [
    "k",
    "s",
    "e",
    "> bash(git **)",
    "e",
    "> bash(git show **)",
    "e",
    "> bash(env **)",
    "e",
    "<",
    "y",
    "x",
  ]);
  assert.match(wide.shown, /This rule does not approve this call/);
  assert.match(wide.shown, /This is not a rule: .*env/);
  assert.deepEqual(await rules(), [
    "approve bash(git log -1)",
    "approve bash(git **)",
  ]);
  write(place, bash("c1", "ls -l"));
  await review(place, ["s", "y", "u", "q"]);
  assert.deepEqual((await rules()).length, 2, "taken back");
  assert.deepEqual(statuses(place), { c1: "pending" });
});

test("if no rule can be made, or a rule would change nothing, review gives the reason and does nothing", async (place) => {
  write(place, bash("c1", "(ls)"));
  const opaque = await review(place, ["s", "a", "q"]);
  assert.match(opaque.shown, /No rule can approve this call again/);
  write(place, bash("c1", "ls"));
  place.settings("sandbox: false\ntools: { auto_approve: [], rules: [{ ask: bash, command: ls }] }\n");
  const asked = await review(place, ["s", "q"]);
  assert.match(asked.shown, /policy {2}asks you \(a rule\):\s+\S+config\.yaml:2:\d+\s+says\s+ask bash\(ls\)/);
  assert.match(asked.shown, /The call would wait again all the same/);
  assert.deepEqual(statuses(place), { c1: "pending" });
});

test('"always everywhere" shows the line and the settings file before it writes the rule', async (place) => {
  write(place, bash("c1", "git log -1"));
  const file = `${place.folder}/config/flemma/config.yaml`;
  const settings = "# mine\nsandbox: false\ntrust: { approvals: here }\ntools:\n  auto_approve: [] # keep\n";
  place.settings(settings);
  const refused = await review(place, ["a", "x", "q"]);
  const line = '- { approve: bash, command: ["git log -1"] }';
  assert.ok(refused.shown.replaceAll("\n", " ").includes(`config.yaml:7: ${line}`), refused.shown);
  assert.equal(Deno.readTextFileSync(file), settings);
  await review(place, ["a", "y", "x"]);
  const written = `${settings}  rules:\n    ${line}\n`;
  assert.equal(Deno.readTextFileSync(file), written);
  assert.deepEqual(statuses(place), { c1: "approved" });
  place.settings(settings);
  write(place, bash("c1", "git log -1"));
  place.settings(settings);
  await review(place, ["a", "y", "u", "q"]);
  assert.equal(Deno.readTextFileSync(file), settings, "taken back");
  const between = () => place.settings(`${settings}model: m\n`);
  const changed = await review(place, ["a", between, "y", "x"]);
  assert.match(changed.shown, /approved this time only[^]*changed\s+in\s+the\s+meantime/);
  assert.equal(Deno.readTextFileSync(file), `${settings}model: m\n`);
});

test("several documents are reviewed in turn, and undo also reverts a decision in an earlier document", async (place) => {
  const text = write(place, bash("c1", "echo 1"));
  place.write("b.chat", text.replace("echo 1", "echo b"));
  const { shown, ending } = await review(place, ["y", "u", "y", "y", "x"], { files: ["a.chat", "b.chat"] });
  assert.match(shown, /a\.chat {2}#1[^]*b\.chat {2}#1[^]*Undone:[^]*a\.chat {2}#1[^]*b\.chat {2}#1/);
  assert.deepEqual([statuses(place), statuses(place, "b.chat")], [{ c1: "approved" }, { c1: "approved" }]);
  assert.equal(ending.approved, 2);
});

test("review reports a document that is missing, has no calls or has broken frontmatter, and still reviews the others", async (place) => {
  const text = write(place, bash("c1", "echo 1"));
  place.write("none.chat", "@You:\nHi\n");
  place.write("broken.chat", `\`\`\`json\n{"flemma":{"modle":1}}\n\`\`\`\n\n${text}`);
  const files = ["gone.chat", "none.chat", "broken.chat", "a.chat"];
  const { ending } = await review(place, ["y", "x"], { files });
  assert.equal(ending.approved, 1);
  assert.deepEqual(ending.problems.map(({ code }) => code), ["document-missing", "first-block-invalid"]);
});

test("if two reviews have the same document open, each reports the other's decisions, and no decision is made twice", async (place) => {
  write(place, bash("c1", "echo 1"), bash("c2", "echo 2"));
  const other = async () => void await review(place, ["n", "> from the other", "q"]);
  const { shown, ending } = await review(place, [other, "y", "y", "x"]);
  assert.match(shown, /#1 has changed since it was shown and no longer waits\sfor you/);
  assert.deepEqual([ending.approved, statuses(place)], [1, { c1: "rejected", c2: "approved" }]);
});

test("while another run holds the document, review decides nothing; once the document is free, the same key works", async (place) => {
  write(place, bash("c1", "echo 1"));
  const { openChat } = await import("../../agent/mod.ts");
  let retained: AsyncDisposable | null = null;
  const hold = async () => {
    const opened = await openChat("a.chat", { environment: place.environment });
    assert.ok(opened.ok);
    retained = opened.value;
  };
  const free = async () => await retained?.[Symbol.asyncDispose]();
  const { shown, ending } = await review(place, [hold, "y", free, "y", "x"]);
  assert.match(shown, /in use|is being|process/);
  assert.equal(ending.approved, 1);
});

test("Ctrl-C, Ctrl-D, the end of the terminal input and q leave the document unchanged", async (place) => {
  for (const [key, how] of [["ctrl-c", "interrupted"], ["ctrl-d", "quit"], ["q", "quit"]] as const) {
    const text = write(place, bash("c1", "echo 1"), bash("c2", "echo 2"));
    const { ending } = await review(place, ["y", key]);
    assert.deepEqual([ending.how, ending.approved, ending.waiting], [how, 1, 1], key);
    assert.notEqual(place.read("a.chat"), text);
  }
  write(place, bash("c1", "echo 1"));
  assert.equal((await review(place, [])).ending.how, "quit");
  assert.equal(
    (await review(place, ["x", "?", "none", "enter", "q"])).ending.approved,
    0,
    "other keys do nothing",
  );
});

test("review counts calls that are not pending yet, but the person cannot decide about them", async (place) => {
  place.settings(BARE);
  place.write("a.chat", asking(bash("c1", "echo 1")));
  const { ending } = await review(place, []);
  assert.deepEqual([ending.waiting, ending.unasked], [0, 1]);
});
