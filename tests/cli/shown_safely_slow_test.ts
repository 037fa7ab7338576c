// No text by a model or an attacker acts on the terminal, whichever command shows it.

import assert from "node:assert/strict";
import { parse } from "npm:yaml@2.9.1";
import { COMMANDS } from "../../commands/line/table.ts";
import { type Scene, testWithScene as test } from "./harness.ts";
import { AtTerminal } from "./terminal.ts";
import { textReply, withServer } from "./replies.ts";

/** The clipboard, the screen, a colour by one character; then what turns the reading order round or cannot be seen. */
const HOSTILE = "\u001b]52;c;aGk=\u0007\u001b[2J\u009b31m\u202e\u2066\u200b\r\u007f\u2028";
/** The same without what ends a line of a header. */
const INLINE = "A\u001b[31m\u009b2J\u0007\u202e\u200bB";
// deno-lint-ignore no-control-regex
const EFFECT = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u202a-\u202e\u2066-\u2069]/;

function call(id: string, tool: string, input: unknown): string {
  return `@Assistant:\nI will. ${HOSTILE}\n\n**Tool Use:** \`${tool}\` (\`${id}\`)\n\n` +
    `\`\`\`json\n${JSON.stringify(input)}\n\`\`\`\n\n` +
    `@You:\n\n**Tool Result:** \`${id}\`\n\n\`\`\`flemma:tool status=pending\n\`\`\`\n\n`;
}

const DOCUMENT = `@You:\nHello ${HOSTILE}\n\n` +
  call("c1", "bash", { label: `l${HOSTILE}`, command: `echo ${HOSTILE}`, timeout: null }) +
  call(`i${INLINE}`, "write", { label: `l${HOSTILE}`, path: `p${INLINE}`, content: HOSTILE }) +
  call("c3", `t${INLINE}`, { [`k${HOSTILE}`]: HOSTILE });

const NAME = `d${INLINE}.chat`;

/** The commands that show something of a document or a project, as they are called; null with what exempts the others. */
const CALLED: Readonly<Record<string, readonly (readonly string[])[] | string>> = {
  advance: [["advance", NAME]],
  approve: [["approve", NAME], ["approve", NAME, "c1"]],
  reject: [["reject", NAME], ["reject", NAME, "c1", "-m", HOSTILE]],
  execute: [["execute", NAME, "c1"], ["execute", NAME, "c3"]],
  send: [["send", NAME]],
  migrate: [["migrate", NAME, "--dry-run"]],
  "batch send": [["batch", "send", NAME, `gone${INLINE}`]],
  "batch status": [["batch", "status"]],
  "batch fetch": [["batch", "fetch", NAME]],
  "batch adopt": [["batch", "adopt", `b${INLINE}`, `r${INLINE}`]],
  "batch cancel": [["batch", "cancel", `b${INLINE}`]],
  review: [["review", NAME]],
  cancel: [["cancel", NAME], ["cancel", "--list"]],
  compact: [["compact", NAME, "--to", `c${INLINE}.chat`]],
  fork: [["fork", NAME, `f${INLINE}.chat`]],
  undo: [["undo", NAME, "--list"], ["undo", NAME]],
  watch: "shows what advance shows, and does not end",
  status: [["status", NAME], ["status", NAME, "--json"]],
  check: [["check", NAME], ["check", NAME, "--json"]],
  list: [["list"], ["list", "--search", "Hello"], ["list", "--json"]],
  show: [["show", NAME], ["show", NAME, "--html"], ["show", NAME, "--plain"]],
  recover: [["recover", "--list"]],
  parse: [["parse", NAME]],
  new: [["new", `n${INLINE}.chat`]],
  ask: [["ask", "--file", NAME, "and now?"]],
  demo: "shows a conversation of its own",
  editor: "shows files of its own",
  doctor: [["doctor"]],
  "subagents list": [["subagents", "list"], ["subagents", "list", NAME, "--json"]],
  "subagents clean": [["subagents", "clean", NAME], ["subagents", "clean", "--json"]],
  "hooks list": [["hooks", "list"], ["hooks", "list", "--json"]],
  "hooks test": [["hooks", "test", NAME, "c1"], ["hooks", "test", NAME, "c1", "--json"]],
  import: "prints a document, which is data (below)",
  lsp: "speaks to an editor",
  acp: "speaks to an editor",
  completions: "prints a script of its own",
  complete: [["complete", "approve", NAME, ""]],
  "replay record": [["replay", "record", NAME]],
  "replay run": [["replay", "run", NAME], ["replay", "run", NAME, "--tap"]],
  "git setup": [["git", "setup"]],
  "git merge-driver": "shows a problem as every command does",
  "sandbox status": [["sandbox", "status", NAME]],
  "sandbox compare": [["sandbox", "compare", NAME, "--", INLINE]],
  "sandbox use": [["sandbox", "use", INLINE]],
  "sandbox run": "shows what the command of the person shows",
  "sandbox enable": "shows a sentence of its own",
  "sandbox disable": "shows a sentence of its own",
  "sandbox reset": "shows a sentence of its own",
  "mcp prompt": "prints what a server sends, as a line or a quoted block (mcp_content_test)",
  "mcp read": "prints what a server sends, as a line or a quoted block (mcp_content_test)",
  "skills list": [["skills", "list"], ["skills", "list", "--json"]],
  "skills show": [["skills", "show", "good"]],
  "skills check": [["skills", "check"]],
  usage: [["usage", NAME], ["usage"]],
  estimate: [["estimate", NAME]],
  "auth set": "shows names of providers",
  "auth show": [["auth", "show"]],
  "auth mcp": "shows names of servers in the settings",
  "auth remove": "shows names of providers",
  "config show": [["config", "show", NAME]],
  "config check": [["config", "check"]],
  "approval explain": [["approval", "explain", NAME]],
  "approval show": [["approval", "show", NAME], ["approval", "show", NAME, "--json"]],
  "approval test": [["approval", "test", `echo ${HOSTILE}`]],
  "config path": [["config", "path", NAME]],
  "config get": [["config", "get", "model", NAME], ["config", "get", `m${INLINE}`]],
  "models list": [["models", "list", "--provider", `p${INLINE}`]],
  "tools list": [["tools", "list", NAME], ["tools", "list", NAME, "--json"]],
  "tools show": [["tools", "show", `t${INLINE}`, NAME]],
  trust: [["trust", "--show", "."], ["trust", "--show", ".mcp.json"], ["trust", "--list"]],
  "session set": [["session", "set", "model", INLINE, NAME]],
  "session switch": [["session", "switch", `$${INLINE}`]],
  "session show": [["session", "show", NAME]],
  "session reset": "shows a sentence of its own",
};

function build(place: Scene): void {
  const yaml = (text: string) => JSON.stringify(text);
  for (const name of ["good", `s${INLINE}`]) {
    Deno.mkdirSync(place.path(`.agents/skills/${name}`), { recursive: true });
  }
  place.write(
    ".agents/skills/good/SKILL.md",
    `---\nname: good\ndescription: ${yaml(HOSTILE)}\n---\nText ${HOSTILE}\n`,
  );
  place.write(`.agents/skills/s${INLINE}/SKILL.md`, `---\nname: x\n${yaml(INLINE)}: 3\n---\nText\n`);
  Deno.mkdirSync(place.path(".flemma/tools"), { recursive: true });
  place.write(".flemma/config.yaml", `model: ${yaml(INLINE)}\ntools: { bash: { cwd: ${yaml(INLINE)} } }\n`);
  const hooks = [{ matcher: INLINE, hooks: [{ type: "command", command: HOSTILE, if: INLINE }] }];
  place.write(".flemma/hooks.yaml", JSON.stringify({ hooks: { PreToolUse: hooks, [INLINE]: hooks } }));
  place.write(".flemma/tools/x.ts", `export default { description: ${yaml(HOSTILE)} };\n`);
  place.write(
    ".mcp.json",
    JSON.stringify({
      mcpServers: { [INLINE]: { command: INLINE, args: [HOSTILE], env: { [INLINE]: HOSTILE } } },
    }),
  );
}

Deno.test("every command is either tested in this file or has a stated reason why not", () => {
  assert.deepEqual(Object.keys(CALLED).sort(), COMMANDS.map(({ name }) => name).sort());
});

test("for hostile documents and projects, no command prints text that controls the terminal or reorders or hides text", async (place) => {
  build(place);
  await withServer(Array.from({ length: 60 }, () => textReply(`Well. ${INLINE}`)), async ({ env }) => {
    for (const lines of Object.values(CALLED)) {
      for (const words of typeof lines === "string" ? [] : lines) {
        place.write(NAME, DOCUMENT);
        const { stdout, stderr } = await place.run(words, {
          env: { ...env, ANTHROPIC_API_KEY: "test-key" },
        });
        // The reply is data in a pipe: it is what was asked for.
        const shown = words[0] === "ask" ? stderr : `${stdout}${stderr}`;
        const found = shown.split("\n").filter((line) => EFFECT.test(line)).map((line) =>
          JSON.stringify(line)
        );
        assert.deepEqual(found, [], words.join(" "));
      }
    }
  });
});

test("a replay script keeps the exact text, without characters that act on a terminal, reorder or hide text", async (place) => {
  place.write("d.chat", DOCUMENT);
  const { stdout } = await place.run(["replay", "record", "d.chat"]);
  assert.doesNotMatch(stdout, EFFECT);
  const { replies } = parse(stdout) as { replies: { reply: Record<string, unknown>[] }[] };
  assert.deepEqual(replies[0]!.reply[0], { text: `I will. ${HOSTILE}`.trim() });
  const { tool_use } = replies[1]!.reply[1] as { tool_use: { id: string } };
  assert.equal(tool_use.id, `i${INLINE}`);
});

test("requests, saved texts and imports are printed unchanged into a pipe and escaped at a terminal", async (place) => {
  const env = { ANTHROPIC_API_KEY: "k" };
  const text = `@You:\nHello ${HOSTILE}\n`;
  place.write("q.chat", text);
  place.write(
    "call.json",
    JSON.stringify({
      model: "claude-sonnet-5-5",
      max_tokens: 9,
      messages: [{ role: "user", content: HOSTILE }],
    }),
  );
  const lines = [["send", "--dry-run", "q.chat"], ["import", "call.json"]];
  for (const words of lines) {
    const piped = await place.run(words, { env });
    assert.match(piped.stdout, EFFECT, `${words.join(" ")} in a pipe`);
    const { shown } = await new AtTerminal(place, words, { env }).ended();
    assert.doesNotMatch(shown, EFFECT, words.join(" "));
    assert.match(shown, /\\u202e/, words.join(" "));
  }
});
