// The program does the same in every form of installation: as sources, bundle, package or binary.

import assert from "node:assert/strict";
import {
  asBinary,
  asPackage,
  baseOfEnvironment,
  fromSource,
  makeBundle,
  type Way,
} from "../../scripts/gate/ways.ts";
import { callsDocument, Scene } from "../cli/harness.ts";
import { callReply, type Server, textReply, withServer } from "../cli/replies.ts";
import { freshFolder } from "../folder.ts";

const CALL = (name: string, id: string, input: unknown) =>
  `**Tool Use:** \`${name}\` (\`${id}\`)\n\n\`\`\`json\n${JSON.stringify(input)}\n\`\`\`\n\n`;

const DOCUMENTS: Readonly<Record<string, string>> = {
  "two.chat": callsDocument([
    { id: "c1", command: "echo one; echo two >&2; exit 3", status: "pending" },
    { id: "c2", command: "touch /etc/x", status: "pending" },
  ]),
  // Files are read, searched and changed by a helper, which each way starts by itself. The calls run at the same time, and
  // what they say is written meanwhile, so that none looks at what another one changes.
  "files.chat": `@You:\nLook.\n\n@Assistant:\n${
    CALL("read", "r1", { path: "a.txt", offset: null, limit: null }) +
    CALL("grep", "g1", { pattern: "need+le", path: "a.txt" }) +
    CALL("edit", "e1", { path: "b.txt", oldText: "needle", newText: "thread" })
  }`,
  "question.chat": "```lua\nname = 'you'\n```\n\n@You:\nHello {{ name }}: {{ 6 * 7 }} @./a.txt\n",
  "broken.chat": "@You:\n{{ nothing.at.all }}\n\n@Assistant:\n**Tool Use:** `x` (`y`)\n\n```json\n[1\n```\n",
  "filter.chat": callsDocument([{ id: "f1", command: "echo from the filter", status: "approved" }]),
  "yaml.chat": "```yaml\nmodel: nothing/at-all\nmax_tokens: many\n```\n\n@You:\nHello\n",
};

/** What is asked, one after the other, in a place of its own; a line of shell where it begins with a blank. */
const LINES: readonly string[] = [
  "--version",
  "advance --help",
  "nonsense",
  "status two.chat --nope",
  "status two.chat --json",
  "check broken.chat",
  "check yaml.chat --json",
  "parse two.chat",
  "show two.chat",
  "approval explain two.chat",
  "approve two.chat c1",
  "execute two.chat c1",
  "advance files.chat --no-autopilot",
  "send question.chat --dry-run",
  "advance question.chat",
  " flemma advance --no-autopilot < filter.chat",
  " flemma approve nothing < two.chat; echo $?",
  "usage --json",
];

/** What came of everything that is asked in one way, with the texts that stand there in the end. */
async function asked(way: Way, folder: string, { env }: Server): Promise<Record<string, unknown>> {
  for (const name of ["home", "place", "run", "tmp"]) {
    await Deno.mkdir(`${folder}/${name}`, { recursive: true, mode: 0o700 });
  }
  const place = new Scene(folder, way);
  place.settings("tools: { auto_approve: [bash, read, grep, edit] }\n");
  for (const name of ["a.txt", "b.txt"]) place.write(name, "hay\na needle\nhay\n");
  for (const [name, text] of Object.entries(DOCUMENTS)) place.write(name, text);
  const received: Record<string, unknown> = {};
  for (const line of LINES) {
    const options = { env: { ...env, ANTHROPIC_API_KEY: "test-key" } };
    const { code, stdout, stderr } = await place.shell(
      line.startsWith(" ") ? line : `flemma ${line}`,
      options,
    );
    received[line] = { code, stdout: steady(stdout), stderr: steady(stderr) };
  }
  for (const name of ["a.txt", "b.txt", ...Object.keys(DOCUMENTS)]) received[name] = place.read(name);
  return received;
}

/** A text without moments and durations. */
function steady(text: string): string {
  return text.replace(/\b\d+\.\ds\b/g, "0.1s")
    .replace(/"time":"[^"]*"/g, '"time":""')
    .replace(/"seconds":[\d.]+/g, '"seconds":0');
}

Deno.test("the program prints and writes the same from its sources, as a bundle, as a package and as a binary", async (t) => {
  const base = baseOfEnvironment();
  const root = await freshFolder("flemma-ways-");
  const bundle = `${root}/bundle`;
  const ways: Readonly<Record<string, () => Promise<Way>>> = {
    bundle: () => makeBundle(bundle),
    package: () => asPackage(bundle, `${root}/package`),
    ...(base === null ? {} : { binary: () => asBinary(bundle, root, base) }),
  };
  const replies = [callReply("b1", "cat a.txt"), textReply("Well.\n@You: no")];
  const all = ["sources", ...Object.keys(ways)].flatMap(() => replies);
  try {
    await withServer(all, async (server) => {
      const expected = await asked(fromSource(), `${root}/scene`, server);
      assert.match(JSON.stringify(expected["files.chat"]), /a\.txt:2:a needle/);
      assert.equal(expected["b.txt"], "hay\na thread\nhay\n");
      for (const [name, make] of Object.entries(ways)) {
        await t.step(name, async () => {
          const way = await make();
          await Deno.remove(`${root}/scene`, { recursive: true });
          assert.deepEqual(await asked(way, `${root}/scene`, server), expected);
        });
      }
    });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
