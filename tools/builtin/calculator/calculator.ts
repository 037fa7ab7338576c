// The tools that evaluate arithmetic expressions.

import { textOrEmpty } from "../../../base/is_object.ts";
import { type BuiltinTool, CODING_ASSISTANT, type ExecutionResult } from "../../definition.ts";
import { inputValidator } from "../../validate.ts";
import { strictObject } from "../schema.ts";
import { validators } from "../validators.generated.ts";
import { evaluateExpression, ExpressionFault } from "./expression.ts";
import { numberText } from "./number_text.ts";

/** Default delay of calculator_async in milliseconds. */
const USUAL_DELAY = 1000;
/** Maximum delay in milliseconds. */
const MOST_DELAY = 60_000;

const NOTATION =
  "numbers, + - * / // % ^, parentheses, comparisons, pi, huge and the functions of Lua's math library";

const expression = { type: "string", description: `The expression: ${NOTATION}.` };

/** Defines calculator; `enabled` says whether requests offer it by default. */
export function calculatorTool({ enabled }: { readonly enabled: boolean }): BuiltinTool {
  return {
    name: "calculator",
    description: "Evaluates an arithmetic expression and returns its value.",
    input_schema: strictObject({ expression }),
    strict: true,
    effects: "none",
    runs: "here",
    enabled,

    personalities: {
      [CODING_ASSISTANT]: {
        snippet: "evaluates an arithmetic expression",
        guidelines: ["Use calculator for arithmetic that must be exact."],
      },
    },
    validate: inputValidator(validators.calculator),
    format_preview: (input) => textOrEmpty(input.expression),
    execute: (input) => calculate(textOrEmpty(input.expression)),
  };
}

/** Defines calculator_async, which answers after a delay. It serves to try out what happens during long calls. */
export function calculatorAsyncTool(): BuiltinTool {
  return {
    name: "calculator_async",
    description: "Evaluates an arithmetic expression after a delay and returns its value.",
    input_schema: strictObject({
      expression,
      delay: {
        type: ["number", "null"],
        description: `Milliseconds to wait, at most ${MOST_DELAY} (null: ${USUAL_DELAY}).`,
      },
    }),
    strict: true,
    effects: "none",
    runs: "here",
    enabled: false,
    async: true,
    validate: inputValidator(validators.calculator_async),
    format_preview: ({ expression, delay }) =>
      `${textOrEmpty(expression)}${typeof delay === "number" ? `  # ${delay}ms` : ""}`,
    execute(input, _context, callback) {
      const delay = typeof input.delay === "number" ? input.delay : USUAL_DELAY;
      const wait = Math.min(Math.max(0, delay), MOST_DELAY);
      const timer = setTimeout(() => callback(calculate(textOrEmpty(input.expression))), wait);
      return () => clearTimeout(timer);
    },
  };
}

function calculate(expression: string): ExecutionResult {
  try {
    const value = evaluateExpression(expression);
    return { success: true, output: typeof value === "number" ? numberText(value) : String(value) };
  } catch (thrown) {
    if (thrown instanceof ExpressionFault) return { success: false, error: thrown.message };
    throw thrown;
  }
}
