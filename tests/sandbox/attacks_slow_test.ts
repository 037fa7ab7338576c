// Programs that try to escape the sandbox, run by the current user. None may succeed.

import { checkOutcomes, tryAttacks } from "./attacks/both_users.ts";

const OWN = { ordinary: false };

Deno.test("no attack on the sandbox succeeds", async () => checkOutcomes(await tryAttacks(OWN), OWN));
