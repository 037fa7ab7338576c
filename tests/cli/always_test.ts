// `flemma approve --always`: reports the rule, keeps it for the session, lists it in status and can undo it.

import assert from "node:assert/strict";
import { callsDocument, testWithScene as test } from "./harness.ts";

const ASKING = "tools: { auto_approve_sandboxed: false }\n";

test("approve --always approves the call, reports the rule and how to undo it, and the next similar call runs without asking", async (place) => {
  place.settings(ASKING);
  place.write("my notes.chat", callsDocument([{ id: "c1", command: "echo a b", status: "pending" }]));
  const { stderr } = await place.exits(0, ["approve", "my notes.chat", "--always"]);
  assert.equal(
    stderr,
    "For this document, in this session: approve bash(echo a b), in the sandbox\n" +
      "Undo with: flemma session reset 'my notes.chat'\n" +
      "  1  bash: $ echo a b   c1\n" +
      "Approved: c1. Nothing has run yet. Continue with: flemma advance 'my notes.chat'\n",
  );
  assert.match(place.read("my notes.chat"), /status=approved/);
  const again = callsDocument([{ id: "c2", command: "echo  a  b" }, { id: "c3", command: "echo a c" }]);
  place.write("my notes.chat", again);
  const status = await place.run(["status", "my notes.chat"]);
  assert.match(status.stdout, /#1 c2 {3}will run \(a rule\)\n.*#2 c3 {3}will wait for you\n/);
  assert.match(
    status.stdout,
    /^session rule: approve bash\(echo a b\), in the sandbox {3}undo: flemma session reset 'my notes\.chat'$/m,
  );
  const json = await place.run(["status", "my notes.chat", "--json"]);
  const rule = { approve: "bash", command: ["echo a b"], sandboxed: true };
  assert.deepEqual(JSON.parse(json.stdout).login_rules, [rule]);
  const bare = await place.run(["approval", "explain", "my notes.chat", "c2", "--no-sandbox"]);
  assert.match(bare.stdout, /a rule approves it only in the sandbox/);
  await place.exits(0, ["session", "reset", "my notes.chat"]);
  assert.match((await place.run(["status", "my notes.chat"])).stdout, /#1 c2 {3}will wait for you\n/);
});

test("if no rule can cover the call, approve --always approves nothing and gives the reason", async (place) => {
  place.settings(ASKING);
  const text = callsDocument([
    { id: "c1", command: "echo a", status: "pending" },
    { id: "c2", command: "(echo b)", status: "pending" },
  ]);
  place.write("a.chat", text);
  const { stderr } = await place.exits(2, ["approve", "a.chat", "--all", "--always"]);
  assert.match(
    stderr,
    /No rule can approve this call again: .*contains.*\n {2}Approve it this time only: leave out --always\./,
  );
  assert.equal(place.read("a.chat"), text);
  assert.match((await place.run(["session", "show", "a.chat"])).stderr, /This session has no settings/);
});

test("in a filter, approve --always approves the call, but records the rule only if it knows the document's path", async (place) => {
  place.settings(ASKING);
  const text = callsDocument([{ id: "c1", command: "echo a", status: "pending" }]);
  place.write("a.chat", text);
  const named = await place.run(["approve", "--always", "--name", "a.chat", "c1"], { stdin: text });
  assert.match(named.stdout, /status=approved/);
  assert.match((await place.run(["session", "show", "a.chat"])).stdout, /tools\.rules \+= /);
  const unnamed = await place.run(["approve", "--always", "--messages", "stderr"], { stdin: text });
  assert.match(unnamed.stderr, /c1 is approved this time only\. A rule for this session needs the path/);
});
