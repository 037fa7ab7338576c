// Programs that try to get out, as whoever runs the tests. None of them may succeed.

import { checkOutcomes, tryAttacks } from "./attacks/both_users.ts";

const OWN = { ordinary: false };

Deno.test("no attack succeeds", async () => checkOutcomes(await tryAttacks(OWN), OWN));
