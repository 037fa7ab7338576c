// What the benches measured last, kept in one small file from which docs/performance.md is made.

import type { Row } from "../harness.ts";

const FILE = new URL("figures.json", import.meta.url);

/** What one bench measured, with where and when. */
export interface Measured {
  readonly bench: string;
  readonly about: string;
  /** The day in UTC. */
  readonly day: string;
  /** The program's version. */
  readonly version: string;
  readonly machine: Machine;
  readonly rows: readonly Row[];
}

/** What figures hang on. */
export interface Machine {
  readonly deno: string;
  readonly system: string;
  readonly processor: string;
  readonly cores: number;
  /** Processes that wanted to run at the same time, on average of the minute before. */
  readonly load: number;
}

/** All that was recorded, a bench once. */
export async function readRecord(file: URL = FILE): Promise<readonly Measured[]> {
  return JSON.parse(await Deno.readTextFile(file));
}

/** Puts what a bench measured in the place of what it measured before. */
export async function record(measured: Measured, file: URL = FILE): Promise<void> {
  const before = await readRecord(file);
  const at = before.findIndex(({ bench }) => bench === measured.bench);
  const all = at < 0 ? [...before, measured] : before.with(at, measured);
  const short = all.map((each) => ({ ...each, rows: each.rows.map(shortened) }));
  await Deno.writeTextFile(file, `${JSON.stringify(short, null, 2)}\n`);
}

/** The machine that runs this. */
export async function thisMachine(): Promise<Machine> {
  return {
    deno: Deno.version.deno,
    system: `${Deno.build.os} ${Deno.build.arch}`,
    processor: await processorName(),
    cores: navigator.hardwareConcurrency,
    load: Math.round(Deno.loadavg()[0]!),
  };
}

async function processorName(): Promise<string> {
  if (Deno.build.os !== "linux") return "";
  return /^model name\s*:\s*(.*)$/m.exec(await Deno.readTextFile("/proc/cpuinfo"))?.[1] ?? "";
}

/** A row without digits that say nothing. */
function shortened(row: Row): Row {
  const short = (value: number) => Number(value.toPrecision(4));
  return {
    ...row,
    value: short(row.value),
    ...(row.ratio === undefined ? {} : { ratio: short(row.ratio) }),
    ...(row.interval === undefined
      ? {}
      : { interval: [short(row.interval[0]), short(row.interval[1])] as const }),
  };
}
