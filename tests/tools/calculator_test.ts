import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { builtinTools } from "../../tools/builtin/mod.ts";
import { MOST_CHARACTERS, MOST_EXPRESSION_LEVELS } from "../../tools/builtin/calculator/expression.ts";
import { testInScene as test } from "./scene.ts";

test("calculator computes the same values as Lua, rounded to at most 14 digits", async (place) => {
  const rows: readonly (readonly [string, string])[] = [
    ["0.1+0.2", "0.3"],
    ["10/2", "5"],
    ["1/0", "inf"],
    ["-1/0", "-inf"],
    ["0/0", "nan"],
    ["1 + 2 * 3", "7"],
    ["(1 + 2) * 3", "9"],
    ["2^3^2", "512"],
    ["-2^2", "-4"],
    ["2^-1", "0.5"],
    ["-2^-2", "-0.25"],
    ["- - 3", "3"],
    ["7 - 2 - 1", "4"],
    ["8 / 4 / 2", "1"],
    ["7 // 2", "3"],
    ["-7 // 2", "-4"],
    ["7 % 3", "1"],
    ["-7 % 3", "2"],
    ["7 % -3", "-2"],
    ["-6 % 3", "-0"],
    ["5 % 0", "nan"],
    ["5 % huge", "5"],
    ["0xff + 0X10", "271"],
    ["1e3", "1000"],
    ["1.5E-3", "0.0015"],
    [".5 + 5.", "5.5"],
    ["1/3", "0.33333333333333"],
    ["2/3", "0.66666666666667"],
    ["99999999999999", "99999999999999"],
    ["1e14", "1e+14"],
    ["123456789012345678", "1.2345678901235e+17"],
    ["0.0001", "0.0001"],
    ["0.00001234", "1.234e-05"],
    ["1e100", "1e+100"],
    ["100", "100"],
    ["1 < 2", "true"],
    ["2 <= 1", "false"],
    ["1 > 2", "false"],
    ["2 >= 2", "true"],
    ["1 + 1 == 2", "true"],
    ["1 ~= 1", "false"],
    ["(1 < 2) == (3 < 4)", "true"],
    ["pi", "3.1415926535898"],
    ["math.pi - pi", "0"],
    ["-huge", "-inf"],
    ["sqrt(16) + math.sqrt(9)", "7"],
    ["max(1, 5, 3) - math.min(2, 1)", "4"],
    ["floor(-1.5)", "-2"],
    ["ceil(1.2)", "2"],
    ["abs(-3)", "3"],
    ["math.fmod(-7, 3)", "-1"],
    ["modf(-1.5)", "-1"],
    ["frexp(10)", "0.625"],
    ["ldexp(0.625, 4)", "10"],
    ["log(8, 2)", "3"],
    ["log(exp(1))", "1"],
    ["log10(1000)", "3"],
    ["log(81, 3)", "4"],
    ["pow(2, 10)", "1024"],
    ["pow(1, huge) + 1^huge + (-1)^huge", "3"],
    ["deg(pi)", "180"],
    ["rad(180) == pi", "true"],
    ["atan(1, 1) * 4 == pi", "true"],
    ["atan2(1, 1) == atan(1)", "true"],
    ["sin(0) + cos(0) + tan(0) + sinh(0) + cosh(0) + tanh(0) + asin(0) + acos(1)", "2"],
    ["random() < 1", "true"],
    ["random(1)", "1"],
    ["random(4, 4)", "4"],
    ["  1\n+\t1 ", "2"],
  ];
  for (const [expression, expected] of rows) {
    assert.equal(await place.output("calculator", { expression }), expected, expression);
  }
});

test("for empty, malformed or unknown input, calculator returns an error with the position", async (place) => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ["", /empty/],
    [" \n", /empty/],
    ["1 +", /a value is missing at the end/],
    ["(1", /\) is missing at the end/],
    ["1)", /before \)/],
    ["1 2", /before 2/],
    ["* 2", /missing before \*/],
    ["1..2", /syntax error at/],
    ["1x", /syntax error at/],
    ["0x", /syntax error at/],
    ["2 & 3", /syntax error at "& 3"/],
    ["'a'", /syntax error at/],
    ["os.exit(1)", /unknown name: os\.exit/],
    ["foo", /unknown name: foo/],
    ["math", /unknown name: math/],
    ["math.constructor(1)", /unknown name/],
    ["__proto__", /unknown name/],
    ["sqrt", /\( is missing/],
    ["sqrt()", /takes 1 argument but got 0/],
    ["log(1, 2, 3)", /takes 1 to 2 arguments but got 3/],
    ["max()", /takes at least 1 argument but/],
    ["max(1,)", /a value is missing before \)/],
    ["(1 < 2) + 1", /uses true where a number/],
    ["1 < 2 < 3", /uses true where a number/],
    ["-(1 < 2)", /uses true where a number/],
    ["pi(1)", /before \(/],
  ];
  for (const [expression, expected] of rows) {
    assert.match(await place.error("calculator", { expression }), expected, expression);
  }
});

test("the length and nesting of an expression are limited, and a long chain of operators on one level does not count as nested", async (place) => {
  const deep = (count: number) => `${"(".repeat(count)}1${")".repeat(count)}`;
  const half = MOST_EXPRESSION_LEVELS / 2;
  assert.equal(await place.output("calculator", { expression: deep(half - 1) }), "1");
  const cases = [
    deep(MOST_EXPRESSION_LEVELS),
    "-".repeat(MOST_EXPRESSION_LEVELS + 1) + "1",
    `${"2^".repeat(MOST_EXPRESSION_LEVELS)}2`,
  ];
  for (const expression of cases) {
    assert.match(await place.error("calculator", { expression }), /levels/);
  }
  assert.equal(await place.output("calculator", { expression: `${"1+".repeat(4000)}1` }), "4001");
  assert.match(await place.error("calculator", { expression: "1".repeat(MOST_CHARACTERS + 1) }), /longer/);
});

test("calculator_async returns the same values as calculator, after its delay", async (place) => {
  assert.equal(await place.output("calculator_async", { expression: "1+1", delay: 0 }), "2");
  assert.equal(await place.output("calculator_async", { expression: "1+1", delay: -5 }), "2");
  assert.match(await place.error("calculator_async", { expression: "1+", delay: 0 }), /missing/);
});

test("a call of calculator_async can be stopped while it waits", async (place) => {
  const stop = new AbortController();
  const running = place.error("calculator_async", { expression: "1+1", delay: null }, {
    signal: stop.signal,
  });
  stop.abort();
  assert.match(await running, /stopped/);
});

Deno.test("calculator is offered unless a setting disables it; calculator_async is offered only if a setting names it", () => {
  const enabled = (named: Record<string, Record<string, unknown>>) =>
    builtinTools({ ...DEFAULT_SETTINGS.tools, named })
      .filter(({ name }) => name.startsWith("calculator"))
      .map((tool) => [tool.name, tool.enabled]);
  assert.deepEqual(enabled({}), [["calculator", true], ["calculator_async", false]]);
  assert.deepEqual(enabled({ calculator: { enabled: true } })[0], ["calculator", true]);
  assert.deepEqual(enabled({ calculator: { enabled: false } })[0], ["calculator", false]);
});
