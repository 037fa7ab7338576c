// Advice after a failed request: the same request again only if it may succeed.

import assert from "node:assert/strict";
import type { Problem } from "../../base/problem.ts";
import { suggestAfterProblem } from "../../commands/line/next_steps.ts";
import { parse } from "../../parser/mod.ts";

const ASKS = "@You:\nHi\n";
const SPOKE = "@You:\nHi\n\n@Assistant:\nHalf a\n";
const GO_ON = "Continue with: flemma advance a.chat";

Deno.test("an error advises sending the request again only if the same request may succeed later", () => {
  const other = { code: "provider-other", message: "m" };
  const rows: readonly (readonly [string, Problem, string, RegExp | null])[] = [
    [
      "no reason and no advice",
      other,
      ASKS,
      /likely to fail again\. Inspect it with: flemma advance --no-tools --dry-run a\.chat$/,
    ],
    ["advice of its own", { ...other, next: "Do it." }, ASKS, null],
    [
      "a time to try again",
      { ...other, next: "Wait.", retry: { after: null } } as Problem,
      ASKS,
      RegExp(GO_ON),
    ],
    ["the network", { ...other, code: "provider-network", next: "Check." }, ASKS, RegExp(GO_ON)],
    ["the time", { ...other, code: "provider-timeout", next: "Raise." }, ASKS, RegExp(GO_ON)],
    ["a key", { ...other, code: "provider-authentication", next: "Check the key." }, ASKS, null],
    ["content that was refused", { ...other, code: "provider-blocked" }, ASKS, null],
    ["a model that spoke already", { ...other, next: "Do it." }, SPOKE, /^The last message is the model's/],
    ["refused content after which the model spoke", { ...other, code: "provider-blocked" }, SPOKE, null],
  ];
  for (const [name, problem, text, expected] of rows) {
    const way = suggestAfterProblem(problem, parse(new TextEncoder().encode(text)), "a.chat");
    if (expected === null) assert.equal(way, null, name);
    else assert.match(way ?? "", expected, name);
  }
});
