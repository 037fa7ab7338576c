// The first parse of a fresh process and the memory it leaves behind; prints one JSON object. Run by parse.ts.

import { parse } from "../../parser/mod.ts";
import "../../parser/tree/trees.ts";

// Put there by the flag --expose-gc.
declare const gc: () => void;

const bytes = await Deno.readFile(Deno.args[0]!);
const before = used();
const start = performance.now();
const chat = parse(bytes);
const { tree } = chat;
const cold = performance.now() - start;
const { diagnostics } = chat;
const kept = used() - before;
// Named again here, so that they are alive while memory is measured.
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
