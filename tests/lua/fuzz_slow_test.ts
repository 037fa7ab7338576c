// Random Lua: every block ends in variables or in problems with known codes, never in a crash.

import assert from "node:assert/strict";
import fc from "fast-check";
import { runLua } from "./lua.ts";

const CODES = /^(?:frontmatter_(?:lua_syntax|undefined_variable|runtime)|config_\w+)$/;

/** Expressions over everything a document can reach, hostile ones among them. */
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(
      ..."nil true 1 -1 0.5 1e9 'x' '%d%s' '.-' '%b()' 'bash' {} {1,2} {x=1} a b string table math os vim.fn symbols"
        .split(" "),
      "flemma.opt",
      "flemma.opt.tools",
      "flemma.opt.thinking",
      "flemma.opt.tools.auto_approve",
      "__filename",
      "function(...) return ... end",
      "function(n) return n + 1 end",
      "(function() local function f() return f() end return f end)()",
    ),
    fc.tuple(
      fc.constantFrom(
        ..."string.rep string.find string.match string.gmatch string.gsub string.format string.byte string.char string.sub"
          .split(" "),
        ..."table.concat table.insert table.remove table.sort math.floor math.max math.random os.date os.time"
          .split(" "),
        ..."tostring tonumber type pcall error select ipairs pairs assert print format.number format.money"
          .split(" "),
        ..."values each vim.fn.fnamemodify vim.fs.normalize include a".split(" "),
      ),
      fc.array(tie("expression"), { maxLength: 4 }),
    ).map(([name, args]) => `${name}(${args.join(", ")})`),
    fc.tuple(
      tie("expression"),
      fc.constantFrom("+", "-", "*", "/", "%", "^", "..", "==", "<", "and", "or"),
      tie("expression"),
    )
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    tie("expression").map((inner) => `#(${inner})`),
    fc.tuple(tie("expression"), tie("expression")).map(([table, key]) => `(${table})[${key}]`),
    fc.tuple(tie("expression"), tie("expression")).map(([key, value]) => `{ [${key}] = ${value} }`),
    fc.tuple(
      tie("expression"),
      fc.constantFrom("append", "remove", "set", "upper", "rep", "gsub"),
      tie("expression"),
    )
      .map(([object, method, arg]) => `(${object}):${method}(${arg})`),
  ),
}));

const statement = fc.tuple(
  fc.constantFrom(
    "a = $",
    "b = $",
    "a[1] = $",
    "flemma.opt.timeout = $",
    "flemma.opt.tools = $",
    "flemma.opt.tools.auto_approve = $",
    "flemma.opt[$] = $",
    "pcall(function() return $ end)",
    "for k, v in pairs($) do a = k end",
    "for k in values($) do b = k end",
    "while $ do a = $ end",
    "local ok, text = pcall(function() a = $ end)",
    "string.upper = $",
    "$",
    "$ $",
  ),
  expression,
).map(([shape, inner]) => shape.replaceAll("$", () => inner));

Deno.test("random chunks end with variables or with problems, never with a crash, and the program continues", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(statement, { minLength: 1, maxLength: 6 }), async (statements) => {
      const { variables, problems } = await runLua(["a, b = {}, 1", ...statements].join("\n"), {
        steps: 200_000,
        memory: 8 * 1024 * 1024,
        string: 1024 * 1024,
      });
      assert.equal(variables === null, problems.length > 0);
      for (const { code, message } of problems) {
        assert.match(code, CODES);
        assert.doesNotMatch(message, /crashed the interpreter/);
      }
    }),
    { seed: 20261128, numRuns: 1500 },
  );
});
