// Wrong command lines, documents, settings, keys and files: each is answered by its cause and a next step that leads on.

import assert from "node:assert/strict";
import { isThere } from "../../base/files.ts";
import { COMMANDS } from "../../commands/line/table.ts";
import { callsDocument, type Finished, type Scene, testWithScene as test } from "./harness.ts";

const HI = "@You:\nhi\n";
const WAITS = callsDocument([{ id: "c1", command: "true", status: "pending" }]);
const TWO = callsDocument(["c1", "c2"].map((id) => ({ id, command: "true", status: "pending" })));

/** The files of every row. */
const FILES: Readonly<Record<string, string | Uint8Array>> = {
  "hi.chat": HI,
  "waits.chat": WAITS,
  "two.chat": TWO,
  "answered.chat": "@You:\nhi\n\n@Assistant:\nHello.\n",
  "empty.chat": "",
  "blank.chat": " \n\n",
  "words.chat": "just words\n",
  "no-end.chat": "@You:",
  "nul.chat": "@You:\n\0\n",
  "latin1.chat": new Uint8Array([...new TextEncoder().encode("@You:\ncaf"), 0xe9, 0x0a]),
  "utf16.chat": new Uint8Array([0xff, 0xfe, ...[..."@You:\nhi\n"].flatMap((c) => [c.charCodeAt(0), 0])]),
  "picture.chat": new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
  "-dash.chat": HI,
  "two words.chat": HI,
  "yaml.chat": `\`\`\`yaml\nflemma: [\n\`\`\`\n\n${HI}`,
  "key.chat": `\`\`\`yaml\nflemma:\n  modle: x\n\`\`\`\n\n${HI}`,
  "type.chat": `\`\`\`yaml\nflemma:\n  parameters: { temperature: warm }\n\`\`\`\n\n${HI}`,
  "lua.chat": `\`\`\`lua\nflemma.opt.model = \n\`\`\`\n\n${HI}`,
  "tag.chat": "@You:\n{{ nothing( }}\n",
  "open.chat": "@You:\n{% if true %}\n",
  "include.chat": "@You:\n{{ include('gone.md') }}\n",
  "role.chat": "@Person:\nhi\n",
  "tool.chat": `\`\`\`yaml\nflemma:\n  tools: [bahs]\n\`\`\`\n\n${HI}`,
  "cwd.chat": `\`\`\`yaml\nflemma:\n  cwd: /nowhere\n\`\`\`\n\n${HI}`,
  "request.json": "{ not json",
  "list.json": "[]",
  "script.yaml": "replies: 3\n",
};

interface Row {
  readonly args: readonly string[];
  readonly exit: number;
  /** What the answer must say; every row needs a cause and a next step anyway. */
  readonly says?: RegExp;
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: string;
  readonly prepare?: (place: Scene) => void;
  /** The answer on standard output, as reports of mistakes have it. */
  readonly report?: true;
  /** The cause says everything: there is nothing that a person could do next. */
  readonly isEnd?: true;
}

const line = (exit: number, words: string, more: Omit<Row, "args" | "exit"> = {}): Row => ({
  args: words === "" ? [] : words.split(" "),
  exit,
  ...more,
});
const KEY = { ANTHROPIC_API_KEY: "test-key" };
const DOWN = { ...KEY, FLEMMA_ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };

const ROWS: readonly Row[] = [
  // Files.
  line(1, "advance gone.chat"),
  line(1, "status gone.chat"),
  line(1, "check gone.chat"),
  line(1, "show gone.chat"),
  line(1, "approve gone.chat"),
  line(1, "reject gone.chat"),
  line(2, "review gone.chat", { says: /needs a terminal/ }),
  line(1, "undo gone.chat"),
  line(1, "fork gone.chat"),
  line(1, "compact gone.chat", { env: KEY }),
  line(1, "migrate gone.chat"),
  line(1, "estimate gone.chat"),
  line(1, "usage gone.chat"),
  line(1, "parse gone.chat"),
  line(1, "import gone.json"),
  line(1, "replay run gone.chat"),
  line(1, "advance gone/deep/a.chat"),
  line(1, "advance hi.chat/a.chat"),
  line(1, "advance folder"),
  line(1, "check folder"),
  line(1, "parse folder"),
  line(1, "show folder"),
  line(1, "advance nul.chat"),
  line(1, "check latin1.chat"),
  line(1, "status utf16.chat"),
  line(1, "show picture.chat"),
  line(1, "advance picture.chat"),
  line(4, "advance empty.chat"),
  line(4, "advance blank.chat"),
  line(4, "advance words.chat"),
  line(2, "advance -dash.chat"),
  { args: ["advance", "two", "words.chat"], exit: 1, says: /no file two/ },
  { args: ["advance", ""], exit: 1 },
  { args: ["advance", "a\nb.chat"], exit: 1 },
  { args: ["advance", "~/hi.chat"], exit: 1 },
  { args: ["advance", "x".repeat(300)], exit: 1 },
  line(1, "advance /dev/null"),
  line(1, "new hi.chat"),
  line(1, "new gone/deep/a.chat"),
  line(1, "new hi.chat/a.chat"),
  line(2, "fork hi.chat waits.chat"),
  line(1, "import request.json"),
  line(1, "import list.json"),
  line(2, "replay start script.yaml"),
  line(2, "replay serve gone.yaml"),
  // Content.
  line(4, "advance yaml.chat", { env: KEY }),
  line(4, "advance key.chat", { env: KEY, says: /did you mean "model"/ }),
  line(4, "advance type.chat", { env: KEY }),
  line(4, "advance lua.chat", { env: KEY }),
  line(4, "advance tag.chat", { env: KEY }),
  line(4, "advance open.chat", { env: KEY }),
  line(4, "check yaml.chat", { report: true }),
  line(4, "check key.chat", { report: true }),
  line(4, "check tag.chat", { report: true }),
  line(4, "advance role.chat", { env: KEY }),
  line(4, "advance tool.chat", { env: KEY }),
  line(3, "advance answered.chat", { env: KEY, says: /--continue/ }),
  line(3, "send waits.chat", { env: KEY, says: /c1/ }),
  line(3, "advance waits.chat", { env: KEY, says: /flemma approve waits\.chat c1/ }),
  // Targets.
  line(1, "approve two.chat c9", { says: /c1/ }),
  line(2, "approve two.chat", { says: /--all/ }),
  line(1, "approve hi.chat"),
  line(1, "approve hi.chat c1", { isEnd: true }),
  line(1, "reject answered.chat c1", { isEnd: true }),
  line(1, "approve two.chat --line 9999"),
  line(1, "approve two.chat --line 0"),
  line(2, "approve two.chat --line many"),
  line(2, "approve two.chat --line -1"),
  line(1, "execute two.chat c9"),
  line(1, "cancel hi.chat"),
  line(1, "undo hi.chat c9"),
  line(1, "fork hi.chat --turn 9"),
  line(2, "fork hi.chat --turn one"),
  // Command lines.
  line(2, "advanse hi.chat"),
  line(2, "advance hi.chat --modl x"),
  line(2, "--nope"),
  line(2, "advance --json hi.chat --max-turns"),
  line(2, "advance hi.chat --max-turns -1"),
  line(2, "advance hi.chat --max-turns 1.5"),
  line(2, "advance hi.chat --max-cost lots"),
  line(2, "advance hi.chat --max-cost -1"),
  line(2, "advance hi.chat --wait soon"),
  line(2, "advance hi.chat --wait-limit never"),
  line(2, "advance hi.chat --param temperature", { env: KEY }),
  line(2, "advance hi.chat --param temperature=warm", { env: KEY }),
  line(2, "advance hi.chat --provider anthropc", { says: /anthropic/ }),
  line(2, "advance hi.chat --preset nothing"),
  line(2, "advance hi.chat --approve bash(", { env: KEY }),
  line(2, "advance hi.chat --jobs 0"),
  line(2, "advance hi.chat -"),
  line(2, "advance hi.chat --config gone.yaml"),
  line(2, "advance hi.chat --config folder"),
  line(2, "advance --sandbox --no-sandbox hi.chat --nope"),
  line(2, "advance hi.chat --json=yes"),
  line(2, "ask"),
  line(2, "ask --last --file a.chat hi"),
  line(2, "ask --last hi"),
  line(2, "ask -t gone hi"),
  line(2, "ask -v lang=x hi"),
  line(2, "ask --tools bahs hi"),
  line(2, "ask --system"),
  line(2, "new"),
  line(2, "new a.chat --go"),
  line(2, "new a.chat --bare --system x"),
  line(2, "show"),
  line(2, "help nothing"),
  line(2, "editor ed"),
  line(2, "completions csh"),
  line(2, "config get"),
  line(2, "config get modle"),
  line(2, "config set model x"),
  line(2, "session set modle=x"),
  line(2, "session set"),
  line(2, "models list nothing"),
  line(2, "auth set nothing"),
  line(2, "auth status nothing"),
  line(1, "trust gone"),
  line(2, "approval explain hi.chat c1 --nope"),
  line(2, "hooks list --nope"),
  line(2, "usage --since yesterdayish"),
  line(2, "replay"),
  line(2, "sandbox"),
  line(2, "sandbox run"),
  line(127, "sandbox run -- no-such-program", { isEnd: true }),
  line(2, "git merge-driver a b"),
  // Settings, keys, addresses.
  line(2, "advance hi.chat", { settings: "model: [\n" }),
  line(2, "advance hi.chat", { settings: "modle: x\n", says: /did you mean "model"/ }),
  line(2, "advance hi.chat", { settings: "- a\n" }),
  line(2, "advance hi.chat", { settings: "parameters: { temperature: warm }\n" }),
  line(2, "status hi.chat", { settings: "tools: { auto_approve: [bahs( ] }\n" }),
  line(2, "config check", { settings: "modle: x\n", report: true }),
  line(1, "advance hi.chat"),
  line(1, "advance hi.chat", { env: { ANTHROPIC_API_KEY: "two words" } }),
  line(1, "advance hi.chat", { env: { ANTHROPIC_API_KEY: "käse" } }),
  line(1, "advance hi.chat --no-retry", { env: DOWN }),
  line(2, "advance hi.chat", { env: { ...KEY, FLEMMA_ANTHROPIC_BASE_URL: "nonsense" } }),
  line(1, "advance hi.chat --no-retry", { env: { ...DOWN, http_proxy: "::" } }),
  line(2, "advance hi.chat", { env: { ...KEY, FLEMMA_CONFIG: "/nowhere.yaml" } }),
  line(2, "auth status anthropic"),
  // Standard input.
  line(1, "ask", { stdin: new Uint8Array([0xe9, 0x0a]) }),
  line(2, "ask", { stdin: " \n" }),
  line(1, "import", { stdin: "{" }),
  line(1, "status", { stdin: new Uint8Array([0xff]) }),
  line(4, "check", { stdin: "@You:\n{{ x( }}\n", report: true }),
];

const TRACE = /^\s+at .+:\d+:\d+|\bTypeError\b|\bUncaught\b|\bundefined\b|\[object |\bNaN\b/m;

/** Words that begin what a person can do next. */
const NEXT = new RegExp(
  String.raw`\bflemma [a-z]|--[a-z]|[Dd]id you mean|Help:|Such as|` +
    String
      .raw`(?:^|[.:;,] |\n\s*)(?:or )?(?:[Aa]dd|[Cc]heck|[Cc]lose|[Cc]onvert|[Cc]hoose|[Cc]orrect|[Cc]reate|[Dd]elete|[Gg]ive|[Ll]eave|` +
    String
      .raw`[Mm]ake|[Nn]ame|[Pp]ut|[Qq]uote|[Rr]emove|[Rr]ename|[Ss]et|[Ss]tart|[Uu]se|[Ww]rite|[Uu]pdate|[Pp]ass|[Pp]rint|[Ss]ave|[Aa]llow|[Aa]vailable|[Kk]nown providers|[Tt]he nearest|[Cc]ontinue)\b|The .* are: |may be|must be|must have|expect(?:s|ed)|counted from`,
);

/** A command that ends a line, without a part that a person fills in. */
function commandsIn(text: string): readonly string[] {
  return [...text.matchAll(/(?<!uch as): (flemma [^\n]*?)\.?$/gm)].map(([, words]) => words!)
    .filter((words) => !/[A-Z]{4}|…|\||,| or |sandbox run/.test(words));
}

function wordsOf(command: string): string[] {
  return [...command.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(([, quoted, plain]) =>
    quoted?.replaceAll("'\\''", "'") ?? plain!
  ).slice(1);
}

/** Checks an answer; returns what is wrong with it. */
async function faults(place: Scene, row: Row, { code, stdout, stderr }: Finished): Promise<string[]> {
  const answer = row.report === true ? stdout + stderr : stderr;
  const wrong: string[] = [];
  if (code !== row.exit) wrong.push(`exit ${code} instead of ${row.exit}`);
  if (
    row.report === true
      ? answer.trim() === ""
      : !/^(?:flemma: |\S+:\d+:\d+: |\[1\/2\] \S+: |gone\.chat: |\d+ calls? |Decide )/m.test(answer)
  ) {
    wrong.push("no cause");
  }
  if (TRACE.test(stdout + stderr)) wrong.push("a trace of the program's own code");
  if (row.says !== undefined && !row.says.test(answer)) wrong.push(`not ${row.says}`);
  if (row.isEnd !== true && !NEXT.test(answer)) wrong.push("no next step");
  for (const command of commandsIn(answer)) {
    const followed = await place.run(wordsOf(command), { env: { ...DOWN } });
    if (followed.code === 2) wrong.push(`${command} is refused: ${followed.stderr}`);
  }
  return wrong;
}

async function check(place: Scene, rows: readonly Row[]): Promise<void> {
  const found: string[] = [];
  for (const row of rows) {
    for (const { name } of Deno.readDirSync(place.path("."))) {
      Deno.removeSync(place.path(name), { recursive: true });
    }
    if (isThere(`${place.folder}/state`)) Deno.removeSync(`${place.folder}/state`, { recursive: true });
    for (const [name, content] of Object.entries(FILES)) place.write(name, content);
    Deno.mkdirSync(place.path("folder"), { recursive: true });
    place.settings(row.settings ?? "");
    row.prepare?.(place);
    const { args, stdin, env } = row;
    const finished = await place.run(args, { env, ...(stdin === undefined ? {} : { stdin }) });
    for (const fault of await faults(place, row, finished)) {
      found.push(`${args.join(" ")}: ${fault}\n${finished.stdout}${finished.stderr}`);
    }
  }
  assert.deepEqual(found, [], found.join("\n\n"));
}

for (let from = 0; from < ROWS.length; from += 25) {
  const rows = ROWS.slice(from, from + 25);
  test(`wrong inputs ${from + 1} to ${from + rows.length} are answered by cause and next step`, (place) =>
    check(place, rows));
}

test("every command answers an unknown option, too many words and too few by cause and next step", (place) =>
  check(
    place,
    COMMANDS.flatMap(({ name, arity: [least, most] }): Row[] => {
      const words = name.split(" ");
      const enough = Array<string>(least).fill("hi.chat");
      return [
        { args: [...words, ...enough, "--nonsense"], exit: 2 },
        ...most === Infinity || name === "sandbox run"
          ? []
          : [{ args: [...words, ...Array<string>(most + 1).fill("hi.chat")], exit: 2 }],
        ...least === 0 ? [] : [{ args: [...words, ...enough.slice(1)], exit: 2 }],
      ];
    }),
  ));
