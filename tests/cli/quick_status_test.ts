// `flemma status` without opening a session says the same as with one, for a file and for piped text.

import assert from "node:assert/strict";
import { type Scene, testWithScene as test } from "./harness.ts";

const SETTLED = `@You:
Go.

@Assistant:
**Tool Use:** \`bash\` (\`c1\`)

\`\`\`json
{"command":"true"}
\`\`\`

@You:

**Tool Result:** \`c1\`

\`\`\`
out
\`\`\`

@Assistant:
Done.

@You:
Thanks.
`;

/** What each way of asking gets: of the file, and of its text. */
async function reported(place: Scene, rows: readonly Row[]): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const { words, stdin } of rows) {
    const { code, stdout, stderr } = await place.run(["status", ...words], { stdin });
    all.push({ words, code, stated: words.includes("--json") ? JSON.parse(stdout) : stdout, stderr });
  }
  return all;
}

interface Row {
  readonly words: readonly string[];
  readonly stdin?: string;
}

const ROWS: readonly Row[] = [
  { words: ["a.chat"] },
  { words: ["a.chat", "--json"] },
  { words: ["-", "--json", "--name", "a.chat"], stdin: `${SETTLED}And more.\n` },
  { words: ["-", "--json"], stdin: SETTLED },
  { words: ["--name", "new.chat"], stdin: SETTLED },
];

test("status without a session prints the same as with a session, for a file and for piped text", async (place) => {
  place.settings("model: claude-sonnet-5-5\nsandbox: { policy: { network: { allow: [example.org] } } }\n");
  place.write("a.chat", SETTLED);
  const quiet = await reported(place, ROWS);
  // A place for skills leaves it to the session, and has nothing to say by itself.
  Deno.mkdirSync(place.path(".agents/skills"), { recursive: true });
  assert.deepEqual(quiet, await reported(place, ROWS));
  const { document, sandbox } = JSON.parse((await place.run(["status", "a.chat", "--json"])).stdout);
  assert.equal(document, place.path("a.chat"));
  assert.deepEqual([sandbox.enabled, sandbox.network], [true, "list"]);
});

test("status refuses a text that is not a document, and says so only once", async (place) => {
  for (const words of [["status", "-"], ["status", "-", "--json"]]) {
    const { code, stdout, stderr } = await place.run(words, { stdin: new Uint8Array([0xff, 0xfe, 0, 1]) });
    assert.ok(code !== 0);
    assert.equal(stdout, "");
    assert.equal(stderr.match(/is not valid UTF-8/g)?.length, 1, stderr);
  }
});

test("warnings about settings files are counted, and not those about keys of the editor plugin", async (place) => {
  const lineOf = async (settings: string) => {
    place.settings(settings);
    const { stdout } = await place.run(["status", "a.chat"]);
    return /^settings: .*$/m.exec(stdout)?.[0] ?? null;
  };
  for (const text of [SETTLED, `\`\`\`yaml\nflemma: { model: m }\n\`\`\`\n\n${SETTLED}`]) {
    place.write("a.chat", text);
    assert.equal(await lineOf("ui: { usage: {} }\n"), null);
    assert.equal(
      await lineOf("ui: { usage: {} }\nlogging: { level: debug }\n"),
      "settings: 1 warning, see: flemma config check a.chat",
    );
    const checked = await place.run(["config", "check", "a.chat"]);
    assert.match(checked.stdout + checked.stderr, /"logging" has no effect/);
  }
});
