// The functions of Lua's `math` for numbers. A function with several results returns the first, as in a Lua expression.

/** Computes a power as C does: 1 to any power is 1, and -1 to an infinite power is 1, too. */
export function computePower(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Infinity)) return 1;
  return base ** exponent;
}

/** A function and the number of its arguments. */
export interface CalculatorFunction {
  readonly least: number;
  readonly most: number;
  apply(...values: readonly number[]): number;
}

/** The function with this name, or null. */
export function functionNamed(name: string): CalculatorFunction | null {
  return FUNCTIONS.get(name) ?? null;
}

function one(apply: (value: number) => number): CalculatorFunction {
  return { least: 1, most: 1, apply: (value = NaN) => apply(value) };
}

function two(apply: (first: number, second: number) => number): CalculatorFunction {
  return { least: 2, most: 2, apply: (first = NaN, second = NaN) => apply(first, second) };
}

const FUNCTIONS: ReadonlyMap<string, CalculatorFunction> = new Map(Object.entries({
  abs: one(Math.abs),
  acos: one(Math.acos),
  asin: one(Math.asin),
  atan: { least: 1, most: 2, apply: (y = NaN, x = 1) => Math.atan2(y, x) },
  atan2: two(Math.atan2),
  ceil: one(Math.ceil),
  cos: one(Math.cos),
  cosh: one(Math.cosh),
  deg: one((value) => value * 180 / Math.PI),
  exp: one(Math.exp),
  floor: one(Math.floor),
  fmod: two((a, b) => a % b),
  frexp: one(fraction),
  ldexp: two((value, exponent) => value * 2 ** exponent),
  log: {
    least: 1,
    most: 2,
    apply: (value = NaN, base) => base === undefined ? Math.log(value) : logarithm(value, base),
  },
  log10: one(Math.log10),
  max: { least: 1, most: Infinity, apply: (...values) => Math.max(...values) },
  min: { least: 1, most: Infinity, apply: (...values) => Math.min(...values) },
  modf: one(Math.trunc),
  pow: two(computePower),
  rad: one((value) => value * Math.PI / 180),
  random: { least: 0, most: 2, apply: random },
  sin: one(Math.sin),
  sinh: one(Math.sinh),
  sqrt: one(Math.sqrt),
  tan: one(Math.tan),
  tanh: one(Math.tanh),
}));

/** The mantissa of a number, from a half up to one, without its power of two. */
function fraction(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  let part = value;
  while (Math.abs(part) >= 1) part /= 2;
  while (Math.abs(part) < 0.5) part *= 2;
  return part;
}

/** Returns the logarithm of a value, exactly for powers of the usual bases. */
function logarithm(value: number, base: number): number {
  if (base === 2) return Math.log2(value);
  if (base === 10) return Math.log10(value);
  return Math.log(value) / Math.log(base);
}

/**
 * Returns a number from 0 up to 1. With one argument it is an integer from 1 to that argument, with two an integer
 * between them, both included.
 */
function random(first?: number, second?: number): number {
  if (first === undefined) return Math.random();
  const [low, high] = second === undefined ? [1, first] : [first, second];
  return low > high
    ? NaN
    : Math.floor(low) + Math.floor(Math.random() * (Math.floor(high) - Math.floor(low) + 1));
}
