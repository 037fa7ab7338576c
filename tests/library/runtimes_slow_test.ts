// Library functions that need no system pass the same tests in other runtimes. `deno task test-runtimes` runs all of
// them in several versions; here the shorter ones run in the installed runtimes.

import assert from "node:assert/strict";
import { ROOT } from "../../scripts/gate/root.ts";
import { inBrowser } from "../browser.ts";
import { inFolder } from "../folder.ts";
import theirs from "./elsewhere/assertions.ts";
import { bundleTests } from "./elsewhere/bundle.ts";
import { Deno as shim, type Report, runTests } from "./elsewhere/runner.ts";

/** The short form: fewer documents made by chance, and none of those that are read by two parsers. */
const SHORT = { environment: { FLEMMA_TEST_FACTOR: "0.02" }, without: ["hostile "] };

const hasNode = await new Deno.Command("node", { args: ["--version"], stdout: "null" }).output()
  .then(({ success }) => success, () => false);

function holds({ passed, failed }: Report): void {
  assert.deepEqual(failed, []);
  // So many there were when this was written; a bundle without tests would hold as well.
  assert.ok(passed >= 480, `${passed} tests ran`);
}

Deno.test({
  name: "the tests of documents, prose, the Lezer parser and evaluation pass in Node",
  ignore: !hasNode,
  async fn() {
    await inFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/tests.mjs`, await bundleTests({ hasAssert: true, ...SHORT }));
      const { stdout } = await new Deno.Command("node", { args: [`${folder}/tests.mjs`], stderr: "inherit" })
        .output();
      holds(JSON.parse(new TextDecoder().decode(stdout)));
    });
  },
});

Deno.test("the tests of documents, prose, the Lezer parser and evaluation pass in a browser", async () => {
  holds(await inBrowser(await bundleTests({ hasAssert: false, ...SHORT })) as Report);
});

Deno.test("every test of the parser runs in other runtimes, except the test that starts a browser", async () => {
  const listed = await Deno.readTextFile(`${ROOT}/tests/library/elsewhere/all.ts`);
  const folders = ["parser", "parser/lezer", "parser/reference"];
  const tests = folders.flatMap((folder) =>
    Array.from(Deno.readDirSync(`${ROOT}/tests/${folder}`), ({ name }) => `${folder}/${name}`)
  ).filter((path) => path.endsWith("_test.ts"));
  assert.deepEqual(tests.filter((path) => !listed.includes(`"../../${path}"`)), [
    "parser/lezer/codemirror_slow_test.ts",
  ]);
});

Deno.test("if a test fails in another runtime, its name is reported, other tests run, and excluded tests do not", async () => {
  const elsewhere = shim as typeof Deno;
  const ran: string[] = [];
  elsewhere.test("first", () => assert.equal(1, 2));
  elsewhere.test("hostile", () => void ran.push("hostile"));
  elsewhere.test({ name: "ignored", ignore: true, fn: () => void ran.push("ignored") });
  elsewhere.test("steps", async (t) => {
    await t.step("good", () => void ran.push("good"));
    await t.step("bad", () => Promise.reject(new Error("no")));
  });
  const { passed, failed } = await runTests(["host"]);
  assert.deepEqual(ran, ["good"]);
  assert.equal(passed, 2);
  assert.deepEqual(failed.map(({ name }) => name), ["first", "steps ... bad"]);
  assert.match(failed[1]!.error, /no/);
  assert.throws(() => elsewhere.pid, /Deno\.pid, which is there only in Deno/);
});

Deno.test("the assertions for other runtimes pass and fail as those of Node do", () => {
  const cyclic = [1, 2];
  const values: unknown[] = [
    ...[0, -0, NaN, 1, "1", null, undefined, true, "", 1n],
    ...[[], [1, 2], [1, 2, 3], cyclic, [undefined], new Array(1), {}, { a: 1 }, { a: undefined }, { b: 1 }],
    ...[{ a: { b: [1] } }, { a: { b: [2] } }, Object.create(null)],
    ...[new Uint8Array([1, 2]), new Uint8Array([1, 3]), new Map([[1, 2]]), new Map([[1, 3]])],
    ...[new Set([1]), new Set([2]), new Error("a"), new Error("b"), new Date(0), new Date(1), /a/, /b/],
  ];
  const holds = (body: () => void) => {
    try {
      body();
      return true;
    } catch {
      return false;
    }
  };
  for (const a of values) {
    for (const b of values) {
      for (const name of ["equal", "notEqual", "deepEqual"] as const) {
        assert.equal(
          holds(() => theirs[name](a, b)),
          holds(() => assert[name](a, b)),
          `${name} of ${Deno.inspect(a)} and ${Deno.inspect(b)}`,
        );
      }
    }
    assert.equal(holds(() => theirs(a)), holds(() => assert(a)), Deno.inspect(a));
  }
  for (const name of ["match", "doesNotMatch"] as const) {
    for (const text of ["a", "b"]) {
      assert.equal(holds(() => theirs[name](text, /a/)), holds(() => assert[name](text, /a/)));
    }
  }
  const bodies = [() => {}, () => {
    throw new RangeError("far");
  }];
  for (const body of bodies) {
    for (const expected of [undefined, /far/, /near/, RangeError, SyntaxError]) {
      assert.equal(
        holds(() => theirs.throws(body, expected as RegExp)),
        holds(() => assert.throws(body, expected as RegExp)),
        `${body} ${expected}`,
      );
    }
  }
  assert.throws(() => theirs.ok(false, "said"), /said/);
});
