// Commands that create or change the person's files, each with its initial state and how it is repeated.

import assert from "node:assert/strict";
import { callsDocument, type Finished, type Scene } from "../cli/harness.ts";

export interface KilledCommand {
  readonly what: string;
  /** What is there before: a document, files, a repository, what an earlier run left in the state folder. */
  readonly prepare: (place: Scene) => void | Promise<void>;
  /** Shell in the folder of the document; `flemma` is the program that is killed. */
  readonly line: string;
  /** What a person does then. Afterwards all files are as if nobody had killed anything. @default the same line */
  readonly again?: string;
  /** What must be true at the end beside that, as shell: of the state folder, say. */
  readonly holds?: string;
  /** Whether a model is asked. */
  readonly asks?: true;
  /** A file that grows while the command runs, so that it may hold a part of what it will. */
  readonly grows?: string;
  /** A file that another program changes line by line, each time whole, such as git its settings. */
  readonly stepwise?: string;
  /** What a file may hold beside its old and its new text: the kill can hit a helper of the program, which then says so. */
  readonly reported?: RegExp;
  /** What must be true of files at the end, where they need not be as if nobody had killed anything. */
  readonly settled?: (place: Scene, again: Finished) => void;
}

const LONG = "word ".repeat(20_000);
const turns = (count: number) =>
  Array.from({ length: count }, (_, at) => `@You:\nQuestion ${at}.\n\n@Assistant:\nAnswer ${at}.\n\n`).join(
    "",
  );
const withResult = callsDocument([{ id: "c1", command: "seq 9999" }]) +
  `@You:\n\n**Tool Result:** \`c1\`\n\n\`\`\`\n${"a line of a long result\n".repeat(1000)}\`\`\`\n\n` +
  `@Assistant:\nDone.\n\n${turns(3)}@You:\n`;

async function runs(place: Scene, line: string): Promise<void> {
  const { code, stderr } = await place.shell(line);
  assert.equal(code, 0, `${line}\n${stderr}`);
}

/** A call of a file tool, ready to run. */
function fileCall(id: string, tool: string, input: Record<string, unknown>): string {
  return `**Tool Use:** \`${tool}\` (\`${id}\`)\n\n\`\`\`json\n${
    JSON.stringify({ label: "x", ...input })
  }\n\`\`\`\n\n`;
}

const CHANGES = `@You:\nPlease.\n\n@Assistant:\nI will.\n\n` +
  fileCall("c1", "edit", { path: "old.txt", oldText: "two", newText: "2" }) +
  fileCall("c2", "write", { path: "other.txt", content: "new\n" }) +
  fileCall("c3", "write", { path: "deep/er/new.txt", content: "new\n" }) + "@You:\n";

async function changed(place: Scene): Promise<void> {
  place.write("a.chat", CHANGES);
  place.write("old.txt", `one\ntwo\n${LONG}\n`);
  place.write("other.txt", LONG);
  await runs(place, "flemma advance a.chat --no-autopilot --approve edit,write -q");
}

const REPOSITORY = `git init -q -b main; git config user.name a; git config user.email a@example.org`;
/** What git says when it was killed itself while it wrote its settings. */
const UNLOCKED = "rm -f .git/config.lock";
/** Does what makes a document only where it is not there yet. */
const unlessThere = (line: string) => `[ -e b.chat ] || ${line}`;

/** In the order in which a short form takes them: what makes, changes and puts back first. */
export const COMMANDS: readonly KilledCommand[] = [
  {
    what: "undo",
    prepare: changed,
    line: "flemma undo a.chat",
  },
  {
    what: "fork",
    prepare: (place) => place.write("a.chat", `${turns(400)}@You:\n`),
    line: "flemma fork a.chat b.chat",
    again: unlessThere("flemma fork a.chat b.chat"),
  },
  {
    what: "compact with a summary",
    prepare: (place) => place.write("a.chat", `@System:\nBe brief.\n\n${turns(400)}@You:\n`),
    line: "flemma compact a.chat --to b.chat",
    again: unlessThere("flemma compact a.chat --to b.chat"),
    asks: true,
  },
  {
    what: "compact of results only",
    prepare: (place) => place.write("a.chat", withResult),
    line: "flemma compact a.chat --to b.chat --results-only",
    again: unlessThere("flemma compact a.chat --to b.chat --results-only"),
    holds: `grep -o '/[^ ]*_c1[^ ]*[.]txt' b.chat | head -1 | xargs -r grep -c 'a line' | grep -qx 1000`,
  },
  {
    what: "a run that compacts its document",
    prepare: (place) => {
      place.write("a.chat", `@System:\nBe brief.\n\n${turns(400)}@You:\nGo on.\n`);
      place.write("full.yaml", "context: { on_full: compact, compact_at: 0, max_compactions: 1 }\n");
    },
    line: "flemma advance a.chat --config full.yaml -q",
    again: "flemma advance a.chat --config full.yaml -q || true",
    grows: "place/a.chat",
    asks: true,
    settled: (place) => {
      const names = [...Deno.readDirSync(place.path("."))].map(({ name }) => name);
      const texts = names.filter((name) => name.startsWith("a.chat")).map((name) => place.read(name));
      assert.ok(texts.some((text) => text.includes(`${turns(400)}@You:\nGo on.\n`)), names.join());
      const now = place.read("a.chat");
      for (let at = 0; at < 400; at++) assert.ok(now.includes(`Question ${at}.`), `${at}\n${now}`);
    },
  },
  {
    what: "migrate",
    prepare: (place) =>
      place.write(
        "a.chat",
        `@System: Be brief.\n${`@You: Hello\n\n@Assistant: ${LONG}\n`.repeat(10)}@You:\n`,
      ),
    line: "flemma migrate a.chat",
  },
  {
    what: "import",
    prepare: (place) =>
      place.write(
        "a.json",
        `{"model":"m","messages":[{"role":"user","content":"${LONG}"}]}`,
      ),
    line: "flemma import a.json > ../b.new && mv ../b.new b.chat",
  },
  {
    what: "new with a long question",
    prepare: (place) => place.write("long", LONG),
    line: `flemma new b.chat --bare -m "$(head -c 90000 long)"`,
    again: unlessThere(`flemma new b.chat --bare -m "$(head -c 90000 long)"`),
  },
  {
    what: "the merge driver by hand",
    prepare: (place) => {
      place.write("base", turns(200));
      place.write("ours", `${turns(200)}@You:\nOurs.\n\n@Assistant:\n${LONG}\n\n`);
      place.write("theirs", `${turns(200)}@You:\nTheirs.\n\n@Assistant:\n${LONG}\n\n`);
    },
    line: "flemma git merge-driver base ours theirs",
    again: "grep -q Theirs ours || flemma git merge-driver base ours theirs",
  },
  {
    what: "a merge by git",
    prepare: async (place) => {
      place.write("a.chat", turns(200));
      await runs(
        place,
        `${REPOSITORY}; flemma git setup --write -q && git add . && git commit -qm base && git checkout -qb other && ` +
          `printf '@You:\\nTheirs.\\n\\n@Assistant:\\nYes.\\n\\n' >> a.chat && git commit -qam theirs && ` +
          `git checkout -q main && printf '@You:\\nOurs.\\n\\n@Assistant:\\nYes.\\n\\n' >> a.chat && git commit -qam ours`,
      );
    },
    line: "git merge -q -m merged other",
    again: `git merge --abort 2>/dev/null; git reset -q --merge; git merge -q -m merged other`,
  },
  {
    what: "git setup",
    prepare: async (place) => {
      place.write(".gitattributes", "*.png binary\n");
      await runs(place, REPOSITORY);
    },
    line: "flemma git setup --write",
    again: `${UNLOCKED}; flemma git setup --write`,
    stepwise: "place/.git/config",
  },
  {
    what: "git setup, undone",
    prepare: async (place) => {
      place.write(".gitattributes", "*.png binary\n");
      await runs(place, `${REPOSITORY}; flemma git setup --write -q`);
    },
    line: "flemma git setup --undo",
    again: `${UNLOCKED}; flemma git setup --undo`,
    stepwise: "place/.git/config",
  },
  {
    what: "files for an editor",
    prepare: () => {},
    line: "flemma editor vim --install",
  },
  {
    what: "files for an editor, updated next to the person's own",
    prepare: async (place) => {
      await runs(
        place,
        "flemma editor vim --install -q; find ~ -name '*.vim' -exec sh -c 'echo \\\" mine >> $1' _ {} \\;",
      );
    },
    line: "flemma editor vim --install --force",
  },
  {
    what: "a page",
    prepare: (place) => place.write("a.chat", turns(400)),
    line: "flemma show a.chat --html -o a.html",
  },
  {
    what: "approve",
    prepare: (place) =>
      place.write("a.chat", callsDocument([{ id: "c1", command: "true", status: "pending" }])),
    line: "flemma approve a.chat c1",
    holds: "flemma execute a.chat c1",
  },
  {
    what: "a call of edit",
    prepare: (place) => {
      place.write("old.txt", `one\ntwo\n${LONG}\n`);
      place.write("a.chat", CHANGES.slice(0, CHANGES.indexOf("**Tool Use:** `write`")) + "@You:\n");
    },
    line: "flemma execute a.chat c1",
    reported: /`c1` \(error\)[^]*The process for file tools ended early[^]*Read it again\./,
    again: "flemma undo a.chat",
    // The person has back what was there, or is told where it is kept.
    settled: (place, { stderr }) => {
      const old = `one\ntwo\n${LONG}\n`;
      const [, kept = null] = /the old content is in (\S+),/.exec(stderr) ?? [];
      const there = kept === null ? place.read("old.txt") : Deno.readTextFileSync(kept);
      assert.ok(there === old || (kept !== null && there.includes(old)), stderr);
    },
  },
  {
    what: "trust",
    prepare: (place) => {
      place.write("b.chat", `\`\`\`yaml\nflemma: { sandbox: false }\n\`\`\`\n\n@You:\n`);
      place.write("a.chat", `\`\`\`yaml\nflemma: { sandbox: false }\n\`\`\`\n\n@You:\n`);
      return runs(place, "flemma trust b.chat");
    },
    line: "flemma trust a.chat",
    holds: "flemma trust --list | grep -c chat | grep -qx 2",
    settled: () => {},
  },
  {
    what: "a session setting",
    prepare: (place) => runs(place, "flemma session set model=before"),
    line: "flemma session set thinking=high",
    holds: "flemma session show | grep -q before && flemma session show | grep -q high",
    settled: () => {},
  },
  {
    what: "a question from a shell",
    prepare: (place) => {
      place.write("b.chat", turns(40));
    },
    line: "flemma ask --file b.chat -q why",
    grows: "place/b.chat",
    asks: true,
    again: "flemma status b.chat",
    settled: (place) => {
      const text = place.read("b.chat");
      assert.ok(text.startsWith(turns(40).trimEnd()), text);
    },
  },
];
