// Approvals by policy that become questions in an untrusted document, one row per condition.

import assert from "node:assert/strict";
import { agree } from "../../agent/trust/agreement.ts";
import { untrustedDowngrade, withoutDoubtedApprovals } from "../../agent/trust/downgrades.ts";
import { assessTrust, downgradesCall, type UntrustedDocument } from "../../agent/trust/untrusted.ts";
import { DEFAULT_SETTINGS, type Settings } from "../../config/settings.generated.ts";
import type { DocumentApproval } from "../../config/values.ts";
import { openJournal } from "../../cycle/storage/journal.ts";
import type { CycleEvent } from "../../cycle/types.ts";
import { type ApprovalDecision, type Decide, withDowngrades } from "../../tools/approval/mod.ts";
import { builtinTools } from "../../tools/builtin/mod.ts";
import { testInFolder as test } from "../folder.ts";

type Sandbox = Settings["sandbox"];

const TOOLS = new Map(builtinTools().map((tool) => [tool.name, tool]));

const OWN_LIST: DocumentApproval = {
  auto_approve: ["bash"],
  excluded: [],
  presets: {},
  assigned: true,
  removed: [],
};

interface Stated {
  readonly sandbox?: Partial<Omit<Sandbox, "policy">> & { readonly policy?: Partial<Sandbox["policy"]> };
  readonly list?: DocumentApproval;
  readonly trust?: Settings["trust"]["documents"];
}

function settings({ sandbox = {}, list, trust = DEFAULT_SETTINGS.trust.documents }: Stated): Settings {
  const { sandbox: usual, tools } = DEFAULT_SETTINGS;
  return {
    ...DEFAULT_SETTINGS,
    trust: { ...DEFAULT_SETTINGS.trust, documents: trust },
    sandbox: { ...usual, ...sandbox, policy: { ...usual.policy, ...sandbox.policy } },
    tools: { ...tools, document: list ?? null },
  };
}

function question(folder: string, person: Stated, document: Stated, works = true) {
  return {
    environment: { cwd: folder, home: folder, variables: { XDG_STATE_HOME: `${folder}/state` } },
    path: `${folder}/a.chat`,
    authority: { text: "what it comes to", lines: [] },
    person: settings(person),
    document: settings(document),
    sandbox: {
      available: () =>
        Promise.resolve(
          works
            ? { ok: true as const, value: "bwrap" }
            : { ok: false as const, problem: { code: "backend-unavailable", message: "None works." } },
        ),
    },
  };
}

test("settings that loosen policy are reported with the calls that they affect", async (folder) => {
  const off = { enabled: false };
  const wide = { policy: { rw_paths: ["/"] } };
  const hides = { policy: { deny_read: ["/srv/hidden"] } };
  const both = { policy: { ...wide.policy, ...hides.policy } };
  const rows: readonly (readonly [string, Stated, Stated, boolean, string | null])[] = [
    ["nothing", {}, {}, true, null],
    ["always believed", { trust: "always" }, { sandbox: off }, true, null],
    ["every document asked about", { trust: "ask" }, {}, true, "all"],
    ["out of the sandbox", {}, { sandbox: off }, true, "writes"],
    ["wider", {}, { sandbox: wide }, true, "writes"],
    ["wider, where the person hides files", { sandbox: hides }, { sandbox: both }, true, "all"],
    [
      "wider than no sandbox, where the person would hide files",
      { sandbox: { ...hides, ...off } },
      { sandbox: both },
      true,
      "writes",
    ],
    ["a list of its own inside the person's sandbox", {}, { list: OWN_LIST }, true, null],
    ["a list of its own where no sandbox works", {}, { list: OWN_LIST }, false, "own writes"],
    [
      "a list of its own without a sandbox",
      { sandbox: off },
      { sandbox: off, list: OWN_LIST },
      true,
      "own writes",
    ],
    ["no list where no sandbox works", {}, {}, false, null],
    ["no list without a sandbox", { sandbox: off }, { sandbox: off }, true, null],
    [
      "a sandbox that the person has off",
      { sandbox: off },
      { sandbox: { enabled: true } },
      true,
      "own writes",
    ],
  ];
  for (const [what, person, document, works, expected] of rows) {
    const found = await assessTrust(question(folder, person, document, works));
    const reported = found === null
      ? null
      : `${found.onlyItsOwn ? "own " : ""}${found.all ? "all" : "writes"}`;
    assert.equal(reported, expected, what);
  }
});

test("a person who trusts exactly these settings for this path is not asked about them again", async (folder) => {
  const asked = question(folder, {}, { sandbox: { enabled: false } });
  const { environment, path, authority } = asked;
  assert.notEqual(await assessTrust(asked), null);
  assert.ok((await agree(environment, path, authority)).ok);
  assert.equal(await assessTrust(asked), null);
  assert.notEqual(await assessTrust({ ...asked, path: `${folder}/b.chat` }), null);
  assert.notEqual(await assessTrust({ ...asked, path: null }), null);
  assert.notEqual(await assessTrust({ ...asked, authority: { text: "more", lines: [] } }), null);
  await Deno.writeTextFile(`${folder}/state/flemma/trust.json`, "{");
  const unread = await assessTrust(asked);
  assert.match(unread?.sentence ?? "", /trust\.json/, "an unreadable list contains no trust");
});

const FEW: UntrustedDocument = {
  detail: "the document is wide",
  sentence: "It is wide.",
  all: false,
  onlyItsOwn: false,
};

const NO_JOURNAL = { approval: () => null, isFromThisRun: () => false };

Deno.test("if flemma does not accept an approval, it asks the person instead and gives the reason once: one row per condition", async () => {
  const rows: readonly (readonly [
    string,
    Partial<UntrustedDocument>,
    string,
    ApprovalDecision["decision"],
    boolean,
    string,
  ])[] = [
    ["an approval", {}, "bash", "approve", false, "asks"],
    ["a denial stays", {}, "bash", "deny", false, "deny"],
    ["a denial stays where all is concerned", { all: true }, "read", "deny", false, "deny"],
    ["reading is not concerned", {}, "read", "approve", false, "approve"],
    ["reading is concerned", { all: true }, "read", "approve", false, "asks"],
    ["a person who is asked anyway learns the reason", {}, "bash", "require_approval", false, "asks bound"],
    ["its own list is not the person's", { onlyItsOwn: true }, "bash", "approve", false, "asks"],
    ["what the person approves too", { onlyItsOwn: true }, "bash", "approve", true, "approve"],
    [
      "what waits by the person's settings",
      { onlyItsOwn: true },
      "bash",
      "require_approval",
      false,
      "as it was",
    ],
  ];
  for (const [what, changes, name, decision, approves, expected] of rows) {
    const given: ApprovalDecision = { decision, source: "given" };
    const person: Decide = () =>
      Promise.resolve({ decision: approves ? "approve" : "require_approval", source: "person" });
    const reported: CycleEvent[] = [];
    const emit = (event: CycleEvent) => reported.push(event);
    const downgrade = untrustedDowngrade({ ...FEW, ...changes }, {
      person,
      tools: TOOLS,
      journal: NO_JOURNAL,
      emit,
    });
    const decide = withDowngrades(() => Promise.resolve(given), [downgrade]);
    const call = { id: "c1", name, input: {} };
    const decided = await decide(call);
    await decide(call);
    const untouched = decided === given;
    const became = untouched
      ? decision === "require_approval" ? "as it was" : decision
      : decided.decision !== "require_approval"
      ? decided.decision
      : decided.source === "given"
      ? "asks bound"
      : "asks";
    assert.equal(became, expected, what);
    assert.equal(reported.length, untouched ? 0 : 1, what);
    if (!untouched) assert.deepEqual([decided.bound, decided.detail], [true, FEW.detail], what);
  }
});

Deno.test("a rule is suggested only if the rule would make the question unnecessary: one row per condition", () => {
  const bash = { name: "bash" };
  assert.equal(downgradesCall(null, bash, TOOLS), false);
  assert.equal(downgradesCall(FEW, bash, TOOLS), true);
  assert.equal(downgradesCall(FEW, { name: "read" }, TOOLS), false);
  assert.equal(downgradesCall({ ...FEW, all: true }, { name: "read" }, TOOLS), true);
  assert.equal(downgradesCall({ ...FEW, onlyItsOwn: true }, bash, TOOLS), false);
  assert.equal(downgradesCall({ ...FEW, onlyItsOwn: true, all: true }, bash, TOOLS), false);
});

test("in an untrusted document only approvals by a person, or by policy during this run, count", async (folder) => {
  const environment = { cwd: folder, home: folder, variables: { XDG_STATE_HOME: `${folder}/state` } };
  const earlier = await openJournal({ environment, path: `${folder}/a.chat` });
  assert.ok(earlier.ok);
  await earlier.value.recordApprovals(
    new Map([
      ["own", { by: "person", hash: "h" }],
      ["policy", { by: "policy", hash: "h" }],
    ]),
  );
  const opened = await openJournal({ environment, path: `${folder}/a.chat` });
  assert.ok(opened.ok);
  const journal = opened.value;
  const emit = () => {};
  const downgrade = untrustedDowngrade(FEW, {
    person: () => assert.fail("nobody is asked"),
    tools: TOOLS,
    journal,
    emit,
  });
  const approvalOf = withoutDoubtedApprovals(journal, [downgrade]);
  const hash = async (id: string) => (await approvalOf(id))?.hash;
  assert.deepEqual(await Promise.all(["own", "policy", "nobody"].map(hash)), [
    "h",
    "to be decided again",
    "to be decided again",
  ]);
  await journal.recordApprovals(new Map([["policy", { by: "policy", hash: "new" }]]));
  assert.deepEqual(await Promise.all(["own", "policy", "nobody"].map(hash)), [
    "h",
    "new",
    "to be decided again",
  ]);
});
