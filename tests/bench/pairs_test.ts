import assert from "node:assert/strict";
import { compare, medianInterval } from "../../bench/pairs.ts";

Deno.test("the confidence interval of a median omits as many values on each side as the binomial tables say", () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, at) => count - at);
  // From tables of the sign test, for 95 per cent: ranks counted from 1.
  for (const [count, rank] of [[6, 1], [8, 1], [9, 2], [20, 6], [61, 23], [100, 40]] as const) {
    assert.deepEqual(medianInterval(numbers(count)), [rank, count + 1 - rank], `${count} values`);
  }
});

Deno.test("the confidence interval of too few values is their whole range", () => {
  assert.deepEqual(medianInterval([3, 1, 2]), [1, 3]);
});

Deno.test("two measured versions take turns in running first, and each pair of runs gives one ratio per measure", async () => {
  const order: string[] = [];
  let run = 0;
  const figures = await compare({
    start: {
      ours: () => {
        order.push("ours");
        return { wall: 3 + (run++ % 2), cpu: 1 };
      },
      theirs: () => {
        order.push("theirs");
        return Promise.resolve({ wall: 2, cpu: 2 });
      },
    },
  }, 3);
  assert.deepEqual(order, ["theirs", "ours", "ours", "theirs", "theirs", "ours", "ours", "theirs"]);
  assert.deepEqual(figures.map(({ case: name, value, interval }) => [name, value, interval]), [
    ["start, wall", 2, [1.5, 2]],
    ["start, cpu", 0.5, [0.5, 0.5]],
  ]);
});
