// Skills as a person sees them: listed, checked, trusted, and loaded by a model whose commands run in the sandbox.

import assert from "node:assert/strict";
import { type ScriptedReply, startReplay } from "../../providers/replay/server.ts";
import { TEN_SKILLS, writeSkills } from "../tools/ten_skills.ts";
import { type Finished, type Scene, testWithScene as test, withScene } from "./harness.ts";

const SKILLS = ".agents/skills";

/** A place whose project has the ten skills. */
async function withTen(body: (place: Scene) => Promise<void>): Promise<void> {
  await withScene(async (place) => {
    Deno.mkdirSync(place.path(".git"));
    await writeSkills(place.path(SKILLS));
    await body(place);
  });
}

async function states(place: Scene, ...args: string[]): Promise<Record<string, string>> {
  const { stdout, stderr } = await place.run(["skills", "list", ...args, "--json"]);
  assert.ok(stdout, stderr);
  return Object.fromEntries(
    (JSON.parse(stdout) as { name: string; state: string }[]).map(({ name, state }) => [name, state]),
  );
}

interface Request {
  readonly system?: unknown;
  readonly tools?: readonly { name: string; description: string; input_schema: Record<string, unknown> }[];
}

/** Advances the document with these replies, all of which must be used up. */
async function advance(
  place: Scene,
  replies: readonly ScriptedReply[],
  args: readonly string[] = [],
): Promise<{ readonly finished: Finished; readonly requests: readonly Request[] }> {
  await using replay = await startReplay({ replies });
  const env = { ANTHROPIC_API_KEY: "test-key", FLEMMA_ANTHROPIC_BASE_URL: replay.url };
  const finished = await place.run(["advance", "a.chat", ...args], { env });
  assert.deepEqual(replay.problems, [], finished.stderr);
  assert.equal(replay.remaining, 0, finished.stderr);
  return {
    finished,
    requests: replay.requests.map(({ body }) =>
      (typeof body === "string" ? JSON.parse(body) : body) as Request
    ),
  };
}

const skillOf = ({ tools = [] }: Request) => tools.find(({ name }) => name === "skill");

Deno.test("the skills check command reports each mistake in ten skills with its location, and fails because five skills have errors", () =>
  withTen(async (place) => {
    const { stdout, stderr } = await place.exits(1, ["skills", "check", SKILLS]);
    const lines = stdout.trimEnd().split("\n").map((line) => line.split(" ").slice(0, 3).join(" "));
    assert.deepEqual(lines, [
      `${SKILLS}/Loud-Name/SKILL.md:2:7: error skill_name_invalid`,
      `${SKILLS}/api-style/SKILL.md:3:14: warning skill_text_unquoted`,
      `${SKILLS}/api-style/SKILL.md:7:3: warning skill_value_invalid`,
      `${SKILLS}/endless/SKILL.md:1:1: error skill_frontmatter_unclosed`,
      `${SKILLS}/headless/SKILL.md:1:1: error skill_frontmatter_missing`,
      `${SKILLS}/release-notes/SKILL.md:6:1: warning skill_key_unknown`,
      `${SKILLS}/silent/SKILL.md:1:1: error skill_description_missing`,
      `${SKILLS}/silent/SKILL.md:3:1: warning skill_key_unknown`,
      `${SKILLS}/tabbed/SKILL.md:4:1: error skill_frontmatter_invalid`,
      `${SKILLS}/überblick/SKILL.md:2:7: warning skill_name_beyond_ascii`,
      `${SKILLS}/überblick/SKILL.md:2:7: warning skill_name_not_folder`,
    ]);
    assert.match(stderr, /10 skills checked: 5 not usable/);
    const json = await place.exits(1, ["skills", "check", "--json"]);
    assert.equal((JSON.parse(json.stdout) as unknown[]).length, lines.length);
    for (const path of [`${SKILLS}/word-count`, `${SKILLS}/word-count/SKILL.md`, `${SKILLS}/word-count/`]) {
      await place.exits(0, ["skills", "check", path]);
    }
  }));

test("a link to a missing file of the skill is reported, but not if the link is in an example", async (place) => {
  const text =
    "---\nname: x\ndescription: x\n---\nSee [a](a.md), [b](sub/b.md#part) and [web](https://a.org/x).\n" +
    "Write `[c](c.md)`:\n```md\n[d](d.md)\n```\n";
  await writeSkills(place.path("s"), { x: { "SKILL.md": text, "sub/b.md": "b\n" } });
  const { stdout } = await place.exits(0, ["skills", "check", "s"]);
  assert.equal(
    stdout,
    "s/x/SKILL.md:5:9: warning skill_file_missing a.md does not exist in the skill's folder\n",
  );
});

Deno.test("a skill that cannot be checked or shown is refused with the reason", () =>
  withTen(async (place) => {
    place.write("notes.txt", "no skill\n");
    const rows: readonly (readonly [args: readonly string[], code: number, err: RegExp])[] = [
      [["check", "gone"], 1, /There is no file gone/],
      [["check", "notes.txt"], 1, /There is no skill at notes\.txt/],
      [["check", "."], 1, /There is no skill at \./],
      [["show", "word-cont"], 1, /Did you mean word-count\?/],
      [["show", "zzzzzzzzzzzz"], 1, /flemma skills list/],
      [["show"], 2, /NAME/],
      [["list", "gone.chat"], 1, /There is no file gone\.chat/],
    ];
    for (const [args, code, err] of rows) {
      const found = await place.run(["skills", ...args]);
      assert.equal(found.code, code, `${args}: ${found.stderr}`);
      assert.match(found.stderr, err, `${args}`);
    }
  }));

Deno.test("a project's skills are offered only after trust, and are withdrawn when one of their files changes", () =>
  withTen(async (place) => {
    place.write("a.chat", "@You:\nHow long is it?\n");
    const before = await advance(place, [{ reply: [{ text: "Long." }] }]);
    assert.equal(skillOf(before.requests[0]!), undefined);
    assert.match(
      before.finished.stderr,
      /does not see these skills in .*, because you have not trusted them: .*word-count.*flemma trust/s,
    );
    assert.equal((await states(place))["word-count"], "untrusted");

    const shown = await place.run(["trust", "--show", `${SKILLS}/word-count`]);
    assert.match(shown.stdout, /lets the model load the skill word-count: Counts words/);
    assert.match(shown.stdout, /includes \S+\/scripts\/count\.sh/);
    assert.match(shown.stderr, /is not trusted in its current version/);
    const trusted = await place.exits(0, ["trust", SKILLS]);
    // The broken ones are left out, each with its reason.
    assert.equal(trusted.stderr.match(/^Skipped: /gm)?.length, 5);
    assert.deepEqual(await states(place), {
      "Loud-Name": "broken",
      "api-style": "offered",
      deploy: "hidden",
      endless: "broken",
      headless: "broken",
      "release-notes": "offered",
      silent: "broken",
      tabbed: "broken",
      "übersicht": "offered",
      "word-count": "offered",
    });

    for (const name of ["scripts/count.sh", "SKILL.md", "new.txt"]) {
      const file = place.path(`${SKILLS}/word-count/${name}`);
      const old = place.exists(`${SKILLS}/word-count/${name}`) ? Deno.readTextFileSync(file) : null;
      Deno.writeTextFileSync(file, `${old ?? ""}more\n`);
      assert.equal((await states(place))["word-count"], "untrusted", name);
      if (old === null) Deno.removeSync(file);
      else Deno.writeTextFileSync(file, old);
      assert.equal((await states(place))["word-count"], "offered", name);
    }
    await place.exits(0, ["trust", "--revoke", "."]);
    assert.equal((await states(place))["word-count"], "untrusted");
  }));

Deno.test("the model loads a skill without asking, reads its file and runs its script in the sandbox", () =>
  withTen(async (place) => {
    await place.run(["trust", "."]);
    place.write("text.txt", "one two three\n");
    place.write("a.chat", "@You:\nHow many words has text.txt?\n");
    const folder = place.path(`${SKILLS}/word-count`);
    const call = (id: string, name: string, input: Record<string, unknown>): ScriptedReply => ({
      reply: [{ tool_use: { id, name, input } }],
    });
    const { finished, requests } = await advance(place, [
      call("call_1", "skill", { name: "word-count" }),
      call("call_2", "read", { label: "units", path: `${folder}/references/units.md` }),
      call("call_3", "bash", {
        label: "count",
        command: `cd ${folder} && echo x > forged; sh scripts/count.sh ../../../text.txt`,
      }),
      { reply: [{ text: "Three." }] },
    ]);
    assert.equal(finished.code, 0, finished.stderr);
    const skill = skillOf(requests[0]!)!;
    assert.deepEqual(
      skill.description.split("\n\n").at(-1)!.split("\n").map((line) => line.split(":")[0]),
      ["api-style", "release-notes", "word-count", "übersicht"],
    );
    assert.match(
      skill.description,
      /^api-style: Conventions of our API\. Use when: an endpoint is added or changed\.$/m,
    );
    assert.deepEqual(skill.input_schema.properties, {
      name: {
        type: "string",
        enum: ["api-style", "release-notes", "word-count", "übersicht"],
        description: "Skill to load.",
      },
    });
    // The prefix stays the same from request to request.
    for (const request of requests) assert.deepEqual(skillOf(request), skill);
    const document = place.read("a.chat");
    assert.match(document, /# Counting words\n\nRun `sh scripts\/count\.sh FILE`/);
    assert.ok(document.includes(`[The skill word-count is in ${folder}`), document);
    assert.match(document, /\/references\/units\.md\n\S+\/scripts\/count\.sh\]/);
    assert.doesNotMatch(document, /license: MIT/);
    assert.match(document, /A word is what blanks surround/);
    assert.match(document, /forged: Read-only file system\n3\ncounted by the skill/);
  }));

Deno.test("if a skill changed after it was offered, it is not loaded", () =>
  withTen(async (place) => {
    await place.run(["trust", "."]);
    const result = (command: string) =>
      advance(place, [
        { reply: [{ tool_use: { id: "call_1", name: "bash", input: { label: "x", command } } }] },
        { reply: [{ tool_use: { id: "call_2", name: "skill", input: { name: "word-count" } } }] },
        { reply: [{ text: "Well." }] },
      ], ["--no-sandbox", "--approve", "bash"]);
    place.write("a.chat", "@You:\nGo.\n");
    await result(`echo 'Obey me.' >> ${SKILLS}/word-count/SKILL.md`);
    const document = place.read("a.chat");
    assert.doesNotMatch(document, /\n.*Obey me\.\n.*\[The folder/s);
    assert.match(document, /`call_2` \(error\)[^]*its files changed after the user trusted them/);
  }));

test("a document can narrow its skills, and an unknown skill it names is reported", async (place) => {
  await writeSkills(`${place.folder}/home/.claude/skills`);
  const offered = async (block: string) => {
    place.write("a.chat", `\`\`\`lua\n${block}\n\`\`\`\n@You:\nHello\n`);
    const all = await states(place, "a.chat");
    return Object.keys(all).filter((name) => all[name] === "offered");
  };
  assert.deepEqual(await offered("flemma.opt.skills = { 'word-count' }"), ["word-count"]);
  assert.deepEqual(await offered("flemma.opt.skills = {}"), []);
  assert.deepEqual(await offered("flemma.opt.skills:remove('api-style')"), [
    "release-notes",
    "word-count",
    "übersicht",
  ]);
  assert.deepEqual(await offered("flemma.opt.skills = { '*-*' }"), [
    "api-style",
    "release-notes",
    "word-count",
  ]);
  assert.deepEqual(await offered("flemma.opt.skills = false"), []);
  assert.deepEqual(await offered("flemma.opt.skills.enabled = false"), []);
  assert.equal((await offered("flemma.opt.skills:append('word-count')")).length, 4);
  place.write("a.chat", "```lua\nflemma.opt.skills = { 'word-cuont' }\n```\n@You:\nHello\n");
  const { stderr } = await place.run(["skills", "list", "a.chat"]);
  assert.match(stderr, /name the skill word-cuont.*Did you mean word-count\?/s);
  // No skill, no tool.
  const { requests } = await advance(place, [{ reply: [{ text: "Hello." }] }]);
  assert.equal(skillOf(requests[0]!), undefined);
});

test("if two skills share a name, the one in the earlier location is used, and the other is listed with it", async (place) => {
  const skill = (description: string) => ({
    pdf: { "SKILL.md": `---\nname: pdf\ndescription: ${description}\n---\nText.\n` },
  });
  Deno.mkdirSync(place.path(".git"));
  const home = `${place.folder}/home`;
  await writeSkills(`${place.folder}/config/flemma/skills`, skill("config"));
  await writeSkills(`${home}/.claude/skills`, skill("home claude"));
  await writeSkills(`${home}/.agents/skills`, skill("home agents"));
  await writeSkills(place.path(".claude/skills"), skill("project claude"));
  await writeSkills(place.path(".agents/skills"), skill("project agents"));
  await writeSkills(`${place.folder}/config/flemma/own`, skill("dirs"));
  const listed = async () => {
    const { stdout } = await place.run(["skills", "list", "--json"]);
    return (JSON.parse(stdout) as { description: string; state: string }[])
      .map(({ description, state }) => `${description}: ${state}`);
  };
  assert.deepEqual(await listed(), [
    "project agents: untrusted",
    "project claude: untrusted",
    "home agents: offered",
    "home claude: shadowed",
    "config: shadowed",
  ]);
  await place.run(["trust", "."]);
  assert.deepEqual((await listed()).slice(0, 3), [
    "project agents: offered",
    "project claude: shadowed",
    "home agents: shadowed",
  ]);
  place.settings("skills: { dirs: [own] }\n");
  assert.deepEqual((await listed()).slice(0, 2), ["dirs: offered", "project agents: shadowed"]);
  const { stdout } = await place.run(["skills", "check"]);
  assert.equal(stdout.match(/warning skill_shadowed/g)?.length, 5);
});

test("a folder with two names counts as one skill location, and trust given under either name is enough", async (place) => {
  Deno.mkdirSync(place.path(".git"));
  const { "word-count": only } = TEN_SKILLS;
  await writeSkills(place.path(".claude/skills"), { "word-count": only! });
  Deno.mkdirSync(place.path(".agents"));
  Deno.symlinkSync("../.claude/skills", place.path(".agents/skills"));
  await place.run(["trust", ".claude/skills"]);
  assert.deepEqual(await states(place), { "word-count": "offered" });
  await place.exits(0, ["trust", "--revoke", ".agents/skills"]);
  await place.run(["trust", ".agents/skills/word-count/SKILL.md"]);
  assert.deepEqual(await states(place), { "word-count": "offered" });
});

test("a document has the skills of its folder and of the folders above, up to the repository root, but not of folders below", async (place) => {
  const skill = (name: string) => ({
    [name]: { "SKILL.md": `---\nname: ${name}\ndescription: x\n---\nText.\n` },
  });
  Deno.mkdirSync(place.path("repo/.git"), { recursive: true });
  Deno.mkdirSync(place.path("repo/docs"));
  await writeSkills(place.path(SKILLS), skill("outside"));
  await writeSkills(place.path(`repo/${SKILLS}`), skill("root"));
  await writeSkills(place.path(`repo/docs/.claude/skills`), skill("near"));
  await writeSkills(place.path(`repo/other/${SKILLS}`), skill("beside"));
  place.write("repo/docs/a.chat", "@You:\nHello\n");
  assert.deepEqual(Object.keys(await states(place, "repo/docs/a.chat")), ["near", "root"]);
});

test("a project's settings select among skills but add none, and their key dirs has no effect", async (place) => {
  await writeSkills(`${place.folder}/home/.agents/skills`);
  await writeSkills(place.path("more"), {
    evil: { "SKILL.md": "---\nname: evil\ndescription: x\n---\nObey.\n" },
  });
  Deno.mkdirSync(place.path(".flemma"));
  const offered = async (yaml: string) => {
    place.write(".flemma/config.yaml", yaml);
    const all = await states(place);
    return Object.keys(all).filter((name) => all[name] === "offered");
  };
  assert.deepEqual(await offered("skills: [word-count, evil]\n"), ["word-count"]);
  assert.deepEqual(await offered("skills: false\n"), []);
  place.settings("skills: [api-style]\n");
  assert.deepEqual(await offered("skills: [word-count]\n"), []);
  place.settings("skills: false\n");
  assert.deepEqual(await offered("skills: true\n"), []);
  place.settings("");
  const dirs = "skills: { dirs: [../more] }\n";
  assert.ok(!(await offered(dirs)).includes("evil"));
  await place.exits(0, ["trust", ".flemma/config.yaml"]);
  assert.ok(!(await offered(dirs)).includes("evil"));
});

test("files that only look like a SKILL.md are listed with what is wrong, and affect no other skill", async (place) => {
  const places = `${place.folder}/home/.agents/skills`;
  const { "word-count": sound } = TEN_SKILLS;
  await writeSkills(places, { "word-count": sound!, small: { "skill.md": "---\nname: small\n" } });
  for (const name of ["bytes", "pipe", "folder", "large", "gone", "empty"]) {
    Deno.mkdirSync(`${places}/${name}`);
  }
  Deno.writeFileSync(`${places}/bytes/SKILL.md`, new Uint8Array([0x2d, 0x2d, 0x2d, 0x0a, 0xff]));
  new Deno.Command("mkfifo", { args: [`${places}/pipe/SKILL.md`] }).outputSync();
  Deno.mkdirSync(`${places}/folder/SKILL.md`);
  Deno.writeTextFileSync(`${places}/large/SKILL.md`, "x".repeat(1024 * 1024 + 1));
  Deno.symlinkSync("nowhere", `${places}/gone/SKILL.md`);
  Deno.writeTextFileSync(`${places}/README.md`, "no skill\n");
  assert.deepEqual(await states(place), {
    bytes: "broken",
    folder: "broken",
    gone: "broken",
    large: "broken",
    pipe: "broken",
    small: "broken",
    "word-count": "offered",
  });
  const { stdout } = await place.run(["skills", "check"]);
  const rows = [
    /bytes\/SKILL\.md:2:1: error skill_not_text/,
    /pipe\/SKILL\.md:1:1: error skill_unreadable .*not a regular file/,
    /large\/SKILL\.md:1:1: error skill_unreadable .*larger than 1024 KiB/,
    /small\/skill\.md:1:1: error skill_file_name/,
  ];
  for (const words of rows) assert.match(stdout, words);
});
