// Prints which backend is available for the folder, the bwrap and the network setting given as arguments.

import { projectSandbox } from "./fixture.ts";

const [root = "", path = "", network = ""] = Deno.args;
const policy = { network: network === "true" };
const answer = await projectSandbox(root, { policy, backends: { bwrap: { path } } }).available();
Deno.stdout.writeSync(new TextEncoder().encode(answer.ok ? answer.value : answer.problem.message));
