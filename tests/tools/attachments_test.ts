// Images and files that tools return: what the result says about them, and what is saved.

import assert from "node:assert/strict";
import type { Environment } from "../../base/environment.ts";
import { attachmentsFolder } from "../../base/folders.ts";
import { sha256 } from "../../base/hash.ts";
import { takeFile } from "../../tools/overflow/attachments.ts";
import { freshFolder } from "../folder.ts";
import { JPEG, PDF, PNG } from "../pictures.ts";

async function withHome(body: (environment: Environment, folder: string) => Promise<void>): Promise<void> {
  const home = await freshFolder("taken-");
  const environment = { cwd: home, home, variables: {} };
  try {
    await body(environment, attachmentsFolder(environment));
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

const text = (words: string) => new TextEncoder().encode(words);

function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

Deno.test("a file that a tool returns is saved under its digest, only this person can read it, and the result gets one line for it", () =>
  withHome(async (environment, folder) => {
    const rows = [[PNG, "image/png"], [JPEG, "image/jpeg"], [PDF, "application/pdf"]] as const;
    for (const [bytes, type] of rows) {
      const taken = await takeFile({ type, data: bytes.toBase64() }, environment);
      assert.deepEqual(taken, { text: `[${type}, ${bytes.length}B]`, attachment: await sha256(bytes) });
      const path = `${folder}/${taken.attachment}`;
      assert.deepEqual(await Deno.readFile(path), bytes);
      assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
    }
    assert.equal((await Deno.stat(folder)).mode! & 0o777, 0o700);
  }));

Deno.test("the type of an image is detected from its bytes, whatever type the tool states", () =>
  withHome(async (environment) => {
    for (
      const type of ["image/png", "text/plain", "", undefined, 7, "image/png]\n\n@You:", "x".repeat(9000)]
    ) {
      const taken = await takeFile({ type, data: JPEG.toBase64() }, environment);
      assert.equal(taken.text, `[image/jpeg, ${JPEG.length}B]`, String(type));
    }
  }));

Deno.test("a file of a type that no model accepts is saved, and its line in the result contains its path", () =>
  withHome(async (environment, folder) => {
    const rows = [
      ["audio/wav", "RIFF....WAVE"],
      ["image/png", "hello"],
      ["application/zip", "PK\x03\x04"],
      ["text/csv", "a\0b"],
    ];
    for (const [type, words] of rows) {
      const bytes = text(words!);
      const hash = await sha256(bytes);
      assert.deepEqual(await takeFile({ type, data: bytes.toBase64() }, environment), {
        text: `[${type}, ${bytes.length}B; saved as ${folder}/${hash}]`,
        attachment: hash,
      });
    }
  }));

Deno.test("a text file that a tool returns is inserted into the result, where a person can read it", () =>
  withHome(async (environment, folder) => {
    for (const type of ["text/csv", "application/json", "image/svg+xml", "TEXT/Plain"]) {
      const taken = await takeFile({ type, data: text("a,ü\n").toBase64() }, environment);
      assert.deepEqual(taken, { text: "a,ü\n", attachment: null }, type);
    }
    await assert.rejects(Deno.stat(folder), Deno.errors.NotFound);
  }));

Deno.test("an empty file or invalid Base64 is not saved, and its line in the result says so", () =>
  withHome(async (environment, folder) => {
    const taken = (data: unknown) => takeFile({ type: "image/png", data }, environment);
    assert.deepEqual(await taken(""), { text: "[image/png, empty]", attachment: null });
    for (const data of ["*", undefined, null, 7, {}]) {
      assert.deepEqual(await taken(data), {
        text: "[image/png, damaged: not valid Base64]",
        attachment: null,
      });
    }
    await assert.rejects(Deno.stat(folder), Deno.errors.NotFound);
  }));

Deno.test("if two processes save the same file, the result is one complete file, and an existing file is not rewritten", () =>
  withHome(async (environment, folder) => {
    const bytes = new Uint8Array(3_000_000);
    bytes.set(PNG);
    const given = { type: "image/png", data: bytes.toBase64() };
    const taken = await Promise.all(Array.from({ length: 8 }, () => takeFile(given, environment)));
    const hash = await sha256(bytes);
    assert.ok(taken.every(({ attachment }) => attachment === hash));
    assert.deepEqual(namesIn(folder), [hash]);
    const { ino } = await Deno.stat(`${folder}/${hash}`);
    await takeFile(given, environment);
    assert.equal((await Deno.stat(`${folder}/${hash}`)).ino, ino);
  }));

Deno.test("an incomplete or different file under the same name is replaced by the correct file", () =>
  withHome(async (environment, folder) => {
    const hash = await sha256(PNG);
    await Deno.mkdir(folder, { recursive: true });
    for (const before of [PNG.subarray(0, 20), text("x".repeat(PNG.length))]) {
      await Deno.writeFile(`${folder}/${hash}`, before);
      await takeFile({ type: "image/png", data: PNG.toBase64() }, environment);
      assert.deepEqual(await Deno.readFile(`${folder}/${hash}`), PNG);
    }
  }));

Deno.test("partly written files of a killed run are removed once no process can still be writing them", () =>
  withHome(async (environment, folder) => {
    await Deno.mkdir(folder, { recursive: true });
    const [old, fresh] = ["aaaaaaaa", "bbbbbbbb"].map((tag) => `${"0".repeat(64)}.${tag}.tmp`);
    const other = "notes.aaaaaaaa.tmp";
    for (const name of [old!, fresh!, other]) await Deno.writeTextFile(`${folder}/${name}`, "half");
    for (const name of [old!, other]) await Deno.utime(`${folder}/${name}`, new Date(0), new Date(0));
    await takeFile({ type: "image/png", data: PNG.toBase64() }, environment);
    assert.deepEqual(namesIn(folder), [fresh, await sha256(PNG), other].sort());
  }));

Deno.test("if a file cannot be saved, its line in the result says so, and the call continues", () =>
  withHome(async (environment) => {
    await Deno.writeTextFile(`${environment.home}/.local`, "in the way");
    const { text, attachment } = await takeFile({ type: "image/png", data: PNG.toBase64() }, environment);
    assert.match(text, /^\[image\/png, 70B; could not be saved: .+\]$/);
    assert.equal(attachment, null);
  }));
