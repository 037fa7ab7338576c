// Runs one block given on standard input, and tells the most memory the process ever had.

import { runLua } from "./lua.ts";

await runLua(await new Response(Deno.stdin.readable).text());
const status = await Deno.readTextFile("/proc/self/status");
const peakKib = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]);
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ peakKib })));
