import assert from "node:assert/strict";
import { asSentence, problemLine, problemParagraph, thrownText } from "../../base/problem.ts";

Deno.test("a system error is reported without its number and the name of the system call", () => {
  const failing = [
    () => Deno.readFileSync("/no/such 'file'"),
    () => Deno.realPathSync("/no/such"),
    () => Deno.mkdirSync("/proc/nothing"),
    () => Deno.renameSync("/no/such", "/no/other"),
    () => Deno.writeFileSync("/", new Uint8Array()),
  ];
  for (const act of failing) {
    assert.throws(act, (thrown) => {
      assert.match(String(thrown), /os error/, "the system error contains more than that");
      assert.match(thrownText(thrown), /^(?:No such file or directory|Is a directory)$/);
      return true;
    });
  }
  assert.equal(thrownText(new Error("Connection refused (os error 111)")), "Connection refused");
  assert.equal(thrownText(new Error("Two\n  lines of ours")), "Two lines of ours");
  assert.equal(thrownText("a word"), "a word");
});

Deno.test("a problem on one line says what is wrong and, if there is a remedy, what to do", () => {
  assert.equal(problemLine({ message: "It broke." }), "It broke.");
  assert.equal(problemLine({ message: "It broke.", next: "Mend it." }), "It broke. Mend it.");
});

Deno.test("a sentence before another one ends with a period, also if a provider wrote it", () => {
  assert.equal(problemLine({ message: 'api_error — model "x"' }), 'api_error — model "x"');
  for (const end of ["overloaded", "HTTP 500", 'model "x"', "(a)", "`x`", "[1]", "überlastet"]) {
    assert.equal(problemLine({ message: `It is ${end}`, next: "Wait." }), `It is ${end}. Wait.`);
  }
  for (const end of [".", "!", "?", ":", "…"]) {
    assert.equal(problemLine({ message: `Why${end}`, next: "Wait." }), `Why${end} Wait.`);
  }
  const problem = { code: "x", message: "Too many", details: ["reset: 3 s"], next: "Wait: flemma status" };
  assert.equal(problemParagraph(problem), "Too many. reset: 3 s. Wait: flemma status");
});

Deno.test("a text that becomes a sentence gets a period only if it has no end of its own", () => {
  assert.equal(asSentence("It is gone"), "It is gone.");
  for (const end of [".", "?", "!"]) assert.equal(asSentence(`It is gone${end}`), `It is gone${end}`);
});
