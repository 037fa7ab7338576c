import assert from "node:assert/strict";
import { mergeTurns } from "../../commands/write/git/merge_turns.ts";
import { conflictMarks } from "../../cycle/plan/conflict_marks.ts";
import { parse } from "../../parser/mod.ts";

const chat = (text: string) => parse(new TextEncoder().encode(text));
const call = (id: string, command = "ls") =>
  `**Tool Use:** \`bash\` (\`${id}\`)\n\n\`\`\`json\n{"command":"${command}"}\n\`\`\`\n\n`;
const result = (id: string, text = "out") => `**Tool Result:** \`${id}\`\n\n\`\`\`\n${text}\n\`\`\`\n\n`;
const approved = (id: string) =>
  `**Tool Result:** \`${id}\`\n\n\`\`\`flemma:tool status=approved\n\`\`\`\n\n`;
const BASE = "@System:\nBe brief.\n\n@You:\nHello?\n\n@Assistant:\nHello.\n\n";
const asked = (name: string) => `@You:\nAbout ${name}?\n\n@Assistant:\nThis is ${name}.\n\n`;

/** Merges, and checks what every outcome must be: sound, or told by check. */
function merged(base: string, ours: string, theirs: string) {
  const outcome = mergeTurns(base, ours, theirs);
  assert.equal(conflictMarks(chat(outcome.text)).length > 0, outcome.conflict, outcome.text);
  return outcome;
}

Deno.test("if two branches extend a conversation, the texts follow one another, and a branch without changes adds nothing", () => {
  const [a, b] = [`${BASE}${asked("a")}@You:\n`, `${BASE}${asked("b")}@You:\n`];
  const base = `${BASE}@You:\n`;
  assert.deepEqual(merged(base, a, b), { text: `${BASE}${asked("a")}${asked("b")}@You:\n`, conflict: false });
  assert.deepEqual(merged(base, a, base), { text: a, conflict: false });
  assert.deepEqual(merged(base, base, b), { text: b, conflict: false });
  assert.deepEqual(merged(base, a, a), { text: a, conflict: false });
  // A question that waits for its answer comes last, whoever asked it.
  const open = `${BASE}@You:\nAnd c?\n`;
  for (const [ours, theirs] of [[open, a], [a, open]] as const) {
    assert.deepEqual(merged(base, ours, theirs), {
      text: `${BASE}${asked("a")}@You:\nAnd c?\n`,
      conflict: false,
    });
  }
});

Deno.test("in a merge of two branches, each result stays with its call; the common ancestor may be empty", () => {
  const went = (id: string) =>
    `@You:\nGo ${id}.\n\n@Assistant:\n${call(id)}@You:\n\n${result(id)}@Assistant:\nDone ${id}.\n\n`;
  const { text, conflict } = merged(BASE, BASE + went("a"), BASE + went("b"));
  assert.deepEqual([text, conflict], [BASE + went("a") + went("b"), false]);
  assert.equal(merged("", asked("a"), asked("b")).text, asked("a") + asked("b"));
});

Deno.test("if merged parts would not form a conversation, both sides are kept between conflict marks, and check reports them", () => {
  const rows: Record<string, [base: string, ours: string, theirs: string]> = {
    "two answers to one question": [
      `${BASE}@You:\nQ?\n\n`,
      `${BASE}@You:\nQ?\n\n@Assistant:\nYes.\n\n@You:\n`,
      `${BASE}@You:\nQ?\n\n@Assistant:\nNo.\n\n@You:\n`,
    ],
    "two questions without an answer": [BASE, `${BASE}@You:\nA?\n`, `${BASE}@You:\nB?\n`],
    "one call id on both sides": [
      BASE,
      `${BASE}@You:\nA\n\n@Assistant:\n${call("c1", "ls")}@You:\n\n${result("c1", "a")}@Assistant:\nA.\n`,
      `${BASE}@You:\nB\n\n@Assistant:\n${call("c1", "pwd")}@You:\n\n${result("c1", "b")}@Assistant:\nB.\n`,
    ],
    "a call without a result before further messages": [
      BASE,
      `${BASE}@You:\nA\n\n@Assistant:\n${call("c1")}@You:\n\n${approved("c1")}`,
      `${BASE}@You:\nB\n\n@Assistant:\n${call("c2")}`,
    ],
    "one message changed by both": [BASE, BASE.replace("Hello?", "Hi?"), BASE.replace("Hello?", "Hey?")],
    "a fence that nothing closes": [
      BASE,
      `${BASE}@You:\nA\n\n@Assistant:\n\`\`\`\ncut`,
      `${BASE}@You:\nB\n\n@Assistant:\nB2\n\n@You:\nC\n`,
    ],
  };
  for (const [name, [base, ours, theirs]] of Object.entries(rows)) {
    const { text, conflict } = merged(base, ours, theirs);
    if (name !== "a fence that nothing closes") assert.ok(conflict, name);
    for (const line of `${ours}\n${theirs}`.split("\n")) {
      assert.ok(text.includes(line.trim()), `${name}: ${line}`);
    }
  }
});

Deno.test("a merge never combines an approval with a change of the approved call", () => {
  const asks = `${BASE}@You:\nGo.\n\n@Assistant:\n${call("c1", "ls")}@You:\n\n`;
  const pending = `${asks}${approved("c1").replace("approved", "pending")}`;
  const yes = `${asks}${approved("c1")}`;
  const other = pending.replace('"ls"', '"rm -rf /"');
  for (const [ours, theirs] of [[yes, other], [other, yes]] as const) {
    assert.ok(merged(pending, ours, theirs).conflict, "the call was changed");
  }
  const block = "```yaml\nflemma:\n  sandbox: false\n```\n\n";
  for (const [ours, theirs] of [[yes, block + pending], [block + pending, yes]] as const) {
    assert.ok(merged(pending, ours, theirs).conflict, "the frontmatter was changed");
  }
  assert.equal(merged(pending, yes, pending).text, yes);
});

Deno.test("several changes by one side are merged, and so are changes by both sides that are far apart", () => {
  const text = BASE + asked("a") + asked("b") + asked("c");
  const ours = text.replace("Be brief.", "Be long.");
  const theirs = text.replace("This is c.", "That is c.");
  assert.deepEqual(merged(text, ours, theirs), {
    text: text.replace("Be brief.", "Be long.").replace("This is c.", "That is c."),
    conflict: false,
  });
  assert.deepEqual(merged(text, ours, text.replace(asked("b"), "")), {
    text: ours.replace(asked("b"), ""),
    conflict: false,
  });
});

Deno.test("merging random branches loses no text, and every outcome is valid or reported as a conflict", () => {
  let state = 17;
  const next = (below: number) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % below;
  for (let round = 0; round < 400; round++) {
    const base = Array.from({ length: 1 + next(4) }, (_, at) => asked(`base ${round} ${at}`));
    const branch = (side: string) => {
      const turns = [...base];
      for (let edits = next(3); edits > 0; edits--) {
        const at = next(turns.length);
        const name = `${side} ${round} ${edits}`;
        const kind = next(4);
        if (kind < 2) turns.push(asked(name));
        else if (kind === 2) turns[at] = asked(`${name} changed`);
        else {turns.splice(
            at,
            0,
            `@You:\n${name}\n\n@Assistant:\n${call(`${side}${edits}`)}@You:\n\n${
              result(`${side}${edits}`)
            }@Assistant:\nDone.\n\n`,
          );}
      }
      return turns.join("") + (next(2) === 0 ? "@You:\n" : "");
    };
    const [whole, ours, theirs] = [base.join(""), branch("o"), branch("t")];
    const { text } = merged(whole, ours, theirs);
    for (const line of `${ours}\n${theirs}`.split("\n")) {
      // What a side has that the base has not is in the outcome.
      if (!whole.includes(line)) assert.ok(text.includes(line), `${line}\n---\n${text}`);
    }
    if (text.includes("<<<<<<<")) continue;
    assert.deepEqual(chat(text).diagnostics.filter(({ code }) => code !== "result_orphan"), [], text);
  }
});

Deno.test("conflict marks inside a quotation are not taken for a conflict", () => {
  const quoted = "<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> branch\n";
  const texts = [
    `@You:\nResolve this:\n${quoted}\n@Assistant:\nTwo.\n`,
    `${BASE}@You:\nGo.\n\n@Assistant:\n${call("c1")}@You:\n\n${
      result("c1", "<<<<<<< HEAD\none")
    }@Assistant:\nx\n>>>>>>> y\n`,
    `@You:\n<<<<<<<\n\n@Assistant:\n>>>>>>>\n`,
    `@You:\n<<<<<< HEAD\n\n@Assistant:\n>>>>>> x\n`,
  ];
  for (const text of texts) assert.deepEqual(conflictMarks(chat(text)), [], text);
  const [mark] = conflictMarks(chat(`${BASE}<<<<<<< ours\n@You:\nA\n=======\n@You:\nB\n>>>>>>> theirs\n`));
  assert.deepEqual([mark?.start, mark?.end], [10, 16]);
});
