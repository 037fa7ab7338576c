// What a person changes in the file while a call runs: the result is in the document, and nothing runs twice.

import assert from "node:assert/strict";
import { callsDocument, type Scene, testWithScene as test } from "./harness.ts";
import { textReply, withServer } from "./replies.ts";

const KEY = { ANTHROPIC_API_KEY: "test-key" };

/** A call that tells by a file that it runs, and ends when another file is there. */
const GATED = {
  id: "c1",
  command: "echo c1 >> log; touch c1.started; until [ -e gate ]; do sleep 0.05; done",
  status: "approved",
};
const OTHER = { id: "c2", command: "echo c2 >> log", status: "pending" };

/** Every call waits for a person. */
const ASKING = "tools: { auto_approve_sandboxed: false }\n";

const PENDING = "`c2`\n\n```flemma:tool status=pending\n```";

type Save = (place: Scene, text: string) => void;

const SAVES: readonly (readonly [string, Save])[] = [
  ["in place", (place, text) => place.write("a.chat", text)],
  ["by a rename", (place, text) => {
    place.write(".a.chat.new", text);
    Deno.renameSync(place.path(".a.chat.new"), place.path("a.chat"));
  }],
];

interface Row {
  readonly what: string;
  readonly change: (text: string) => string;
  /** What ran in the end, for a save in place and for one by a rename. */
  readonly ran: readonly [inPlace: string, renamed: string];
  readonly codes: readonly [inPlace: number, renamed: number];
  /** The status of the other call in the end; null for a result, `none` if it has no block. */
  readonly left: readonly [inPlace: string | null, renamed: string | null];
}

const ROWS: readonly Row[] = [
  {
    what: "approves another call",
    change: (text) => text.replace(PENDING, PENDING.replace("pending", "approved")),
    // A command could have replaced the file, so that approval waits for a person.
    ran: ["c1\nc2\n", "c1\n"],
    codes: [0, 3],
    left: [null, "pending"],
  },
  {
    what: "rejects another call",
    change: (text) => text.replace(PENDING, PENDING.replace("pending", "rejected")),
    ran: ["c1\n", "c1\n"],
    codes: [0, 0],
    left: ["error", "error"],
  },
  {
    what: "edits another call",
    change: (text) => text.replace("echo c2", "echo C2"),
    ran: ["c1\n", "c1\n"],
    codes: [3, 3],
    left: ["pending", "pending"],
  },
  {
    what: "writes the result of another call",
    change: (text) => text.replace(PENDING, "`c2`\n\n```\nmine\n```"),
    ran: ["c1\n", "c1\n"],
    codes: [0, 0],
    left: [null, null],
  },
  {
    what: "removes the block of another call",
    change: (text) => text.replace(`\n**Tool Result:** ${PENDING}\n`, ""),
    ran: ["c1\n", "c1\n"],
    codes: [0, 0],
    left: ["none", "none"],
  },
  {
    what: "undoes the approval of the running call",
    change: (text) => text.replace("status=approved", "status=pending"),
    ran: ["c1\n", "c1\n"],
    codes: [3, 3],
    left: ["pending", "pending"],
  },
  {
    what: "rejects the running call",
    change: (text) => text.replace("status=approved", "status=rejected"),
    ran: ["c1\n", "c1\n"],
    codes: [3, 3],
    left: ["pending", "pending"],
  },
];

for (const { what, change, ran, codes, left } of ROWS) {
  for (const [at, [way, save]] of SAVES.entries()) {
    test(`a person ${what} ${way} while a call runs, and its result is in the document`, (place) =>
      withServer([textReply("Done.")], async ({ env }) => {
        place.settings(ASKING);
        place.write("a.chat", callsDocument([GATED, OTHER]));
        const run = place.start(["advance", "a.chat"], { env: { ...KEY, ...env } });
        await place.appears("c1.started", run);
        const before = place.read("a.chat");
        assert.notEqual(change(before), before);
        save(place, change(before));
        place.write("gate", "");
        const { code, stderr } = await run.finished;
        assert.equal(code, codes[at], stderr);
        const after = place.read("a.chat");
        assert.match(after, /\*\*Tool Result:\*\* `c1`\n\n```\n\(no output\)\n```/);
        const found = /Result:\*\* `c2`(?: \((\w+)\))?\n\n```(?:flemma:tool status=)?(\w*)/.exec(after);
        assert.equal(found === null ? "none" : found[1] ?? (found[2] || null), left[at], after);
        assert.equal(place.read("log"), ran[at]);
        assert.ok(
          !(await Array.fromAsync(Deno.readDir(place.path(".")))).some(({ name }) => /flemma-/.test(name)),
        );
        if (at === 1 && what.startsWith("approves")) {
          assert.match(stderr, /flemma (approve|review) \S*a\.chat/);
        }
      }));
  }
}

test("a change of the frontmatter while a call runs keeps its result and starts nothing more", async (place) => {
  place.settings("tools: { max_concurrent: 1 }\n");
  place.write("a.chat", callsDocument([GATED, { ...OTHER, status: "approved" }]));
  const run = place.start(["advance", "a.chat"]);
  await place.appears("c1.started", run);
  const before = place.read("a.chat");
  place.write("a.chat", "```yaml\nflemma: { tools: { max_concurrent: 2 } }\n```\n" + before);
  place.write("gate", "");
  const { code, stderr } = await run.finished;
  assert.notEqual(code, 5, stderr);
  assert.match(stderr, /frontmatter was changed during this run/);
  assert.match(place.read("a.chat"), /^```yaml\n[^]*`c1`\n\n```\n\(no output\)\n```/);
  assert.equal(place.read("log"), "c1\n");
});

test("an approval that a person undoes before its call could start is not followed", async (place) => {
  place.settings("tools: { max_concurrent: 1, auto_approve_sandboxed: false }\n");
  const document = callsDocument([GATED, OTHER, { ...OTHER, id: "c3", command: "echo c3 >> log" }]);
  place.write("a.chat", document);
  const run = place.start(["advance", "--no-autopilot", "a.chat"]);
  await place.appears("c1.started", run);
  const approved = place.read("a.chat").replace(PENDING, PENDING.replace("pending", "approved"));
  place.write("a.chat", approved);
  place.write("a.chat", document);
  place.write("gate", "");
  await run.finished;
  assert.match(place.read("a.chat"), /`c2`\n\n```flemma:tool status=pending/);
  assert.equal(place.read("log"), "c1\n");
});
