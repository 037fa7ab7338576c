// A lock next to the document, for machines that share only a folder.

import assert from "node:assert/strict";
import { callsDocument, testWithScene as test } from "./harness.ts";

const BESIDE = "lock: { place: beside }\nsandbox: false\ntools: { auto_approve: [bash] }\n";

test("if two machines share only the folder, one runs the document, and the other names the first machine and exits with 5", async (place) => {
  place.settings(BESIDE);
  const document = callsDocument([{ id: "c1", command: "echo ran >> runs; cat gate", status: "approved" }]);
  place.write("a.chat", document);
  const { success } = await new Deno.Command("mkfifo", { args: [place.path("gate")] }).output();
  assert.ok(success);
  // A machine of its own: other processes, another state folder, the folder at another path.
  const apart = (state: string, at: string) => {
    Deno.mkdirSync(`${place.folder}/${state}`);
    return [
      ...["bwrap", "--unshare-pid", "--unshare-ipc", "--dev-bind", "/", "/", "--proc", "/proc"],
      ...["--tmpfs", "/mnt", "--bind", place.path(""), at, "--chdir", at],
      ...["--setenv", "XDG_STATE_HOME", `${place.folder}/${state}`],
      ...[...place.program, "advance", "a.chat", "--no-autopilot"],
    ];
  };
  const first = place.spawn(apart("one", "/mnt/here"), {});
  await place.appears("runs", first);
  assert.ok(place.exists(".a.chat.lock"));
  const second = await place.spawn(apart("two", "/mnt/there"), {}).finished;
  assert.equal(second.code, 5, second.stderr);
  assert.match(second.stderr, new RegExp(`is in use by process \\d+ on ${Deno.hostname()}`));
  await Deno.writeTextFile(place.path("gate"), "");
  const { code, stderr } = await first.finished;
  assert.equal(code, 0, stderr);
  assert.equal(place.read("runs"), "ran\n");
  assert.ok(!place.exists(".a.chat.lock"));
});

test("if a killed run on another machine may have started a call, the person is asked before the call runs again", async (place) => {
  place.settings(BESIDE);
  const { success } = await new Deno.Command("mkfifo", { args: [place.path("gate")] }).output();
  assert.ok(success);
  const document = callsDocument([{ id: "c1", command: "echo ran >> runs; cat gate", status: "approved" }]);
  place.write("a.chat", document);
  const elsewhere = { env: { XDG_STATE_HOME: `${place.folder}/elsewhere` } };
  const first = place.spawn([...place.program, "advance", "a.chat", "--no-autopilot"], elsewhere);
  await place.appears("runs", first);
  first.kill("SIGKILL");
  await first.finished;
  // Whoever of it still reads comes to an end: a gate that is open both ways waits for nobody.
  Deno.openSync(place.path("gate"), { read: true, write: true }).close();
  const second = await place.exits(3, ["advance", "a.chat", "--no-autopilot"]);
  assert.match(
    second.stderr,
    /ended without finishing\. .*\n(?:.*\n)*flemma: bash \(c1\) was running when flemma ended/,
  );
  assert.equal(place.read("runs"), "ran\n");
  assert.match(place.read("a.chat"), /status=pending/);
  await place.run(["approve", "a.chat", "c1"]);
  await Deno.remove(place.path("gate"));
  place.write("gate", "");
  await place.exits(0, ["advance", "a.chat", "--no-autopilot"]);
  assert.equal(place.read("runs"), "ran\nran\n", "approved again it runs");
});

test("only the person can set the location of the lock, not a document or a project", async (place) => {
  place.write("a.chat", "```yaml\nlock:\n  place: beside\n```\n\n@You:\nHi\n");
  const { stdout } = await place.exits(4, ["check", "a.chat"]);
  assert.match(stdout, /lock/);
});
