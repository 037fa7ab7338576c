// The home folder when no variable names it, as under cron, services and containers.

import assert from "node:assert/strict";
import { homeIn } from "../../base/environment.ts";

const DATABASE =
  "root:x:0:0:root:/root:/bin/sh\nodd:x:7:7\nme:x:70:70:Me,,,:/home/me:/bin/sh\nno:x:8:8::relative:\n";

Deno.test("the home folder is the sixth field of the user's line in the user database, and must be an absolute path", () => {
  assert.equal(homeIn(DATABASE, 70), "/home/me");
  assert.equal(homeIn(DATABASE, 0), "/root");
  for (const uid of [7, 8, 9, null]) assert.equal(homeIn(DATABASE, uid), undefined, String(uid));
});

/** Where the packages are that the program is made of. */
const DENO_DIR = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME") ?? "/root"}/.cache/deno`;

/** Runs the program without `HOME`, on this machine or where the database of users is empty. */
async function run(args: string[], { unknown = false, stdin = "" } = {}) {
  const folder = Deno.makeTempDirSync({ dir: "/var/tmp", prefix: "flemma-test-" });
  Deno.writeTextFileSync(`${folder}/passwd`, "");
  const program = new URL("../../cli.ts", import.meta.url).pathname;
  const deno = [Deno.execPath(), "run", "-A", "--no-check", "--quiet", program, ...args];
  const hidden = ["--dev-bind", "/", "/", "--ro-bind", `${folder}/passwd`, "/etc/passwd"];
  // No program that asks a directory service either.
  const without = ["bwrap", ...hidden, "--setenv", "PATH", folder, "--"];
  const [command = "", ...rest] = unknown ? [...without, ...deno] : deno;
  try {
    const child = new Deno.Command(command, {
      args: rest,
      cwd: folder,
      clearEnv: true,
      env: { PATH: "/usr/bin:/bin", DENO_DIR, NO_COLOR: "1" },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(stdin));
    await writer.close();
    const { code, stdout, stderr } = await child.output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    return { code, stdout: text(stdout), stderr: text(stderr) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("without the HOME variable, the home folder comes from the user database", async () => {
  const { code, stdout, stderr } = await run(["config", "path"]);
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(stdout, / \/\.config|\/\//);
});

Deno.test("without any home folder, the program stops with a one-sentence error, and a piped document is printed unchanged", async () => {
  const text = "@You:\nhi\n";
  const { code, stdout, stderr } = await run(["advance"], { unknown: true, stdin: text });
  assert.notEqual(code, 0);
  assert.equal(stdout, text);
  assert.match(stderr, /Cannot find your home folder.*Set HOME/);
  assert.doesNotMatch(stderr, /\n\s+at /, "no stack trace");
});
