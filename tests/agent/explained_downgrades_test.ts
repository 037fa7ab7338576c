// `approval explain` names each downgrade that lowered a decision, with its reason.

import assert from "node:assert/strict";
import {
  unconfirmedDowngrade,
  unfinishedDowngrade,
  untrustedDowngrade,
} from "../../agent/trust/downgrades.ts";
import { explainCall } from "../../agent/views/explain.ts";
import { explanationLines } from "../../agent/views/explanation.ts";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import {
  type ApprovalDowngrade,
  type Decision,
  watchedFile,
  withDowngrades,
} from "../../tools/approval/mod.ts";

const call = { id: "c1", name: "write", input: { path: ".npmrc" } };
const emit = () => {};

const watched = watchedFile({
  definition: () => ({ files: "write", path_input: "path" }),
  sandbox: { watchedBy: () => "npm" },
  resolve: (path) => `/w/${path}`,
});
const document = untrustedDowngrade(
  { detail: "the document is wide", sentence: "It is wide.", all: false, onlyItsOwn: false },
  {
    person: () => assert.fail(),
    tools: new Map(),
    journal: { approval: () => null, isFromThisRun: () => false },
    emit,
  },
);
const tampered = unconfirmedDowngrade({
  tampered: { why: "it was replaced", calls: { c1: "hash" }, block: null },
});
const cut = unfinishedDowngrade({ unfinished: () => new Set(["c1"]) }, emit);

/** The source of the decision, and the downgrades that the explanation names with their reasons. */
async function explained(decision: Decision, ...downgrades: ApprovalDowngrade[]) {
  const link = { name: "urn:flemma:approval:config", priority: 100, answer: decision, detail: "" } as const;
  const source = link.name;
  const decide = withDowngrades(() => Promise.resolve({ decision, source, chain: [link] }), downgrades);
  const found = await explainCall(call, {
    decide,
    rules: null,
    settings: DEFAULT_SETTINGS.tools,
    preview: () => "",
  });
  const named = explanationLines(found).flatMap((line) =>
    /^ {6}([a-z-]+) +require_approval +(.*)$/.exec(line)?.slice(1).join(": ") ?? []
  );
  return [found.source.replace("urn:flemma:approval:", ""), ...named];
}

Deno.test("the explanation names every reason why an approval became a question: each reason alone, and all reasons together", async () => {
  const rows: readonly (readonly [Decision, ApprovalDowngrade[], string[]])[] = [
    ["approve", [watched], ["watched-file", "watched-file: npm would act on .npmrc"]],
    ["approve", [document], ["trust", "trust: the document is wide"]],
    ["require_approval", [document], ["config", "trust: the document is wide"]],
    ["require_approval", [tampered], [
      "unconfirmed",
      "unconfirmed: a command could have written its approval, because it was replaced",
    ]],
    ["approve", [cut], ["unfinished", "unfinished: the program ended before the reply was complete"]],
    ["approve", [watched, document, tampered, cut], [
      "unconfirmed",
      "watched-file: npm would act on .npmrc",
      "trust: the document is wide",
      "unconfirmed: a command could have written its approval, because it was replaced",
    ]],
    ["deny", [watched, document, tampered, cut], ["config"]],
  ];
  for (const [decision, downgrades, expected] of rows) {
    assert.deepEqual(await explained(decision, ...downgrades), expected);
  }
});
