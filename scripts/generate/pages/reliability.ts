// Writes docs/project/reliability.md from the lists of faults and promises with their tests and from the recorded
// campaigns.

import { CAMPAIGNS } from "../../../tests/campaign/campaigns.ts";
import { readRecord, totals } from "../../../tests/campaign/record.ts";
import { readReliability } from "../../../tests/reliability.ts";

const HEAD = `# Reliability

This page lists what flemma promises, and tests for each promise. The faults in the lists were reported for programs of this kind, or found by
attacking flemma. For each fault, the list names a test that would fail if flemma had it. All these tests run before a change is accepted
(\`deno task test --all\`). In a test's name, … stands for values from its table.
`;

const CAMPAIGN_HEAD = `## Campaigns

Campaigns make many random attacks on the promises, more than the tests have time for. A short form of each is part of the tests.
\`deno task campaign NAME [COUNT] [SEED]\` runs one, \`deno task campaign all\` all in turn; the same seed repeats the same attacks. \`--record\` adds the
results to \`tests/campaign/record.json\`, the source of this table. A fault that a campaign finds is fixed and gets a test in the lists below.
`;

const PROMISES_HEAD = `## Promises on the pages

Every sentence of README and docs with one of the words never, always, nothing, only and cannot, or with a figure, and the tests that hold it.
Sentences about other programs, limits, advice and design are left out. \`tests/promises.txt\` is the source.

| page | promise | test |
| --- | --- | --- |
`;

export async function generate(): Promise<{ path: string; text: string }[]> {
  const groups = await readReliability();
  const promises = (await readReliability("promises.txt")).flatMap(({ promise: page, faults }) =>
    faults.filter(({ tests }) => tests.length > 0).map(({ fault, tests }) =>
      `| ${page.replace(/^docs\//, "")} | ${cell(shortened(fault))} | ${tests.map(shown).join("<br>")} |`
    )
  );
  const record = totals(await readRecord());
  const campaigns = Object.entries(CAMPAIGNS).map(([name, { what, standard }]) => {
    const done = record.get(name);
    const times = done === undefined ? "not yet" : `${number(done.count)} of ${number(standard)}`;
    const found = done === undefined ? "" : done.found.length === 0 ? "nothing" : done.found.join("; ");
    return `| \`${name}\` | ${what} | ${times} | ${found} |`;
  });
  const lists = groups.flatMap(({ promise, words, faults }) => [
    `## ${promise}`,
    "",
    ...(words === "" ? [] : [words, ""]),
    "| fault | test |",
    "| --- | --- |",
    ...faults.map(({ fault, tests }) => `| ${cell(fault)} | ${tests.map(shown).join("<br>")} |`),
    "",
  ]);
  const faults = groups.reduce((count, group) => count + group.faults.length, 0);
  const counted = `${groups.length} promises, ${faults} faults, ${
    groups.reduce((count, group) => count + group.faults.reduce((sum, { tests }) => sum + tests.length, 0), 0)
  } tests for them.`;
  const text = [
    HEAD,
    counted,
    "",
    CAMPAIGN_HEAD,
    "| campaign | what it does | runs so far, of the full count | last found |",
    "| --- | --- | --- | --- |",
    ...campaigns,
    "",
    ...lists,
    PROMISES_HEAD + promises.join("\n"),
  ].join("\n");
  return [{ path: "docs/project/reliability.md", text: `${text.trimEnd()}\n` }];
}

function shown({ file, name }: { readonly file: string; readonly name: string }): string {
  return `\`tests/${file}\` ${cell(name)}`;
}

/** Returns the beginning of a long sentence, cut between words and outside code. */
function shortened(text: string): string {
  const begin = /^(?:`[^`]*`|[^`]){1,120}(?= )/.exec(text)?.[0];
  return text.length <= 140 || begin === undefined ? text : `${begin} …`;
}

/**
 * Returns a text as a table cell. Inserted values become an ellipsis, and nothing in it ends the cell or begins a tag.
 */
function cell(text: string): string {
  return text.replace(/\$\{[^}]*\}/g, "…").replaceAll("|", "\\|").replace(
    /`[^`]*`|</g,
    (part) => part === "<" ? "&lt;" : part,
  );
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}
