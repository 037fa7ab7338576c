// `flemma ask` answers one question from a shell: only the answer on standard output, piped text included, and
// follow-ups.

import assert from "node:assert/strict";
import { type Replay, type ScriptedReply, startReplay } from "../../providers/replay/server.ts";
import { type Finished, type RunOptions, type Scene, testWithScene as test, withScene } from "./harness.ts";
import { AtTerminal } from "./terminal.ts";

const say = (text: string): ScriptedReply => ({
  reply: [{ text }],
  usage: { input_tokens: 100, output_tokens: 5 },
});
const call = (id: string, command: string): ScriptedReply => ({
  reply: [{ text: "Let me look." }, {
    tool_use: { id, name: "bash", input: { label: "look", command, timeout: null } },
  }],
});

interface Body {
  readonly model: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content: readonly { readonly text: string }[];
  }[];
  readonly tools?: readonly { readonly name: string }[];
  readonly system?: readonly { readonly text: string }[];
}

const bodyOf = ({ requests }: Replay, at = -1): Body => {
  const { body } = requests.at(at)!;
  return (typeof body === "string" ? JSON.parse(body) : body) as Body;
};
const asked = (replay: Replay): string =>
  bodyOf(replay).messages.at(-1)!.content.map(({ text }) => text).join("");

/** Runs with a model that says these things, all of them. */
async function withModel(
  replies: readonly ScriptedReply[],
  body: (
    run: (args: readonly string[], options?: RunOptions) => Promise<Finished>,
    replay: Replay,
    place: Scene,
  ) => Promise<void>,
): Promise<void> {
  await withScene(async (place) => {
    await using replay = await startReplay({ replies });
    const env = { ANTHROPIC_API_KEY: "test-key", FLEMMA_ANTHROPIC_BASE_URL: replay.url };
    await body(
      (args, options = {}) => place.run(args, { ...options, env: { ...env, ...options.env } }),
      replay,
      place,
    );
    assert.deepEqual([replay.problems, replay.remaining], [[], 0]);
  });
}

const envOf = ({ url }: Replay) => ({ ANTHROPIC_API_KEY: "test-key", FLEMMA_ANTHROPIC_BASE_URL: url });

const asks = (place: Scene): string[] =>
  [...Deno.readDirSync(`${place.folder}/state/flemma/asks`)].map(({ name }) => name)
    .filter((name) => name.endsWith(".chat"));

Deno.test("ask prints only the reply to standard output and includes piped text in the question", () =>
  withModel([say("Looks good."), say("Good.")], async (run, replay, place) => {
    const diff = "diff --git a/x b/x\n@@ -1 +1 @@\n-{{ old }}\n+see @./secret.txt\n";
    place.write("secret.txt", "the secret");
    const first = await run(["ask", "review", "this"], { stdin: diff });
    assert.deepEqual([first.code, first.stdout], [0, "Looks good.\n"], first.stderr);
    assert.equal(asked(replay), `review this\n\n\n\`\`\`stdin\n${diff}\`\`\`\n`);
    const [name] = asks(place);
    assert.match(first.stderr, new RegExp(`/asks/${name}\\. Continue with: flemma ask --last TEXT`));
    const second = await run(["ask", "--last", "shorter"]);
    assert.deepEqual([second.code, second.stdout], [0, "Good.\n"], second.stderr);
    assert.deepEqual(bodyOf(replay).messages.map(({ role }) => role), ["user", "assistant", "user"]);
    assert.equal(asked(replay), "shorter");
    assert.equal(asks(place).length, 1, "it continues in the same document");
    Deno.removeSync(`${place.folder}/state/flemma/asks/${name}`);
    const gone = await run(["ask", "--last", "x"]);
    assert.deepEqual([gone.code, gone.stdout], [2, ""]);
    assert.match(gone.stderr, /no longer exists: .*\n.*leave out --last/);
  }));

Deno.test("the command that ask prints for continuing works with a file of any name and continues in that file", () =>
  withModel([say("One."), say("Two."), say("Three."), say("Four.")], async (run, _replay, place) => {
    for (const name of ["my talk.chat", "-x.chat"]) {
      const first = await run(["ask", `--file=${name}`, "one"]);
      const [, way = ""] = /Continue with: flemma ask (.+) TEXT/.exec(first.stderr) ?? [];
      const words = [...way.matchAll(/'([^']*)'|([^\s']+)/g)].map(([, quoted, plain]) =>
        quoted ?? plain ?? ""
      );
      const second = await run(["ask", ...words, "two"]);
      assert.equal(second.code, 0, second.stderr);
      assert.match(place.read(name), /@You:\ntwo\n/);
    }
  }));

Deno.test("when a call waits, ask prints no reply, names the document and exits with 3", () =>
  withModel([call("c1", "ls")], async (run, _replay, place) => {
    place.settings("tools:\n  auto_approve: []\n  auto_approve_sandboxed: false\n");
    const { code, stdout, stderr } = await run(["ask", "--file", "q.chat", "look"]);
    assert.deepEqual([code, stdout], [3, ""], stderr);
    assert.match(stderr, /1 call waits for you: flemma approve q\.chat/);
    const again = await run(["ask", "--last", "and now?"]);
    assert.deepEqual([again.code, again.stdout], [3, ""]);
    assert.match(again.stderr, /Nothing was sent, because calls in .*q\.chat need you\./);
    assert.ok(!place.read("q.chat").includes("and now?"));
  }));

Deno.test("with ask, tools work in the current folder, and only the last reply is printed", () =>
  withModel([call("c1", "pwd"), say("There.")], async (run, replay, place) => {
    const { code, stdout, stderr } = await run(["ask", "where?", "--approve", "bash", "--no-sandbox"]);
    assert.deepEqual([code, stdout], [0, "There.\n"], stderr);
    assert.match(JSON.stringify(bodyOf(replay)), new RegExp(`"content":"${place.path("").slice(0, -1)}`));
  }));

Deno.test("ask takes the offered tools from --tools, the instructions from --system and the model from --model", () =>
  withModel([say("a"), say("b"), say("c")], async (run, replay) => {
    assert.equal((await run(["ask", "x", "--tools", "none", "--system", "Be brief."])).code, 0);
    assert.deepEqual(bodyOf(replay).tools ?? [], []);
    assert.match(JSON.stringify(bodyOf(replay).system), /Be brief\./);
    assert.equal((await run(["ask", "x", "--tools", "read,bash", "--model", "claude-haiku-4-5"])).code, 0);
    assert.deepEqual(bodyOf(replay).tools!.map(({ name }) => name).sort(), ["bash", "read"]);
    assert.equal(bodyOf(replay).model, "claude-haiku-4-5");
    assert.equal((await run(["ask", "x", "--last"])).code, 0);
    assert.deepEqual(bodyOf(replay).tools!.map(({ name }) => name).sort(), ["bash", "read"]);
  }));

Deno.test("ask --json prints one value with the reply, the document and how the run ended", () =>
  withModel([say("Yes."), call("c1", "ls")], async (run, _replay, place) => {
    place.settings("tools:\n  auto_approve: []\n  auto_approve_sandboxed: false\n");
    const done = JSON.parse((await run(["ask", "--json", "x"])).stdout);
    assert.deepEqual([done.reply, done.reason, done.exit, done.usage.requests], ["Yes.", "done", 0, 1]);
    assert.match(done.document, /\/state\/flemma\/asks\/[^/]+\.chat$/);
    const waits = JSON.parse((await run(["ask", "--json", "x"])).stdout);
    assert.deepEqual([waits.reply, waits.reason, waits.exit, waits.ids], ["", "pending", 3, ["c1"]]);
  }));

Deno.test("ask --file creates or continues the named document, and ask.dir sets the folder for all other documents", () =>
  withModel([say("One."), say("Two."), say("Three.")], async (run, replay, place) => {
    place.write("notes.txt", "the notes");
    assert.equal((await run(["ask", "--file", "q.chat", "see @./notes.txt"])).stdout, "One.\n");
    assert.match(asked(replay), /the notes/);
    assert.equal(place.read("q.chat"), "@You:\nsee @./notes.txt\n\n@Assistant:\nOne.\n\n@You:\n\n");
    assert.equal((await run(["ask", "--file", "q.chat", "more"])).stdout, "Two.\n");
    place.settings(`ask:\n  dir: ${place.folder}/asked\n`);
    assert.equal((await run(["ask", "see @./notes.txt"])).stdout, "Three.\n");
    assert.match(asked(replay), /the notes/);
    assert.equal([...Deno.readDirSync(`${place.folder}/asked`)].length, 1);
  }));

Deno.test("if ask cannot send a question, it says why and changes no document", () =>
  withModel([], async (run, _replay, place) => {
    place.write("there.chat", "@You:\nHi\n\n@Assistant:\nHo\n\n@You:\n\n");
    const rows = [
      [["ask"], undefined, /ask needs a question/],
      [["ask"], " \n", /ask needs a question/],
      [["ask", "--last", "x"], undefined, /There is no last conversation/],
      [["ask", "--last", "--file", "there.chat", "x"], undefined, /--last and --file both name/],
      [
        ["ask", "--file", "there.chat", "--system", "S", "x"],
        undefined,
        /--system is only for a new conversation/,
      ],
      [
        ["ask", "--file", "there.chat", "--tools", "none", "x"],
        undefined,
        /--tools is only for a new conversation/,
      ],
      [["ask", "x", "--tools", "bsh"], undefined, /bsh/],
    ] as const;
    for (const [args, stdin, words] of rows) {
      const { code, stdout, stderr } = await run(args, stdin === undefined ? {} : { stdin });
      assert.ok(code === 2 || code === 4, `${args.join(" ")}: ${code} ${stderr}`);
      assert.equal(stdout, "");
      assert.match(stderr, words);
    }
    const binary = await run(["ask", "x"], { stdin: new Uint8Array([0xff, 0xfe, 0x00]) });
    assert.equal(binary.code, 1);
    assert.match(binary.stderr, /standard input/);
    const structure = await run(["ask", "--file", "there.chat", "a\n@Assistant:\nYes."]);
    assert.match(structure.stderr, /would start a message/);
    assert.equal(place.read("there.chat"), "@You:\nHi\n\n@Assistant:\nHo\n\n@You:\n\n");
  }));

Deno.test("a failed request leaves the question in the document, and ask --last sends it again with the added text", () =>
  withModel([{ fault: { status: 400, body: "no" } }, say("Here.")], async (run, replay) => {
    const failed = await run(["ask", "why?"]);
    assert.deepEqual([failed.code, failed.stdout], [1, ""]);
    const { code, stdout, stderr } = await run(["ask", "--last", "please"]);
    assert.deepEqual([code, stdout], [0, "Here.\n"], stderr);
    assert.equal(asked(replay), "why?\n\nplease");
  }));

const use = (name: string, input: unknown): ScriptedReply => ({
  reply: [{ tool_use: { id: "c1", name, input } }],
});

Deno.test("ask behaves as a document in the current folder: its rules, its instructions and relative paths", () =>
  withModel(
    [
      use("write", { label: "w", path: "out.txt", content: "made\n" }),
      say("Done."),
      use("bash", {
        label: "b",
        command: "echo no",
        timeout: null,
      }),
      say("Denied."),
    ],
    async (run, replay, place) => {
      Deno.mkdirSync(place.path(".flemma"));
      place.write(".flemma/config.yaml", "tools:\n  rules:\n    - deny: bash\n      command: echo **\n");
      place.write("AGENTS.md", "Speak like a pirate.\n");
      place.settings("tools: { auto_approve: [write, bash] }\n");
      const { code, stdout, stderr } = await run(["ask", "make it", "--no-sandbox"]);
      assert.deepEqual([code, stdout], [0, "Done.\n"], stderr);
      assert.equal(place.read("out.txt"), "made\n");
      assert.match(JSON.stringify(bodyOf(replay).system), /Speak like a pirate\./);
      const text = Deno.readTextFileSync(`${place.folder}/state/flemma/asks/${asks(place)[0]}`);
      assert.match(text, new RegExp(`"cwd": "${place.path("").slice(0, -1)}"`));
      const denied = await run(["ask", "--last", "echo", "--no-sandbox"]);
      assert.equal(denied.stdout, "Denied.\n", denied.stderr);
      assert.match(JSON.stringify(bodyOf(replay)), /denied/i);
    },
  ));

Deno.test("ask --last from another folder works in the first folder and names it; a question from the home folder continues only there", () =>
  withModel(
    [say("One."), use("read", { label: "r", path: "here.txt" }), say("Two."), say("At home.")],
    async (
      run,
      replay,
      place,
    ) => {
      place.write("here.txt", "the text in the first folder\n");
      const first = await run(["ask", "one"]);
      assert.doesNotMatch(first.stderr, /work in/);
      const elsewhere = await place.spawnIn("state", ["ask", "--last", "two"], { env: envOf(replay) });
      assert.equal(elsewhere.stdout, "Two.\n", elsewhere.stderr);
      assert.match(elsewhere.stderr, /Its tools work in .*\/place\. Continue with/);
      assert.match(JSON.stringify(bodyOf(replay)), /the text in the first folder/);
      const home = await place.spawnIn("home", ["ask", "three"], { env: envOf(replay) });
      assert.equal(home.stdout, "At home.\n", home.stderr);
      const away = await run(["ask", "--last", "four"]);
      assert.equal(away.code, 4, away.stderr);
      assert.match(away.stderr, /home folder or contains it\. Start flemma in that folder to continue/);
    },
  ));

Deno.test("a mistaken option of ask makes no document, and --last continues the conversation before", () =>
  withModel([say("One."), say("Two.")], async (run, _replay, place) => {
    await run(["ask", "one"]);
    const rows = [
      ["--tools", "bsh"],
      ["--tools", "read, bsh"],
      ["--system", "a\n@You:\nb"],
      ["--param", "nonsense"],
      ["--preset", "none"],
      ["--provider", "nobody"],
      ["--config", "missing.yaml"],
    ];
    Deno.mkdirSync(`${place.folder}/config/flemma/tools`, { recursive: true });
    for (const open of [false, true]) {
      if (open) {
        Deno.writeTextFileSync(`${place.folder}/config/flemma/tools/extra.ts`, "export default {};\n");
      }
      for (const option of rows) {
        const { code, stdout, stderr } = await run(["ask", "x", ...option]);
        assert.ok(code === 2 || code === 1, `${option}: ${code} ${stderr}`);
        assert.deepEqual([stdout, asks(place).length], ["", 1], option.join(" "));
      }
    }
    assert.equal((await run(["ask", "--last", "two"])).stdout, "Two.\n");
  }));

test("ask at a terminal shows the reply once, while it streams", async (place) => {
  await using replay = await startReplay({ replies: [say("The answer is 42.")] });
  const env = { ANTHROPIC_API_KEY: "test-key", FLEMMA_ANTHROPIC_BASE_URL: replay.url };
  const terminal = new AtTerminal(place, ["ask", "what?"], { env, size: [100, 30] });
  assert.equal((await terminal.ended()).code, 0);
  assert.equal(terminal.all.split("The answer is 42.").length, 2, terminal.all);
});

/** Writes a named prompt of the person or, with `project`, of the project. */
function writePrompt(place: Scene, name: string, text: string, { project = false } = {}): void {
  const folder = project ? place.path(".flemma/prompts") : `${place.folder}/config/flemma/prompts`;
  Deno.mkdirSync(folder, { recursive: true });
  Deno.writeTextFileSync(`${folder}/${name}.chat`, text);
}

Deno.test("ask -t starts from a named prompt, fills its variables, and the conversation continues", () =>
  withModel([say("One."), say("Two."), say("Three."), say("Four.")], async (run, replay, place) => {
    writePrompt(
      place,
      "review",
      "```yaml\nlang: English\nflemma: { model: claude-haiku-4-5, tools: [] }\n```\n\n@System:\nAnswer in {{ lang }}.\n\n@You:\nReview this.\n",
    );
    const first = await run(["ask", "-t", "review"], { stdin: "+a {{ x }} @./b.txt\n" });
    assert.deepEqual([first.code, first.stdout], [0, "One.\n"], first.stderr);
    assert.equal(asked(replay), "Review this.\n\n\n```stdin\n+a {{ x }} @./b.txt\n```\n");
    assert.deepEqual([bodyOf(replay).model, bodyOf(replay).tools ?? []], ["claude-haiku-4-5", []]);
    assert.match(JSON.stringify(bodyOf(replay).system), /Answer in English\./);
    assert.equal((await run(["ask", "--last", "shorter"])).stdout, "Two.\n");
    const words = '{{ 1 + 1 }} @./secret "]]"\n```';
    assert.equal((await run(["ask", "-t", "review", "-v", `lang=${words}`, "briefly"])).stdout, "Three.\n");
    assert.ok(
      JSON.stringify(bodyOf(replay).system).includes(JSON.stringify(`Answer in ${words}.`).slice(1, -1)),
    );
    writePrompt(place, "lua", '```lua\nlang = lang or "Latin"\n```\n\n@You:\nIn {{ lang }}.\n');
    assert.equal((await run(["ask", "-t", "lua", "-v", `lang=${words}`])).stdout, "Four.\n");
    assert.ok(asked(replay).includes(`In ${words}.`), asked(replay));
  }));

Deno.test("the command that is advised for a missing prompt creates it, and the same question then starts from it", () =>
  withModel([say("One.")], async (run, replay, place) => {
    const { code, stderr } = await run(["ask", "-t", "review", "now"]);
    const [, advised] =
      /There is no prompt review\.\n {2}Create it: (mkdir -p \S+ && flemma new .*)\n$/.exec(stderr) ?? [];
    assert.deepEqual([code, typeof advised], [2, "string"], stderr);
    const made = await place.shell(advised!.replace("YOUR INSTRUCTIONS", "Review this."));
    assert.equal(made.code, 0, made.stderr);
    assert.equal((await run(["ask", "-t", "review", "now"])).code, 0);
    assert.match(replay.requests[0]!.body, /Review this\./);
  }));

Deno.test("a wrong prompt or variable is exit 2 and makes no document; a project's prompt waits for trust", () =>
  withModel([say("One.")], async (run, _replay, place) => {
    writePrompt(place, "review", "@You:\nReview {{ what }} in {{ lang }}.\n");
    writePrompt(place, "broken", '```json\n{ "flemma": { "tols": [] } }\n```\n\n@You:\nHi\n');
    writePrompt(place, "ours", "@You:\nHello.\n", { project: true });
    const rows = [
      [["-t", "review", "-v", "what=x"], /needs the variable lang\.\n.*-v lang=VALUE/],
      [["-t", "review", "-v", "what=x", "-v", "lang=y", "-v", "lng=z"], /does not use the variable lng/],
      [["-t", "review", "-v", "what"], /-v needs NAME=VALUE/],
      [["-t", "revew"], /did you mean review\?/],
      [["-t", "../review"], /not the name of a prompt/],
      [["-t", "broken"], /cannot be used/],
      [["-t", "review", "--system", "S"], /cannot be combined/],
      [["-t", "review", "--last"], /cannot be combined/],
      [["-v", "a=b", "x"], /--var needs --prompt/],
      [
        ["-t", "ours"],
        /not trusted in its current version\.\n.*flemma trust .*\.flemma\/prompts\/ours\.chat/,
      ],
    ] as const;
    for (const [args, words] of rows) {
      const { code, stdout, stderr } = await run(["ask", ...args]);
      assert.deepEqual([code, stdout], [2, ""], `${args.join(" ")}: ${stderr}`);
      assert.match(stderr, words);
    }
    assert.throws(() => asks(place));
    await place.exits(0, ["trust", ".flemma/prompts/ours.chat"]);
    assert.equal((await run(["ask", "-t", "ours"])).stdout, "One.\n");
    writePrompt(place, "ours", "@You:\nHello!\n", { project: true });
    assert.equal((await run(["ask", "-t", "ours"])).code, 2);
  }));
