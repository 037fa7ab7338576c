// Measures one case of the parser in a separate process; prints its cost as JSON. Run by parse.ts, so that two
// checkouts do not share compilation or garbage collection.

import process from "node:process";
import type { parse, update } from "../../parser/mod.ts";
import { conversation } from "../conversation.ts";

const [module = "", name = "", size = "0", count = "1"] = Deno.args;
const parser: { parse: typeof parse; update: typeof update } = await import(module);
const bytes = conversation(Number(size));
const cases: Readonly<Record<string, () => unknown>> = {
  "full parse": () => parser.parse(bytes).tree,
  "full parse with all diagnostics": () => {
    const chat = parser.parse(bytes);
    return [chat.tree, chat.diagnostics];
  },
  "one character in the middle": typing(),
};
const run = cases[name];
if (run === undefined) throw new Error(`no case ${name}`);

for (let round = 0; round < 5; round++) run();
const [start, spent] = [performance.now(), process.cpuUsage()];
for (let round = Number(count); round > 0; round--) run();
const { user, system } = process.cpuUsage(spent);
const costs = { wall: performance.now() - start, processor: (user + system) / 1000 };
Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(costs)}\n`));

/** Types and removes one character in the middle, and reads everything that an editor needs. */
function typing(): () => unknown {
  const middle = bytes.indexOf(0x0a, bytes.length >> 1);
  let chat = parser.parse(bytes);
  let typed = false;
  return () => {
    const edit = typed
      ? { from: middle, to: middle + 1, insert: "" }
      : { from: middle, to: middle, insert: "x" };
    typed = !typed;
    chat = parser.update(chat, [edit]);
    return [chat.tree, chat.diagnostics, chat.turnAt(middle)?.segments];
  };
}
