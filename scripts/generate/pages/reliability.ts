// Writes docs/project/reliability.md from the list of faults with their tests and from the recorded campaigns.

import { CAMPAIGNS } from "../../../tests/campaign/campaigns.ts";
import { readRecord, totals } from "../../../tests/campaign/record.ts";
import { readReliability } from "../../../tests/reliability.ts";

const HEAD = `# Reliability

What this program promises, how each promise is attacked, and what came of it. The faults are those that people reported on programs of
this kind and those that were found by attacking this one; each is held by a test that is named beside it and runs before every change is
taken (\`deno task test --all\`). Where a name holds …, the test puts in what its rows have.
`;

const CAMPAIGN_HEAD = `## Campaigns

Besides its tests each promise is attacked by chance, in numbers that no gate has time for. A short form of each campaign is part of
the gate. \`deno task campaign NAME [COUNT] [SEED]\` runs one, \`deno task campaign all\` all of them one after the other; the same seed does
the same. With \`--record\` what was done is added to \`tests/campaign/record.json\`, from which this table is made. A fault that a campaign finds
is mended where it comes from and stays as a test in the lists below.
`;

export async function generate(): Promise<{ path: string; text: string }[]> {
  const groups = await readReliability();
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
    "| what went wrong | what holds it |",
    "| --- | --- |",
    ...faults.map(({ fault, tests }) => `| ${cell(fault)} | ${tests.map(shown).join("<br>")} |`),
    "",
  ]);
  const faults = groups.reduce((count, group) => count + group.faults.length, 0);
  const counted = `${groups.length} promises, ${faults} faults, ${
    groups.reduce((count, group) => count + group.faults.reduce((sum, { tests }) => sum + tests.length, 0), 0)
  } places where a test holds one.`;
  const text = [
    HEAD,
    counted,
    "",
    CAMPAIGN_HEAD,
    "| campaign | what is tried | how often, of the full count | what it found last |",
    "| --- | --- | --- | --- |",
    ...campaigns,
    "",
    ...lists,
  ].join("\n");
  return [{ path: "docs/project/reliability.md", text: `${text.trimEnd()}\n` }];
}

function shown({ file, name }: { readonly file: string; readonly name: string }): string {
  return `\`tests/${file}\` ${cell(name)}`;
}

/** A text as a table cell: inserted values become an ellipsis, and nothing ends the cell or begins a tag. */
function cell(text: string): string {
  return text.replace(/\$\\{[^}]*\\}/g, "…").replaceAll("|", "\\\\|").replaceAll("<", "&lt;");
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}
