// The last lines and the exit code of CI come from the tests; the benchmark after them only reports.

import assert from "node:assert/strict";
import { ROOT } from "../../scripts/gate/root.ts";
import { inFolder } from "../folder.ts";

interface Fakes {
  /** What runs in place of the tests and of the bench, as shell. */
  readonly tests: string;
  readonly bench: string;
}

/** Runs `.ci/run` with programs that stand for npx and apt-get. */
async function ci({ tests, bench }: Fakes): Promise<{ code: number; lines: string[] }> {
  return await inFolder(async (folder) => {
    const programs = {
      npx: `case "$*" in
  "-y deno@"*" task test --all") ${tests} ;;
  "-y deno@"*" task --quiet bench --report") ${bench} ;;
  *) echo "asked for $*"; exit 9 ;;
esac`,
      // Nothing is installed by a test, whatever this machine lacks.
      "apt-get": "exit 0",
      // One minute is long.
      timeout: 'shift 3; "$@"; code=$?; [ $code = 77 ] && exit 124; exit $code',
    };
    for (const [name, script] of Object.entries(programs)) {
      await Deno.writeTextFile(`${folder}/${name}`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
    const { code, stdout } = await new Deno.Command(`${ROOT}/.ci/run`, {
      env: { PATH: `${folder}:${Deno.env.get("PATH")}` },
      stdin: "null",
      stderr: "null",
    }).output();
    return { code, lines: new TextDecoder().decode(stdout).trimEnd().split("\n") };
  });
}

const GREEN = 'echo "all green"; echo "12 passed, 0 failed"';

Deno.test("CI prints the report of the benchmark and then the counts of the tests, and exits with the exit code of the tests", async () => {
  const { code, lines } = await ci({ tests: GREEN, bench: "echo startup 17 ms" });
  assert.equal(code, 0);
  assert.deepEqual(lines.slice(-3), ["== bench", "startup 17 ms", "12 passed, 0 failed"]);
});

Deno.test("a benchmark that fails or takes too long is reported, but changes neither CI's last line nor its exit code", async () => {
  for (const [bench, reported] of [["exit 3", "3"], ["exit 77", "124"]] as const) {
    const { code, lines } = await ci({ tests: GREEN, bench });
    assert.equal(code, 0);
    assert.deepEqual(lines.slice(-2), [
      `The bench ended early (${reported}); nothing hangs on it.`,
      "12 passed, 0 failed",
    ]);
  }
});

Deno.test("failing tests make CI fail, whatever the benchmark does", async () => {
  const { code, lines } = await ci({ tests: 'echo "11 passed, 1 failed"; exit 1', bench: "echo fast" });
  assert.deepEqual([code, lines.at(-1)], [1, "11 passed, 1 failed"]);
});

Deno.test("if the tests never report their counts, this counts as one failure, and no benchmark runs", async () => {
  const { code, lines } = await ci({ tests: "echo killed; exit 0", bench: "echo fast" });
  assert.deepEqual([code, lines.at(-1)], [1, "0 passed, 1 failed"]);
  assert.ok(!lines.includes("fast"));
});
