// A job for continuous integration: asks one question about a change, prints the answer and its cost, and fails if the
// answer does not begin with OK, or if a person would be needed.
//
//   git diff main... | node job.ts "Does this change need documentation? Begin with OK or MISSING."

import { readFileSync } from "node:fs";
import { chatInMemory } from "flemma";

const [question = "Is this change sound? Begin with OK or PROBLEM."] = process.argv.slice(2);
const change = readFileSync(0, "utf8");

const opened = await chatInMemory(new TextEncoder().encode("@You:\n"));
if (!opened.ok) {
  console.error(`${opened.problem.message} ${opened.problem.next ?? ""}`);
  process.exit(2);
}
const chat = opened.value;
const refused = await chat.say(question, { quoted: { text: change, name: "diff" } });
if (refused !== null) {
  console.error(refused.message);
  process.exit(2);
}
const { reason, reply, usage, problem } = await chat.advance();
await chat.close();
console.log(reply);
console.error(`${usage?.requests ?? 0} requests, $${(usage?.cost ?? 0).toFixed(4)}`);
if (reason !== "done") {
  console.error(problem?.message ?? `The job cannot go on: ${reason}.`);
  process.exit(2);
}
process.exitCode = reply.startsWith("OK") ? 0 : 1;
