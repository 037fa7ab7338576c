// Sends one request to an address like a provider, with the proxies from given variables; prints the answer.

import { openNetwork } from "../../providers/http/network.ts";

const [url = "", variables = "{}"] = Deno.args;
const network = await openNetwork(url, { cwd: "/", home: "/", variables: JSON.parse(variables) });
if (!network.ok) throw new Error(network.problem.message);
const response = await network.value.fetch(url);
await Deno.stdout.write(new Uint8Array(await response.arrayBuffer()));
network.value.close();
