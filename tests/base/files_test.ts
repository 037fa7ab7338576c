import assert from "node:assert/strict";
import {
  closeLocked,
  createFile,
  isThere,
  makeFile,
  mayBeThere,
  removeIfThere,
  replaceSmallFile,
  rewriteFile,
  writeAll,
} from "../../base/files.ts";
import { takePlace } from "../../base/system/take_place.ts";
import type { RenameWith } from "../../base/system/libc.ts";
import { inFolder, withCopyOf } from "../folder.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

const names = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name);

Deno.test("all bytes are written to a writer that accepts them in pieces", async () => {
  const taken: number[] = [];
  const taker = {
    write: (rest: Uint8Array) => {
      taken.push(...rest.subarray(0, 2));
      return Promise.resolve(Math.min(2, rest.length));
    },
  };
  await writeAll(taker, Uint8Array.of(1, 2, 3, 4, 5));
  assert.deepEqual(taken, [1, 2, 3, 4, 5]);
});

Deno.test("a new private file is readable by this person only, and never replaces another", () =>
  inFolder(async (folder) => {
    const path = `${folder}/new`;
    await createFile(path, bytes("text"));
    assert.equal(await Deno.readTextFile(path), "text");
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    await assert.rejects(createFile(path, bytes("other")), Deno.errors.AlreadyExists);
    assert.equal(await Deno.readTextFile(path), "text");
  }));

for (const durable of [true, false]) {
  Deno.test(`a small file is replaced as a whole, and no other file is left next to it${durable ? ", durably" : ""}`, () =>
    inFolder(async (folder) => {
      const path = `${folder}/small`;
      for (const text of ["first", "second"]) {
        await replaceSmallFile(path, bytes(text), { durable });
        assert.equal(await Deno.readTextFile(path), text);
      }
      assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
      assert.deepEqual(names(folder), ["small"]);
    }));

  Deno.test(`if a small file cannot be replaced, it stays unchanged and no other file is left${durable ? ", durably" : ""}`, () =>
    inFolder(async (folder) => {
      await Deno.mkdir(`${folder}/taken/inner`, { recursive: true });
      await assert.rejects(replaceSmallFile(`${folder}/taken`, bytes("text"), { durable }));
      assert.deepEqual(names(folder), ["taken"]);
      await assert.rejects(
        replaceSmallFile(`${folder}/gone/small`, bytes("text"), { durable }),
        Deno.errors.NotFound,
      );
    }));
}

Deno.test("removing a file works, and removing a folder that contains files is reported as a problem", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/a`, "");
    await removeIfThere(`${folder}/a`);
    await removeIfThere(`${folder}/a`);
    assert.ok(!isThere(`${folder}/a`));
    await Deno.mkdir(`${folder}/full/inner`, { recursive: true });
    await assert.rejects(removeIfThere(`${folder}/full`));
  }));

/** Somebody's editor saves by renaming a new file over the old one. */
function saves(folder: string, text: string): void {
  Deno.writeTextFileSync(`${folder}/theirs`, text);
  Deno.renameSync(`${folder}/theirs`, `${folder}/a`);
}

/** What happens when ours takes the place of `a`, which holds `old`, while somebody acts at the given steps. */
function race(folder: string, acts: Readonly<Record<number, () => void>>, rename?: RenameWith): boolean {
  Deno.writeTextFileSync(`${folder}/a`, "old");
  const old = Deno.lstatSync(`${folder}/a`);
  const temporary = `${folder}/.a.12345678.tmp`;
  Deno.writeTextFileSync(temporary, "ours");
  let step = 0;
  const taken = takePlace(temporary, `${folder}/a`, old, { rename, between: () => acts[step++]?.() });
  if (taken) assert.deepEqual(names(folder), ["a"]);
  else if (isThere(temporary)) Deno.removeSync(temporary);
  return taken;
}

Deno.test("replacing a file never loses a different file, no matter when that file appears at the path", () =>
  inFolder((folder) => {
    const read = () => Deno.readTextFileSync(`${folder}/a`);
    const impossible: RenameWith = () => false;
    for (const rename of [undefined, impossible]) {
      assert.ok(race(folder, {}, rename));
      assert.equal(read(), "ours");
      assert.ok(!race(folder, { 0: () => saves(folder, "theirs") }, rename), "put there right before");
      assert.equal(read(), "theirs");
    }
    // And once more while the first one goes back: the newest of theirs is on the path at the end.
    const again = { 0: () => saves(folder, "theirs"), 1: () => saves(folder, "newer") };
    assert.ok(!race(folder, again));
    assert.equal(read(), "newer");
    assert.ok(!race(folder, { ...again, 2: () => saves(folder, "newest") }));
    assert.equal(read(), "newest");
    const always = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [at, () => saves(folder, `${at}`)]),
    );
    const last = () => Number(read());
    Deno.writeTextFileSync(`${folder}/a`, "old");
    const old = Deno.lstatSync(`${folder}/a`);
    Deno.writeTextFileSync(`${folder}/.a.12345678.tmp`, "ours");
    let step = 0;
    const between = () => always[step++]?.();
    assert.ok(!takePlace(`${folder}/.a.12345678.tmp`, `${folder}/a`, old, { between }));
    assert.equal(last(), step - 1, "somebody who renames all the time has their newest there");
    return Promise.resolve();
  }));

Deno.test("a file that disappears just before a write is not created again, and a file that appears during a restore is kept", () =>
  inFolder((folder) => {
    const impossible: RenameWith = () => false;
    for (const rename of [undefined, impossible]) {
      assert.ok(!race(folder, { 0: () => Deno.removeSync(`${folder}/a`) }, rename));
      assert.ok(!isThere(`${folder}/a`));
    }
    Deno.writeTextFileSync(`${folder}/a`, "old");
    const old = Deno.lstatSync(`${folder}/a`);
    const temporary = `${folder}/.a.12345678.tmp`;
    Deno.writeTextFileSync(temporary, "ours");
    const acts = [() => saves(folder, "theirs"), () => Deno.removeSync(`${folder}/a`)];
    assert.ok(!takePlace(temporary, `${folder}/a`, old, { between: () => acts.shift()?.() }));
    assert.equal(Deno.readTextFileSync(`${folder}/a`), "theirs");
    return Promise.resolve();
  }));

Deno.test("a new file is created only at a free path: a file put there at the last moment stays", () =>
  inFolder((folder) => {
    const [path, temporary] = [`${folder}/a`, `${folder}/.a.12345678.tmp`];
    for (const rename of [undefined, (() => false) as RenameWith]) {
      for (const between of [undefined, () => Deno.writeTextFileSync(path, "theirs")]) {
        Deno.writeTextFileSync(temporary, "ours");
        const taken = takePlace(temporary, path, null, { rename, between });
        assert.equal(taken, between === undefined);
        assert.equal(Deno.readTextFileSync(path), taken ? "ours" : "theirs");
        assert.equal(isThere(temporary), !taken);
        for (const each of names(folder)) Deno.removeSync(`${folder}/${each}`);
      }
    }
    return Promise.resolve();
  }));

Deno.test("a new file appears with its complete content and the mode that the umask gives, and never replaces another file", () =>
  inFolder(async (folder) => {
    const path = `${folder}/new.chat`;
    await makeFile(path, bytes("text"), 0o666);
    assert.equal(await Deno.readTextFile(path), "text");
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o666 & ~Deno.umask());
    await assert.rejects(makeFile(path, bytes("other"), 0o666), Deno.errors.AlreadyExists);
    assert.equal(await Deno.readTextFile(path), "text");
    assert.deepEqual(names(folder), ["new.chat"]);
    const long = `${folder}/${"n".repeat(250)}.chat`;
    await makeFile(long, bytes("text"), 0o666);
    assert.equal(await Deno.readTextFile(long), "text");
  }));

Deno.test("a large folder is not listed at every write, and a killed writer's temporary file still goes", () =>
  inFolder(async (folder) => {
    for (let at = 0; at < 320; at++) Deno.writeTextFileSync(`${folder}/${at}`, "");
    const { readDirSync } = Deno;
    let listed = 0;
    Deno.readDirSync = (path) => {
      listed++;
      return readDirSync(path);
    };
    try {
      await replaceSmallFile(`${folder}/a`, new Uint8Array(), { durable: false });
      Deno.writeTextFileSync(`${folder}/a.01234567.tmp`, "half");
      for (let at = 0; at < 10; at++) {
        await replaceSmallFile(`${folder}/a`, new Uint8Array(), { durable: false });
      }
      assert.equal(listed, 1);
      await replaceSmallFile(`${folder}/a`, new Uint8Array(), { durable: false });
      assert.equal(listed, 2);
    } finally {
      Deno.readDirSync = readDirSync;
    }
    assert.equal(isThere(`${folder}/a.01234567.tmp`), false);
  }));

Deno.test("the next write removes the temporary file of a killed writer and no other files", () =>
  inFolder(async (folder) => {
    const kept = [
      // Of another file, of a name that is not ours, a folder, and one whose writer lives.
      ...["other.01234567.tmp", "a.0123.tmp", ".a.chat.01234567.tmp", "a.89abcdef.tmp"],
    ];
    for (const name of [...kept, "a.01234567.tmp"]) Deno.writeTextFileSync(`${folder}/${name}`, "half");
    Deno.mkdirSync(`${folder}/a.fedcba98.tmp`);
    // A lock holds against another process alone or against another descriptor, as here.
    using living = Deno.openSync(`${folder}/a.89abcdef.tmp`);
    living.lockSync(true);
    await replaceSmallFile(`${folder}/a`, bytes("whole"), { durable: false });
    assert.deepEqual(names(folder).sort(), ["a", "a.fedcba98.tmp", ...kept].sort());
    await makeFile(`${folder}/a.chat`, bytes("whole"), 0o600);
    assert.equal(isThere(`${folder}/.a.chat.01234567.tmp`), false);
  }));

Deno.test("a person's file behind a link is rewritten and keeps its mode, and a new file gets the usual mode", () =>
  inFolder(async (folder) => {
    Deno.writeTextFileSync(`${folder}/real`, "old", { mode: 0o600 });
    Deno.chmodSync(`${folder}/real`, 0o640);
    Deno.symlinkSync("real", `${folder}/link`);
    await rewriteFile(`${folder}/link`, "new");
    assert.ok(Deno.lstatSync(`${folder}/link`).isSymlink);
    assert.equal(Deno.readTextFileSync(`${folder}/real`), "new");
    assert.equal(Deno.statSync(`${folder}/real`).mode! & 0o777, 0o640);
    await rewriteFile(`${folder}/fresh`, "new");
    assert.equal(Deno.statSync(`${folder}/fresh`).mode! & 0o777, 0o644);
  }));

Deno.test("a path that cannot be checked counts as possibly existing: one row per condition", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/file`, "");
    await Deno.symlink("loop", `${folder}/loop`);
    assert.equal(mayBeThere(`${folder}/file`), true);
    assert.equal(mayBeThere(`${folder}/gone`), false);
    assert.equal(mayBeThere(`${folder}/file/below`), false, "a part of the path is not a folder");
    assert.equal(mayBeThere(`${folder}/${"x".repeat(300)}`), true, "the system takes no such name");
    assert.equal(mayBeThere(`${folder}/loop/below`), true, "its links lead nowhere");
  }));

Deno.test("a lock is free once it is released, even if a process being started has the file too", () =>
  inFolder((folder) => {
    const path = `${folder}/lock`;
    const file = Deno.openSync(path, { create: true, write: true });
    assert.ok(file.tryLockSync(true));
    return withCopyOf(path, () => {
      closeLocked(file);
      using other = Deno.openSync(path, { write: true });
      assert.equal(other.tryLockSync(true), true);
    });
  }));
