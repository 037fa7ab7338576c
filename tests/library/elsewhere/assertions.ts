// The part of `node:assert/strict` that the tests use, for runtimes without it.

class AssertionError extends Error {
  override name = "AssertionError";
}

type Message = string | Error;

function refuse(message: Message | undefined, otherwise: string): never {
  if (message instanceof Error) throw message;
  throw new AssertionError(message ?? otherwise);
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, part) => typeof part === "bigint" ? `${part}n` : part)?.slice(0, 2000) ??
    String(value);
}

/** Fails unless the value counts as true. */
export function ok(value: unknown, message?: Message): void {
  if (!value) refuse(message, `${show(value)} does not hold`);
}

export function equal(actual: unknown, expected: unknown, message?: Message): void {
  if (!Object.is(actual, expected)) refuse(message, `${show(actual)} is not ${show(expected)}`);
}

export function notEqual(actual: unknown, expected: unknown, message?: Message): void {
  if (Object.is(actual, expected)) refuse(message, `both are ${show(actual)}`);
}

export function deepEqual(actual: unknown, expected: unknown, message?: Message): void {
  if (!same(actual, expected)) refuse(message, `${show(actual)} is not the same as ${show(expected)}`);
}

export function match(text: string, pattern: RegExp, message?: Message): void {
  if (!pattern.test(text)) refuse(message, `${show(text)} does not match ${pattern}`);
}

export function doesNotMatch(text: string, pattern: RegExp, message?: Message): void {
  if (pattern.test(text)) refuse(message, `${show(text)} matches ${pattern}`);
}

/** Fails unless the body throws, what is expected where that is said. */
export function throws(body: () => unknown, expected?: RegExp | (new (...args: never[]) => Error)): void {
  let thrown: unknown;
  try {
    body();
  } catch (error) {
    thrown = error;
    if (expected === undefined) return;
    if (expected instanceof RegExp ? expected.test(String(error)) : error instanceof expected) return;
  }
  refuse(undefined, thrown === undefined ? "nothing was thrown" : `${thrown} was thrown`);
}

export function fail(message?: Message): never {
  refuse(message, "failed");
}

/** Whether two values have the same kind and the same parts; of objects their own enumerable ones. */
function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof RegExp || a instanceof Error) { if (String(a) !== String(b)) return false; }
  if (a instanceof Date && a.getTime() !== (b as Date).getTime()) return false;
  if (a instanceof Map && b instanceof Map) return sameLists([...a], [...b]);
  if (a instanceof Set && b instanceof Set) return sameLists([...a], [...b]);
  if (Array.isArray(a) && a.length !== (b as unknown[]).length) return false;
  const [ours, theirs] = [Object.keys(a), Object.keys(b)];
  return ours.length === theirs.length &&
    ours.every((key) =>
      Object.hasOwn(b, key) && same((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key])
    );
}

function sameLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((each, index) => same(each, b[index]));
}

export default Object.assign(ok, {
  ok,
  equal,
  notEqual,
  deepEqual,
  match,
  doesNotMatch,
  throws,
  fail,
});
