import { denoFolder, inFolder, testInFolder as test } from "../folder.ts";
import assert from "node:assert/strict";
import { collectMessages } from "../../scripts/generate/messages.ts";
import { sentencesOf } from "../../scripts/generate/messages/collect.ts";
import { ROOT } from "../../scripts/gate/root.ts";

/** Code, text and next step of each sentence in a piece of source. */
function found(code: string): string[] {
  return sentencesOf(code).map(({ codes, text, next }) => [codes.join("+"), text, next ?? ""].join(" | "));
}

Deno.test("each form of a message in the source is found with its code, sentence and next step", () => {
  assert.deepEqual(
    found(`
      failure("gone", "There is no such thing.");
      failure("not-there", \`There is no file \${path}.\`, "Make it.");
      const problem = { code: "half-done", message: "It is half" + " done.", next: \`Do \${rest.length} more.\` };
      notice("too_late", "This is too late.");
      providerError("rate_limit", "Too many of them came.", { next: "Wait a little." });
    `),
    [
      "gone | There is no such thing. | ",
      "not-there | There is no file {path}. | Make it.",
      "half-done | It is half done. | Do {number} more.",
      "too_late | This is too late. | ",
      "provider-rate-limit | Too many of them came. | Wait a little.",
    ],
  );
});

Deno.test("the text of a message is found in a variable, in both branches of a conditional and in a function; a computed text gives its name", () => {
  assert.deepEqual(
    found(`
      function one() {
        const message = "The first one failed.";
        return { code: "first-failed", message };
      }
      function two() {
        const message = bad ? "The second one failed." : \`It was \${why ? "late" : "early"}.\`;
        return { code: soon ? "second-failed" : "third-failed", message };
      }
      function said() { return "This was said by a function."; }
      const third = { code: "said-so", message: said() };
      const told = { code: "told-on", message: thrown.message, next: "Look at it again." };
    `),
    [
      "first-failed | The first one failed. | ",
      "second-failed+third-failed | The second one failed. | ",
      "second-failed+third-failed | It was [late|early]. | ",
      "said-so | This was said by a function. | ",
      "told-on | {message} | Look at it again.",
    ],
  );
});

Deno.test("every other text that reads like a sentence is found once, but names, code and help texts are not", () => {
  assert.deepEqual(
    found(`
      import { a } from "a module of words";
      type Word = "one word" | "or two";
      say(\`\${count} \${count === 1 ? "call" : "calls"} waited for \${visible(who)}\`);
      const parts = ["nothing is left", plain("it is empty")];
      if (word === "is not a sentence") run("sh", ["-c", 'exec "$@"; cat $1 the rest']);
      const option = { help: "What it does is told in help.", name: "a-name" };
      const words = "allowed denied asked".split(" ");
    `),
    [" | {count} [call|calls] waited for {who} | ", " | nothing is left | ", " | it is empty | "],
  );
});

test("the sentences of each room are collected once, whichever file of the room contains them", async (root) => {
  await Deno.mkdir(`${root}/base/below`, { recursive: true });
  await Deno.mkdir(`${root}/lua`);
  await Deno.mkdir(`${root}/elsewhere`);
  const texts = {
    "base/first.ts": `failure("gone", "It went away."); say("this is said of everything");`,
    "base/second.ts": `failure("gone", "All of\\nit went.", "Look."); say("this is said of everything");`,
    "base/media.ts": `say("a text that is no message");`,
    "base/made.generated.ts": `say("a text that is generated");`,
    "lua/only.ts": `say("this is said of everything");`,
    "elsewhere/none.ts": `say("a text outside of the rooms");`,
  };
  for (const [path, text] of Object.entries(texts)) await Deno.writeTextFile(`${root}/${path}`, text);
  const before = await collectMessages(root);
  assert.deepEqual(
    before.map(({ room, codes, text, next }) => [room, codes.join(), text, next]),
    [
      ["base", "", "this is said of everything", null],
      ["base", "gone", "All of / it went.", "Look."],
      ["base", "gone", "It went away.", null],
      ["lua", "", "this is said of everything", null],
    ],
  );
  await Deno.rename(`${root}/base/first.ts`, `${root}/base/below/zebra.ts`);
  await Deno.rename(`${root}/base/second.ts`, `${root}/base/a.ts`);
  assert.deepEqual(await collectMessages(root), before);
});

Deno.test("the messages about wrong usage are among the sentences collected from the source", async () => {
  const texts = (await collectMessages()).flatMap(({ text, next }) => next === null ? [text] : [text, next]);
  const patterns = texts.map((text) => {
    const escaped = text.replace(/[.*+?^$()|\\{}[\]]/g, "\\$&");
    return new RegExp(`${escaped.replace(/\\\{.*?\\\}/g, ".*").replace(/\\\[(.*?)\\\]/g, ".*")}`);
  });
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/a.chat`, "@You:\nHi\n");
    const variables = {
      PATH: Deno.env.get("PATH") ?? "",
      HOME: folder,
      NO_COLOR: "1",
      DENO_DIR: denoFolder(),
    };
    for (
      const line of [
        "advnace",
        "advance none.chat",
        "advance a.chat --max-turns=-1",
        "advance a.chat --model",
        "approve a.chat toolu_9",
        "advance a.chat",
        "advance a.chat --provider antropic",
        "recover nothing",
        "trust none",
      ]
    ) {
      const { stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--quiet", `${ROOT}/cli.ts`, ...line.split(" ")],
        cwd: folder,
        clearEnv: true,
        env: variables,
        stdin: "null",
      }).output();
      const lines = new TextDecoder().decode(stderr).trim().split("\n");
      for (const each of lines) {
        assert.ok(patterns.some((pattern) => pattern.test(each.trim())), `${line}: ${each}`);
      }
    }
  });
});
