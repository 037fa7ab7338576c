// Guards a document while commands run: what it records before, checks after, and leaves to the next run.

import assert from "node:assert/strict";
import type { Environment } from "../../base/environment.ts";
import { isThere } from "../../base/files.ts";
import { blocksOf, subjectSettings } from "../../agent/settings.ts";
import { DocumentGuard, type GuardOptions } from "../../agent/trust/guard.ts";
import { guardOf } from "../../agent/trust/open_guard.ts";
import { noteLeftElsewhere } from "../../agent/trust/runs_elsewhere.ts";
import { identityOf } from "../../cycle/storage/read.ts";
import { callHash, permittedHash } from "../../cycle/plan/call_hash.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import { noteWaiting } from "../../cycle/storage/waiting_documents.ts";
import { MemoryStore } from "../../cycle/storage/memory_store.ts";
import type { CycleEvent, Journal } from "../../cycle/types.ts";
import { answeredDocument, callsDocument } from "../cli/harness.ts";
import { inFolder } from "../folder.ts";
import { testsWith } from "../tests_with.ts";

const BEFORE = callsDocument([
  { id: "c1", command: "one", status: "approved" },
  { id: "c2", command: "two", status: "pending" },
]);
const FORGED = BEFORE.replaceAll("pending", "approved");

class Place {
  readonly environment: Environment;
  readonly reported: CycleEvent[] = [];
  text = BEFORE;

  constructor(readonly folder: string) {
    this.environment = { cwd: folder, home: folder, variables: { XDG_STATE_HOME: `${folder}/state` } };
  }

  get path(): string {
    return `${this.folder}/a.chat`;
  }

  write(text: string): void {
    Deno.writeTextFileSync(this.path, text);
  }

  /** As an editor that saves by renaming. */
  replace(text: string): void {
    Deno.writeTextFileSync(`${this.folder}/new`, text);
    Deno.renameSync(`${this.folder}/new`, this.path);
  }

  async journal(path = this.path): Promise<Journal> {
    const opened = await openJournal({ environment: this.environment, path });
    assert.ok(opened.ok);
    return opened.value;
  }

  /** Makes the processes whose commands live count as ended, as after kill -9. */
  async killed(...paths: readonly string[]): Promise<void> {
    for (const path of paths.length === 0 ? [this.path] : paths) {
      const journal = await this.journal(path);
      const check = journal.tamperCheck();
      assert.ok(check !== null);
      const owners = check.owners?.map((each) => ({ ...each, owner: { ...each.owner, started: "gone" } }));
      await journal.recordTamperCheck({ ...check, owners });
    }
  }

  /** A guard as the next run makes it. */
  async guard(options: Partial<GuardOptions> & { readonly named?: string; readonly path?: string } = {}) {
    const { path = this.path, named = path } = options;
    const journal = await this.journal(path);
    const guard = new DocumentGuard({
      environment: this.environment,
      store: new MemoryStore(Deno.readFileSync(path), path, undefined, named),
      journal,
      nameJournal: named === path ? null : await this.journal(named),
      authority: () => Promise.resolve({ block: "", narrows: true }),
      inReach: () => true,
      emit: (event) => this.reported.push(event),
      readOnly: false,
      ...options,
    });
    return { guard, journal };
  }
}

async function inPlace(body: (place: Place) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    const place = new Place(folder);
    place.write(BEFORE);
    await body(place);
  });
}

const test = testsWith(inPlace);

async function hashIn(text: string, id: string): Promise<string> {
  const call = new MemoryStore(new TextEncoder().encode(text), null).chat.call(id);
  assert.ok(call !== undefined);
  return await callHash(call);
}

test("after commands that could not reach the document, no approval counts as tampered, whatever the person wrote", async (place) => {
  const { guard, journal } = await place.guard();
  assert.equal(guard.commandsLive, false);
  assert.equal(await guard.begin(), null);
  assert.equal(guard.commandsLive, true);
  place.write(FORGED);
  await guard.end();
  assert.equal(guard.commandsLive, false);
  assert.deepEqual([journal.tampered(), journal.tamperCheck(), place.reported], [null, null, []]);
});

test("if the sandbox does not keep commands from writing the document, new text in it counts as tampered", async (place) => {
  const { guard, journal } = await place.guard();
  await guard.begin(true);
  place.write(FORGED);
  await guard.end();
  assert.deepEqual(guard.tampered?.calls, { c2: await hashIn(FORGED, "c2") });
  await journal.recordTampered(null);
  // A run that was killed while the command ran.
  place.write(BEFORE);
  const killed = await place.guard();
  await killed.guard.begin(true);
  place.write(FORGED);
  const next = await place.guard();
  assert.equal(await next.guard.open(), null);
  assert.match(next.guard.tampered?.why ?? "", /does not keep them from writing/);
});

test("text that was new in a replaced file during commands counts as tampered, but later text does not", async (place) => {
  const { guard } = await place.guard();
  await guard.begin();
  place.replace(FORGED);
  await guard.end();
  assert.deepEqual(guard.tampered?.calls, { c2: await hashIn(FORGED, "c2") });
  // Between the end of the commands and the next run.
  place.write(FORGED.replace("two", "three"));
  const next = await place.guard();
  assert.equal(await next.guard.open(), null);
  assert.deepEqual(next.guard.tampered?.calls, { c2: await hashIn(FORGED, "c2") });
  assert.equal(await next.guard.confirm(), null);
  const left = (await place.journal()).tampered();
  assert.deepEqual(
    [left?.calls, left?.block],
    [{ c2: await hashIn(FORGED, "c2") }, null],
    "trust accepts no calls",
  );
});

test("a call whose block contains text does not run, whatever its status, and an emptied block counts as tampered", async (place) => {
  const filled = FORGED.replace(/(`c2`\n\n```flemma:tool status=approved\n)/, "$1Not yet.\n");
  assert.notEqual(filled, FORGED);
  place.replace(filled);
  const { guard, journal } = await place.guard();
  await guard.begin();
  place.replace(FORGED);
  await guard.end();
  assert.deepEqual(guard.tampered?.calls, { c2: await hashIn(FORGED, "c2") });
  await journal.recordApprovals(new Map([["c2", { by: "person", hash: await hashIn(FORGED, "c2") }]]));
  await guard.begin();
  place.replace(filled);
  await guard.end();
  assert.equal(guard.tampered, null, "a text in an approved block gives no leave");
});

test("an approval that flemma itself records while commands run does not count as tampered", async (place) => {
  const { guard, journal } = await place.guard();
  await guard.begin();
  await journal.recordApprovals(
    new Map([["c2", { by: "policy", hash: await hashIn(FORGED, "c2"), source: "x" }]]),
  );
  place.replace(FORGED);
  await guard.end();
  assert.equal(guard.tampered, null);
});

test("the document is watched from the start of the first overlapping command to the end of the last, and again for later ones", async (place) => {
  const { guard } = await place.guard();
  const [one, two] = [guard.begin(), guard.begin()];
  assert.equal(one, two);
  await one;
  place.replace(FORGED);
  await guard.end();
  await guard.begin();
  await guard.end();
  // The second time nothing happened, but what was found before stays.
  assert.deepEqual(Object.keys(guard.tampered?.calls ?? {}), ["c2"]);
});

test("after a run was killed, the next run checks its document for tampering", async (place) => {
  for (const replaced of [false, true]) {
    place.replace(BEFORE);
    await (await place.guard()).guard.begin();
    await place.killed();
    if (replaced) place.replace(FORGED);
    else place.write(FORGED);
    const report = await place.guard({ readOnly: true });
    assert.equal(await report.guard.open(), null);
    assert.equal(report.guard.tampered !== null, replaced);
    assert.notEqual((await place.journal()).tamperCheck(), null, "a report records nothing");
    const next = await place.guard();
    await next.guard.open();
    assert.equal(next.guard.tampered !== null, replaced);
    assert.equal((await place.journal()).tamperCheck(), null);
    await next.guard.confirm();
  }
});

test("if an editor passes only a part of the document, the tamper check of the file stays open", async (place) => {
  await (await place.guard()).guard.begin();
  place.replace(FORGED);
  const piece = new MemoryStore(new TextEncoder().encode("@You:\n"), place.path);
  const next = await place.guard({ store: piece });
  await next.guard.open();
  assert.deepEqual(Object.keys(next.guard.tampered?.calls ?? {}), ["c2"]);
});

const KILLED = { pid: 2 ** 30, started: "never" };

for (const readOnly of [true, false]) {
  const who = readOnly ? "a report" : "a run";
  test(`${who} shows what is unconfirmed: of earlier runs, and of killed commands of another document`, async (place) => {
    const { guard, journal } = await place.guard({ readOnly });
    assert.equal(await guard.open(), null);
    assert.deepEqual([guard.tampered], [null]);
    await journal.recordReached("run", { owner: KILLED, approved: {} });
    assert.equal(await guard.open(), null);
    assert.deepEqual(guard.tampered?.calls, { c1: await hashIn(BEFORE, "c1") });
    const earlier = await place.guard({ readOnly });
    await earlier.journal.recordTampered({ why: "so", calls: { c9: "x" }, block: null });
    assert.equal(await earlier.guard.open(), null);
    assert.equal(earlier.guard.tampered?.calls.c9, "x");
  });
}

test("a document that is used again is checked for what other runs recorded, by both of its names", async (place) => {
  const link = `${place.folder}/link.chat`;
  Deno.symlinkSync("a.chat", link);
  const one = await place.guard({ named: link });
  assert.equal(await one.guard.open(), null);
  const tampered = { why: "so", calls: { c9: "x" }, block: null };
  await (await place.journal()).recordTampered(tampered);
  assert.equal(await one.guard.reopen(), null);
  assert.deepEqual(one.guard.tampered, tampered);
  const two = await place.guard({ named: link });
  await two.guard.open();
  const elsewhere = { name: link, leads: `${place.folder}/b.chat`, file: null, approved: {}, block: "" };
  await (await place.journal(link)).recordTamperCheck(elsewhere);
  assert.equal(await two.guard.reopen(), null);
  assert.equal(two.guard.tampered?.calls.c1, await hashIn(BEFORE, "c1"));
});

test("calls that a run on another machine may have started are recorded as started", async (place) => {
  const text = callsDocument([
    { id: "c1", command: "one", status: "approved" },
    { id: "c2", command: "two", status: "pending" },
    { id: "c3", command: "three", status: "approved" },
  ]).replace(/(`c3`\n\n```flemma:tool status=approved\n)/, "$1Not yet.\n");
  const store = new MemoryStore(new TextEncoder().encode(text), place.path);
  assert.equal(await noteLeftElsewhere(store, place.environment), null);
  assert.deepEqual([...(await place.journal()).started().keys()], ["c1"]);
});

test("text that an editor loaded while commands ran counts as tampered, whatever the file contains by then", async (place) => {
  await (await place.guard()).guard.begin();
  place.replace(FORGED);
  const loaded = new MemoryStore(new TextEncoder().encode(FORGED), place.path);
  place.replace(BEFORE);
  const next = await place.guard({ store: loaded });
  await next.guard.open();
  assert.deepEqual(Object.keys(next.guard.tampered?.calls ?? {}), ["c2"]);
});

test("after a person confirms the frontmatter of a killed run, its calls stay tampered, and later differences are found", async (place) => {
  const link = `${place.folder}/link.chat`;
  for (const named of [place.path, link]) {
    place.replace(BEFORE);
    if (named === link) Deno.symlinkSync("a.chat", link);
    await (await place.guard({ named })).guard.begin();
    await place.killed(...new Set([place.path, named]));
    place.replace(FORGED);
    const report = await place.guard({ readOnly: true, named });
    await report.guard.open();
    assert.notEqual(report.guard.tampered, null);
    assert.equal(await report.guard.confirm(), null);
    assert.deepEqual(report.guard.tampered?.calls, { c2: await hashIn(FORGED, "c2") });
    // Should that run still live, its commands are watched on.
    const later = FORGED.replace("two", "three");
    place.replace(later);
    const changed = await place.guard({ readOnly: true, named });
    await changed.guard.open();
    assert.deepEqual(changed.guard.tampered?.calls, { c2: await hashIn(later, "c2") });
    await changed.guard.confirm();
    const next = await place.guard({ named });
    await next.guard.open();
    assert.deepEqual([next.guard.tampered?.calls, next.guard.tampered?.block], [
      { c2: await hashIn(later, "c2") },
      null,
    ]);
    assert.equal((await place.journal(named)).tamperCheck(), null);
  }
});

test("a report no longer counts the frontmatter as tampered after the person confirms it", async (place) => {
  await (await place.guard()).guard.begin();
  place.replace(FORGED);
  const authority = () => Promise.resolve({ block: "new", narrows: false });
  const { guard } = await place.guard({ readOnly: true, authority });
  await guard.open();
  assert.equal(guard.isBlockTampered({ block: "new" }), true);
  assert.equal(await guard.confirm(), null);
  assert.equal(guard.isBlockTampered({ block: "new" }), false);
  assert.deepEqual(guard.tampered?.calls, { c2: await hashIn(FORGED, "c2") });
});

test("an approval that counts as tampered still counts as tampered when more commands run", async (place) => {
  const first = await place.guard();
  await first.guard.begin();
  place.replace(FORGED);
  await first.guard.end();
  const second = await place.guard();
  await second.guard.open();
  await second.guard.begin();
  place.replace(FORGED);
  await second.guard.end();
  assert.deepEqual(Object.keys(second.guard.tampered?.calls ?? {}), ["c2"]);
});

test("if a command made the document's name lead to another file, the next opening reports this, unless the name was restored", async (place) => {
  const link = `${place.folder}/link.chat`;
  Deno.symlinkSync("a.chat", link);
  const { guard } = await place.guard({ named: link });
  await guard.begin();
  await guard.end();
  assert.equal((await place.journal(link)).tamperCheck(), null);
  await guard.begin();
  Deno.removeSync(link);
  Deno.writeTextFileSync(link, FORGED);
  await guard.end();
  assert.equal(guard.tampered, null, "the document itself is as it was");
  const forged = await place.guard({ path: link });
  await forged.guard.open();
  assert.match(forged.guard.tampered?.why ?? "", /link\.chat was replaced/);
  assert.deepEqual(Object.keys(forged.guard.tampered?.calls ?? {}), ["c2"]);
});

test("a document that no command can write is not watched, unless its file has a second name", async (place) => {
  const far = { inReach: () => false };
  const { guard, journal } = await place.guard(far);
  await guard.begin();
  assert.equal(journal.tamperCheck(), null);
  place.replace(FORGED);
  await guard.end();
  assert.equal(guard.tampered, null);
  place.write(BEFORE);
  Deno.linkSync(place.path, `${place.folder}/b.chat`);
  const linked = await place.guard(far);
  await linked.guard.begin();
  place.write(FORGED);
  await linked.guard.end();
  assert.match(linked.guard.tampered?.why ?? "", /hard link/);
});

test("if the document cannot be recorded before a command, the command does not start; if not afterwards, a message says so", async (place) => {
  const { guard } = await place.guard();
  Deno.writeTextFileSync(`${place.folder}/state`, "no folder");
  assert.equal((await guard.begin())?.code, "state-unwritable");
  assert.equal(guard.commandsLive, false);
  Deno.removeSync(`${place.folder}/state`);
  assert.equal(await guard.begin(), null);
  Deno.removeSync(`${place.folder}/state`, { recursive: true });
  Deno.writeTextFileSync(`${place.folder}/state`, "no folder");
  await guard.end();
  assert.deepEqual(place.reported.map((event) => event.event === "notice" && event.code), [
    "state-unwritable",
  ]);
  assert.equal(guard.commandsLive, false);
});

/** What another writer saved: the text, and the file that it is in now. */
function saved(place: Place, text: string) {
  place.replace(text);
  return { text: new TextEncoder().encode(text), file: identityOf(Deno.statSync(place.path)) };
}

test("text that another writer saves while commands run counts as tampered at once, and the check stays open", async (place) => {
  const { guard, journal } = await place.guard();
  await guard.begin();
  await guard.checkForeign(saved(place, FORGED));
  assert.deepEqual(journal.tampered()?.calls, { c2: await hashIn(FORGED, "c2") });
  assert.notEqual((await place.journal()).tamperCheck(), null, "the commands still run");
  Deno.removeSync(`${place.folder}/state`, { recursive: true });
  Deno.writeTextFileSync(`${place.folder}/state`, "no folder");
  await guard.checkForeign(saved(place, FORGED));
  assert.deepEqual(place.reported.map((event) => event.event === "notice" && event.code), [
    "state-unwritable",
  ]);
});

test("text that another writer saves after the commands have ended is the person's", async (place) => {
  const { guard, journal } = await place.guard();
  await guard.begin();
  await guard.end();
  place.replace(FORGED);
  await guard.checkForeign(saved(place, FORGED));
  assert.deepEqual([journal.tampered(), journal.tamperCheck()], [null, null]);
});

test("commands that cannot reach the document are owners of the check of another run only until they end", async (place) => {
  const host = await place.guard({ inReach: () => false });
  await host.guard.open();
  await host.guard.begin();
  const other = await place.guard();
  await other.guard.open();
  await other.guard.begin();
  const owners = async () => (await place.journal()).tamperCheck()?.owners?.length;
  assert.equal(await owners(), 1);
  const store = new MemoryStore(Deno.readFileSync(place.path), place.path);
  await host.guard.continueWith({ store, emit: () => {} });
  assert.equal(await owners(), 2);
  await host.guard.end();
  assert.equal(await owners(), 1);
});

test("commands do not start if only the document's own record fails, and a failed comparison of other documents is reported", async (place) => {
  const { guard } = await place.guard();
  place.write(BEFORE);
  Deno.mkdirSync(`${place.folder}/state/flemma`, { recursive: true });
  Deno.writeTextFileSync(`${place.folder}/state/flemma/journal`, "no folder");
  assert.equal((await guard.begin())?.code, "state-unwritable");
  assert.equal(guard.commandsLive, false);
  Deno.removeSync(`${place.folder}/state/flemma/journal`);
  const other = `${place.folder}/b.chat`;
  Deno.writeTextFileSync(other, BEFORE);
  await noteWaiting(place.environment, other);
  assert.equal(await guard.begin(), null);
  Deno.removeSync(`${place.folder}/state/flemma/journal`, { recursive: true });
  Deno.writeTextFileSync(`${place.folder}/state/flemma/journal`, "no folder");
  await guard.end();
  assert.deepEqual(place.reported.map((event) => event.event === "notice" && event.code), [
    "state-unwritable",
  ]);
  assert.equal(guard.commandsLive, false);
});

test("other documents that commands can reach are compared when the commands of this one end", async (place) => {
  const other = `${place.folder}/b.chat`;
  Deno.writeTextFileSync(other, BEFORE);
  await noteWaiting(place.environment, other);
  const { guard } = await place.guard();
  await guard.begin();
  Deno.writeTextFileSync(other, FORGED);
  await guard.end();
  assert.deepEqual((await place.journal(other)).tampered()?.calls, { c2: await hashIn(FORGED, "c2") });
});

test("if commands deleted the document, no part of it counts as tampered", async (place) => {
  const { guard } = await place.guard();
  await guard.begin();
  Deno.removeSync(place.path);
  await guard.end();
  assert.deepEqual([guard.tampered, place.reported], [null, []]);
});

test("frontmatter with the same code in another language counts as changed", async (place) => {
  const code = '{"flemma": {"tools": {"auto_approve": ["bash"]}}}';
  const text = (language: string, body = code) => `\`\`\`${language}\n${body}\n\`\`\`\n${BEFORE}`;
  const rows: readonly (readonly [before: string, after: string, tampered: boolean])[] = [
    [text("json"), text("json"), false],
    // It says the same to whoever reads it.
    [text("json"), text("yaml"), false],
    [text("json"), text("lua"), true],
    [text("json"), text("json", code.replace("bash", "write")), true],
    [text("json"), BEFORE, true],
    // What has mistakes says something that no other block does, nor none.
    [BEFORE, text("lua"), true],
    [BEFORE, BEFORE, false],
  ];
  for (const [before, after, tampered] of rows) {
    place.write(before);
    const { environment, path } = place;
    const store = new MemoryStore(Deno.readFileSync(path), path);
    const subject = await subjectSettings({ environment }, { path, ...blocksOf(store.chat) });
    assert.ok(subject.ok);
    const made = await guardOf(store, { environment, readOnly: false }, subject.value);
    assert.ok(made.ok);
    const { guard } = made.value;
    assert.equal(await guard.begin(), null);
    place.replace(after);
    await guard.end();
    assert.equal(guard.tampered !== null && guard.tampered.block !== null, tampered, after.slice(0, 60));
    await guard.confirm();
  }
});

test("a document is watched if policy lets commands write it, or if the policy is unknown", async (place) => {
  const { environment, path, folder } = place;
  const rows: readonly (readonly [readonly string[], boolean])[] = [
    [[folder], true],
    [[`${folder}/below`], false],
    [[], false],
    [["urn:flemma:nothing"], true],
  ];
  for (const [rw_paths, watched] of rows) {
    const store = new MemoryStore(Deno.readFileSync(path), path);
    const subject = await subjectSettings({ environment }, { path, ...blocksOf(store.chat) });
    assert.ok(subject.ok);
    const { settings } = subject.value;
    const sandbox = { ...settings.sandbox, policy: { ...settings.sandbox.policy, rw_paths } };
    const made = await guardOf(store, { environment, readOnly: false }, {
      ...subject.value,
      settings: { ...settings, sandbox },
    });
    assert.ok(made.ok);
    const { guard, journal } = made.value;
    await guard.begin();
    assert.equal(journal.tamperCheck() !== null, watched, rw_paths.join());
    await guard.end();
  }
});

test("a text without a path is not watched, and nothing is recorded if nothing had to be checked", async (place) => {
  const recorded = () => isThere(`${place.folder}/state`);
  const { guard, journal } = await place.guard();
  assert.deepEqual([await guard.open(), await guard.confirm()], [null, null]);
  await guard.end();
  assert.equal(recorded(), false);
  const unsaved = new MemoryStore(new TextEncoder().encode(FORGED), null);
  const opened = await openJournal({ environment: place.environment, path: null });
  assert.ok(opened.ok);
  for (const tamperCheck of [null, { name: "/x", leads: "/x", file: null, approved: {}, block: "" }]) {
    if (tamperCheck !== null) await opened.value.recordTamperCheck(tamperCheck);
    const next = await place.guard({ store: unsaved, journal: opened.value });
    assert.deepEqual([await next.guard.open(), await next.guard.begin()], [null, null]);
    await next.guard.end();
    assert.deepEqual([await next.guard.confirm(), next.guard.tampered], [null, null]);
  }
  assert.deepEqual([place.reported, journal.tamperCheck()], [[], null]);
  // Its commands could write other documents, so only the time when they ended is known.
  const state = `${place.folder}/state/flemma`;
  const names = [state, `${state}/waiting`].map((path) =>
    [...Deno.readDirSync(path)].map(({ name }) => name)
  );
  assert.deepEqual(names, [["waiting"], [".ended"]]);
});

test("while commands of another run live, its check stays open for the next run, which writes in place", async (place) => {
  const host = await place.guard();
  await host.guard.begin();
  const other = await place.guard();
  assert.equal(await other.guard.open(), null);
  assert.equal(other.guard.commandsLive, true);
  assert.notEqual((await place.journal()).tamperCheck(), null);
  // Its own commands come and go.
  await other.guard.begin();
  await other.guard.end();
  assert.notEqual((await place.journal()).tamperCheck(), null);
  place.replace(FORGED);
  const third = await place.guard();
  await third.guard.open();
  assert.deepEqual(third.guard.tampered?.calls, { c2: await hashIn(FORGED, "c2") });
  assert.notEqual((await place.journal()).tamperCheck(), null);
  await place.killed();
  assert.equal((await place.guard()).guard.commandsLive, false);
  const last = await place.guard();
  await last.guard.open();
  assert.equal((await place.journal()).tamperCheck(), null);
  assert.deepEqual(last.guard.tampered?.calls, { c2: await hashIn(FORGED, "c2") });
});

test("a run whose commands live on goes on with the document: what others replaced meanwhile is tampered, what they approved is not", async (place) => {
  const rows: readonly (readonly [
    what: string,
    change: (text: string) => void,
    approves: boolean,
    tampered: boolean,
  ])[] = [
    ["written in place", (text) => place.write(text), false, false],
    ["replaced", (text) => place.replace(text), false, true],
    ["replaced after an approval by a command", (text) => place.replace(text), true, false],
  ];
  for (const [what, change, approves, tampered] of rows) {
    place.replace(BEFORE);
    const host = await place.guard();
    await host.guard.open();
    await host.guard.begin();
    if (approves) {
      const other = await place.guard();
      await other.guard.open();
      const hash = await hashIn(FORGED, "c2");
      await other.journal.recordApprovals(new Map([["c2", { by: "person", hash }]]));
    }
    change(FORGED);
    const { store } = { store: new MemoryStore(Deno.readFileSync(place.path), place.path) };
    assert.equal(await host.guard.continueWith({ store, emit: () => {} }), null);
    assert.equal(host.guard.tampered !== null, tampered, what);
    assert.notEqual((await place.journal()).tamperCheck(), null, what);
    await host.guard.end();
    assert.equal((await place.journal()).tamperCheck(), null, what);
    assert.equal(host.guard.tampered !== null, tampered, what);
    await (await place.journal()).recordTampered(null);
  }
});

test("a guard that goes on with a document compares with the text that it goes on with", async (place) => {
  const host = await place.guard();
  await host.guard.open();
  await host.guard.begin();
  place.write(FORGED);
  const store = new MemoryStore(Deno.readFileSync(place.path), place.path);
  assert.equal(await host.guard.continueWith({ store, emit: () => {} }), null);
  // The person's editor saves the same text by renaming.
  place.replace(FORGED);
  await host.guard.end();
  assert.equal(host.guard.tampered, null);
});

test("the end of commands closes no check of another run whose commands live", async (place) => {
  const host = await place.guard();
  await host.guard.begin();
  await host.guard.continueWith({
    store: new MemoryStore(Deno.readFileSync(place.path), place.path),
    emit: () => {},
  });
  const other = await place.guard();
  await other.guard.open();
  await other.guard.begin();
  await host.guard.end();
  assert.notEqual((await place.journal()).tamperCheck(), null);
  await other.guard.end();
  assert.equal((await place.journal()).tamperCheck(), null);
});

test("answers that a command could have written make the approval of their call tampered", async (place) => {
  const [before, after] = ["1", "2"].map((answer) => answeredDocument("c1", answer)) as [string, string];
  place.write(before);
  const { guard, journal } = await place.guard();
  await guard.begin(true);
  await guard.end();
  assert.equal(journal.tampered(), null);
  await guard.begin(true);
  place.write(after);
  await guard.end();
  const chat = new MemoryStore(new TextEncoder().encode(after), null).chat;
  assert.deepEqual(journal.tampered()?.calls, { c1: await permittedHash(chat, chat.call("c1")!) });
  assert.notEqual(await permittedHash(chat, chat.call("c1")!), await hashIn(after, "c1"));
  // An approval that this program records while a command runs counts with the answers that it was given for.
  await journal.recordTampered(null);
  place.write(before);
  const { guard: next, journal: own } = await place.guard();
  await next.begin(true);
  place.write(after);
  const permits = await permittedHash(chat, chat.call("c1")!);
  await own.recordApprovals(new Map([["c1", { by: "person", hash: await hashIn(after, "c1"), permits }]]));
  await next.end();
  assert.equal(own.tampered(), null);
});
