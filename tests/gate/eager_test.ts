// The build moves functions that run at start into parentheses, without changing what the program does.

import assert from "node:assert/strict";
import { compiledEagerly } from "../../scripts/build/eager.ts";
import type { Called } from "../../scripts/build/nodes.ts";

/** The functions whose text begins with one of the given words, as the engine would report them. */
function calledIn(code: string, ...texts: string[]): Called {
  const called = new Map<number, Set<number>>();
  for (const text of texts) {
    const at = code.indexOf(text);
    assert.ok(at >= 0, text);
    const start = /^(async )?(function|\*|#|get |set |static |\w+\()/.test(text) ? code.indexOf("(", at) : at;
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
    "a function declaration becomes a variable at the beginning",
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
    "if two arrow functions end together, only the called one is marked",
    "const f=a=>b=>a+b,result=f(1)(2);export{result};",
    ["b=>a+b"],
    "const f=a=>(b=>a+b),result=f(1)(2);export{result};",
  ],
  [
    "functions inside a declaration that is moved are moved with it",
    "const result=f();function f(){return[1,2].map(a=>a*2).join()}export{result};",
    ["function f(){return[1,2].map(a=>a*2).join()}", "a=>a*2"],
    "var f=(function(){return[1,2].map((a=>a*2)).join()});const result=f();export{result};",
  ],
  [
    "functions that are not called stay unchanged",
    "const result=[f,g].length;function f(){}function g(){}export{result};",
    [],
    "const result=[f,g].length;function f(){}function g(){}export{result};",
  ],
  [
    "generators and asynchronous functions keep their kind",
    "const result=[...f()].join()+h.constructor.name;function* f(){yield 1}async function h(){}export{result};",
    ["async function h(){}"],
    "var h=(async function(){});const result=[...f()].join()+h.constructor.name;function* f(){yield 1}export{result};",
  ],
];

/** Classes and objects, each with what the marked one is to hold and what not. */
const METHODS:
  readonly (readonly [what: string, code: string, called: readonly string[], retained: RegExp])[] = [
    [
      "a method is assigned to its class as a function",
      "class A{#a=1;f(b){return this.#a+b}}const result=new A().f(2);export{result};",
      ["f(b){return this.#a+b}"],
      /static\{\$give\(this\.prototype,"value","f",\(function\(b\)\{return this\.#a\+b\}\)\)\}/,
    ],
    [
      "a getter keeps its setter",
      "class A{a=1;get f(){return this.a}set f(b){this.a=b}}const o=new A();o.f=5;const result=o.f;export{result};",
      ["get f(){return this.a}"],
      /"get","f",\(function\(\)\{return this\.a\}\)/,
    ],
    [
      "a static method and an asynchronous method",
      "class A{static async f(b){return await b}}const result=await A.f(3);export{result};",
      ["static async f(b){return await b}"],
      /\$give\(this,"value","f",\(async function\(b\)/,
    ],
    [
      "a private method gets a name that no other class uses, in all its uses",
      "class A{#f(b){return b+1}g(){return this.#f(1)+this?.#f(2)}}class B{#f(){return 1}g(){return this.#f()}}" +
      "const result=[new A().g(),new B().g()];export{result};",
      ["#f(b){return b+1}"],
      /"value","\$1_f".*this\.\$1_f\(1\)\+this\?\.\$1_f\(2\).*this\.#f\(\)/,
    ],
    [
      "a private name inside another class is left to that class",
      "class A{#f(){return class{#f=7;g(){return this.#f}}}g(){return new(this.#f())().g()}}const result=new A().g();export{result};",
      ["#f(){return class{#f=7;g(){return this.#f}}}"],
      /class\{#f=7;g\(\)\{return this\.#f\}\}/,
    ],
    [
      "a method that uses super stays a method",
      "class A{f(){return 1}}class B extends A{f(){return super.f()+1}}const result=new B().f();export{result};",
      ["f(){return super.f()+1}"],
      /class B extends A\{f\(\)\{return super/,
    ],
    [
      "private methods of a derived class stay, since its base class may use the same names",
      "class A{}class B extends A{#f(){return 1}g(){return this.#f()}}const result=new B().g();export{result};",
      ["#f(){return 1}"],
      /\{#f\(\)\{return 1\}/,
    ],
    [
      "a private method that is tested with `in` stays",
      "class A{#f(){}static is(o){return #f in o}g(){return this.#f()}}const result=[A.is(new A()),A.is({}),new A().g()];export{result};",
      ["#f(){}"],
      /class A\{#f\(\)\{\}/,
    ],
    [
      "a private getter with its setter stays, and so does a static private method",
      "class A{a=1;get #f(){return this.a}set #f(b){this.a=b}static #h(){return 3}g(){this.#f=5;return this.#f+A.#h()}}" +
      "const result=new A().g();export{result};",
      ["get #f(){return this.a}", "static #h(){return 3}"],
      /get #f\(\).*static #h\(\)/,
    ],
    [
      "methods stay if the definition of their class has effects",
      "class A{static a=[new A().f()];f(){return 4}}const result=A.a;export{result};",
      ["f(){return 4}"],
      /f\(\)\{return 4\}\}/,
    ],
    [
      "a constructor stays, and so does a method with a computed name",
      'const k="f";class A{constructor(a){this.a=a}[k](){return this.a}}const result=new A(3).f();export{result};',
      ["constructor(a){this.a=a}"],
      /class A\{constructor\(a\)\{this\.a=a\}\[k\]/,
    ],
    [
      "a method of an object becomes a function with the same name",
      "const o={a:2,f(b){return this.a+b}},result=[o.f(1),o.f.name];export{result};",
      ["f(b){return this.a+b}"],
      /\{a:2,f:\(function\(b\)\{return this\.a\+b\}\)\}/,
    ],
    [
      "functions inside a moved method are marked as well",
      "class A{f(b){return b.map(c=>c*2)}}const result=new A().f([1,2]);export{result};",
      ["f(b){return b.map(c=>c*2)}", "c=>c*2"],
      /\(function\(b\)\{return b\.map\(\(c=>c\*2\)\)\}\)\)\}/,
    ],
  ];

for (const [what, code, called, retained] of METHODS) {
  Deno.test(`the build makes called methods compile early: ${what}`, async () => {
    const marked = compiledEagerly(code, calledIn(code, ...called));
    assert.match(marked, retained);
    assert.deepEqual(await resultOf(marked), await resultOf(code));
  });
}

Deno.test("if the build moves a method out of its class body, the method has the same property attributes as before", async () => {
  const code =
    "class A{f(){}get g(){return 1}}const given=n=>Object.getOwnPropertyDescriptor(A.prototype,n)," +
    'keys=[];for(const k in new A())keys.push(k);const{value,...rest}=given("f"),{get,...more}=given("g");' +
    "export const result=[keys,rest,more];";
  const marked = compiledEagerly(code, calledIn(code, "f(){}", "get g(){return 1}"));
  assert.notEqual(marked, code);
  assert.deepEqual(await resultOf(marked), await resultOf(code));
});

for (const [what, code, called, marked] of ROWS) {
  Deno.test(`the build makes called functions compile early: ${what}`, async () => {
    assert.equal(compiledEagerly(code, calledIn(code, ...called)), marked);
    assert.deepEqual(await resultOf(marked), await resultOf(code));
  });
}

Deno.test("the build makes the engine compile a generator early if the generator is called", async () => {
  const code = "const result=[...f(3)].join();function*f(a){yield a}export{result};";
  const at = code.indexOf("function*f");
  const called = new Map([[code.indexOf("}", at) + 1, new Set([code.indexOf("(", at)])]]);
  const marked = compiledEagerly(code, called);
  assert.equal(marked, "var f=(function*(a){yield a});const result=[...f(3)].join();export{result};");
  assert.equal(await resultOf(marked), "3");
});
