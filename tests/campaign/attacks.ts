// All attacks on the sandbox, by the superuser and by an ordinary user, counted for the record.

import assert from "node:assert/strict";
import { tryAttacks } from "../sandbox/attacks/both_users.ts";
import { ATTACKS } from "../sandbox/attacks/list.ts";
import { isSuperuser } from "../sandbox/ordinary_user.ts";

/** What one go tries: each attack as two users. */
export const TRIES = 2 * ATTACKS.length;

/** Tries every attack so often as fits into the count; rejects when one got what it wanted, or was not tried. */
export async function attacks(count: number): Promise<string> {
  assert.ok(isSuperuser, "only the superuser can try the attacks as two users");
  assert.equal(count % TRIES, 0, `a go is ${TRIES} attacks`);
  for (let tried = 0; tried < count; tried += TRIES) {
    const both = [false, true].map((ordinary) => tryAttacks({ ordinary }));
    const outcomes = (await Promise.all(both)).flat();
    assert.deepEqual(outcomes.filter(({ retained, reported }) => !retained || reported), []);
    assert.equal(outcomes.length, TRIES);
  }
  return `${count} attacks, each as the superuser and as an ordinary user: none got out`;
}
