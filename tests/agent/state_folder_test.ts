// A state folder written by version 0.1.0 loads without loss: approvals, undo, trust, session rules, a killed run.

import assert from "node:assert/strict";
import { openChat } from "../../agent/open.ts";
import { listSavedFiles, readSavedContent } from "../../agent/undo/saved_files.ts";
import { sessionPath } from "../../config/sources/session_overrides.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import { documentKey } from "../../cycle/storage/state_files.ts";
import { sessionOf, testInPlace as test } from "./place.ts";

const DOCUMENT = `\`\`\`yaml
flemma:
  tools: { auto_approve: [read] }
  sandbox: { policy: { network: true } }
\`\`\`
@You:
Do it.

@Assistant:
**Tool Use:** \`bash\` (\`call_1\`)

\`\`\`json
{"label":"x","command":"touch started; sleep 30","timeout":null}
\`\`\`

**Tool Use:** \`bash\` (\`call_2\`)

\`\`\`json
{"label":"y","command":"echo two","timeout":null}
\`\`\`

@You:

**Tool Result:** \`call_1\`

\`\`\`flemma:tool status=approved
\`\`\`

**Tool Result:** \`call_2\`

\`\`\`flemma:tool status=approved
\`\`\`
`;

const ONE = "c6e4d56bd7d5f8bdd62564211a6290fa97bdd340237dfa14f80b09463edad713";
const TWO = "30d292d9d2765a3c8752bb8a1f0d8007c2200882aabc8ece012d8948d443f662";

/** As that version wrote it, line by line; the run was killed while `call_1` ran and a reply grew. */
const journalOf = (path: string) =>
  `{"kind":"approval","id":"call_1","by":"person","hash":"${ONE}"}
{"kind":"approval","id":"call_2","by":"person","hash":"${TWO}"}
{"kind":"approval","id":"call_3","by":"policy","source":"urn:flemma:approval:sandbox","hash":"${ONE}"}
{"kind":"approval","id":"call_4","by":"person","asked":true,"hash":"${TWO}"}
{"kind":"start","id":"call_0","tool":"bash","time":"2026-11-29T13:08:35.594Z"}
{"kind":"end","id":"call_0"}
{"kind":"start","id":"call_1","tool":"bash","time":"2026-11-29T13:08:35.607Z"}
{"kind":"settled","suspects":{"why":"the file was replaced","calls":{"call_5":"${ONE}"},"block":null}}
{"kind":"exposed","name":"${path}","leads":"${path}","file":null,"approved":{"call_1":"${ONE}"},"block":""}
{"kind":"file","path":"/w/notes.md","hash":"${ONE}"}
{"kind":"day","day":"2026-11-28"}
{"kind":"body","id":"call_0","path":"/state/bodies/a.txt"}
{"kind":"result","id":"call_1","path":"/state/bodies/b.txt"}
{"kind":"unfinished","ids":["call_3","call_4"]}
{"kind":"finished","ids":["call_3"]}
{"kind":"thinking","key":"k1","text":"t1","prefix":"p1","before":null,"model":"claude-opus-4-1"}
{"kind":"stale","keys":["k0"]}
{"kind":"unread","keys":["k9"]}
{"kind":"note","key":"00ab","value":"commentary"}
{"kind":"sent","from":0,"pieces":["a","b"]}
{"kind":"sent","from":1,"pieces":["c"]}
{"kind":"start","id":"call_6","to`;

test("every line of a 0.1.0 journal is read, and an incomplete last line is skipped", async (place) => {
  const { environment, folder } = place;
  const document = place.path("b.chat");
  const written = `${folder}/state/flemma/journal/${await documentKey(document)}.jsonl`;
  await Deno.mkdir(`${folder}/state/flemma/journal`, { recursive: true });
  await Deno.writeTextFile(written, journalOf(document));
  const opened = await openJournal({ environment, path: document });
  assert.ok(opened.ok);
  const journal = opened.value;
  assert.deepEqual(["call_1", "call_2", "call_3", "call_4", "call_5"].map((id) => journal.approval(id)), [
    { by: "person", hash: ONE },
    { by: "person", hash: TWO },
    { by: "policy", source: "urn:flemma:approval:sandbox", hash: ONE },
    { by: "person", asked: true, hash: TWO },
    null,
  ]);
  assert.equal(journal.isFromThisRun("call_1"), false);
  assert.deepEqual([...journal.started()].map(([id, { tool }]) => [id, tool]), [["call_1", "bash"]]);
  assert.deepEqual([...journal.savedResults()], [["call_1", "/state/bodies/b.txt"]]);
  assert.deepEqual([...journal.unfinished()], ["call_4"]);
  assert.deepEqual([journal.tamperCheck()?.leads, journal.tamperCheck()?.approved], [document, {
    call_1: ONE,
  }]);
  assert.deepEqual(journal.tampered()?.calls, { call_5: ONE });
  assert.deepEqual([journal.fileHash("/w/notes.md"), journal.promptDay()], [ONE, "2026-11-28"]);
  const { records, stale, unread, notes, sent } = journal.thinking;
  assert.deepEqual([...records.keys(), ...stale, ...unread, notes.get("00ab"), ...sent], [
    ...["k1", "k0", "k9", "commentary", "a", "c"],
  ]);
});

test("a session on the document finds its approvals, trust, session rules and file changes", async (place) => {
  const { environment, folder } = place;
  const document = place.path("b.chat");
  const key = await documentKey(document);
  const state = `${folder}/state/flemma`;
  for (const name of ["journal", `undo/${key}`]) await Deno.mkdir(`${state}/${name}`, { recursive: true });
  place.write("b.chat", DOCUMENT);
  const lines = journalOf(document).split("\n").filter((line) =>
    /^.*"(approval|start)","id":"call_[12]"/.test(line)
  );
  await Deno.writeTextFile(`${state}/journal/${key}.jsonl`, `${lines.join("\n")}\n`);
  const agreed = "ef15a54278ae167d6d02628399ba0119094b5c59228f6068a17acfd3c4971310";
  const at = "2026-11-29T13:09:13.192Z";
  await Deno.writeTextFile(
    `${state}/trust.json`,
    JSON.stringify({ version: 1, entries: [{ path: document, hash: agreed, files: [], at }] }),
  );
  const session = await sessionPath(environment, document);
  await Deno.mkdir(session.replace(/\/[^/]*$/, ""), { recursive: true });
  const rule = { approve: "bash", command: ["echo two"], sandboxed: true };
  const ops = [{ op: "append", path: ["tools", "rules"], value: rule }];
  await Deno.writeTextFile(
    session,
    JSON.stringify({ version: 1, created: at, expires: null, document, ops }),
  );
  const hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
  const head =
    `{"call":"call_0","tool":"write","path":"${folder}/new.txt","shownAs":"new.txt","at":"${at}",` +
    `"before":null,"after":{"hash":"${hash}","size":5},"made":[]}`;
  await Deno.writeTextFile(`${state}/undo/${key}/20261129T130835828Z-4626db91.change`, `${head}\nhello`);

  await using chat = sessionOf(await openChat(document, { environment, readOnly: true }));
  const agreement = await chat.agreement();
  assert.ok(agreement.ok && agreement.value.agreed, "the agreement is found");
  const rules = await chat.rules();
  assert.ok(rules.ok);
  assert.deepEqual(rules.value.map(({ written }) => written), [rule]);
  const [one, two] = await chat.calls();
  assert.deepEqual([one?.id, two?.id], ["call_1", "call_2"]);
  const steps = (await chat.plan()).map((step) => `${step.do} ${"id" in step ? step.id : ""}`.trim());
  assert.ok(steps.includes("run call_2"), steps.join());
  assert.ok(!steps.includes("run call_1"), "a call that a killed run had started asks the person");
  const [change] = await listSavedFiles(environment, document);
  assert.deepEqual([change?.call, change?.shownAs, change?.undone], ["call_0", "new.txt", false]);
  const { before, after } = await readSavedContent(change!);
  assert.deepEqual([before, new TextDecoder().decode(after!)], [null, "hello"]);
});
