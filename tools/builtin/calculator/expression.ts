// Evaluates an arithmetic expression in Lua notation. Nothing is executed: it is parsed and evaluated in one pass.

import { computePower, functionNamed } from "./functions.ts";

/** Maximum number of characters of an expression. */
export const MOST_CHARACTERS = 10_000;
/** Maximum nesting of parentheses, signs and powers. */
export const MOST_EXPRESSION_LEVELS = 200;

/** Error that says why an expression has no value; the message is a whole sentence. */
export class ExpressionFault extends Error {}

export type Value = number | boolean;

/** Evaluates an expression. Throws `ExpressionFault`. */
export function evaluateExpression(expression: string): Value {
  if (expression.trim() === "") throw new ExpressionFault("The expression is empty.");
  if (expression.length > MOST_CHARACTERS) {
    throw new ExpressionFault(`The expression is longer than ${MOST_CHARACTERS} characters.`);
  }
  return new Reader(tokensOf(expression)).whole();
}

interface Token {
  readonly kind: "number" | "name" | "sign" | "end";
  readonly text: string;
}

const TOKEN =
  /\s*(?:(0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)|(\/\/|==|~=|<=|>=|[-+*/%^()<>,]))/y;

function tokensOf(expression: string): Token[] {
  const tokens: Token[] = [];
  const end = expression.trimEnd().length;
  for (let at = 0; at < end;) {
    TOKEN.lastIndex = at;
    const [whole = "", number, name, sign] = TOKEN.exec(expression) ?? [];
    at += whole.length;
    if (whole === "" || (number !== undefined && /[\w.]/.test(expression[at] ?? ""))) {
      const rest = expression.slice(at - (number?.length ?? 0)).trimStart();
      throw new ExpressionFault(
        `The expression has a syntax error at ${JSON.stringify(rest.slice(0, 20))}.`,
      );
    }
    const kind = number !== undefined ? "number" : name !== undefined ? "name" : "sign";
    tokens.push({ kind, text: number ?? name ?? sign ?? "" });
  }
  return tokens;
}

const END: Token = { kind: "end", text: "" };

/** Consumes tokens from the left; each method parses one precedence level and returns its value. */
class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;
  #level = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Value {
    const value = this.#comparison();
    if (this.#next().kind !== "end") throw this.#unexpected();
    return value;
  }

  #next(): Token {
    return this.#tokens[this.#at] ?? END;
  }

  /** Consumes the next token if it is one of these operators. */
  #take(...signs: readonly string[]): string | null {
    const { kind, text } = this.#next();
    if (kind !== "sign" || !signs.includes(text)) return null;
    this.#at++;
    return text;
  }

  #expect(sign: string): void {
    if (this.#take(sign) === null) throw this.#unexpected(`${sign} is missing`);
  }

  #unexpected(missing?: string): ExpressionFault {
    const { kind, text } = this.#next();
    const where = kind === "end" ? "at the end" : `before ${text}`;
    return new ExpressionFault(
      `The expression has a syntax error: ${missing ?? "unexpected text"} ${where}.`,
    );
  }

  #comparison(): Value {
    let left = this.#sum();
    for (;;) {
      const sign = this.#take("==", "~=", "<=", ">=", "<", ">");
      if (sign === null) return left;
      left = compared(sign, left, this.#sum());
    }
  }

  #sum(): Value {
    let left = this.#product();
    for (;;) {
      const sign = this.#take("+", "-");
      if (sign === null) return left;
      const [a, b] = [numeric(left), numeric(this.#product())];
      left = sign === "+" ? a + b : a - b;
    }
  }

  #product(): Value {
    let left = this.#signed();
    for (;;) {
      const sign = this.#take("*", "//", "/", "%");
      if (sign === null) return left;
      left = multiplied(sign, numeric(left), numeric(this.#signed()));
    }
  }

  #signed(): Value {
    return this.#deeper(() => this.#take("-") === null ? this.#power() : -numeric(this.#signed()));
  }

  /** Reads a power. It binds tighter than a sign before it, and accepts a sign after the operator: `-2^-2`. */
  #power(): Value {
    const base = this.#operand();
    return this.#take("^") === null ? base : computePower(numeric(base), numeric(this.#signed()));
  }

  #operand(): Value {
    const { kind, text } = this.#next();
    if (kind === "number") {
      this.#at++;
      return Number(text);
    }
    if (kind === "name") {
      this.#at++;
      return this.#named(text);
    }
    if (this.#take("(") === null) throw this.#unexpected("a value is missing");
    const value = this.#deeper(() => this.#comparison());
    this.#expect(")");
    return value;
  }

  #named(text: string): Value {
    const name = text.startsWith("math.") ? text.slice("math.".length) : text;
    if (name === "pi") return Math.PI;
    if (name === "huge") return Infinity;
    const known = functionNamed(name);
    if (known === null) throw new ExpressionFault(`The expression uses an unknown name: ${text}.`);
    this.#expect("(");
    const given: number[] = [];
    if (this.#take(")") === null) {
      do given.push(numeric(this.#deeper(() => this.#comparison()))); while (this.#take(",") !== null);
      this.#expect(")");
    }
    const { least, most, apply } = known;
    if (given.length < least || given.length > most) {
      const wanted = most === Infinity
        ? `at least ${least}`
        : least === most
        ? `${least}`
        : `${least} to ${most}`;
      throw new ExpressionFault(
        `The function ${text} takes ${wanted} argument${
          wanted.split(" ").at(-1) === "1" ? "" : "s"
        } but got ${given.length}.`,
      );
    }
    return apply(...given);
  }

  #deeper<T>(read: () => T): T {
    if (++this.#level > MOST_EXPRESSION_LEVELS) {
      throw new ExpressionFault(
        `The expression is nested more than ${MOST_EXPRESSION_LEVELS} levels deep.`,
      );
    }
    const value = read();
    this.#level--;
    return value;
  }
}

function numeric(value: Value): number {
  if (typeof value === "number") return value;
  throw new ExpressionFault(`The expression uses ${value} where a number is needed.`);
}

function compared(sign: string, left: Value, right: Value): boolean {
  if (sign === "==") return left === right;
  if (sign === "~=") return left !== right;
  const [a, b] = [numeric(left), numeric(right)];
  if (sign === "<") return a < b;
  if (sign === ">") return a > b;
  return sign === "<=" ? a <= b : a >= b;
}

function multiplied(sign: string, a: number, b: number): number {
  if (sign === "*") return a * b;
  if (sign === "/") return a / b;
  if (sign === "//") return Math.floor(a / b);
  // The remainder has the sign of the divisor.
  const rest = a % b;
  return rest !== 0 && (rest < 0) !== (b < 0) ? rest + b : rest;
}
