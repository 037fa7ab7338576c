// Provokes failures that a person meets, and follows each printed advice literally: it must lead on.

import assert from "node:assert/strict";
import { callsDocument, type Scene, testWithScene as test } from "./harness.ts";
import { type Reply, textReply, withServer } from "./replies.ts";

const KEY = { ANTHROPIC_API_KEY: "test-key" };
const QUESTION = "@You:\nHi\n";
const ADVANCE = ["advance", "a.chat"];
const GOOD = textReply("Hello!");

/** What was printed, and the means to follow it. */
interface Printed {
  readonly place: Scene;
  readonly words: string;
  readonly env: Readonly<Record<string, string>>;
  /** The first group of the pattern, which the advice must contain. */
  found(pattern: RegExp): string;
  /** Runs a command line of this program, which must succeed. */
  follow(line: string | readonly string[], env?: Readonly<Record<string, string>>): Promise<string>;
}

interface Failure {
  readonly text?: string;
  readonly prepare?: (place: Scene) => void | Promise<void>;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Replies of the server, first to the failing command and then to the advised one. */
  readonly replies?: readonly Reply[];
  readonly exit: number;
  readonly lead: (printed: Printed) => Promise<unknown>;
}

function refuse(status: number, type: string, message: string, headers: Record<string, string> = {}): Reply {
  return { status, headers, body: JSON.stringify({ type: "error", error: { type, message } }) };
}

const open = (...ids: readonly string[]) =>
  callsDocument(ids.map((id) => ({ id, command: "true", status: "pending" as const })));

const FAILURES: Readonly<Record<string, Failure>> = {
  "no key": {
    env: { ANTHROPIC_API_KEY: "" },
    exit: 1,
    lead: ({ found, follow }) => follow(ADVANCE, { [found(/Set the variable (\w+),/)]: "test-key" }),
  },
  "a provider that is down": {
    env: { FLEMMA_ANTHROPIC_BASE_URL: "http://127.0.0.1:9" },
    exit: 1,
    lead: ({ found, follow }) => follow(found(/Continue with: (flemma advance a\.chat)/)),
  },
  "a wrong key": {
    replies: [refuse(401, "authentication_error", "invalid x-api-key"), GOOD],
    exit: 1,
    lead: ({ found, follow }) =>
      follow(ADVANCE, { [found(/Check the key in the variable (\w+)\./)]: "another-key" }),
  },
  "an unknown model": {
    args: [...ADVANCE, "--model", "claude-nonsense"],
    replies: [refuse(404, "not_found_error", "model: claude-nonsense"), GOOD],
    exit: 1,
    lead: async ({ found, follow }) => {
      const listed = await follow(found(/\((flemma models list anthropic)\)/));
      await follow([...ADVANCE, "--model", /claude-[\w-]+/.exec(listed)![0]]);
    },
  },
  "a rate limit for a long time": {
    replies: [
      refuse(429, "rate_limit_error", "Slow down", { "retry-after": "7200" }),
      refuse(429, "rate_limit_error", "Slow down", { "retry-after-ms": "1" }),
      GOOD,
    ],
    exit: 1,
    lead: ({ found, follow }) => follow([...ADVANCE, ...found(/(--wait-limit \S+)/).split(" ")]),
  },
  "an overloaded provider": {
    args: [...ADVANCE, "--no-retry"],
    replies: [
      refuse(529, "overloaded_error", "Overloaded"),
      refuse(529, "overloaded_error", "Overloaded", {
        "retry-after-ms": "1",
      }),
      GOOD,
    ],
    exit: 1,
    lead: ({ found, follow }) => follow([...ADVANCE, ...found(/(--wait-limit \S+)/).split(" ")]),
  },
  "a conversation that is too long": {
    text: `${"@You:\nQ\n\n@Assistant:\nA\n\n".repeat(4)}@You:\nAnd now?\n`,
    replies: [
      refuse(400, "invalid_request_error", "prompt is too long: 3 tokens > 2 maximum"),
      textReply("Summary."),
    ],
    exit: 1,
    lead: async ({ found, follow, place }) => {
      await follow(found(/(flemma compact a\.chat)/));
      assert.match(place.read("a.2.chat"), /Summary\./);
    },
  },
  "an unknown provider": {
    args: [...ADVANCE, "--provider", "anthropc"],
    exit: 2,
    lead: ({ found, follow }) => follow([...ADVANCE, "--provider", found(/did you mean "(\w+)"/)]),
  },
  "an unknown command": {
    args: ["advnce", "a.chat"],
    exit: 2,
    lead: ({ found, follow }) => follow([found(/Did you mean (\w+)\?/), "a.chat"]),
  },
  "an unknown option": {
    args: [...ADVANCE, "--max-csot", "1"],
    exit: 2,
    lead: ({ found, follow }) => follow([...ADVANCE, found(/Did you mean (--[\w-]+)\?/), "1"]),
  },
  "a wrong value of an option": {
    args: [...ADVANCE, "--max-turns", "many"],
    exit: 2,
    lead: async ({ found, follow }) => {
      assert.match(await follow(found(/Help: (flemma advance --help)/)), /--max-turns N/);
    },
  },
  "a missing document": {
    args: ["advance", "gone.chat"],
    exit: 1,
    lead: async ({ found, follow, place }) => {
      await follow(found(/(flemma new gone\.chat)/));
      assert.ok(place.exists("gone.chat"));
    },
  },
  "a folder instead of a document": {
    prepare: (place) => Deno.mkdirSync(place.path("notes")),
    args: ["advance", "notes"],
    exit: 1,
    lead: async ({ found, follow, place }) => {
      await follow(found(/(flemma new notes\/\S+\.chat)/));
      assert.ok([...Deno.readDirSync(place.path("notes"))].length === 1);
    },
  },
  "an unknown key in the frontmatter": {
    text: "```yaml\nflemma:\n  modle: claude-haiku-5-5\n```\n\n" + QUESTION,
    exit: 4,
    lead: ({ found, follow, place }) => {
      place.write("a.chat", place.read("a.chat").replace("modle", found(/did you mean "(\w+)"/)));
      return follow(ADVANCE);
    },
  },
  "a frontmatter in an unknown language": {
    text: "```toml\nname: value\n```\n\n" + QUESTION,
    exit: 4,
    lead: ({ found, follow, place }) => {
      place.write("a.chat", place.read("a.chat").replace("toml", found(/use .*\b(yaml)\b/)));
      return follow(ADVANCE);
    },
  },
  "a tag that is not Lua": {
    text: "@You:\n{{.Names}}\n",
    exit: 4,
    lead: ({ found, follow, place }) => {
      place.write(
        "a.chat",
        `@You:\n${found(/between (\{% raw %\})/)}{{.Names}}${found(/and (\{% endraw %\})/)}\n`,
      );
      return follow(ADVANCE);
    },
  },
  "a missing include": {
    text: "@You:\n{{ include('part.md') }}\n",
    exit: 0,
    lead: async ({ found, follow, place, words }) => {
      const path = found(/the file (\S+) cannot be read/);
      assert.match(words, /a\.chat:2:1: warning/);
      await Deno.writeTextFile(path, "A part.");
      place.write("a.chat", "@You:\n{{ include('part.md') }}\n");
      assert.match(await follow(["send", "--dry-run", "a.chat"]), /A part\./);
    },
  },
  "a call of a tool that does not exist": {
    text: open("c1").replace("`bash`", "`bashh`"),
    prepare: (place) => place.settings("sandbox: false\n"),
    args: ["execute", "a.chat", "c1"],
    exit: 1,
    lead: ({ found, follow, place }) => {
      place.write("a.chat", place.read("a.chat").replace("bashh", found(/Did you mean (\w+)\?/)));
      return follow(["execute", "a.chat", "c1"]);
    },
  },
  "a call that waits": {
    text: open("c1"),
    exit: 3,
    lead: async ({ found, follow, place }) => {
      await follow(found(/(flemma approve a\.chat c1)/));
      assert.match(place.read("a.chat"), /status=approved/);
    },
  },
  "an unknown call": {
    text: open("c1"),
    args: ["approve", "a.chat", "c9"],
    exit: 1,
    lead: ({ found, follow }) => follow(["approve", "a.chat", found(/The calls are: (\S+)/)]),
  },
  "several calls to choose from": {
    text: open("c1", "c2"),
    args: ["approve", "a.chat"],
    exit: 2,
    lead: ({ found, follow }) => follow(["approve", "a.chat", found(/use (--all)/)]),
  },
  "a price that nobody knows": {
    args: [...ADVANCE, "--model", "foo", "--max-cost", "1"],
    exit: 2,
    lead: ({ found, follow }) => follow([...ADVANCE, "--model", "foo", found(/(--max-tokens)/), "100000"]),
  },
  "a budget that is too small": {
    text: `@You:\n${"word ".repeat(50_000)}\n`,
    args: [...ADVANCE, "--max-cost", "0.001"],
    exit: 3,
    lead: ({ found, follow }) => follow([...ADVANCE, "--max-cost", found(/--max-cost ([\d.]+\d)/)]),
  },
  "an unknown key in the settings": {
    prepare: (place) => place.settings("modle: claude-haiku-5-5\n"),
    exit: 2,
    lead: ({ found, follow, place }) => {
      place.settings(`${found(/did you mean "(\w+)"/)}: claude-haiku-5-5\n`);
      return follow(ADVANCE);
    },
  },
  "an unknown preset": {
    args: [...ADVANCE, "--preset", "fast"],
    exit: 2,
    lead: ({ found, follow }) => follow([...ADVANCE, "--preset", found(/The presets are: (\$\w+)/)]),
  },
  "an unknown model to fall back to": {
    args: [...ADVANCE, "--fallback", "$standart"],
    exit: 2,
    lead: ({ found, follow }) => follow([...ADVANCE, "--fallback", found(/did you mean "(\$\w+)"/)]),
  },
  "a project that is not trusted": {
    prepare: (place) => {
      Deno.mkdirSync(place.path(".flemma"));
      place.write(".flemma/config.yaml", "tools: { auto_approve: [bash] }\n");
    },
    args: ["status", "a.chat"],
    exit: 0,
    lead: async ({ found, follow, place, env }) => {
      await follow(found(/If you trust it: (flemma trust \S+)/));
      assert.equal((await place.run(["status", "a.chat"], { env })).stderr, "");
    },
  },
  "an MCP server whose program is missing": {
    prepare: (place) => place.settings("mcp: { servers: { gone: { command: nosuchserver } } }\n"),
    args: ["tools", "list"],
    exit: 1,
    lead: ({ found, follow, place }) => {
      const key = found(/(mcp\.servers\.gone)\b/).split(".");
      place.settings(`${key[0]}: { ${key[1]}: {} }\n`);
      return follow(["tools", "list"]);
    },
  },
  "a sandbox that is missing": {
    prepare: (place) =>
      place.settings("sandbox: { backend: bwrap, backends: { bwrap: { path: /nowhere/bwrap } } }\n"),
    args: ["sandbox", "status"],
    exit: 1,
    lead: async ({ found, place }) => {
      const [outer, backends, name, path] = found(/(sandbox\.backends\.bwrap\.path)/).split(".");
      const shell = await place.shell("command -v bwrap");
      const program = shell.stdout.trim() || "/usr/bin/bwrap";
      place.settings(`${outer}: { backend: bwrap, ${backends}: { ${name}: { ${path}: ${program} } } }\n`);
      const { stdout } = await place.run(["sandbox", "status"]);
      assert.doesNotMatch(stdout, /nowhere/);
    },
  },
  "a new document that exists": {
    args: ["new", "a.chat"],
    exit: 1,
    lead: ({ found, follow, place }) => {
      found(/(write below a line @You:, then advance)/);
      place.write("a.chat", `${place.read("a.chat")}More.\n`);
      return follow(ADVANCE);
    },
  },
  "an empty document": {
    text: "",
    exit: 4,
    lead: ({ found, follow, place }) => {
      place.write("a.chat", `${found(/Write a line (@You:) and your text below it/)}\nHi\n`);
      return follow(ADVANCE);
    },
  },
  "an address that is none": {
    env: { FLEMMA_ANTHROPIC_BASE_URL: "nonsense" },
    exit: 2,
    lead: ({ found, follow, env }) => {
      const name = found(/Set the variable (\w+) to a full address/);
      return follow(ADVANCE, { [name]: env[name]! });
    },
  },
  "a key in the text": {
    text: "@You:\nHi test-key-which-is-long\n",
    env: { ANTHROPIC_API_KEY: "test-key-which-is-long" },
    exit: 1,
    lead: ({ found, follow, place }) => {
      const line = Number(found(/from line (\d+)/));
      const lines = place.read("a.chat").split("\n");
      lines[line - 1] = "Hi";
      place.write("a.chat", lines.join("\n"));
      return follow(ADVANCE);
    },
  },
  "a turn that does not exist": {
    text: `${QUESTION}\n@Assistant:\nA.\n`,
    args: ["fork", "a.chat", "--turn", "9"],
    exit: 1,
    lead: ({ found, follow }) => follow(["fork", "a.chat", "--turn", found(/the last is (\d+)/)]),
  },
  "an unknown editor": {
    args: ["editor", "vimm"],
    exit: 2,
    lead: ({ found, follow }) => follow(["editor", found(/did you mean (\w+)\?/)]),
  },
};

for (const [name, failure] of Object.entries(FAILURES)) {
  test(`the advice after this failure leads on: ${name}`, async (place) => {
    const { replies = Array<Reply>(8).fill(GOOD), text = QUESTION, args = ADVANCE, exit } = failure;
    await withServer(replies, async (server) => {
      place.write("a.chat", text);
      await failure.prepare?.(place);
      const env = { ...KEY, ...server.env };
      const failed = await place.run(args, { env: { ...env, ...failure.env } });
      const words = failed.stderr + failed.stdout;
      assert.equal(failed.code, exit, words);
      await failure.lead({
        place,
        words,
        env,
        found: (pattern) => pattern.exec(words)?.[1] ?? assert.fail(`${pattern} is not in: ${words}`),
        follow: async (line, more = {}) => {
          const advised = typeof line === "string" ? line.split(" ").slice(1) : line;
          const finished = await place.run(advised, { env: { ...env, ...more } });
          assert.equal(finished.code, 0, `${advised.join(" ")}: ${finished.stderr}`);
          return finished.stdout;
        },
      });
    });
  });
}

Deno.test("at least thirty failures are provoked", () => {
  assert.ok(Object.keys(FAILURES).length >= 30);
});
