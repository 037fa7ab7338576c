// Attacks and races by an ordinary user, when the superuser runs the tests and has tried them as itself.

import assert from "node:assert/strict";
import { inFolder } from "../folder.ts";
import { checkOutcomes, tryAttacks } from "./attacks/both_users.ts";
import { ATTACKS } from "./attacks/list.ts";
import { isSuperuser, runDeno, testAsOrdinaryUser } from "./ordinary_user.ts";

const ORDINARY = { ordinary: true };
const here = { ignore: !isSuperuser };

Deno.test("no attack by an ordinary user succeeds", here, async () => {
  const outcomes = await tryAttacks(ORDINARY);
  assert.deepEqual(outcomes.map(({ name }) => name), ATTACKS.map(({ name }) => name));
  checkOutcomes(outcomes, ORDINARY);
});

Deno.test(
  "in thirty races between two runs, an ordinary user never gets around the sandbox",
  here,
  () =>
    inFolder(async (folder) => {
      const files = ["races_slow_test.ts", "policy/sockets_slow_test.ts"].map((name) =>
        new URL(name, import.meta.url).pathname
      );
      const printed = await testAsOrdinaryUser(folder, files);
      for (
        const name of [
          "if one of two runs in a folder",
          "hundreds of repositories",
          "a socket that disappears",
        ]
      ) {
        assert.match(printed, new RegExp(`^ok \\d+ - ${name}(?!.*# SKIP)`, "m"));
      }
    }),
);

Deno.test(
  "in races with changing file names, an ordinary user never makes a file tool leave its folder",
  here,
  () =>
    inFolder(async (folder) => {
      const url = new URL("../campaign/file_races.ts", import.meta.url).href;
      const words = ["run", "-A", "--no-check", "--no-lock", url, "8"];
      assert.match(await runDeno(folder, words, ORDINARY), / [1-9]/);
    }),
);
