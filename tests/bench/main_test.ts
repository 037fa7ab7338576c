import assert from "node:assert/strict";

Deno.test("--help lists the benchmarks and runs none", async () => {
  for (const word of ["--help", "-h"]) {
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--quiet",
        "--no-check",
        new URL("../../bench/main.ts", import.meta.url).pathname,
        word,
      ],
    }).output();
    assert.equal(code, 0);
    assert.match(new TextDecoder().decode(stdout), /^deno task bench [^]*\nBenchmarks: approval, .*\n$/);
  }
});
