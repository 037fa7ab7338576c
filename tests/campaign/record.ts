// The results of long campaigns in one small file: number of tries, seed, version, and findings.

const FILE = new URL("record.json", import.meta.url);

/** One run of a campaign. */
export interface CampaignRun {
  readonly campaign: string;
  /** How often it tried what it tries. */
  readonly count: number;
  readonly seed: number;
  readonly seconds: number;
  /** The program's version. */
  readonly version: string;
  /** The day in UTC. */
  readonly day: string;
  /** What was wrong, in a sentence; null when nothing was. */
  readonly found: string | null;
}

/** All runs that were recorded. */
export async function readRecord(): Promise<readonly CampaignRun[]> {
  return JSON.parse(await Deno.readTextFile(FILE));
}

/** Adds a run. One that goes on where the last of its campaign ended is one with it. */
export async function addToRecord(run: CampaignRun): Promise<void> {
  const runs = [...await readRecord()];
  const at = runs.findLastIndex(({ campaign }) => campaign === run.campaign);
  const last = runs[at];
  const goesOn = last !== undefined && last.version === run.version && last.day === run.day &&
    last.found === null && run.found === null && last.seed + last.count === run.seed;
  if (goesOn) {
    runs[at] = { ...last, count: last.count + run.count, seconds: last.seconds + run.seconds };
  } else runs.push(run);
  await Deno.writeTextFile(
    FILE,
    `${JSON.stringify(runs, null, 2)}
`,
  );
}

/** How often each campaign tried in all, and what its latest run found. */
export function totals(
  runs: readonly CampaignRun[],
): ReadonlyMap<string, { readonly count: number; readonly found: readonly string[] }> {
  const sums = new Map<string, { count: number; found: string[] }>();
  for (const { campaign, count, found } of runs) {
    const sum = sums.get(campaign) ?? { count: 0, found: [] };
    // What was found and mended stands in the list of faults; here stands what the program as it is now does.
    sums.set(campaign, { count: sum.count + count, found: found === null ? [] : [found] });
  }
  return sums;
}
