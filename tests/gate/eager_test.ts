// A marked program does what it did before, and the functions that were called are the ones in parentheses.

import assert from "node:assert/strict";
import { type Called, compiledEagerly } from "../../scripts/build/eager.ts";

/** The functions whose text begins with one of the given words, as the engine would report them. */
function calledIn(code: string, ...texts: string[]): Called {
  const called = new Map<number, Set<number>>();
  for (const text of texts) {
    const at = code.indexOf(text);
    assert.ok(at >= 0, text);
    const start = /^(async )?function/.test(text) ? code.indexOf("(", at) : at;
    const end = at + text.length;
    called.set(end, (called.get(end) ?? new Set()).add(start));
  }
  return called;
}

/** What the module exports as `result`. */
async function resultOf(code: string): Promise<unknown> {
  const { result } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return result;
}

const ROWS: readonly (readonly [what: string, code: string, called: readonly string[], marked: string])[] = [
  [
    "a declaration becomes a variable at the head",
    "const result=f(2);function f(a){return a+1}export{result};",
    ["function f(a){return a+1}"],
    "var f=(function(a){return a+1});const result=f(2);export{result};",
  ],
  [
    "an arrow function is put in parentheses",
    "const f=a=>a+1,result=f(2);export{result};",
    ["a=>a+1"],
    "const f=(a=>a+1),result=f(2);export{result};",
  ],
  [
    "of two arrow functions that end together only the called one",
    "const f=a=>b=>a+b,result=f(1)(2);export{result};",
    ["b=>a+b"],
    "const f=a=>(b=>a+b),result=f(1)(2);export{result};",
  ],
  [
    "functions in a declaration that moves move along",
    "const result=f();function f(){return[1,2].map(a=>a*2).join()}export{result};",
    ["function f(){return[1,2].map(a=>a*2).join()}", "a=>a*2"],
    "var f=(function(){return[1,2].map((a=>a*2)).join()});const result=f();export{result};",
  ],
  [
    "what nobody called stays as it is",
    "const result=[f,g].length;function f(){}function g(){}export{result};",
    [],
    "const result=[f,g].length;function f(){}function g(){}export{result};",
  ],
  [
    "generators and asynchronous functions stay what they are",
    "const result=[...f()].join()+h.constructor.name;function* f(){yield 1}async function h(){}export{result};",
    ["async function h(){}"],
    "var h=(async function(){});const result=[...f()].join()+h.constructor.name;function* f(){yield 1}export{result};",
  ],
];

for (const [what, code, called, marked] of ROWS) {
  Deno.test(`the build marks functions: ${what}`, async () => {
    assert.equal(compiledEagerly(code, calledIn(code, ...called)), marked);
    assert.deepEqual(await resultOf(marked), await resultOf(code));
  });
}

Deno.test("the build marks a generator that was called", async () => {
  const code = "const result=[...f(3)].join();function*f(a){yield a}export{result};";
  const at = code.indexOf("function*f");
  const called = new Map([[code.indexOf("}", at) + 1, new Set([code.indexOf("(", at)])]]);
  const marked = compiledEagerly(code, called);
  assert.equal(marked, "var f=(function*(a){yield a});const result=[...f(3)].join();export{result};");
  assert.equal(await resultOf(marked), "3");
});
