// Runs one of the long campaigns: `deno task campaign NAME [COUNT] [SEED]`. Prints the seed first, so that
// what failed can be tried again.

import { approvedCommands } from "../tests/campaign/approved_commands.ts";
import { fileRaces } from "../tests/campaign/file_races.ts";
import { FILTER_FAULTS } from "../tests/campaign/filter_fault_rows.ts";
import { filterFaults } from "../tests/campaign/filter_faults.ts";
import { forgery } from "../tests/campaign/forgery.ts";
import { kills } from "../tests/campaign/kills.ts";
import { replies } from "../tests/campaign/replies.ts";
import { saves } from "../tests/campaign/saves.ts";
import { print } from "./gate/root.ts";

const CAMPAIGNS = {
  saves: [saves, 300],
  replies: [replies, 200],
  kills: [kills, 300],
  approvals: [approvedCommands, 100_000],
  races: [fileRaces, 200],
  forgery: [forgery, 100_000],
  filters: [filterFaults, Object.keys(FILTER_FAULTS).length],
} as const;

const [name = "", count, seed] = Deno.args;
if (!Object.hasOwn(CAMPAIGNS, name)) {
  print(`deno task campaign ${Object.keys(CAMPAIGNS).join("|")} [COUNT] [SEED]`);
  Deno.exit(2);
}
const [run, standard] = CAMPAIGNS[name as keyof typeof CAMPAIGNS];
const chosen = seed === undefined ? Date.now() % 1_000_000 : Number(seed);
print(`${name}: ${count ?? standard} times, seed ${chosen}`);
print(await run(count === undefined ? standard : Number(count), chosen));
