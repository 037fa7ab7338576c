// `flemma sandbox run` reports a program that cannot be started with the exit codes of shells.

import assert from "node:assert/strict";
import { exitOfThrown, explainUnstartable } from "../../commands/sandbox/startable.ts";
import { testWithScene as test } from "./harness.ts";

test("a program is found as the system finds it: the exit code is 127 if it does not exist and 126 if it is not executable", async (place) => {
  const cwd = place.path("").replace(/\/$/, "");
  await Deno.mkdir(`${cwd}/bin/folder`, { recursive: true });
  await Deno.mkdir(`${cwd}/more`);
  for (const name of ["plain", "bin/data", "bin/both"]) place.write(name, "text\n");
  for (const name of ["bin/tool", "more/both", "here"]) {
    place.write(name, "#!/bin/sh\n");
    await Deno.chmod(`${cwd}/${name}`, 0o755);
  }
  for (
    const [name, line] of [["orphan", "#! /no/such/reader -x"], ["dos", "#!/bin/sh\r"], [
      "relative",
      "#!reader",
    ]]
  ) {
    place.write(name!, `${line}\n`);
    await Deno.chmod(`${cwd}/${name}`, 0o755);
  }
  await Deno.symlink("nowhere", `${cwd}/bin/dangling`);
  const path = `${cwd}/bin:more:/usr/bin:/bin`;
  const rows:
    readonly (readonly [name: string, path: string | undefined, exit: number | null, says?: RegExp])[] = [
      ["tool", path, null],
      ["bin/tool", path, null],
      [`${cwd}/bin/tool`, "", null],
      ["sh", undefined, null],
      // One that can be started further on in the list counts.
      ["both", path, null],
      // An empty folder of the list is the working directory.
      ["here", "/usr/bin:", null],
      ["here", path, 127, /There is no program "here" in PATH\./],
      ["", path, 127, /no program "" in PATH/],
      ["nosuchprog", path, 127, /"nosuchprog" in PATH/],
      ["./nosuchprog", path, 127, /^There is no program "\.\/nosuchprog"\.$/],
      ["tool", undefined, 127],
      ["dangling", path, 127],
      ["plain/x", path, 127],
      // A folder on the way is passed over, one that is named is told of.
      ["folder", path, 127],
      ["bin/folder", path, 126, /^bin\/folder is a folder, not a program\.$/],
      [
        "./orphan",
        path,
        126,
        /^The file \.\/orphan needs the interpreter "\/no\/such\/reader", which does not exist\.$/,
      ],
      ["./dos", path, 126, /the interpreter "\/bin\/sh\\r"/],
      ["./relative", path, null],
      ["data", path, 126, /^The file \S+\/bin\/data is not executable\.$/],
      ["./plain", path, 126, /^The file \.\/plain is not executable\.$/],
    ];
  for (const [name, folders, exit, says = /./] of rows) {
    const reported = explainUnstartable(name, cwd, folders);
    assert.equal(reported?.exit ?? null, exit, `${name} in ${folders}`);
    if (reported !== null) assert.match(reported.problem.message, says);
  }
  assert.match(explainUnstartable("./plain", cwd, path)?.problem.next ?? "", /chmod u\+x \.\/plain/);
});

Deno.test("if the system refuses to start a program, the exit code is 127 for a missing program and 126 for a missing permission", () => {
  assert.equal(exitOfThrown(new Deno.errors.NotFound("gone")), 127);
  assert.equal(exitOfThrown(new Deno.errors.PermissionDenied("no")), 126);
  assert.equal(exitOfThrown(new Error("other")), null);
});

test("sandbox run ends with 127 or 126 for a program that cannot be started, with and without the sandbox", async (place) => {
  place.write("plain", "text\n");
  const run = (...words: readonly string[]) => place.run(["sandbox", "run", ...words]);
  const missing = await run("--", "nosuchprog", "x");
  assert.equal(missing.code, 127, missing.stderr);
  assert.equal(
    missing.stderr,
    'flemma: There is no program "nosuchprog" in PATH.\n  Correct its name, or install it.\n',
  );
  assert.equal((await run("--", "./plain")).code, 126);
  place.write("off.yaml", "sandbox: {enabled: false}\n");
  const bare = await run("--config", "off.yaml", "--", "nosuchprog");
  assert.equal(bare.code, 127);
  assert.match(bare.stderr, /There is no program "nosuchprog"/);
});
