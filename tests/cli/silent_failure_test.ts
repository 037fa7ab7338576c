// A failure is never silent: standard error in the same pipe as standard output gets the cause if no document can be
// damaged.

import assert from "node:assert/strict";
import { testWithScene as test } from "./harness.ts";

test("every failure without a document on standard input prints a sentence, also through 2>&1", async (place) => {
  const rows = [
    "flemma nosuch </dev/null",
    "flemma nosuch more.chat </dev/null",
    "flemma advance --bogus </dev/null",
    "flemma status --bogus </dev/null",
    "flemma advance </dev/null",
    "flemma send </dev/null",
    "flemma execute c1 </dev/null",
    "flemma approve c1 </dev/null",
    "flemma migrate --bogus </dev/null",
    "flemma advance nosuch.chat </dev/null",
    "flemma nosuch.chat </dev/null",
    "flemma --bogus </dev/null",
    "flemma tools nosuch </dev/null",
    "flemma ask </dev/null",
    "printf '@You:\\nHi\\n' | flemma nosuch",
  ];
  for (const row of rows) {
    const { stdout } = await place.shell(`{ ${row}; echo "exit $?"; } 2>&1 | cat`);
    const [exit = ""] = /exit (\d+)\n$/.exec(stdout) ?? [];
    assert.ok(exit === "exit 0\n" || /flemma: .*\./.test(stdout), `${row}: ${stdout}`);
  }
});

test("a failure about a document that came in stays out of it", async (place) => {
  const document = "@You:\nHi\n\n@Assistant:\nHo\n";
  for (const row of ["advance --bogus", "advance --no-tools --bogus", "approve c9"]) {
    const { stdout } = await place.shell(
      `printf '${document.replaceAll("\n", "\\n")}' | flemma ${row} 2>&1 | cat`,
    );
    assert.equal(stdout, document, row);
  }
});
