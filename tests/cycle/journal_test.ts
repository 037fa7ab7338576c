// The journal of a document: which entries cancel earlier ones, and that shortening it changes no answer.

import assert from "node:assert/strict";
import fc from "fast-check";
import type { Journal } from "../../cycle/types.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import { documentKey } from "../../cycle/storage/state_files.ts";
import { testsWith } from "../tests_with.ts";
import { inFolder } from "../folder.ts";

interface Place {
  readonly file: string;
  open(): Promise<Journal>;
}

async function inPlace(body: (place: Place) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    const environment = { cwd: folder, home: folder, variables: { XDG_STATE_HOME: folder } };
    const path = `${folder}/a.chat`;
    await Deno.mkdir(`${folder}/flemma/journal`, { recursive: true });
    await body({
      file: `${folder}/flemma/journal/${await documentKey(path)}.jsonl`,
      async open() {
        const opened = await openJournal({ environment, path });
        assert.ok(opened.ok);
        return opened.value;
      },
    });
  });
}

const test = testsWith(inPlace);

const IDS = ["c1", "c2", "c3"];
const FILES = ["/w/a.txt", "/w/b.txt"];

/** Everything that anybody can ask a journal. */
function answers(memory: Journal): unknown {
  return {
    approvals: IDS.map((id) => memory.approval(id)),
    asked: IDS.map((id) => memory.asked(id)),
    started: [...memory.started()].sort(),
    results: [...memory.savedResults()].sort(),
    unfinished: [...memory.unfinished()].sort(),
    files: FILES.map((path) => memory.fileHash(path)),
    day: memory.promptDay(),
    tamperCheck: memory.tamperCheck(),
    tampered: memory.tampered(),
    thinking: memory.thinking,
  };
}

test("only the end of a call, a decision of the person and a settled check cancel journal entries", async ({ open }) => {
  const memory = await open();
  const started = () => [...memory.started().keys()];
  const unfinished = () => [...memory.unfinished()];
  await memory.recordUnfinished(["c1", "c2", "c3"]);
  await memory.recordStart("c1", "bash");
  await memory.recordStart("c2", "read");
  await memory.recordEnd("c1");
  assert.deepEqual([started(), unfinished()], [["c2"], ["c1", "c2", "c3"]]);
  await memory.recordApprovals(new Map([["c1", { by: "policy", hash: "h" }]]));
  assert.deepEqual(unfinished(), ["c1", "c2", "c3"]);
  await memory.recordApprovals(new Map([["c1", { by: "person", hash: "h", asked: true }]]));
  assert.deepEqual([unfinished(), memory.approval("c1")], [["c1", "c2", "c3"], {
    by: "person",
    hash: "h",
    asked: true,
  }]);
  await memory.recordApprovals(new Map([["c1", { by: "person", hash: "h" }]]));
  assert.deepEqual([unfinished(), memory.approval("c1")], [["c2", "c3"], { by: "person", hash: "h" }]);
  await memory.recordFinished(["c3"]);
  assert.deepEqual(unfinished(), ["c2"]);
  const path = await memory.keepResult("c2", "text");
  assert.equal(await Deno.readTextFile(path), "text");
  await memory.keepBody("c3", "body");
  assert.deepEqual([...memory.savedResults()], [["c2", path]]);
  await memory.recordEnd("c2");
  assert.deepEqual([started(), [...memory.savedResults()]], [[], []]);
  await memory.recordPromptDay("2026-11-28");
  await memory.recordPromptDay("2026-11-29");
  assert.equal(memory.promptDay(), "2026-11-28");
});

test("a hash that the journal already contains is not recorded again", async ({ file, open }) => {
  const memory = await open();
  const read = (hash: string) => memory.recordFiles([{ path: FILES[0]!, hash } as never]);
  await read("one");
  const { size } = await Deno.stat(file);
  await read("one");
  await memory.recordFiles([]);
  await memory.recordThinking([]);
  assert.equal((await Deno.stat(file)).size, size);
  await read("two");
  assert.deepEqual([memory.fileHash(FILES[0]!), (await open()).fileHash(FILES[0]!)], ["two", "two"]);
});

const id = fc.constantFrom(...IDS);
const hash = fc.constantFrom("h", "i");
const ids = fc.uniqueArray(id, { minLength: 1 });
const file = { name: "/d", leads: "/e", file: null, block: "" };
const entry: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc.oneof(
  fc.record({ kind: fc.constant("approval"), id, by: fc.constantFrom("policy", "person"), hash }),
  fc.record({ kind: fc.constant("approval"), id, by: fc.constant("person"), hash, asked: fc.constant(true) }),
  fc.record({ kind: fc.constant("start"), id, tool: fc.constantFrom("bash", "read"), time: fc.constant("") }),
  fc.record({ kind: fc.constant("end"), id }),
  fc.record({ kind: fc.constant("end"), id, ran: fc.constant(true), time: fc.constant("") }),
  fc.record({ kind: fc.constant("asked"), id, hash, state: fc.constantFrom("s", "t") }),
  fc.record({ kind: fc.constantFrom("unfinished", "finished"), ids }),
  fc.record({ kind: fc.constantFrom("result", "body"), id, path: fc.constantFrom("/p", "/q") }),
  fc.record({ kind: fc.constant("file"), path: fc.constantFrom(...FILES), hash }),
  fc.record({ kind: fc.constant("day"), day: fc.constantFrom("2026-11-28", "2026-11-29") }),
  fc.record({ approved: fc.dictionary(id, hash) }).map(({ approved }) => ({
    kind: "exposed",
    ...file,
    approved,
  })),
  fc.option(fc.record({ calls: fc.dictionary(id, hash), block: fc.constantFrom(null, "b") }), { nil: null })
    .map((found) => ({ kind: "settled", tampered: found === null ? null : { why: "w", ...found } })),
  fc.record({ kind: fc.constantFrom("stale", "unread"), keys: fc.array(hash, { minLength: 1 }) }),
  fc.record({ kind: fc.constant("note"), key: hash, value: hash }),
  fc.record({ kind: fc.constant("sent"), from: fc.nat(2), pieces: fc.array(hash, { maxLength: 2 }) }),
);

test("a long journal gives the same information after it was shortened", async ({ file, open }) => {
  // Ends of a call that nobody asks about make it long enough.
  const noise = '{"kind":"end","id":"some other call"}\n'.repeat(7200);
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 25 }), async (entries) => {
      const lines = entries.map((entry) => JSON.stringify(entry) + "\n").join("");
      await Deno.writeTextFile(file, lines);
      const before = answers(await open());
      await Deno.writeTextFile(file, noise + lines);
      await (await open()).recordEnd("some other call");
      assert.ok((await Deno.stat(file)).size < 20_000, "it was shortened");
      assert.deepEqual(answers(await open()), before);
    }),
    { seed: 5, numRuns: 25 },
  );
});
