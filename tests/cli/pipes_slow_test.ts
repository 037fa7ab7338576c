// Pipes and devices in place of files that flemma reads in a project: nothing waits for them. A failure here hangs.

import assert from "node:assert/strict";
import { git } from "../sandbox/fixture.ts";
import { callsDocument, type Scene, testWithScene as test } from "./harness.ts";

/** Files of a project that flemma reads, before or after a command. */
const PATHS = [
  "AGENTS.md",
  "CLAUDE.md",
  ".claude/CLAUDE.md",
  ".flemma/config.yaml",
  ".flemma/tools/tool.ts",
  ".agents/skills/one/SKILL.md",
  ".agents/skills/one/more.md",
  ".mcp.json",
  ".npmrc",
  ".envrc",
  ".gitignore",
  ".gitmodules",
  ".git/HEAD",
  ".git/config",
  ".git/config.worktree",
  ".git/commondir",
  ".git/index",
  ".git/packed-refs",
  ".git/hooks/pre-commit",
  ".git/info/attributes",
  ".git/BISECT_RUN",
  ".git/rebase-merge/git-rebase-todo",
  ".git/modules/one/config",
  ".git/worktrees/one/gitdir",
  ".git/worktrees/one/commondir",
  "sub/.git",
  "sub/AGENTS.md",
  "other.chat",
  "attached.txt",
  "included.md",
];

const QUESTION = `\`\`\`lua
flemma.opt.tools = { "bash" }
\`\`\`

@System:
{{ include("urn:flemma:personality:coding-assistant") }} {{ include("included.md") }}

@You:
Look at @./attached.txt
`;

/** The project, with files that make flemma read each path. */
function prepare(place: Scene): void {
  git(place.path(""), "init", "-q");
  for (
    const name of [
      ".claude",
      ".flemma/tools",
      ".agents/skills/one",
      "sub",
      ".git/info",
      ".git/rebase-merge",
      ".git/modules/one",
      ".git/worktrees/one",
    ]
  ) Deno.mkdirSync(place.path(name), { recursive: true });
}

const KINDS = { "a pipe": "mkfifo", "a link to a device": "ln -sf /dev/zero" };

const making = (shell: string, path: string) => `rm -rf ${path}; ${shell} ${path}`;

const READING = [
  ["check", "question.chat"],
  ["status", "question.chat"],
  ["tools", "list"],
  ["skills", "list"],
  ["advance", "--no-tools", "--dry-run", "question.chat"],
  ["advance", "--only", "call_1", "a.chat"],
];

for (const [kind, shell] of Object.entries(KINDS)) {
  for (const path of PATHS) {
    test(`${kind} at ${path} holds no command of flemma up`, async (place) => {
      prepare(place);
      assert.equal((await place.shell(making(shell, path))).code, 0);
      place.write("question.chat", QUESTION);
      place.write("a.chat", callsDocument([{ id: "call_1", command: "true", status: "approved" }]));
      for (const words of READING) await place.run(words);
    });
  }
  test(`${kind} that a command creates holds nothing up, wherever it is`, async (place) => {
    prepare(place);
    const command = PATHS.map((path) => making(shell, path)).join("; ");
    place.write("a.chat", callsDocument([{ id: "call_1", command, status: "approved" }]));
    await place.run(["advance", "--only", "call_1", "a.chat"]);
    // The command may be ended for what it created, or end first.
    assert.match(
      place.read("a.chat"),
      /\*\*Tool Result:\*\* `call_1`(?: \(error\))?\n\n```\n[^]*\[(?:Moved|Restored) /,
    );
  });
}
