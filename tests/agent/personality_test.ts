// The built-in prompt in a session: it lists the document's tools, and stays the same bytes on later days.

import assert from "node:assert/strict";
import { openChat } from "../../agent/open.ts";
import type { ChatSession, OpenOptions } from "../../agent/types.ts";
import { ECHO, inPlace, type Place, sessionOf, testInPlace as test, withModel } from "./place.ts";

const INCLUDE = '@System:\n{{ include("urn:flemma:personality:coding-assistant") }}\n\n@You:\nHello.\n';

async function open(place: Place, options: OpenOptions = {}): Promise<ChatSession> {
  return sessionOf(await openChat(place.path("a.chat"), { environment: place.environment, ...options }));
}

/** The system prompt that would be sent. */
async function systemOf(session: ChatSession): Promise<string> {
  const prepared = await session.request();
  assert.equal(prepared.kind, "ready");
  return prepared.kind === "ready" ? JSON.parse(prepared.request.body).system[0].text : "";
}

function listedIn(system: string): string[] {
  const section = /## Available tools\n\n((?:- .*\n)+)/.exec(system)?.[1] ?? "";
  return section.split("\n").flatMap((line) => /^- ([\w.]+): /.exec(line)?.[1] ?? []);
}

/** The one journal of the place. */
function journalOf(place: Place): string {
  const folder = `${place.folder}/state/flemma/journal`;
  const [entry] = [...Deno.readDirSync(folder)];
  return `${folder}/${entry!.name}`;
}

test("the built-in prompt lists exactly the offered tools, and includes the descriptions of the host's tools", async (place) => {
  const tool = {
    ...ECHO,
    personalities: { "coding-assistant": { snippet: "echoes", guidelines: "Echo twice." } },
  };
  place.write("a.chat", INCLUDE);
  await using session = await open(place, { tools: [tool] });
  const system = await systemOf(session);
  const offered = listedIn(system);
  for (const name of ["bash", "echo", "edit", "read", "write"]) assert.ok(offered.includes(name), name);
  assert.match(system, /- echo: echoes\n[^]*## Guidelines\n\n[^]*- Echo twice\.\n/);
  const prepared = await session.request();
  assert.ok(prepared.kind === "ready");
  const sent = JSON.parse(prepared.request.body).tools.map(({ name }: { name: string }) => name);
  // In a request, two underscores stand for the dot of a name.
  assert.deepEqual(offered.map((name) => name.replaceAll(".", "__")), sent);
});

test("a tool that the frontmatter removes disappears from the prompt with its description", async (place) => {
  place.write("a.chat", `\`\`\`json\n{"flemma": {"tools": ["read"]}}\n\`\`\`\n${INCLUDE}`);
  await using only = await open(place);
  const system = await systemOf(only);
  assert.deepEqual(listedIn(system), ["read"]);
  assert.match(system, /Before you change code/);
  assert.doesNotMatch(system, /After a change, verify/);
});

test("the built-in prompt keeps the date of the first request, and previewing a request stores no date", async (place) => {
  place.write("a.chat", INCLUDE);
  await withModel([{ reply: [{ text: "Hi." }] }], async (provider) => {
    await using session = await open(place, { provider });
    await systemOf(session);
    assert.throws(() => journalOf(place), Deno.errors.NotFound);
    const { reason, problem } = await session.advance();
    assert.equal(reason, "done", problem?.message);
  });
  const journal = journalOf(place);
  const text = Deno.readTextFileSync(journal);
  const day = /"kind":"day","day":"(\d{4}-\d\d-\d\d)"/.exec(text)?.[1];
  assert.ok(day !== undefined);
  Deno.writeTextFileSync(journal, text.replace(day, "2026-01-02"));
  Deno.writeTextFileSync(place.path("a.chat"), `${place.read("a.chat")}Again?\n`);
  await withModel([{ reply: [{ text: "Yes." }] }], async (provider, replay) => {
    await using session = await open(place, { provider });
    const { reason, problem } = await session.advance();
    assert.equal(reason, "done", problem?.message);
    assert.match(replay.requests[0]!.body, /- Date: 2026-01-02\\n/);
  });
  assert.equal(Deno.readTextFileSync(journal).match(/"kind":"day"/g)?.length, 1);
});

test("a document without the built-in prompt stores no date", async (place) => {
  place.write("a.chat", "@You:\n{{ 1 }}\n");
  await withModel([{ reply: [{ text: "Hi." }] }], async (provider) => {
    await using session = await open(place, { provider });
    assert.equal((await session.advance()).reason, "done");
  });
  const kept = await place.files("state");
  assert.ok(!Object.values(kept).some((text) => text.includes('"kind":"day"')));
});

Deno.test("each of twenty requests begins with the bytes of the previous request, wherever the program is started", async (t) => {
  await inPlace(async (place) => {
    const turns = 20;
    place.write("AGENTS.md", "Use tabs.\n");
    place.write("a.chat", INCLUDE);
    const replies = Array.from({ length: turns }, (_, turn) => ({ reply: [{ text: `Answer ${turn}.` }] }));
    await withModel(replies, async (provider, replay) => {
      for (let turn = 0; turn < turns; turn++) {
        if (turn > 0) {
          Deno.writeTextFileSync(place.path("a.chat"), `${place.read("a.chat")}Question ${turn}?\n`);
        }
        const cwd = turn % 2 === 0 ? place.environment.cwd : "/";
        await using session = await open(place, { provider, environment: { ...place.environment, cwd } });
        const { reason, problem } = await session.advance();
        assert.equal(reason, "done", problem?.message);
      }
      const bodies = replay.requests.map(({ body }) => body.slice(body.indexOf('"system":')));
      const stable = bodies.slice(1).filter((body, index) =>
        body.startsWith(bodies[index]!.slice(0, -"]}".length))
      );
      await t.step(
        `${stable.length} of ${turns - 1} requests, ${bodies[0]!.length} bytes in the first`,
        () => {
          assert.equal(stable.length, turns - 1);
          assert.match(bodies[0]!, /Use tabs/);
        },
      );
    });
  });
});
