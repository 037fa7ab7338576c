// Measuring and printing for all benchmarks: medians of several runs, compared with a named reference of the same run.

/** One measured figure. `ratio` is value ÷ the value of the case named by `against`. */
export interface Row {
  readonly bench: string;
  readonly case: string;
  readonly value: number;
  readonly unit: string;
  readonly against?: string;
  readonly ratio?: number;
  /** The 95% confidence interval. */
  readonly interval?: readonly [number, number];
  /** The maximum of the ratio or, without a reference, of the value. */
  readonly goal?: number;
  readonly ok?: boolean;
}

/** A figure as a benchmark reports it; the harness adds the ratio and whether the goal is met. */
export interface Figure {
  readonly case: string;
  readonly value: number;
  readonly unit: string;
  /** Name of another case of the same bench. */
  readonly against?: string;
  readonly goal?: number;
  /** True if the goal is a minimum, not a maximum. */
  readonly atLeast?: boolean;
  readonly interval?: readonly [number, number];
}

/** A benchmark module's default export. */
export interface Bench {
  readonly name: string;
  /** One line for people. */
  readonly about: string;
  /** Measures. With `brief`, if the benchmark supports it, it takes a few seconds and reports less. */
  run(brief?: boolean): Promise<readonly Figure[]>;
  /** Compares this checkout with another one, pair by pair; `folder` is its absolute path. */
  against?(folder: string): Promise<readonly Figure[]>;
}

/** Adds ratios and results to figures. */
export function rowsOf(bench: string, figures: readonly Figure[]): Row[] {
  return figures.map(({ case: name, value, unit, against, goal, atLeast, interval }) => {
    const reference = against === undefined ? undefined : figures.find((figure) => figure.case === against);
    if (against !== undefined && reference === undefined) {
      throw new Error(`${bench}: no case "${against}" for "${name}"`);
    }
    const ratio = reference === undefined ? undefined : value / reference.value;
    const judged = ratio ?? value;
    return {
      bench,
      case: name,
      value,
      unit,
      ...(against === undefined ? {} : { against, ratio }),
      ...(interval === undefined ? {} : { interval }),
      ...(goal === undefined ? {} : { goal, ok: atLeast ? judged >= goal : judged <= goal }),
    };
  });
}

/** The median; for an even count the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Runs each case `rounds` times in turn, so that a busy moment affects all alike, and returns the median milliseconds
 * of each. One unmeasured round goes first.
 *
 * @param pause milliseconds before each case, for what the one before left to do
 */
export async function interleaved(
  cases: Readonly<Record<string, () => unknown>>,
  rounds: number,
  pause = 0,
): Promise<Record<string, number>> {
  const times: Record<string, number[]> = {};
  for (let round = -1; round < rounds; round++) {
    for (const [name, run] of Object.entries(cases)) {
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
      const start = performance.now();
      await run();
      const spent = performance.now() - start;
      if (round >= 0) (times[name] ??= []).push(spent);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, values]) => [name, median(values)]));
}

/** A row as words: the case, its value, the reference, the goal, and whether it is met. */
export function cellsOf(row: Row): [string, string, string, string, string] {
  return [
    row.case,
    `${row.value >= 100 ? row.value.toFixed(0) : row.value.toPrecision(3)} ${row.unit}`,
    row.ratio !== undefined
      ? `${row.ratio.toFixed(2)} × ${row.against}`
      : row.interval !== undefined
      ? `between ${row.interval.map((end) => end.toFixed(3)).join(" and ")}`
      : "",
    row.goal === undefined ? "" : `goal ${row.goal}`,
    row.ok === undefined ? "" : row.ok ? "ok" : "MISSED",
  ];
}

export function table(rows: readonly Row[]): string {
  const cells = rows.map(cellsOf);
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(0, ...cells.map((row) => row[column]!.length)));
  return cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ").trimEnd())
    .join("\n");
}
