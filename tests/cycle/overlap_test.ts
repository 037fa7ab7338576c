import assert from "node:assert/strict";
import fc from "fast-check";
import { withoutOurEnd } from "../../cycle/storage/disk/overlap.ts";
import { openFile } from "../../cycle/storage/file_store.ts";
import { testWithState as test } from "../folder.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (data: Uint8Array) => new TextDecoder().decode(data);

const OLD = "@System:\nBe brief.\n\n@You:\nRun it.\n\nAnd then?\n";
const OURS = OLD.replace("Run it.", "Run it, and show the lines of its output.");

/** What is in a file that both wrote from its beginning; bytes that nobody wrote are 0. */
function both(theirs: string, ours: string, from: number): string {
  return theirs.length >= ours.length
    ? theirs
    : theirs.padEnd(from, "\0") + ours.slice(Math.max(from, theirs.length));
}

const theirPart = (found: string, old: string, ours: string) =>
  text(withoutOurEnd(bytes(found), { old: bytes(old), ours: bytes(ours) }));

for (
  const [what, theirs, old, ours, from] of [
    ["changed a line", OLD.replace("brief", "kind"), OLD, OURS, 20],
    ["added a line", OLD.replace("@You", "More.\n\n@You"), OLD, OURS, 20],
    ["removed a line", OLD.replace("Be brief.\n", ""), OLD, OURS, 20],
    ["wrote less than is before our change", "@You:\nhi\n", OLD, `${OLD}more\n`, OLD.length],
    ["emptied the file", "", OLD, `${OLD}more\n`, OLD.length],
    ["has no line end at its end", OLD.replace("brief", "kind").trimEnd(), OLD.trimEnd(), OURS.trimEnd(), 20],
  ] as const
) {
  Deno.test(`the end of ours behind a shorter text is left out if the other program ${what}`, () => {
    assert.equal(theirPart(both(theirs, ours, from), old, ours), theirs);
  });
}

for (
  const [what, found, old, ours] of [
    ["has another length than ours", `${OLD}theirs\n`, OLD, OURS],
    ["ends otherwise", OURS.slice(0, -2) + "!\n", OLD, OURS],
    [
      "does not share a whole line with the end of the old text",
      `one\n${"x".repeat(8)}two\n`,
      "abc\n",
      `two\n${"y".repeat(8)}two\n`,
    ],
    ["is ours", OURS, OLD, OURS],
    ["ends as the old text does", OLD.replace("brief", "kind!"), OLD, OLD.replace("brief", "brave")],
  ] as const
) {
  Deno.test(`a text that ${what} is the other program's as a whole`, () => {
    assert.equal(theirPart(found, old, ours), found);
  });
}

Deno.test("what is left out is always in ours at the same place", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "@You:", "", "longer line"), { maxLength: 8 }).map((all) =>
    all.map((line) => `${line}\n`).join("")
  );
  fc.assert(fc.property(lines, lines, lines, fc.nat(40), (old, ours, theirs, from) => {
    const found = both(theirs, ours, Math.min(from, ours.length));
    const part = theirPart(found, old, ours);
    assert.ok(found.startsWith(part));
    const rest = found.slice(part.length).replace(/^\0+/, "");
    assert.ok(rest === "" || ours.endsWith(rest));
  }));
});

for (
  const [way, order] of [["rewrites", "after"], ["extends", "after"], ["extends", "before"]] as const
) {
  test(`if another program empties a file that a run ${way}, and writes it right ${order} the run does, both texts are kept once`, async ({ folder, environment }) => {
    const path = `${folder}/a.chat`;
    Deno.writeTextFileSync(path, OLD);
    const opened = await openFile(path, { environment, wait: 0 });
    assert.ok(opened.ok);
    const store = opened.value;
    store.inPlaceWhile = () => true;
    const { ino } = Deno.statSync(path);
    const theirs = OLD.replace("Be brief.", "Be kind.");
    const { writeSync } = Deno.FsFile.prototype;
    let isFirst = true;
    Deno.FsFile.prototype.writeSync = function (data) {
      if (!isFirst || this.statSync().ino !== ino) return writeSync.call(this, data);
      isFirst = false;
      using other = Deno.openSync(path, { write: true });
      other.truncateSync(0);
      if (order === "before") writeSync.call(other, bytes(theirs));
      const written = writeSync.call(this, data);
      if (order === "after") writeSync.call(other, bytes(theirs));
      return written;
    };
    const added = "A longer text that only the run adds.\n";
    const at = way === "extends" ? OLD.length : OLD.indexOf("And then?");
    try {
      assert.equal(await store.commit([{ from: at, to: at, insert: added }]), null);
    } finally {
      Deno.FsFile.prototype.writeSync = writeSync;
    }
    await store.close();
    const expected = way === "extends" ? theirs + added : theirs.replace("And then?", `${added}And then?`);
    assert.equal(Deno.readTextFileSync(path), expected);
  });
}
