// Questions of MCP servers on the command line, in which each command is a process of its own.

import assert from "node:assert/strict";
import { type Scene, testWithScene as test } from "../../cli/harness.ts";
import { serveAsking } from "./asking_server.ts";

const CALL = "@You:\nGo.\n\n@Assistant:\nI will.\n\n**Tool Use:** `web:ask` (`c1`)\n\n```json\n{}\n```\n";

/** Serves, and writes settings in which calls of the server run; approvals count only if they were given here. */
async function asking(place: Scene, body: () => Promise<void>): Promise<void> {
  const server = serveAsking();
  try {
    const servers = { web: { url: server.url } };
    const tools = { auto_approve: ["web:ask"], autopilot: { enabled: false } };
    place.settings(JSON.stringify({ trust: { approvals: "here" }, mcp: { servers }, tools }));
    await place.exits(0, ["tools", "list", "--refresh"]);
    place.arrive("a.chat", CALL);
    const { stderr } = await place.exits(3, ["advance", "a.chat"]);
    assert.match(stderr, /The MCP server web asks you: Where should the report go\? \(line 15\)\n/);
    await body();
  } finally {
    await server.close();
  }
}

/** Changes the document as an editor does. */
const edit = (place: Scene, from: RegExp, to: string) =>
  place.arrive("a.chat", place.read("a.chat").replace(from, to));

test("answers written in an editor go on in the next run", (place) =>
  asking(place, async () => {
    edit(place, /^email:$/m, "email: a@example.com");
    edit(place, /status=pending/, "status=approved");
    await place.exits(0, ["advance", "a.chat"]);
    assert.match(place.read("a.chat"), /```\n\{"answers":.*"email":"a@example\.com".*"state":"kept"\}\n```/);
    assert.doesNotMatch(place.read("a.chat"), /flemma:questions/);
  }));

test("status, check, show and approve say what a server wants to know, and what is missing", (place) =>
  asking(place, async () => {
    const status = await place.exits(0, ["status", "a.chat"]);
    assert.match(status.stdout, /#1 c1 {3}waits for your answers: email: is required\n/);
    assert.match(status.stdout, /next: write your answers below line 15, then flemma approve a\.chat c1/);
    const { calls: [call] } = JSON.parse((await place.exits(0, ["status", "a.chat", "--json"])).stdout);
    assert.equal(call.questions.problem, "email: is required.");
    assert.match(call.questions.text, /^# The MCP server web asks you:\n/);
    const check = await place.run(["check", "a.chat"]);
    assert.match(check.stdout + check.stderr, /The call c1 of web:ask waits for your answers \(line 18\)/);
    const shown = await place.exits(0, ["show", "a.chat", "--plain"]);
    assert.match(shown.stdout, /Result: waits for you\n# The MCP server web asks you:\n/);
    const approved = await place.exits(3, ["approve", "a.chat"]);
    assert.match(
      approved.stderr,
      /The answers of c1 cannot be sent: email: is required\. Change them below line 15, then: flemma advance \S+\n/,
    );
    const advanced = await place.exits(3, ["advance", "a.chat"]);
    assert.match(advanced.stderr, /The answers of c1 cannot be sent: email: is required\./);
    edit(place, /^email:$/m, "email: a@b");
    await place.exits(0, ["approve", "a.chat"]);
    await place.exits(0, ["advance", "a.chat"]);
    assert.match(place.read("a.chat"), /"email":"a@b"/);
  }));

test("a rejection on the command line declines", (place) =>
  asking(place, async () => {
    await place.exits(0, ["reject", "a.chat"]);
    await place.exits(0, ["advance", "a.chat"]);
    assert.match(place.read("a.chat"), /"action":"decline"/);
  }));

test("answers in a copy of the document, or without the state folder, go to no server", (place) =>
  asking(place, async () => {
    const answered = place.read("a.chat").replace(/^email:$/m, "email: a@b").replace(
      "status=pending",
      "status=approved",
    );
    place.arrive("b.chat", answered);
    await place.run(["advance", "b.chat"]);
    await place.run(["approve", "b.chat"]);
    await place.run(["advance", "b.chat"]);
    assert.match(place.read("b.chat"), /\(error\)\n\n```\nThe server's questions are no longer known here/);
    Deno.removeSync(`${place.folder}/state/flemma/journal`, { recursive: true });
    place.arrive("a.chat", answered);
    await place.run(["approve", "a.chat"]);
    await place.run(["advance", "a.chat"]);
    assert.match(place.read("a.chat"), /\(error\)\n\n```\nThe server's questions are no longer known here/);
    assert.doesNotMatch(place.read("a.chat"), /"action"/);
  }));
