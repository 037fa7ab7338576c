// An evaluation: continues copies of several documents, compares each answer with what is expected, and prints a table
// of verdicts and costs. The documents stay as they are.
//
//   node evaluate.ts tasks/*.chat
//
// For each NAME.chat there is a NAME.expected with a text that the answer must contain.

import { readFileSync } from "node:fs";
import { chatInMemory } from "flemma";

interface Row {
  readonly file: string;
  readonly verdict: "passed" | "failed" | "stopped";
  readonly note: string;
  readonly tokens: number;
  readonly cost: number | null;
}

async function evaluate(file: string): Promise<Row> {
  const expected = readFileSync(file.replace(/\.chat$/, ".expected"), "utf8").trim();
  const opened = await chatInMemory(readFileSync(file), { path: file });
  if (!opened.ok) return { file, verdict: "stopped", note: opened.problem.message, tokens: 0, cost: null };
  const { reason, reply, usage, problem } = await opened.value.advance();
  await opened.value.close();
  const tokens = usage === null ? 0 : usage.input + usage.cache_read + usage.cache_write + usage.output;
  const cost = usage?.cost ?? null;
  if (reason !== "done") return { file, verdict: "stopped", note: problem?.message ?? reason, tokens, cost };
  const verdict = reply.includes(expected) ? "passed" : "failed";
  return { file, verdict, note: reply.split("\n")[0] ?? "", tokens, cost };
}

const rows: Row[] = [];
for (const file of process.argv.slice(2)) rows.push(await evaluate(file));
for (const { file, verdict, note, tokens, cost } of rows) {
  console.log(
    [verdict, file, `${tokens} tokens`, cost === null ? "-" : `$${cost.toFixed(4)}`, note].join("\t"),
  );
}
const passed = rows.filter(({ verdict }) => verdict === "passed").length;
const spent = rows.reduce((sum, { cost }) => sum + (cost ?? 0), 0);
console.log(`${passed} of ${rows.length} passed, $${spent.toFixed(4)}`);
process.exitCode = passed === rows.length ? 0 : 1;
