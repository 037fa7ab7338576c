import assert from "node:assert/strict";
import { Bench } from "../../scripts/mutate/try.ts";
import { coverageOf } from "../../scripts/mutate/coverage.ts";
import { droppedStatementsOf, mutantsOf, secondChecksOf } from "../../scripts/mutate/mutants.ts";
import { sample } from "../../scripts/mutate/sample.ts";

const after = (line: string) => mutantsOf("a.ts", line).map((mutant) => mutant.after);

Deno.test("a condition or a refusing return is mutated in every way that weakens or reverses it", () => {
  assert.deepEqual(after("if (a < b) return null;"), [
    "if (false && (a < b)) return null;",
    "if (!(a < b)) return null;",
    "if (a <= b) return null;",
  ]);
  assert.deepEqual(after("  return a && !b;"), ["  return a || !b;", "  return a && b;"]);
  assert.deepEqual(after("return false;"), ["return true;"]);
  assert.deepEqual(after("const all = list.every((one) => one === two);"), [
    "const all = list.every((one) => one !== two);",
    "const all = list.some((one) => one === two);",
  ]);
});

Deno.test("loops are mutated to end one step too early, because one step too many has no effect", () => {
  assert.deepEqual(after("for (let at = 0; at < list.length; at++) {"), [
    "for (let at = 0; at + 1 < list.length; at++) {",
  ]);
  assert.deepEqual(after("  while (from < to && isBlank(bytes[to])) to--;"), [
    "  while (from < to || isBlank(bytes[to])) to--;",
    "  while (from + 1 < to && isBlank(bytes[to])) to--;",
  ]);
  assert.deepEqual(after("while (left >= 1) left--;"), ["while (left - 1 >= 1) left--;"]);
  assert.deepEqual(after("while (word !== end) next();"), ["while (word === end) next();"]);
});

Deno.test("strings, patterns, comments, types and imports are not mutated", () => {
  for (
    const line of [
      'const text = "if (a && b) return";',
      "// if (a && b) return null;",
      "  /** whether a === b */",
      "const pattern = /a && b/;",
      "import { a } from './a && b.ts';",
      "  | { readonly ok: true }",
      "const list: Map<string, string> = new Map();",
    ]
  ) assert.deepEqual(after(line), [], line);
  const text = "const sentence = `one\n  if (a && b) return;\n`;\nif (a) return;";
  assert.deepEqual(mutantsOf("a.ts", text).map(({ line }) => line), [4, 4]);
});

Deno.test("statement mutants omit each call, assignment or count on a line, but no declaration and no part of an expression", () => {
  const code = [
    "await lock.release();",
    "if (isBroken(a)) report(a);",
    "this.#count += 1;",
    "left--;",
    "const made = make();",
    "return make();",
    "throw fault();",
    "const other =",
    "  make();",
    "list.map((each) => {",
    "// lock.release();",
    '  text = "a(";',
  ];
  assert.deepEqual(droppedStatementsOf("a.ts", code.join("\n")).map(({ line, after }) => [line, after]), [
    [1, ";"],
    [2, "if (isBroken(a)) {}"],
    [3, ";"],
    [4, ";"],
    [12, "  ;"],
  ]);
});

Deno.test("mutants of second checks are the conditions below a lock, up to the end of the function or method", () => {
  const code = [
    "async function one() {",
    "  if (isGone(path)) return null;",
    "  // lockFile(path)",
    "  using lock = await lockFile(path);",
    "  if (isGone(path)) return null;",
    "  for (const each of list) {",
    "    if (isOld(each)) continue;",
    "  }",
    "  if (isGone(path)) throw new Error();",
    "}",
    "export class A {",
    "  async take() {",
    "    if (await file.tryLock(true)) return 1;",
    "    if (isOld(file)) return 2;",
    "  }",
    "  read() {",
    "    const found = block(clock());",
    "    if (isOld(file)) return 3;",
    "  }",
    "}",
  ].join("\n");
  assert.deepEqual(secondChecksOf("a.ts", code).map(({ line, after }) => [line, after.trim()]), [
    [5, "if (false && (isGone(path))) return null;"],
    [7, "if (false && (isOld(each))) continue;"],
    [9, "if (false && (isGone(path))) throw new Error();"],
    [14, "if (false && (isOld(file))) return 2;"],
  ]);
});

Deno.test("a sample of mutants depends only on its seed, keeps the order of the file, and contains all mutants if they are few", () => {
  const items = Array.from({ length: 100 }, (_, index) => index);
  const picked = sample(items, 10, 7);
  assert.deepEqual(sample(items, 10, 7), picked);
  assert.notDeepEqual(sample(items, 10, 8), picked);
  assert.deepEqual(picked.toSorted((a, b) => a - b), picked);
  assert.deepEqual(sample([1, 2], 10, 1), [1, 2]);
});

Deno.test("a mutant is killed if a test notices it, survives if none does, and is uncovered if no test runs it", async () => {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "flemma-mutate-" }));
  try {
    const code = [
      "export function isSmall(n: number): boolean {",
      "  return n < 10 && n > 0;",
      "}",
      "// Far enough from what a test runs.",
      "",
      "",
      "export function isOdd(n: number): boolean {",
      "  return n % 2 === 1;",
      "}",
      "",
    ].join("\n");
    const test = [
      'import { isSmall } from "./a.ts";',
      'Deno.test("small", () => { if (!isSmall(9) || isSmall(10)) throw new Error("wrong"); });',
      "",
    ].join("\n");
    await Deno.writeTextFile(`${root}/a.ts`, code);
    await Deno.writeTextFile(`${root}/a_test.ts`, test);
    await Deno.writeTextFile(
      `${root}/broken_test.ts`,
      'Deno.test("no", () => { throw new Error("no"); });\n',
    );
    await Deno.writeTextFile(`${root}/deno.json`, "{}");
    assert.ok((await new Deno.Command("git", { args: ["init", "-q"], cwd: root }).output()).success);
    const bench = await Bench.make(root, "bench");
    let reported: string[] = [];
    const kept = `${root}/kept`;
    const tests = ["a_test.ts", "broken_test.ts"];
    const coverage = await coverageOf([bench.root], kept, tests, ["a.ts"], (what) => reported.push(what));
    assert.deepEqual(reported.filter((what) => what.includes("left out")), [
      "broken_test.ts fails without any mutant, or takes too long, and is left out",
    ]);
    const outcomes: string[] = [];
    for (const mutant of mutantsOf("a.ts", code)) {
      const { outcome } = await bench.try(mutant, coverage);
      outcomes.push(`${mutant.after.trim()} ${outcome}`);
    }
    assert.deepEqual(outcomes, [
      "return n < 10 || n > 0; killed",
      "return n <= 10 && n > 0; killed",
      "return n < 10 && n >= 0; survived",
      "return n % 2 !== 1; uncovered",
    ]);
    assert.equal(await Deno.readTextFile(`${bench.root}/a.ts`), code, "the mutant is reverted");
    reported = [];
    await coverageOf([bench.root], kept, ["a_test.ts"], ["a.ts"], (what) => reported.push(what));
    assert.equal(reported.join(), "", "what was covered is remembered");
    await Deno.writeTextFile(`${bench.root}/a.ts`, `${code}// changed\n`);
    await coverageOf([bench.root], kept, ["a_test.ts"], ["a.ts"], (what) => reported.push(what));
    assert.equal(reported.join(), "covering a_test.ts", "until a file changes");
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
