// The status computed without a session equals the session's status; where it could differ, the session is opened.

import assert from "node:assert/strict";
import { chatInMemory, openChat } from "../../agent/open.ts";
import { settledStatus } from "../../agent/views/status.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import { documentKey } from "../../cycle/storage/state_files.ts";
import { parse } from "../../parser/mod.ts";
import { inPlace, type Place, sessionOf, testInPlace as test } from "./place.ts";

const CALL = `@Assistant:
**Tool Use:** \`bash\` (\`c1\`)

\`\`\`json
{"command":"true"}
\`\`\`
`;
const RESULT = (status: string, body = "") =>
  `\n@You:\n\n**Tool Result:** \`c1\`${status}\n\n\`\`\`\n${body}\n\`\`\`\n`;
const DONE = `@You:\nGo.\n\n${CALL}${RESULT("", "out")}\n@Assistant:\nDone.\n\n@You:\nThanks.\n`;

async function statusIn(place: Place, text: string, named = "a.chat") {
  place.write("a.chat", text);
  const document = { path: place.path("a.chat"), named: place.path(named), chat: parse(bytesOf(text)) };
  return await settledStatus({ environment: place.environment }, document);
}

const bytesOf = (text: string) => new TextEncoder().encode(text);

Deno.test("for a document without open calls, the status is the same with and without a session", async () => {
  for (
    const [name, text] of [
      ["a question", DONE],
      ["nothing written", DONE.replace("Thanks.\n", "")],
      ["the model spoke last", DONE.replace("\n@You:\nThanks.\n", "")],
      ["a result that is an error", DONE.replace("(`c1`)\n\n```\nout", "(`c1`) (error)\n\n```\nout")],
      ["no message", "some text\n"],
      ["marks of a merge", `${DONE}\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n`],
      ["a call without frontmatter twice", DONE + DONE],
    ] as const
  ) {
    await inPlace(async (place) => {
      place.settings("model: claude-sonnet-5-5\ntools: { rules: [{ ask: bash }] }\n");
      const found = await statusIn(place, text);
      const options = { environment: place.environment, readOnly: true };
      await using session = sessionOf(await openChat(place.path("a.chat"), options));
      const { chat, blockers, settings } = session;
      if (chat.preamble !== null) return assert.ok(found.status === null, name);
      assert.deepEqual(await session.calls(), [], name);
      assert.deepEqual(found.status?.steps, await session.plan(), name);
      assert.deepEqual(found.status?.blockers, blockers, name);
      assert.deepEqual(found.subject?.settings, settings, name);
      assert.deepEqual(session.doubts, [], name);
    });
  }
});

test("status without a session equals the session's status for a text without a file", async (place) => {
  place.settings("model: claude-sonnet-5-5\n");
  const { environment } = place;
  const found = await settledStatus({ environment }, { path: null, named: null, chat: parse(bytesOf(DONE)) });
  await using session = sessionOf(await chatInMemory(bytesOf(DONE), { environment }));
  assert.deepEqual(found.status?.steps, await session.plan());
  assert.deepEqual([found.subject?.settings, found.status?.blockers], [session.settings, session.blockers]);
});

Deno.test("the status command opens a session if the status without a session could be different", async () => {
  const rows: Readonly<Record<string, (place: Place) => string | void | Promise<string | void>>> = {
    "an open call": () => `@You:\nGo.\n\n${CALL}`,
    "a call that waits": () => `@You:\nGo.\n\n${CALL}${RESULT(" (pending)")}`,
    "a call that is approved": () => `@You:\nGo.\n\n${CALL}${RESULT(" (approved)")}`,
    "a call that is rejected": () => `@You:\nGo.\n\n${CALL}${RESULT(" (rejected)")}`,
    "frontmatter": () => `\`\`\`yaml\nmodel: x\n\`\`\`\n${DONE}`,
    "a block before the first message": () => `words\n\n\`\`\`yaml\nmodel: x\n\`\`\`\n${DONE}`,
    "settings with a mistake": (place) => place.settings("tools: [\n"),
    "documents that are asked about": (place) => place.settings("trust: { documents: ask }\n"),
    "a model that continues its own turn": (place) => place.settings("prefill: true\n"),
    "modules with tools": (place) => place.settings("tools: { modules: [/nowhere.js] }\n"),
    "folders with tools": (place) => place.settings("tools: { dirs: [/nowhere] }\n"),
    "servers of mcporter": async (place) => {
      await Deno.mkdir(`${place.folder}/home/.mcporter`, { recursive: true });
      const servers = { mcpServers: { a: { command: "x" } } };
      await Deno.writeTextFile(`${place.folder}/home/.mcporter/mcporter.json`, JSON.stringify(servers));
      place.settings("tools: { mcporter: { enabled: true } }\n");
    },
    "servers of tools": (place) => place.settings("mcp: { servers: { a: { command: [x] } } }\n"),
    "the person's folder of tools": (place) =>
      Deno.mkdirSync(`${place.folder}/config/flemma/tools`, { recursive: true }),
    "a project's folder of tools": (place) =>
      Deno.mkdirSync(place.path(".flemma/tools"), { recursive: true }),
    "skills": (place) => Deno.mkdirSync(place.path(".agents/skills"), { recursive: true }),
    "commands that lived when a run ended": async (place) => {
      const name = place.path("a.chat");
      await (await journalOf(place)).recordTamperCheck({
        name,
        leads: name,
        file: null,
        approved: {},
        block: "",
      });
    },
    "what a command could have written": async (place) => {
      await (await journalOf(place)).recordTampered({ why: "it could", calls: {}, block: "x" });
    },
    "a journal that cannot be read": async (place) => {
      const key = await documentKey(place.path("a.chat"));
      Deno.mkdirSync(`${place.folder}/state/flemma/journal/${key}.jsonl`, { recursive: true });
    },
  };
  for (const [name, prepare] of Object.entries(rows)) {
    await inPlace(async (place) => {
      assert.ok((await statusIn(place, DONE)).status !== null, "without it the session is not needed");
      const text = await prepare(place);
      assert.ok((await statusIn(place, text ?? DONE)).status === null, name);
    });
  }
  await inPlace(async (place) => {
    assert.ok((await statusIn(place, DONE, "link.chat")).status === null, "a name that leads elsewhere");
  });
});

async function journalOf(place: Place) {
  const journal = await openJournal({ environment: place.environment, path: place.path("a.chat") });
  return journal.ok ? journal.value : assert.fail(journal.problem.message);
}
