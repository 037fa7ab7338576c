// An approval in the text counts where it was given: moved, copied, pulled and edited documents.

import assert from "node:assert/strict";
import { callsDocument, type Scene, testWithScene as test } from "./harness.ts";

const ASKING = "tools: { auto_approve_sandboxed: false }\ntrust: { approvals: here }\n";

const CALL = { id: "c1", command: "echo c1 >> log" };
const OTHER = { id: "c2", command: "echo c2 >> log" };

const PENDING = callsDocument([{ ...CALL, status: "pending" }]);
const APPROVED = callsDocument([{ ...CALL, status: "approved" }]);

const advance = (place: Scene, file = "a.chat") => place.run(["advance", "--no-autopilot", file]);

/** The document as it waits here after a run. */
async function waits(place: Scene, text = PENDING, file = "a.chat"): Promise<string> {
  place.settings(ASKING);
  place.arrive(file, text);
  assert.equal((await advance(place, file)).code, 3);
  return place.read(file);
}

const approve = (text: string) => text.replaceAll("status=pending", "status=approved");

const log = (place: Scene) => (place.exists("log") ? place.read("log") : "");

async function git(place: Scene, ...args: readonly string[]): Promise<void> {
  const identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
  const { success, stderr } = await new Deno.Command("git", {
    args: ["-C", place.path("."), ...identity, ...args],
    env: { ...place.env, GIT_CONFIG_NOSYSTEM: "1" },
    clearEnv: true,
  }).output();
  assert.ok(success, `git ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}

async function committed(place: Scene, text: string): Promise<void> {
  place.arrive("a.chat", text);
  await git(place, "add", "a.chat");
  await git(place, "commit", "-qm", "x");
}

test("a document that arrives with approved calls waits once, and one sentence names the calls and the commands", async (place) => {
  place.settings(ASKING);
  place.arrive("a.chat", callsDocument([{ ...CALL, status: "approved" }, { ...OTHER, status: "approved" }]));
  const status = await place.run(["status", "a.chat"]);
  const path = place.path("a.chat");
  const sentence =
    `c1, c2 wait for you: their approvals were not given here. To approve: flemma approve ${path} c1 c2. ` +
    `To look first: flemma review ${path}`;
  assert.ok(status.stdout.includes(sentence), status.stdout);
  const { code, stderr } = await advance(place);
  assert.equal(code, 3);
  assert.equal(stderr.split(sentence).length, 2, stderr);
  assert.equal(log(place), "");
  assert.doesNotMatch(place.read("a.chat"), /approved/);
  place.arrive("a.chat", approve(place.read("a.chat")));
  assert.equal((await advance(place)).code, 0);
  assert.deepEqual(log(place).trim().split("\n").toSorted(), ["c1", "c2"], "both run, at the same time");
});

test("the commands in the sentence approve the calls", async (place) => {
  place.settings(ASKING);
  place.arrive("a.chat", APPROVED);
  await place.exits(0, ["approve", "a.chat", "c1"]);
  assert.equal((await advance(place)).code, 0);
  assert.equal(log(place), "c1\n");
});

interface Row {
  readonly what: string;
  /** Changes the document that waits, and returns the file to advance. */
  readonly change: (place: Scene, waiting: string) => string | Promise<string>;
  readonly runs: boolean;
}

const OTHERS = callsDocument([{ ...CALL, status: "approved" }])
  .replace("Please.", "Something else.").replace("I will.", "Gladly.");

const ROWS: readonly Row[] = [
  {
    what: "a typed approval",
    change: (place, text) => (place.arrive("a.chat", approve(text)), "a.chat"),
    runs: true,
  },
  {
    what: "a typed approval by a rename",
    change: (place, text) => {
      place.arrive("b", approve(text));
      Deno.renameSync(place.path("b"), place.path("a.chat"));
      return "a.chat";
    },
    runs: true,
  },
  {
    what: "a typed approval together with an edit of the question",
    change: (
      place,
      text,
    ) => (place.arrive("a.chat", approve(text).replace("Please.", "Please do.")), "a.chat"),
    runs: true,
  },
  {
    what: "a typed approval together with text below",
    change: (place, text) => (place.arrive("a.chat", `${approve(text)}\nAnd then?\n`), "a.chat"),
    runs: true,
  },
  {
    what: "a typed approval together with a changed input",
    change: (place, text) => (place.arrive("a.chat", approve(text).replace("echo c1", "echo C1")), "a.chat"),
    runs: false,
  },
  {
    what: "a typed approval together with a new id",
    change: (place, text) => (place.arrive("a.chat", approve(text).replaceAll("c1`", "c9`")), "a.chat"),
    runs: false,
  },
  {
    what: "another conversation at the same path, with the same call",
    change: (place) => (place.arrive("a.chat", OTHERS), "a.chat"),
    runs: false,
  },
  {
    what: "a typed approval in a renamed document",
    change: (place, text) => {
      Deno.renameSync(place.path("a.chat"), place.path("b.chat"));
      place.arrive("b.chat", approve(text));
      return "b.chat";
    },
    runs: true,
  },
  {
    what: "a typed approval in a copy",
    change: (place, text) => (place.arrive("b.chat", approve(text)), "b.chat"),
    runs: true,
  },
  {
    what: "an approval by command in a document that is renamed then",
    change: async (place) => {
      await place.exits(0, ["approve", "a.chat", "c1"]);
      Deno.renameSync(place.path("a.chat"), place.path("b.chat"));
      return "b.chat";
    },
    runs: true,
  },
  {
    what: "an approval by command in a copy that is made then",
    change: async (place) => {
      await place.exits(0, ["approve", "a.chat", "c1"]);
      place.arrive("b.chat", place.read("a.chat"));
      return "b.chat";
    },
    runs: true,
  },
];

for (const { what, change, runs } of ROWS) {
  test(`${what} ${runs ? "counts" : "waits"}`, async (place) => {
    const waiting = await waits(place);
    const file = await change(place, waiting);
    const { code, stderr } = await advance(place, file);
    assert.equal(code, runs ? 0 : 3, stderr);
    assert.equal(log(place), runs ? "c1\n" : "");
    if (!runs) {
      assert.match(stderr, /waits for you: its approval was not given here\. To approve: flemma approve /);
    }
  });
}

test("a call that ran in one of two copies does not run in the other until a person is asked again", async (place) => {
  const waiting = await waits(place);
  place.arrive("b.chat", approve(waiting));
  place.arrive("a.chat", approve(waiting));
  assert.equal((await advance(place)).code, 0);
  const { code, stderr } = await advance(place, "b.chat");
  assert.equal(code, 3);
  assert.match(stderr, /c1 waits for you: it has already run in this document or a copy of it/);
  assert.equal(log(place), "c1\n");
  place.arrive("b.chat", approve(place.read("b.chat")));
  assert.equal((await advance(place, "b.chat")).code, 0);
  assert.equal(log(place), "c1\nc1\n");
});

test("an approval by command counts in both copies only if it was given after the call ran in the other", async (place) => {
  await waits(place);
  await place.exits(0, ["approve", "a.chat", "c1"]);
  place.arrive("b.chat", place.read("a.chat"));
  assert.equal((await advance(place, "b.chat")).code, 0);
  assert.equal((await advance(place)).code, 3, "it was approved once");
  assert.equal(log(place), "c1\n");
  await place.exits(0, ["approve", "a.chat", "c1"]);
  assert.equal((await advance(place)).code, 0);
  assert.equal(log(place), "c1\nc1\n");
  place.arrive("c.chat", PENDING);
  await place.exits(0, ["approve", "c.chat", "c1"]);
  assert.equal((await advance(place, "c.chat")).code, 0);
  assert.equal(log(place), "c1\nc1\nc1\n");
});

test("a call whose result is removed by an undo of the editor does not run again by the old approval", async (place) => {
  const waiting = await waits(place);
  await place.exits(0, ["approve", "a.chat", "c1"]);
  const approved = place.read("a.chat");
  assert.equal((await advance(place)).code, 0);
  place.arrive("a.chat", approved);
  assert.equal((await advance(place)).code, 3);
  assert.equal(log(place), "c1\n");
  assert.equal(place.read("a.chat"), waiting);
  await place.exits(0, ["approve", "a.chat", "c1"]);
  assert.equal((await advance(place)).code, 0);
  assert.equal(log(place), "c1\nc1\n");
});

interface GitRow {
  readonly what: string;
  /** What happens after the call waits here, in a repository whose commit shows it as pending. */
  readonly change: (place: Scene, waiting: string) => Promise<void>;
  readonly runs: boolean;
}

const GIT: readonly GitRow[] = [
  {
    what: "an edit of a committed document",
    change: (place, text) => Promise.resolve(place.arrive("a.chat", approve(text))),
    runs: true,
  },
  {
    what: "an edit of several parts of a committed document",
    change: (place, text) =>
      Promise.resolve(place.arrive("a.chat", `${approve(text).replace("Please.", "Now.")}\nMore.\n`)),
    runs: true,
  },
  {
    what: "an edit of a committed document, after another commit",
    change: async (place, text) => {
      await committed(place, `${text}\nMore.\n`);
      place.arrive("a.chat", approve(`${text}\nMore.\n`));
    },
    runs: true,
  },
  {
    what: "an approval that a commit brings",
    change: (place, text) => committed(place, approve(text)),
    runs: false,
  },
  {
    what: "an approval that a commit brings, with an edit elsewhere in the file",
    change: async (place, text) => {
      await committed(place, approve(text));
      place.arrive("a.chat", `${approve(text)}\nMore.\n`);
    },
    runs: false,
  },
  {
    what: "an approval that a switch of branches brings",
    change: async (place, text) => {
      await git(place, "switch", "-qc", "other");
      await committed(place, approve(text));
      await git(place, "switch", "-q", "main");
      await git(place, "switch", "-q", "other");
    },
    runs: false,
  },
  {
    what: "an approval that a checkout of one path brings",
    change: async (place, text) => {
      await git(place, "switch", "-qc", "other");
      await committed(place, approve(text));
      await git(place, "switch", "-q", "main");
      await git(place, "checkout", "-q", "other", "--", "a.chat");
    },
    runs: false,
  },
  {
    what: "an approval by command that is committed then",
    change: async (place) => {
      await place.exits(0, ["approve", "a.chat", "c1"]);
      await committed(place, place.read("a.chat"));
    },
    runs: true,
  },
];

for (const { what, change, runs } of GIT) {
  test(`${what} ${runs ? "counts" : "waits"}`, async (place) => {
    await git(place, "init", "-q");
    const waiting = await waits(place);
    await committed(place, waiting);
    await change(place, waiting);
    const { code, stderr } = await advance(place);
    assert.equal(code, runs ? 0 : 3, stderr);
    assert.equal(log(place), runs ? "c1\n" : "");
    if (runs) return;
    assert.match(
      stderr,
      /c1 waits for you: a commit contains its approval, .+\. To approve: flemma approve /,
    );
    // After the question, git may write the committed word again, so the word alone never counts.
    place.arrive("a.chat", approve(place.read("a.chat")));
    assert.equal((await advance(place)).code, 3);
    assert.equal(log(place), "");
    await place.exits(0, ["approve", "a.chat", "c1"]);
    assert.equal((await advance(place)).code, 0);
    assert.equal(log(place), "c1\n");
  });
}

test("an approval in a git worktree of a document that waits counts", async (place) => {
  await git(place, "init", "-q");
  const waiting = await waits(place);
  await committed(place, waiting);
  await git(place, "worktree", "add", "-q", "tree");
  Deno.writeTextFileSync(place.path("tree/a.chat"), approve(waiting));
  assert.equal((await advance(place, "tree/a.chat")).code, 0);
  assert.equal(Deno.readTextFileSync(place.path("tree/log")), "c1\n");
});

test("an unrelated folder named .git, and a document that git does not track, change nothing", async (place) => {
  Deno.mkdirSync(place.path(".git"));
  const waiting = await waits(place);
  place.arrive("a.chat", approve(waiting));
  assert.equal((await advance(place)).code, 0);
  Deno.removeSync(place.path(".git"), { recursive: true });
  await git(place, "init", "-q");
  const other = await waits(place, PENDING.replace("Please.", "Again.").replaceAll("c1", "c5"), "b.chat");
  place.arrive("b.chat", approve(other));
  assert.equal((await advance(place, "b.chat")).code, 0);
});

test("a call waits if git cannot be asked", async (place) => {
  await git(place, "init", "-q");
  const waiting = await waits(place);
  await committed(place, waiting);
  Deno.writeTextFileSync(place.path(".git/config"), "[core\n");
  place.arrive("a.chat", approve(waiting));
  const { code, stderr } = await advance(place);
  assert.equal(code, 3);
  assert.match(stderr, /git does not say whether a commit contains its approval: .*config/);
  await place.exits(0, ["approve", "a.chat", "c1"]);
  assert.equal((await advance(place)).code, 0);
});

test("asking git runs no program of the repository outside the sandbox", async (place) => {
  await git(place, "init", "-q");
  const waiting = await waits(place);
  await committed(place, waiting);
  const trap = `touch ${place.folder}/home/trapped`;
  for (const [key, value] of [["core.fsmonitor", trap], ["core.pager", trap], ["core.sshCommand", trap]]) {
    await git(place, "config", key!, value!);
  }
  await git(place, "config", "remote.origin.url", "ssh://nowhere/x");
  await git(place, "config", "remote.origin.promisor", "true");
  await git(place, "config", "extensions.partialClone", "origin");
  for await (const { name } of Deno.readDir(place.path(".git/objects"))) {
    if (name.length === 2) await Deno.remove(place.path(`.git/objects/${name}`), { recursive: true });
  }
  place.arrive("a.chat", approve(waiting));
  await advance(place);
  assert.throws(() => Deno.statSync(`${place.folder}/home/trapped`), Deno.errors.NotFound);
});

test("trust.approvals: commands counts only approvals by commands, and anywhere counts every word", async (place) => {
  const waiting = await waits(place);
  place.arrive("a.chat", approve(waiting));
  place.settings(ASKING.replace("here", "commands"));
  const { code, stderr } = await advance(place);
  assert.equal(code, 3);
  assert.match(stderr, /only approvals by commands and editors count \(trust\.approvals\)/);
  await place.exits(0, ["approve", "a.chat", "c1"]);
  assert.equal((await advance(place)).code, 0);
  place.settings(ASKING.replace("here", "anywhere"));
  place.arrive("b.chat", OTHERS.replaceAll("c1", "c7"));
  assert.equal((await advance(place, "b.chat")).code, 0);
  assert.equal(log(place), "c1\nc7\n");
});

test("a project or a document cannot set which approvals count", async (place) => {
  place.settings(ASKING);
  Deno.mkdirSync(place.path(".flemma"));
  place.arrive(".flemma/config.yaml", "trust: { approvals: anywhere }\n");
  place.arrive("a.chat", "```yaml\nflemma: { trust: { approvals: anywhere } }\n```\n" + APPROVED);
  await place.run(["trust", "."]);
  await advance(place);
  assert.equal(log(place), "");
});

test("a document with a journal of an earlier version keeps its approvals once, with a notice", async (place) => {
  const waiting = await waits(place);
  const journal = `${place.folder}/state/flemma/journal`;
  for await (const { name } of Deno.readDir(journal)) {
    const old = Deno.readTextFileSync(`${journal}/${name}`).split("\n").filter((line) =>
      !/"held"|"counted"/.test(line)
    );
    Deno.writeTextFileSync(`${journal}/${name}`, `{"kind":"day","day":"2026-11-28"}\n${old.join("\n")}`);
  }
  place.arrive("a.chat", approve(waiting));
  const { code, stderr } = await advance(place);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /The approvals in \S+ count this once, because an earlier version/);
  place.arrive("a.chat", APPROVED.replaceAll("c1", "c8"));
  assert.equal((await advance(place)).code, 3);
  assert.equal(log(place), "c1\n");
});

test("flemma trust accepts no calls", async (place) => {
  place.settings(ASKING);
  place.arrive("a.chat", APPROVED);
  await place.exits(0, ["trust", "a.chat"]);
  assert.equal((await advance(place)).code, 3);
  assert.equal(log(place), "");
});

test("in a filter without a name the word counts, and with a name it counts as in a file", async (place) => {
  place.settings(ASKING);
  const unnamed = await place.run(["advance", "--no-autopilot", "-"], { stdin: APPROVED });
  assert.match(unnamed.stdout, /no output/);
  const named = await place.run(["advance", "--no-autopilot", "-", "--name", "x.chat"], { stdin: APPROVED });
  assert.match(named.stdout, /status=pending/);
  assert.equal(log(place), "c1\n");
});

test("if the journal cannot be written the call waits, and the sentence names the state folder", async (place) => {
  const waiting = await waits(place);
  place.arrive("a.chat", approve(waiting));
  const journal = `${place.folder}/state/flemma/journal`;
  const [{ name } = { name: "" }] = [...Deno.readDirSync(journal)];
  Deno.removeSync(`${journal}/${name}`);
  Deno.mkdirSync(`${journal}/${name}/x`, { recursive: true });
  const { code, stderr } = await advance(place);
  assert.notEqual(code, 0);
  assert.ok(stderr.includes(`${place.folder}/state/flemma`), stderr);
  assert.equal(log(place), "");
});
