// Approvals in other documents that commands could have written: recorded before, compared after, settled later.

import assert from "node:assert/strict";
import {
  couldBeMade,
  OtherDocuments,
  settleCommands,
  settleReached,
} from "../../agent/trust/other_documents.ts";
import { callHash, permittedHash } from "../../cycle/plan/call_hash.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import {
  commandsEnded,
  noteWaiting,
  openCommands,
  recordCommands,
  recordCommandsEnd,
  waitingDocuments,
} from "../../cycle/storage/waiting_documents.ts";
import type { Journal } from "../../cycle/types.ts";
import { parse } from "../../parser/mod.ts";
import { identify } from "../../sandbox/process/leftovers.ts";
import { answeredDocument, callsDocument } from "../cli/harness.ts";
import { type StatePlace, testWithState as test } from "../folder.ts";

const textWith = (status: string) => callsDocument([{ id: "c1", command: "one", status }]);

async function journalOf({ environment }: StatePlace, path: string): Promise<Journal> {
  const opened = await openJournal({ environment, path });
  assert.ok(opened.ok);
  return opened.value;
}

const HASH = await callHash(parse(new TextEncoder().encode(textWith("approved"))).call("c1")!);

/** The other document, whose call waits, and how it is compared. */
async function waiting(place: StatePlace) {
  const [own, other] = [`${place.folder}/a.chat`, `${place.folder}/b.chat`];
  Deno.writeTextFileSync(other, textWith("pending"));
  await noteWaiting(place.environment, other);
  return { own, other, others: new OtherDocuments(place.environment, own) };
}

test("an approval that appears in another document while commands run is unconfirmed there", async (place) => {
  const { other, others } = await waiting(place);
  await others.begin(() => true);
  const { approved, owner } = [...(await journalOf(place, other)).reached().values()][0]!;
  assert.deepEqual(
    [approved, owner],
    [{}, identify(Deno.pid)],
    "recorded before, in case this run is killed",
  );
  Deno.writeTextFileSync(other, textWith("approved"));
  await others.end();
  const journal = await journalOf(place, other);
  assert.deepEqual([journal.reached().size, journal.tampered()?.calls], [0, { c1: HASH }]);
  // The person confirms it. Commands that cannot reach the document change nothing about that.
  await journal.recordTampered(null);
  await others.begin(() => false);
  await others.end();
  assert.equal((await journalOf(place, other)).tampered(), null);
});

/** Ways for a command to put a link to an approved copy in place of the document, or of its folder. */
const LINKS: Readonly<Record<string, (folder: string) => string>> = {
  "the document": (folder) => {
    Deno.writeTextFileSync(`${folder}/x`, textWith("approved"));
    Deno.removeSync(`${folder}/b.chat`);
    Deno.symlinkSync("x", `${folder}/b.chat`);
    return `${folder}/x`;
  },
  "its folder": (folder) => {
    Deno.renameSync(folder, `${folder}-old`);
    Deno.mkdirSync(`${folder}-new`);
    Deno.writeTextFileSync(`${folder}-new/b.chat`, textWith("approved"));
    Deno.symlinkSync(`${folder}-new`, folder);
    return `${folder}-new/b.chat`;
  },
};

for (const [what, link] of Object.entries(LINKS)) {
  test(`an approval behind a link that a command put in place of ${what} is unconfirmed in the file behind it`, async (place) => {
    const folder = `${place.folder}/project`;
    Deno.mkdirSync(folder);
    const { others } = await waiting({ ...place, folder });
    await others.begin(() => true);
    const behind = link(folder);
    await others.end();
    assert.deepEqual((await journalOf(place, behind)).tampered()?.calls, { c1: HASH });
  });
}

test("documents that commands cannot reach, and their own, are not compared; a deleted one is forgotten", async (place) => {
  const { own, other, others } = await waiting(place);
  Deno.writeTextFileSync(own, textWith("pending"));
  for (const path of [own, `${place.folder}/gone.chat`]) await noteWaiting(place.environment, path);
  await others.begin((paths) => !paths.includes(other));
  for (const path of [own, other]) assert.equal((await journalOf(place, path)).reached().size, 0);
  assert.deepEqual(waitingDocuments(place.environment).sort(), [own, other]);
});

for (const lives of [true, false]) {
  for (const readOnly of [true, false]) {
    const kept = lives || readOnly;
    const title = `what a ${lives ? "live" : "killed"} run could have written is found by ${
      readOnly ? "a report" : "the next run"
    } and ${kept ? "kept for the next one" : "recorded"}`;
    test(title, async (place) => {
      const { other } = await waiting(place);
      const owner = lives ? identify(Deno.pid)! : { pid: 2 ** 30, started: "never" };
      await (await journalOf(place, other)).recordReached("run", { owner, approved: {} });
      const journal = await journalOf(place, other);
      const [found] = await settleReached(journal, { c1: HASH }, { readOnly });
      assert.deepEqual(found?.calls, { c1: HASH });
      const after = await journalOf(place, other);
      assert.deepEqual(
        [after.reached().size, after.tampered()?.calls],
        kept ? [1, undefined] : [0, { c1: HASH }],
      );
    });
  }
}

/** What happened before the question whether commands could have made the file. */
const MADE: readonly (readonly [
  what: string,
  act: (place: StatePlace, others: OtherDocuments, path: string) => unknown,
  could: boolean,
])[] = [
  ["no commands ran", () => {}, false],
  ["commands run", (_, others) => others.begin(() => true), true],
  ["commands ended after it was saved", async (_, others) => {
    await others.begin(() => true);
    await others.end();
  }, true],
  ["it was dated ahead before commands ended", async (_, others, path) => {
    await others.begin(() => true);
    Deno.utimeSync(path, new Date("2099-01-01"), new Date("2099-01-01"));
    await others.end();
  }, true],
  ["commands ended before it was saved", async ({ environment }, others) => {
    await others.begin(() => true);
    await others.end();
    endedAt(environment, "1000");
  }, false],
  ["commands ended without a beginning", (_, others) => others.end(), false],
  ["commands ended once before it was saved", async ({ environment }, others) => {
    await others.begin(() => true);
    await others.end();
    endedAt(environment, "1000");
    await others.end();
  }, false],
  ["the record of their end is damaged", ({ environment }) => endedAt(environment, "x"), true],
  [
    "commands of a killed run are not settled",
    ({ environment }) => recordCommands(environment, "r", '{"pid":1073741824,"started":"never"}'),
    true,
  ],
];

function endedAt({ variables }: StatePlace["environment"], text: string): void {
  const folder = `${variables.XDG_STATE_HOME}/flemma/waiting`;
  Deno.mkdirSync(folder, { recursive: true });
  Deno.writeTextFileSync(`${folder}/.ended`, text);
}

for (const [what, act, could] of MADE) {
  test(`commands ${could ? "could" : "could not"} have made a file if ${what}`, async (place) => {
    const path = `${place.folder}/c.chat`;
    Deno.writeTextFileSync(path, "");
    await act(place, new OtherDocuments(place.environment, null), path);
    assert.equal(await couldBeMade(place.environment, path), could);
  });
}

test("the commands of a killed run count as ended when the next run sees them, those of a live run do not", async (place) => {
  const { environment } = place;
  await recordCommands(environment, "dead", '{"pid":1073741824,"started":"never"}');
  await recordCommands(environment, "live", JSON.stringify(identify(Deno.pid)));
  assert.equal(await commandsEnded(environment), 0);
  const before = Date.now();
  await settleCommands(environment);
  assert.ok(await commandsEnded(environment) >= before);
  assert.deepEqual(openCommands(environment).map(({ run }) => run), ["live"]);
  assert.deepEqual(waitingDocuments(environment), []);
});

test("a damaged record of commands counts as that of a killed run", async (place) => {
  const { environment } = place;
  for (const text of ["", "{", "null", "7", '{"pid":"self","started":1}']) {
    endedAt(environment, "1");
    await recordCommands(environment, "damaged", text);
    await settleCommands(environment);
    assert.deepEqual([openCommands(environment), await commandsEnded(environment) > 1], [[], true], text);
  }
});

test("a record that another run removes meanwhile hides no other, and two runs may settle the same one", async (place) => {
  const { environment } = place;
  const { other } = await waiting(place);
  await noteWaiting(environment, `${place.folder}/gone.chat`);
  for (const run of ["dead", "live"]) await recordCommands(environment, run, run);
  const { readTextFileSync } = Deno;
  Deno.readTextFileSync = (path) => {
    const text = readTextFileSync(path);
    if (text === "dead" || text.endsWith("gone.chat")) Deno.removeSync(path);
    return readTextFileSync(path);
  };
  try {
    assert.deepEqual(openCommands(environment), [{ run: "live", text: "live" }]);
    assert.deepEqual(waitingDocuments(environment), [other]);
  } finally {
    Deno.readTextFileSync = readTextFileSync;
  }
  for (let at = 0; at < 2; at++) await recordCommandsEnd(environment, "live");
  assert.deepEqual(openCommands(environment), []);
});

test("the commands of a killed run are settled before others begin", async (place) => {
  const { environment } = place;
  await recordCommands(environment, "dead", '{"pid":1073741824,"started":"never"}');
  await new OtherDocuments(environment, null).begin(() => false);
  assert.ok(await commandsEnded(environment) > 0);
  assert.ok(!openCommands(environment).some(({ run }) => run === "dead"));
});

test("answers that change in another document while commands run make its approval unconfirmed", async (place) => {
  const { own, other } = await waiting(place);
  const text = (answer: string) => answeredDocument("c1", answer);
  const chat = (answer: string) => parse(new TextEncoder().encode(text(answer)));
  const permits = (answer: string) => permittedHash(chat(answer), chat(answer).call("c1")!);
  const journal = await journalOf(place, other);
  const hash = await callHash(chat("1").call("c1")!);
  for (const recorded of [false, true]) {
    Deno.writeTextFileSync(other, text("1"));
    const approval = { by: "person", hash, permits: await permits("1") } as const;
    if (recorded) await journal.recordApprovals(new Map([["c1", approval]]));
    const others = new OtherDocuments(place.environment, own);
    await others.begin(() => true);
    await others.end();
    assert.equal((await journalOf(place, other)).tampered(), null, "nothing has changed");
    await others.begin(() => true);
    Deno.writeTextFileSync(other, text("2"));
    await others.end();
    const after = await journalOf(place, other);
    assert.deepEqual(after.tampered()?.calls, { c1: await permits("2") });
    await after.recordTampered(null);
  }
  // An approval that flemma records meanwhile, with its answers, counts.
  Deno.writeTextFileSync(other, text("1"));
  const others = new OtherDocuments(place.environment, own);
  await others.begin(() => true);
  Deno.writeTextFileSync(other, text("3"));
  const given = { by: "person", hash, permits: await permits("3") } as const;
  await (await journalOf(place, other)).recordApprovals(new Map([["c1", given]]));
  await others.end();
  assert.equal((await journalOf(place, other)).tampered(), null);
});
