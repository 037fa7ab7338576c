// The cost of deciding about a command by rules: parsing for approvals and denials, and matching every part.

import { resolvePath } from "../base/paths.ts";
import { readRule } from "../config/rules/read_rule.ts";
import type { PlacedRule } from "../config/rules/rule.ts";
import { evaluateCall, type RuleParts, worldNow } from "../tools/approval/rules/mod.ts";
import type { Bench, Figure } from "./harness.ts";

const ROUNDS = 300;
/** Unmeasured rounds, after which the code is fully compiled. */
const WARMING = 200;
/** Maximum milliseconds for a command of 2 KB. */
const GOAL = 2;

const RULES: readonly Readonly<Record<string, unknown>>[] = [
  {
    approve: "bash",
    command: ["git log **", "git diff **", "cat **", "head **", "wc **", "rg **", "sort **"],
  },
  { approve: "bash", command: ["ls **", "grep **"], within: ["./**", "!**/.env*"] },
  { ask: "bash", command: ["git push **", "rm **"] },
  { deny: "bash", command: "sudo **", reason: "not here" },
];

const PART = `git log --oneline -5 -- 'a file.ts' | head -3 && cat "$(git diff --name-only)" | sort -u; ` +
  `rg -n "foo bar" src 2>/dev/null | wc -l\n`;

/** Commands by their size in bytes. */
const COMMANDS: Readonly<Record<string, string>> = {
  "a command of 60 bytes": "git log --oneline -5 | head -3 && cat README.md | sort -u -r\n",
  "a command of 2 KB": PART.repeat(Math.ceil(2048 / PART.length)).slice(0, 2048).replace(/[^\n]*$/, ""),
  "the same, not approved": `${PART.repeat(15)}touch x`,
};

const bench: Bench = {
  name: "approval",
  about:
    `one command decided by ${RULES.length} rules: median of ${ROUNDS} runs after ${WARMING} for warm-up`,
  async run(): Promise<readonly Figure[]> {
    const started = performance.now();
    const library = await import("unbash");
    const loading = performance.now() - started;
    const parts = partsWith(() => Promise.resolve(library));
    const figures: Figure[] = [{ case: "loading the parser", value: loading, unit: "ms" }];
    for (const [name, command] of Object.entries(COMMANDS)) {
      const goal = name === "a command of 2 KB" ? { goal: GOAL } : {};
      figures.push({ case: name, value: await median(command, parts), unit: "ms", ...goal });
    }
    return figures;
  },
};

async function median(command: string, parts: RuleParts): Promise<number> {
  const times: number[] = [];
  for (let round = -WARMING; round < ROUNDS; round++) {
    const start = performance.now();
    await evaluateCall("bash", { command }, parts);
    if (round >= 0) times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[ROUNDS >> 1]!;
}

function partsWith(loadShell: RuleParts["loadShell"]): RuleParts {
  const folder = Deno.cwd();
  const home = "/home/nobody";
  return {
    rules: RULES.map((written): PlacedRule => {
      const rule = readRule(written);
      if (!rule.ok) throw new Error(JSON.stringify(rule.problem));
      return { rule: rule.value, written, key: "tools.rules", layer: "G" };
    }),
    worldNow: () =>
      worldNow({
        environment: { cwd: folder, home, variables: {} },
        path: Deno.env.get("PATH") ?? "",
        writable: () => [folder],
        isProtected: () => false,
      }),
    folderOf: () => folder,
    searchesFolders: false,
    baseOf: () => ({ folder, expand: (front) => resolvePath(front, { folder, home }) }),
    tool: () => ({ command_input: "command" }),
    otherShell: null,
    isSandboxed: () => Promise.resolve(true),
    loadShell,
  };
}

export default bench;
