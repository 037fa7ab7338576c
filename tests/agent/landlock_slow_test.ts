// What documents lack under Landlock, which restores files after a command instead of keeping them read-only.

import assert from "node:assert/strict";
import { landlockVersion } from "../../sandbox/kernel/landlock_version.ts";
import { advance, ask, modelOf, resultIn } from "./helpers.ts";
import { testInPlace } from "./place.ts";

const version = landlockVersion();
/** The tests need the kernel's interface in the version that limits signals. */
const test: typeof testInPlace = version.ok && version.value >= 6 ? testInPlace : () => {};

test("under Landlock a document asks no helpers, and the ports of a job cannot be reached", async (place) => {
  place.settings(
    "tools: { $append: [ask_document], auto_approve: [ask_document, bash] }\n" +
      "sandbox: { backend: landlock, policy: { network: false } }\n",
  );
  place.write("notes.chat", "@You:\nAsk somebody.\n");
  const job = { command: "echo up", timeout: null, "flemma.background": true };
  const model = modelOf(({ last }) =>
    last.includes("tool_result") || last.includes("Job Result")
      ? ["Done."]
      : [ask("call_1", "Why?"), ["call_2", "bash", job]]
  );
  await advance(place, "notes.chat", model);
  const text = place.read("notes.chat");
  assert.match(resultIn(text, "call_1"), /^Helpers are not possible in this sandbox/);
  assert.match(resultIn(text, "call_2"), /Other commands cannot reach its ports/);
  assert.throws(() => Deno.statSync(place.path("notes.chat.d")), Deno.errors.NotFound);
});
