// Attacks by patterns in the frontmatter of a document that arrives: they neither stop the program nor take long, and a
// pattern that cannot be read approves nothing.

import { advance, type Attack, call, calling, frontmatter, mustHold, put, touch } from "./scene.ts";

const repeated = (text: string, count: number) => JSON.stringify(text.repeat(count));
const rules = (rule: string, count = 1) => `tools: { rules: [${`${rule}, `.repeat(count)}] }`;

const PATTERNS: readonly (readonly [name: string, yaml: string])[] = [
  ["20,000 braces after each other", rules(`{ deny: bash, within: [${repeated("{a}", 20_000)}] }`)],
  ["20,000 braces in each other", rules(`{ deny: bash, path: ["${"{".repeat(2e4)}${"}".repeat(2e4)}"] }`)],
  ["10,000 braces with alternatives in each other", `skills: ["${"{a,".repeat(1e4)}${"}".repeat(1e4)}"]`],
  ["braces in the name of a tool", `tools: { auto_approve: [${repeated("{a}", 20_000)}] }`],
  ["braces in an excluded tool", `tools: { auto_approve: [bash], require: [${repeated("{", 20_000)}] }`],
  ["braces in a command", rules(`{ ask: bash, command: [${repeated("{a,b}", 20_000)}] }`)],
  ["braces in a hidden path", `sandbox: { policy: { deny_read: [${repeated("{a}", 20_000)}] } }`],
  ["braces in a protected path", `sandbox: { policy: { protect: [${repeated("{a}", 20_000)}] } }`],
  ["64 alternatives of a long pattern", rules(`{ ask: bash, path: [${repeated("{a*,b*}", 6)}] }`, 200)],
  ["many wildcards in paths", rules(`{ deny: read, path: [${repeated("**a", 1_300)}] }`, 200)],
  ["many folders in paths", rules(`{ deny: read, path: [${repeated("**/a/", 800)}] }`, 200)],
  ["many wildcards in a command", rules(`{ deny: bash, command: ["touch ${"*a".repeat(2000)}"] }`, 200)],
  [
    "many double wildcards in a command",
    rules(`{ deny: bash, command: ["touch ${"** a ".repeat(900)}"] }`, 200),
  ],
  [
    "many conditions on the input",
    rules(`{ deny: bash, input: { command: [${repeated("*a", 2000)}] } }`, 200),
  ],
  ["open brackets", rules(`{ deny: bash, path: [${repeated("[", 20_000)}] }`)],
  ["a prototype", "tools: { __proto__: { rules: [{ approve: bash }] }, constructor: { prototype: {} } }"],
  [
    "a YAML bomb",
    `a: &a [x, x]\n${
      Array.from({ length: 40 }, (_, at) => {
        const [before, name] = [at, at + 1].map((each) => each === 0 ? "a" : `a${each}`);
        return `${name}: &${name} [*${before}, *${before}]`;
      }).join("\n")
    }\ntools: { auto_approve: *a40 }`,
  ],
  ["an alias of itself", "tools: &t { auto_approve: [bash], rules: *t }"],
  ["20,000 levels", `tools: { rules: ${"[".repeat(20_000)}${"]".repeat(20_000)} }`],
];

/** What the program says if it fails by a fault of its own. */
const FAILED = /Internal error|\n {4}at /;

mustHold(PATTERNS.flatMap(([name, yaml]): Attack[] => [
  {
    name: `${name} in the frontmatter stops the program, or approves a call`,
    act: async (place) => {
      place.arrive("a.chat", frontmatter(yaml, call("c1", `${touch(place)} ${"a".repeat(4000)}`)));
      place.arrive(
        "b.chat",
        frontmatter(yaml, calling("read", { path: `/${"a/".repeat(1900)}a` }, "pending")),
      );
      for (const file of ["a.chat", "b.chat"]) {
        for (const run of [place.run(["status", file]), place.run(["check", file]), advance(place, file)]) {
          const { stdout, stderr } = await run;
          if (FAILED.test(stdout + stderr)) put(place, "PWNED", "");
        }
      }
    },
  },
]));
