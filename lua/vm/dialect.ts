// Translates the Lua of documents (5.1 with LuaJIT's additions) to the Lua of the interpreter.
//
// Line numbers stay the same. Integers become floats, so that all arithmetic uses doubles as documents expect; newer
// operators and attributes are rejected; `_ENV`, an ordinary name in 5.1, is renamed.

/** Reason why a chunk is not valid Lua for documents. */
export interface DialectFault {
  readonly message: string;
  /** Line of the chunk, 1-based. */
  readonly line: number;
}

const TOKEN = new RegExp(
  [
    String.raw`(?<skip>[ \t\r\n\v\f]+|--(?!\[=*\[)[^\n]*)`,
    String.raw`(?<long>(?:--)?\[(?<level>=*)\[)`,
    String.raw`(?<quoted>"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?)`,
    String
      .raw`(?<number>(?:0[xX][\da-fA-F]*\.?[\da-fA-F]*(?:[pP][+-]?\d+)?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[\w\u0080-\uffff]*)`,
    // Every byte above ASCII is a letter, as in LuaJIT.
    String.raw`(?<name>[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)`,
    String.raw`(?<operator>\.\.\.?|//|<<|>>|[<>=~]=|::|[^])`,
  ].join("|"),
  "y",
);

const LATER_OPERATORS = new Set(["//", "&", "|", "~", "<<", ">>"]);

/** Returns the chunk for the interpreter, or the first token that this dialect does not have. */
export function toDialect(code: string): string | DialectFault {
  let out = "";
  /** True after `local`: the names that follow could have an attribute. */
  let inLocal = false;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < code.length) {
    const from = TOKEN.lastIndex;
    const groups: Record<string, string | undefined> = TOKEN.exec(code)?.groups ?? {};
    if (groups.long !== undefined) {
      const end = code.indexOf(`]${groups.level}]`, TOKEN.lastIndex);
      TOKEN.lastIndex = end < 0 ? code.length : end + 2 + (groups.level ?? "").length;
    }
    const text = code.slice(from, TOKEN.lastIndex);
    const { number, name, operator } = groups;
    if (number !== undefined) out += asFloat(number);
    else if (name === "_ENV") out += "_ENV_";
    else if (operator !== undefined && LATER_OPERATORS.has(operator)) {
      return { message: `this Lua has no operator ${operator}`, line: lineOf(code, from) };
    } else if (operator === "<" && inLocal) {
      return { message: "this Lua has no attributes of local variables", line: lineOf(code, from) };
    } else out += text;
    if (name !== undefined) inLocal = name === "local" || (inLocal && name !== "function");
    else if (groups.skip === undefined && operator !== ",") inLocal = false;
  }
  return out;
}

function asFloat(number: string): string {
  if (!/^(?:\d+|0[xX][\da-fA-F]+)$/.test(number)) return number;
  const text = String(Number(number));
  return /[eE.]/.test(text) ? text : `${text}.0`;
}

function lineOf(code: string, offset: number): number {
  return code.slice(0, offset).split("\n").length;
}
