// Commands and environments of any length: a command that is too long for an argument goes through standard input.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { createSandbox } from "../../sandbox/sandbox.ts";
import type { Sandbox } from "../../sandbox/types.ts";
import { type Scene, testInScene as test } from "./scene.ts";

function realSandbox(place: Scene): Sandbox {
  return createSandbox({
    settings: {
      ...DEFAULT_SETTINGS.sandbox,
      backend: "required",
      policy: { ...DEFAULT_SETTINGS.sandbox.policy, rw_paths: ["urn:flemma:buffer:path"] },
    },
    environment: {
      cwd: place.folder,
      home: place.path("home"),
      variables: { PATH: Deno.env.get("PATH") ?? "", XDG_RUNTIME_DIR: place.path("run") },
    },
    document: place.document,
    protect: [place.document],
    listening: () => [],
  });
}

/** A command of exactly this many bytes that prints the last word of its only long line. */
function commandOf(bytes: number): string {
  const [start, end] = ["set -- ", '; echo "first $#"\necho "${@: -1}"; cat; echo "$0 $LINENO"; exit 7'];
  const filler = "x".repeat(99) + " ";
  const words = filler.repeat(Math.ceil(bytes / filler.length)).slice(
    0,
    bytes - start.length - end.length - 1,
  );
  return `${start}${words}y${end}`;
}

const LENGTHS = [100, 32 * 1024, 32 * 1024 + 1, 131_071, 131_072, 131_073, 300_000, 3_000_000];

for (const bytes of LENGTHS) {
  for (const wrapped of [false, true]) {
    const where = wrapped ? "in the sandbox" : "without a sandbox";
    test(`a command of ${bytes} bytes runs ${where}`, async (place) => {
      const command = commandOf(bytes);
      assert.equal(new TextEncoder().encode(command).length, bytes);
      const sandbox = wrapped ? realSandbox(place) : undefined;
      const error = await place.error(
        "bash",
        { label: "l", command },
        sandbox === undefined ? {} : { sandbox },
      );
      const count = command.slice(0, command.indexOf(";")).split(" ").filter((word) => word !== "").length -
        2;
      const [first, last, name, , why] = error.split("\n");
      assert.equal(first, `first ${count}`);
      assert.match(last ?? "", /^x*y$/);
      assert.match(name ?? "", /\bbash \d+$/);
      assert.equal(why, "The command failed with exit code 7.");
    });
  }
}

const FILLER = `: ${"x".repeat(98)}\n`.repeat(400);

/** What a long command does exactly like a short one. */
const ALIKE: Readonly<Record<string, string>> = {
  "a here-document": "cat <<'END'\na $b `c` \\d\nEND",
  "quotes, backslashes and variables": `a='$b "c"'; printf '%s|' "$a" "\\$a" $'\\t' '\\'`,
  "no standard input": "wc -c",
  "a failure under set -e": "set -e; false; echo not reached",
  "an exit in a function": "f() { exit 3; }; f; echo not reached",
  "a trap on exit": "trap 'echo bye' EXIT; exit 2",
  "an error on the last line": "no_such_program_at_all 2>/dev/null",
  "text that is not ASCII": "echo 'ä€😀' | wc -c",
  "a comment without a line end": "echo a # b",
  "its own standard input": "exec < /dev/null; cat; read -r line; echo $?",
  "a background process": "sleep 0.01 & wait $!; echo done",
};

for (const [what, command] of Object.entries(ALIKE)) {
  test(`a long command behaves like a short one: ${what}`, async (place) => {
    const short = await place.run("bash", { label: "l", command });
    const long = await place.run("bash", { label: "l", command: `${FILLER}${command}` });
    assert.deepEqual(long, short);
  });
}

test("a syntax error in a long command is reported with its line", async (place) => {
  const error = await place.error("bash", { label: "l", command: `${FILLER}if x; then\n` });
  assert.match(error, /line 40\d: syntax error[^]*exit code 2\.$/);
});

test("a long command runs with very many environment variables", async (place) => {
  const variables = Object.fromEntries(
    Array.from({ length: 12_000 }, (_, at) => [`V${at}`, "x".repeat(80)]),
  );
  const command = `${FILLER.repeat(4)}env | grep -c ^V[0-9]`;
  const output = await place.output("bash", { label: "l", command }, {
    sandbox: realSandbox(place),
    variables: { ...variables, PATH: Deno.env.get("PATH") ?? "" },
  });
  assert.equal(output.trim(), "12000");
});

test("if the environment variables are too large for any program, the error names them as the cause", async (place) => {
  const error = await place.error("bash", { label: "l", command: "true" }, {
    sandbox: realSandbox(place),
    variables: { PATH: Deno.env.get("PATH") ?? "", TOO_LONG: "x".repeat(200_000) },
  });
  assert.match(error, /^The command was not started: its arguments and environment variables are too long/);
});
