// Our matcher for Lua patterns compared with Lua's own, which the interpreter still contains, and with the rules of
// 5.1.

import assert from "node:assert/strict";
import fc from "fast-check";
import { DEFAULT_LIMITS } from "../../lua/vm/budget.ts";
import type { Cell } from "../../lua/vm/cell.ts";
import { startEngine } from "../../lua/engine.ts";
import { find, match } from "../../lua/library/strings.ts";
import { runLua } from "./lua.ts";

const world = { cwd: "/", home: "/", isReadable: () => false };
const { cell } = await startEngine(world, { ...DEFAULT_LIMITS, steps: 1e9, seconds: 600 });

/** Calls a function that was pushed with texts; every result as text, or the error. */
function call(push: (cell: Cell) => void, texts: readonly string[]): readonly (string | null)[] {
  const results: (string | null)[] = [];
  const raised = cell.evaluate((inner) => {
    push(inner);
    for (const text of texts) inner.pushText(text);
    const below = inner.top() - texts.length - 1;
    inner.callFunction(texts.length, -1);
    for (let index = below + 1; index <= inner.top(); index++) results.push(inner.text(index));
    return 0;
  });
  return raised === null ? results : ["error", raised.message.replace(/^.*?: /, "")];
}

function pushOwn(name: string): (cell: Cell) => void {
  return (inner) => {
    inner.pushExport(inner.lua.luaopen_string);
    inner.callFunction(0, 1);
    inner.pushMember(-1, name);
    inner.insert(-2);
    inner.pop(1);
  };
}

const piece = fc.constantFrom(
  ..."a b ab . %a %d %s %w %A %D %p %x %l %u %g %% %. [ab] [^a] [a-c] [%a_] [^%s] [] ] - * + ? ^ $ ( ) () %b() %bab %1 %2 %f[a] %f[%w] [ % %f %b"
    .split(" "),
);
const pattern = fc.array(piece, { maxLength: 7 }).map((pieces) => pieces.join(""));
const subject = fc.array(fc.constantFrom("a", "b", "c", "A", "1", " ", "(", ")", "]", "-", ".", "é", "\0"), {
  maxLength: 12,
}).map((letters) => letters.join(""));

Deno.test("find and match return the same as Lua's own functions", () => {
  fc.assert(
    fc.property(subject, pattern, (text, given) => {
      for (const [name, ours] of [["find", find], ["match", match]] as const) {
        const expected = call(pushOwn(name), [text, given]);
        const actual = call((inner) => inner.pushFunction(ours), [text, given]);
        if (expected[0] === "error") {
          assert.equal(actual[0], "error", `${name}(${text}, ${given}): ${expected[1]}`);
        } else {assert.deepEqual(
            actual,
            expected,
            `${name}(${JSON.stringify(text)}, ${JSON.stringify(given)})`,
          );}
      }
    }),
    { seed: 20261128, numRuns: 20_000 },
  );
});

Deno.test("where Lua versions differ, patterns follow the rules of Lua 5.1", async () => {
  const { printed, problems } = await runLua(`
    print(("abc"):gsub("%w*", "<%0>"))
    print(("hello"):gsub("x*", "-"))
    print(("a.b"):gsub("%.", "%%%.x"))
    print(("abc"):find("b", 10), ("abc"):find("", 10))
    print(("k=v, l=w"):gsub("(%w)=(%w)", "%2=%1"))
    print(("a b"):gsub("%w", { a = "A", b = false }), ("a b"):gsub("%w", function(x) if x == "a" then return 1 end end))
    print(("aaa"):gsub("a", "b", 2), ("abc"):gsub("^a", "x"), ("äö"):len(), ("x.y"):find(".", 1, true))
    for a, b in ("k=v, l=w"):gmatch("(%w)=(%w)") do print(a, b) end
    for w in ("ab"):gmatch("()") do print(w) end
    print(pcall(string.gsub, "x", "x", "%9"))
    print(pcall(string.find, "x", "[a"))
    print(pcall(string.rep, "x", -1), (("x"):gsub("", "-")))
  `);
  assert.deepEqual(problems, []);
  assert.deepEqual(printed, [
    "<abc><>\t2",
    "-h-e-l-l-o-\t6",
    "a%.xb\t1",
    "nil\t4\t3",
    "v=k, w=l\t2",
    "A b\t1 b\t2",
    "bba\txbc\t4\t2\t2",
    "k\tv",
    "l\tw",
    "1",
    "2",
    "3",
    "false\tinvalid capture index %9",
    "false\tmalformed pattern (missing ']')",
    "true\t-x-",
  ]);
});

Deno.test("a function that is called by gsub may move the processed text in memory", async () => {
  const { variables, problems } = await runLua(
    `local kept = {}\nresult, count = ("a-b-c-d"):gsub("%w", function(x)\n  kept[#kept + 1] = string.rep(x, 4e6)\n  return x:upper()\nend)`,
  );
  assert.deepEqual(problems, []);
  assert.deepEqual(variables, { result: "A-B-C-D", count: 4 });
});
