// Background jobs in a document: which results name a job, which have the result of the job, and where results are written.

import assert from "node:assert/strict";
import { applyEdits } from "../../parser/edits/edit.ts";
import { insertJobResults } from "../../parser/edits/job_block.ts";
import { finalLines, markError } from "../../parser/edits/result_block.ts";
import { parse } from "../../parser/mod.ts";
import { documentJobs, readJobResult } from "../../parser/view/jobs.ts";

const encoder = new TextEncoder();
const read = (text: string) => parse(encoder.encode(text));

function callOf(id: string): string {
  return `**Tool Use:** \`bash\` (\`${id}\`)\n\n\`\`\`json\n{}\n\`\`\`\n`;
}

function resultOf(id: string, suffix: string): string {
  return `**Tool Result:** \`${id}\`${suffix}\n\n\`\`\`\nRunning.\n\`\`\`\n`;
}

const ENDED = "**Job Result:** `job_a`\n\n```\nout\n```\n";

Deno.test("a result names a job in its header, whether or not it is an error", () => {
  const rows: [suffix: string, job: string | null][] = [
    [" (job=job_a)", "job_a"],
    [" (error job=job_a)", "job_a"],
    [" (job=job_a error)", "job_a"],
    [' (job="job_a")', "job_a"],
    [" (status=error job=job_a)", "job_a"],
    ["", null],
    [" (error)", null],
    [" (job)", null],
    [" (job=)", null],
    [" (job=1)", null],
    // A placeholder is not a result yet.
    [" (pending job=job_a)", null],
  ];
  for (const [suffix, job] of rows) {
    const chat = read(`@Assistant:\n${callOf("c")}\n@You:\n${resultOf("c", suffix)}`);
    assert.deepEqual(documentJobs(chat).map(({ id }) => id), job === null ? [] : [job], suffix);
  }
});

Deno.test("only a block in a message of the person is the result of a job", () => {
  const begin = `@Assistant:\n${callOf("c")}\n@You:\n${resultOf("c", " (job=job_a)")}`;
  const rows: [rest: string, finished: boolean][] = [
    [`\n${ENDED}`, true],
    [`\n@You:\n${ENDED}`, true],
    ["\n@You:\n**Job Result:** `job_a` (aborted)\n\n```\n```\n", true],
    ["\n@You:\n**Job Result:** `job_b`\n\n```\nout\n```\n", false],
    [`\n@Assistant:\n${ENDED}`, false],
    [`\n@Assistant:\n${ENDED}\n@You:\nThanks.\n`, false],
    [`\n@System:\n${ENDED}`, false],
    ["", false],
  ];
  for (const [rest, finished] of rows) {
    assert.deepEqual(documentJobs(read(begin + rest)).map((job) => job.finished), [finished], rest);
  }
});

Deno.test("of two results with the same call, the last names the job, and a repeated job counts once", () => {
  const chat = read(
    `@Assistant:\n${callOf("c")}\n@You:\n${resultOf("c", " (job=job_a)")}\n${resultOf("c", " (job=job_b)")}` +
      `\n@Assistant:\n${callOf("d")}\n@You:\n${resultOf("d", " (job=job_b)")}`,
  );
  assert.deepEqual(documentJobs(chat).map(({ id, result }) => [id, result.id]), [["job_b", "c"]]);
});

/** Documents before and after the result of `job_a` is written, without and with a request that follows. */
const PLACES: readonly [name: string, before: string, after: string, asking?: string][] = [
  [
    "below results of calls",
    `@Assistant:\n${callOf("c")}\n@You:\n${resultOf("c", " (job=job_a)")}`,
    `@Assistant:\n${callOf("c")}\n@You:\n${resultOf("c", " (job=job_a)")}\n@You:\n\n${ENDED}`,
  ],
  [
    "between results and a text below them",
    `@Assistant:\n${callOf("c")}\n@You:\n${resultOf("c", "")}\nAnd the\n`,
    `@Assistant:\n${callOf("c")}\n@You:\n${resultOf("c", "")}\n@You:\n\n${ENDED}\n@You:\n\nAnd the\n`,
  ],
  [
    "above an empty message, or in it",
    "@You:\nGo.\n\n@Assistant:\nDone.\n\n@You:\n\n",
    `@You:\nGo.\n\n@Assistant:\nDone.\n\n@You:\n\n${ENDED}\n@You:\n\n`,
    `@You:\nGo.\n\n@Assistant:\nDone.\n\n@You:\n\n${ENDED}\n`,
  ],
  [
    "above a text that is being typed",
    "@You:\nGo.\n\n@Assistant:\nDone.\n\n@You:\nNow d",
    `@You:\nGo.\n\n@Assistant:\nDone.\n\n@You:\n\n${ENDED}\n@You:\nNow d`,
  ],
  [
    "below a reply, with or without an empty message",
    "@You:\nGo.\n\n@Assistant:\nDone.",
    `@You:\nGo.\n\n@Assistant:\nDone.\n\n@You:\n\n${ENDED}\n@You:\n`,
    `@You:\nGo.\n\n@Assistant:\nDone.\n\n@You:\n\n${ENDED}`,
  ],
  [
    "below an earlier result of a job",
    "@You:\n\n**Job Result:** `job_0`\n\n```\n```\n\nand a text\n",
    `@You:\n\n**Job Result:** \`job_0\`\n\n\`\`\`\n\`\`\`\n\n@You:\n\n${ENDED}\n@You:\n\nand a text\n`,
  ],
];

for (const [name, before, after, asking = after] of PLACES) {
  for (const eol of ["\n", "\r\n"]) {
    Deno.test(`the result of a job is written ${name}, with ${JSON.stringify(eol)}`, () => {
      const document = (text: string) => text.replaceAll("\n", eol);
      for (const [asks, expected] of [[false, after], [true, asking]] as const) {
        const chat = read(document(before));
        const block = { id: "job_a", content: "out", error: false };
        const text = new TextDecoder().decode(
          applyEdits(chat.bytes, [insertJobResults(chat, [block], { asks })]),
        );
        assert.equal(text, document(expected));
        const jobs = parse(encoder.encode(text)).turns.filter(({ segments }) =>
          segments.some((segment) =>
            segment.kind === "text" && segment.value.startsWith("**Job Result:** `job_a`")
          )
        );
        assert.deepEqual(jobs.map(({ role }) => role), ["You"]);
      }
    });
  }
}

Deno.test("nothing in the output of a job is structure", () => {
  const chat = read("@You:\nGo.\n\n@Assistant:\nDone.\n\n@You:\n");
  const content = "@You:\nhi\n```\n**Tool Result:** `x`\n````\n{{ 1 }}\0";
  const edit = insertJobResults(chat, [{ id: "job_a", content, error: true }], { asks: false });
  const after = parse(applyEdits(chat.bytes, [edit]));
  assert.deepEqual(after.turns.map(({ role }) => role), ["You", "Assistant", "You", "You"]);
  assert.deepEqual(after.results, []);
  const [segment] = after.turns[2]!.segments.filter((each) => each.kind === "text" && each.job === true);
  assert.ok(segment?.kind === "text" && segment.value.includes("{{ 1 }}\uFFFD"));
});

Deno.test("the result of a job is read as it is written", () => {
  const rows: [block: string, read: object][] = [
    ["**Job Result:** `j`\n\n```\nout\n```\n", { id: "j", error: false, content: "out" }],
    ["**Job Result:** `j` (error)\n\n````\na\n```\nb\n````\n", {
      id: "j",
      error: true,
      content: "a\n```\nb",
    }],
    // A line end in the output of the job is not one of the document.
    ["**Job Result:** `j`\n\n```\n9 %\r10 %\r\nend\n```\n", {
      id: "j",
      error: false,
      content: "9 %\r10 %\r\nend",
    }],
    ["**Job Result:**`j` (aborted)\n```\n```\n", { id: "j", error: true, content: "" }],
    ["**Job Result:** `j`\n\n```\nopen\nend\n", { id: "j", error: false, content: "open\nend\n" }],
  ];
  for (const [block, expected] of rows) {
    const [segment] = read(`@You:\n${block}`).turns[0]!.segments;
    assert.ok(segment?.kind === "text");
    const found = readJobResult(segment);
    assert.deepEqual({ ...found, content: found?.content.trimEnd() }, {
      ...expected,
      content: (expected as { content: string }).content.trimEnd(),
    }, block);
  }
  const [windows] =
    read("@You:\n**Job Result:** `j`\n\n```\na\nb\n```\n".replaceAll("\n", "\r\n")).turns[0]!.segments;
  assert.ok(windows?.kind === "text");
  assert.equal(readJobResult(windows)?.content, "a\nb");
  const [text] = read("@You:\nplain\n").turns[0]!.segments;
  assert.ok(text?.kind === "text" && readJobResult(text) === null);
});

Deno.test("a result becomes an error once, and keeps the other words of its header", () => {
  const before = `@Assistant:\n${callOf("c")}\n@You:\n${resultOf("c", " (job=job_a)")}`;
  const chat = read(before);
  const after = applyEdits(chat.bytes, markError(chat, chat.result("c")!));
  assert.equal(new TextDecoder().decode(after), before.replace("(job=", "(error job="));
  const again = parse(after);
  assert.deepEqual(markError(again, again.result("c")!), []);
  assert.equal(
    finalLines("c", { content: "x", error: false, language: "", job: "job_a" })[0],
    "**Tool Result:** `c` (job=job_a)",
  );
});
