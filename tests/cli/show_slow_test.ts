// `flemma show` as a process: at a terminal with a pager, into a pipe, and as a page in a file.

import assert from "node:assert/strict";
import { pagerCommand } from "../../commands/read/show/pager.ts";
import { sha256 } from "../../base/hash.ts";
import { PNG } from "../pictures.ts";
import { type Scene, testWithScene as test } from "./harness.ts";
import { AtTerminal } from "./terminal.ts";
import { writeProgram } from "../folder.ts";

const KEY = "ghp_a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8";
const DOCUMENT = `@You:\nIs *this* it? ${KEY}\n\n@Assistant:\nYes.\n`;

/** A pager that says what it got by its environment, and passes the text on. */
function withPager(place: Scene): Readonly<Record<string, string>> {
  writeProgram(
    place.path("pager"),
    '#!/bin/sh\necho "paged with LESS=$LESS and $1"\ncat\necho "end of pager"\n',
  );
  return { PAGER: `${place.path("pager")} --option` };
}

test("in a pipe, show uses neither colors nor a pager; --color always, --plain and --width change the output", async (place) => {
  place.write("a.chat", DOCUMENT);
  const env = withPager(place);
  const drawn = await place.run(["show", "a.chat"], { env });
  assert.equal(
    drawn.stdout,
    `── You ${"─".repeat(73)}\n  Is *this* it? ${KEY}\n\n── Assistant ${"─".repeat(67)}\n  Yes.\n`,
  );
  assert.deepEqual([drawn.code, drawn.stderr], [0, ""]);
  const colored = await place.run(["show", "a.chat", "--color", "always", "--width", "20"]);
  assert.ok(colored.stdout.includes("\x1b[1;32mYou\x1b[0m \x1b[2m─────────────\x1b[0m\n"), colored.stdout);
  assert.ok(colored.stdout.includes("\x1b[3mthis\x1b[0m"));
  const plain = await place.run(["show", "a.chat", "--plain"]);
  assert.equal(plain.stdout, `You:\n\nIs *this* it? ${KEY}\n\nAssistant:\n\nYes.\n\n`);
  const piped = await place.run(["show", "--plain"], { stdin: DOCUMENT });
  assert.equal(piped.stdout, plain.stdout);
});

test("show at a terminal uses the person's pager, with colors, unless the person turned it off", async (place) => {
  place.write("a.chat", DOCUMENT);
  const pager = withPager(place);
  const shown = async (words: readonly string[], env: Readonly<Record<string, string>>) =>
    await new AtTerminal(place, ["show", "a.chat", ...words], { env: { NO_COLOR: "", ...env } }).ended();
  const paged = await shown([], pager);
  assert.equal(paged.code, 0);
  assert.match(paged.shown, /^paged with LESS=FRX and --option\n[^]*end of pager\n$/);
  assert.ok(paged.shown.includes("\x1b[1;32mYou\x1b[0m"));
  const bare = await shown([], { PAGER: "/no/such/pager" });
  assert.deepEqual([bare.code, bare.shown.includes("\x1b["), bare.shown.includes("Yes.")], [0, true, true]);
  const plain = (await shown(["--no-pager"], { ...pager, NO_COLOR: "1" })).shown;
  assert.ok(plain.startsWith("── You ─") && plain.includes("Is *this* it?"), plain);
});

Deno.test("the pager is that of FLEMMA_PAGER, else of PAGER, else less; with cat, an empty value or a dumb terminal, no pager is used", () => {
  const cases: readonly (readonly [Readonly<Record<string, string>>, string | null])[] = [
    [{}, "less"],
    [{ PAGER: "more" }, "more"],
    [{ PAGER: "more", FLEMMA_PAGER: "less -S" }, "less -S"],
    [{ PAGER: "more", FLEMMA_PAGER: "cat" }, null],
    [{ PAGER: "more", FLEMMA_PAGER: "" }, null],
    [{ PAGER: " cat " }, null],
    [{ PAGER: "  " }, null],
    [{ PAGER: "more", TERM: "dumb" }, null],
  ];
  for (const [variables, wanted] of cases) {
    assert.equal(pagerCommand(variables), wanted, JSON.stringify(variables));
  }
});

test("leaving the pager early is not an error, and Ctrl-C goes to the pager", async (place) => {
  place.write("long.chat", `@You:\n${"One more line.\n\n".repeat(60_000)}`);
  const early = await new AtTerminal(place, ["show", "long.chat"], { env: { PAGER: "head -n 1" } }).ended();
  assert.equal(early.code, 0, early.shown);
  assert.match(early.shown, /^── You ─+\n$/);
  writeProgram(
    place.path("waits"),
    "#!/bin/sh\ntrap 'echo heard; exit 0' INT\nhead -n 1\necho ready\nwhile :; do sleep 0.1; done\n",
  );
  const pager = new AtTerminal(place, ["show", "long.chat"], { env: { PAGER: place.path("waits") } });
  await pager.press("ready", "\x03");
  await pager.until("heard");
  const { code, shown } = await pager.ended();
  assert.equal(code, 0, shown);
});

test("show --html masks secrets and says so, and overwrites a file only if it is an earlier page", async (place) => {
  place.write("a.chat", DOCUMENT);
  const made = await place.run(["show", "a.chat", "--html", "-o", "a.html"]);
  assert.deepEqual([made.code, made.stdout], [0, ""]);
  assert.equal(
    made.stderr,
    "flemma: 1 secret is masked in the page. It may contain other secrets: check it before you share it.\n" +
      "flemma:   line 2: GitHub token\n",
  );
  const page = place.read("a.html");
  assert.ok(!page.includes(KEY) && page.includes("[masked]") && page.includes("<em>this</em>"));
  await place.exits(0, ["show", "a.chat", "--html", "-o", "a.html"]);
  assert.equal((await place.run(["show", "a.chat", "--html"])).stdout, page);
  const clean = await place.run(["show", "--html"], { stdin: "@You:\nHello.\n" });
  assert.deepEqual([clean.code, clean.stderr], [0, ""]);
  for (const name of ["a.chat", "notes.txt"]) {
    if (name !== "a.chat") place.write(name, "mine\n");
    const before = place.read(name);
    const refused = await place.exits(1, ["show", "a.chat", "--html", "-o", name]);
    assert.match(refused.stderr, /already exists, and flemma show did not write it\.\n {2}Name another file/);
    assert.equal(place.read(name), before);
  }
  for (const [output, stated] of [[".", /is a folder/], ["no/a.html", /There is no folder/]] as const) {
    const refused = await place.exits(1, ["show", "a.chat", "--html", "-o", output]);
    assert.match(refused.stderr, stated);
  }
});

test("show does not overwrite an empty document with an HTML page", async (place) => {
  place.write("empty.chat", "");
  await place.exits(1, ["show", "empty.chat", "--html", "-o", "empty.chat"]);
  assert.equal(place.read("empty.chat"), "");
});

test("show --files puts the referenced files into the HTML page, as far as the policy allows reading them", async (place) => {
  place.write("notes.md", `# Notes\n${KEY}\n`);
  place.write("hidden.md", "hidden\n");
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
  place.write("dot.png", Uint8Array.from(atob(png), (character) => character.charCodeAt(0)));
  place.write(
    "a.chat",
    "@You:\nSee @./notes.md, @./dot.png, @./none.md, @./hidden.md and @./notes.md again.\n",
  );
  place.settings(`sandbox:\n  policy:\n    deny_read:\n      - ${place.path("hidden.md")}\n`);
  const without = await place.run(["show", "a.chat", "--html"]);
  assert.ok(!without.stdout.includes("# Notes"));
  const made = await place.exits(0, ["show", "a.chat", "--html", "--files"]);
  assert.deepEqual(made.stderr.split("\n").map((line) => line.replace("flemma: ", "")), [
    "./notes.md is included in the page, with its current content.",
    "./dot.png is included in the page, with its current content.",
    "./none.md is not included in the page: No such file or directory.",
    "./hidden.md is not included in the page: the sandbox policy hides it (see flemma sandbox status).",
    "1 secret is masked in the page. It may contain other secrets: check it before you share it.",
    "  ./notes.md: GitHub token",
    "",
  ]);
  assert.ok(made.stdout.includes("# Notes\n[masked]"));
  assert.ok(made.stdout.includes(`<img src="data:image/png;base64,${png}" alt="./dot.png">`));
  assert.equal(made.stdout.split("./notes.md</summary>").length, 2);
});

test("show --files puts images returned by tools into the HTML page, and reports those that were not kept", async (place) => {
  const name = await sha256(PNG);
  const folder = `${place.folder}/state/flemma/attachments`;
  Deno.mkdirSync(folder, { recursive: true });
  Deno.writeFileSync(`${folder}/${name}`, PNG);
  place.write(
    "a.chat",
    `@You:\n**Tool Result:** \`c1\` (attachments=${name},${
      "0".repeat(64)
    })\n\n\`\`\`\n[image/png, 70B]\n\`\`\`\n`,
  );
  const made = await place.run(["show", "a.chat", "--html", "--files"]);
  assert.ok(made.stdout.includes(`<img src="data:image/png;base64,${PNG.toBase64()}"`), made.stderr);
  assert.deepEqual(made.stderr.split("\n").slice(0, 2), [
    `flemma: ${name.slice(0, 8)} (result of c1) is included in the page, with its current content.`,
    "flemma: 00000000 (result of c1) is not included in the page: it is not saved on this machine.",
  ]);
});

test("show reports options that exclude each other and says what to write instead", async (place) => {
  place.write("a.chat", DOCUMENT);
  const cases: readonly (readonly [words: readonly string[], stated: string])[] = [
    [["--html", "--plain"], "--html and --plain cannot be combined."],
    [["--output", "x"], "--output needs --html."],
    [["--files"], "--files needs --html."],
    [["--color", "red"], "--color cannot be red."],
    [["--width", "19"], "A width of 19 is too small."],
    [["--html", "--output", ""], "--output needs the name of a file."],
  ];
  const runs = await Promise.all(cases.map(([words]) => place.run(["show", "a.chat", ...words])));
  for (const [at, { code, stdout, stderr }] of runs.entries()) {
    const [words, stated] = cases[at]!;
    assert.deepEqual([code, stdout], [2, ""], words.join(" "));
    assert.ok(stderr.includes(stated), stderr);
  }
  await place.exits(1, ["show", "none.chat"]);
  const empty = await place.run(["show", "--plain"], { stdin: "Only words.\n" });
  assert.deepEqual([empty.code, empty.stdout, empty.stderr], [
    0,
    "Before the first message:\n\nOnly words.\n\n",
    "flemma: - has no messages.\n",
  ]);
});
