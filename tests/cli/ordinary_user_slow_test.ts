// A user who is not root, and files that this user may not read or write.

import assert from "node:assert/strict";
import { PROGRAM, Scene, SOURCES } from "./harness.ts";
import { inFolder } from "../folder.ts";

/** Every user of these tests. */
const USER = 65534;
const AS_USER = ["setpriv", `--reuid=${USER}`, `--regid=${USER}`, "--clear-groups"];

/** True if this process may become another user who can start the program. */
function canBecomeUser(): boolean {
  if (Deno.uid() !== 0 || PROGRAM === SOURCES) return false;
  const [setpriv = "", ...args] = [...AS_USER, ...PROGRAM, "--version"];
  try {
    return new Deno.Command(setpriv, {
      args,
      env: { DENO_DIR: "/nonexistent" },
      stdout: "null",
      stderr: "null",
    })
      .outputSync().success;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return false;
    throw thrown;
  }
}

const OTHERS_FILE = /It belongs to another user: /;
const OTHERS_FOLDER = /You may not enter a folder on its path: /;

/** The command, its exit code, and what it says. */
const ROWS: readonly (readonly [string, number, RegExp])[] = [
  ["status own.chat", 0, /next: /],
  ["status secret.chat", 1, OTHERS_FILE],
  ["advance secret.chat", 1, OTHERS_FILE],
  ["show secret.chat", 1, OTHERS_FILE],
  ["advance fixed.chat", 1, /fixed\.chat cannot be written: permission denied\.\n.*belongs to another user/],
  ["migrate fixed.chat", 1, /fixed\.chat cannot be written: permission denied\./],
  ["status fixed.chat", 0, /next: /],
  ["new fixed/b.chat", 1, /fixed\/b\.chat cannot be created: Permission denied\.\n {2}Choose another path\./],
  ["status closed/a.chat", 1, OTHERS_FOLDER],
  ["advance closed/a.chat", 1, OTHERS_FOLDER],
  [
    "new closed/b.chat",
    1,
    /closed\/b\.chat cannot be created: Permission denied\.\n {2}Choose another path\./,
  ],
  ["import secret.json", 1, /secret\.json cannot be read: Permission denied\./],
  ["--config secret.json status own.chat", 2, /secret\.json cannot be read: Permission denied\./],
];

Deno.test({
  name:
    "an ordinary user gets a sentence with a next step about each file that permissions keep from reading or writing",
  ignore: !canBecomeUser(),
  fn: () =>
    inFolder(async (root) => {
      const folder = `${root}/scene`;
      for (const name of ["", "/place", "/home", "/state", "/config", "/run", "/tmp"]) {
        Deno.mkdirSync(`${folder}${name}`);
        Deno.chownSync(`${folder}${name}`, USER, USER);
      }
      Deno.chmodSync(root, 0o755);
      Deno.chmodSync(`${folder}/run`, 0o700);
      const text = "@You:\nHello\n";
      for (const name of ["fixed", "closed"]) Deno.mkdirSync(`${folder}/place/${name}`);
      const files = ["own.chat", "secret.chat", "secret.json", "fixed.chat", "closed/a.chat"];
      for (const name of files) Deno.writeTextFileSync(`${folder}/place/${name}`, text, { mode: 0o644 });
      for (const name of ["secret.chat", "secret.json"]) Deno.chmodSync(`${folder}/place/${name}`, 0o600);
      Deno.chmodSync(`${folder}/place/closed`, 0o700);
      Deno.chownSync(`${folder}/place/own.chat`, USER, USER);
      const place = new Scene(folder, { program: [...AS_USER, ...PROGRAM] });
      for (const [line, code, pattern] of ROWS) {
        const ran = await place.process(line.split(" "), { env: { DENO_DIR: `${folder}/state/deno` } });
        assert.deepEqual([line, ran.code], [line, code], ran.stderr);
        assert.match(code === 0 ? ran.stdout : ran.stderr, pattern, line);
        assert.doesNotMatch(ran.stderr, /^\s+at |Internal error/m, line);
      }
      assert.equal(Deno.readTextFileSync(`${folder}/place/fixed.chat`), text);
    }),
});
