// The latest results of the benchmarks, stored in one small file from which docs/project/performance.md is made.

import type { Row } from "../harness.ts";

const FILE = new URL("figures.json", import.meta.url);

/** The results of one benchmark, with machine and time. */
export interface Measured {
  readonly bench: string;
  readonly about: string;
  /** The day in UTC. */
  readonly day: string;
  readonly version: string;
  readonly machine: Machine;
  readonly rows: readonly Row[];
}

/** The machine that the figures depend on. */
export interface Machine {
  readonly deno: string;
  readonly system: string;
  readonly processor: string;
  readonly cores: number;
  /** Load average of the minute before. */
  readonly load: number;
}

export async function readRecord(file: URL = FILE): Promise<readonly Measured[]> {
  return JSON.parse(await Deno.readTextFile(file));
}

/** Replaces the earlier results of a benchmark. */
export async function record(measured: Measured, file: URL = FILE): Promise<void> {
  const before = await readRecord(file);
  const at = before.findIndex(({ bench }) => bench === measured.bench);
  const all = at < 0 ? [...before, measured] : before.with(at, measured);
  const short = all.map((each) => ({ ...each, rows: each.rows.map(shortened) }));
  await Deno.writeTextFile(file, `${JSON.stringify(short, null, 2)}\n`);
}

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

/** A row rounded to significant digits. */
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
