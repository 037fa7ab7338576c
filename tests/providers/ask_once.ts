// Asks an address once, as a provider is asked, with the proxies that some variables name; prints what came.

import { openNetwork } from "../../providers/http/network.ts";

const [url = "", variables = "{}"] = Deno.args;
const network = await openNetwork(url, { cwd: "/", home: "/", variables: JSON.parse(variables) });
if (!network.ok) throw new Error(network.problem.message);
const response = await network.value.fetch(url);
await Deno.stdout.write(new Uint8Array(await response.arrayBuffer()));
network.value.close();
