import assert from "node:assert/strict";
import { Budget, DEFAULT_LIMITS } from "../../lua/vm/budget.ts";

/** Lets time pass on the clock, as on a machine that does something else. */
function pass(milliseconds: number): void {
  for (const until = performance.now() + milliseconds; performance.now() < until;);
}

/** A budget of one millisecond whose account of the processor the test keeps. */
function budgetOf(account: { spent: number | null }): Budget {
  const budget = new Budget({ ...DEFAULT_LIMITS, seconds: 0.001 }, () => account.spent);
  budget.open();
  budget.resume();
  return budget;
}

Deno.test("only processor time is charged to a document, so a busy machine does not use up its limit", () => {
  const account = { spent: 70 };
  const budget = budgetOf(account);
  for (let look = 0; look < 3; look++) {
    pass(2);
    assert.ok(budget.spend(1));
  }
  account.spent += 0.6;
  pass(2);
  assert.ok(budget.spend(1));
  account.spent += 0.6;
  pass(2);
  assert.ok(!budget.spend(1));
  assert.equal(budget.exceeded, "seconds");
  assert.ok(!budget.spend(0), "closed until it is opened again");
  budget.open();
  budget.resume();
  assert.ok(budget.spend(1));
});

Deno.test("time between two evaluations is not charged, and the times of the evaluations are added up", () => {
  const account = { spent: 0 };
  const budget = budgetOf(account);
  account.spent += 0.6;
  budget.pause();
  account.spent += 100;
  budget.resume();
  pass(2);
  assert.ok(budget.spend(1));
  account.spent += 0.6;
  pass(2);
  assert.ok(!budget.spend(1));
});

Deno.test("if processor time is unknown, clock time is charged", () => {
  const budget = budgetOf({ spent: null });
  pass(2);
  assert.ok(!budget.spend(1));
  assert.equal(budget.exceeded, "seconds");
});
