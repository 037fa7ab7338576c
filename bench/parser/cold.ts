// Measures the first parse of a new process and the memory that remains; prints one JSON object. Run by parse.ts.

import { parse } from "../../parser/mod.ts";
import "../../parser/tree/trees.ts";

// Defined by the flag --expose-gc.
declare const gc: () => void;

const bytes = await Deno.readFile(Deno.args[0]!);
const before = used();
const start = performance.now();
const chat = parse(bytes);
const { tree } = chat;
const cold = performance.now() - start;
const { diagnostics } = chat;
const kept = used() - before;
// Used again here, so that they are not collected before memory is measured.
const alive = [tree.length, diagnostics.length, chat.byteLength];
Deno.stdout.writeSync(
  new TextEncoder().encode(`${JSON.stringify({ cold, kept, bytes: bytes.length, alive })}\n`),
);

function used(): number {
  gc();
  gc();
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}
