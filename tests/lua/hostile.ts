// Runs one block given on standard input, and prints the peak memory of the process.

import { runLua } from "./lua.ts";

await runLua(await new Response(Deno.stdin.readable).text());
const status = await Deno.readTextFile("/proc/self/status");
const peakKib = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]);
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ peakKib })));
