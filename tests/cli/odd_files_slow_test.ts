// Paths that are no ordinary files, and standard streams that are closed.

import assert from "node:assert/strict";
import { testWithScene as test } from "./harness.ts";

/** Runs lines of a shell, each with its output and exit code. A line that waits is ended and has code 124. */
async function outcomes(
  place: Parameters<Parameters<typeof test>[1]>[0],
  lines: readonly string[],
): Promise<readonly (readonly [line: string, code: string, output: string])[]> {
  const script = lines.map((line) => `out=$({ ${line}; } 2>&1); echo "$? $out" | tr '\\n' '|'; echo`);
  const words = place.program.map((word) => `'${word}'`).join(" ");
  const limited = `flemma() { timeout 30 ${words} "$@"; }`;
  const { stdout } = await place.shell([limited, ...script].join("\n"));
  const answers = stdout.trimEnd().split("\n");
  assert.equal(answers.length, lines.length, stdout);
  return lines.map((line, at) => {
    const [, code = "", output = ""] = /^(\d+) (.*?)\|?$/.exec(answers[at]!) ?? [];
    return [line, code, output] as const;
  });
}

const READERS = ["status", "check", "show", "parse", "estimate", "recover"];
const WRITERS = ["advance", "send", "migrate", "approve", "compact", "fork", "watch"];

test("no command waits for a pipe or reads a device as a document, and each says why", async (place) => {
  const paths = ["pipe.chat", "/dev/zero", "/dev/null"];
  const lines = [...READERS, ...WRITERS].flatMap((command) =>
    paths.map((path) => `flemma ${command} ${path} </dev/null`)
  );
  const found = await outcomes(place, ["mkfifo pipe.chat", ...lines]);
  for (const [line, code, output] of found.slice(1)) {
    assert.equal(code, "1", `${line}: ${output}`);
    assert.match(output, /is not a regular file\.|No text is saved under/, line);
  }
});

test("a pipe or a folder in the place of a settings file is a mistake that every command names", async (place) => {
  place.write("a.chat", "@You:\nHi\n");
  const settings = "$XDG_CONFIG_HOME/flemma/config.yaml";
  const commands = ["status a.chat", "advance a.chat", "config get model"];
  for (
    const [make, why] of [["mkdir -p", "it is a folder"], ["mkfifo", "it is not a regular file"]] as const
  ) {
    const lines = commands.map((command) => `flemma ${command} </dev/null`);
    const made = `rm -rf "${settings}"; mkdir -p "${settings}"; rmdir "${settings}"; ${make} "${settings}"`;
    for (const [line, code, output] of (await outcomes(place, [made, ...lines])).slice(1)) {
      assert.equal(code, "2", `${line}: ${output}`);
      assert.ok(output.includes(`config.yaml cannot be read: ${why}.`), `${line}: ${output}`);
    }
  }
});

test("closed streams and readers that leave early cause neither a stack nor silence", async (place) => {
  const long = Array.from(
    { length: 800 },
    (_, at) => `@You:\n${at} ${"x".repeat(200)}\n\n@Assistant:\nb\n\n`,
  );
  place.write("long.chat", `${long.join("")}@You:\nHi\n`);
  const rows: readonly (readonly [line: string, codes: RegExp, output: RegExp])[] = [
    ["flemma status long.chat >&-", /^0$/, /^$/],
    ["flemma --help >&-", /^0$/, /^$/],
    ["flemma status nosuch.chat >&-", /^1$/, /There is no file nosuch\.chat/],
    ["flemma status nosuch.chat 2>&-", /^1$/, /^$/],
    ["flemma advance long.chat >&- </dev/null", /^1$/, /No key for Anthropic/],
    ["flemma advance <&-", /^4$/, /The document has no message\./],
    ["flemma show long.chat | head -1", /^0$/, /You|^$/],
    ["flemma parse long.chat | head -c 1", /^0$/, /^.$/],
    ["flemma show --html long.chat | head -1", /^0$/, /html/i],
    ["flemma help all | head -1", /^0$/, /./],
    ["flemma migrate < long.chat | head -1", /^0$/, /The reader of standard output closed it/],
  ];
  const found = await outcomes(place, rows.map(([line]) => line));
  for (const [at, [line, code, output]] of found.entries()) {
    assert.match(code, rows[at]![1], `${line}: ${output}`);
    assert.match(output, rows[at]![2], `${line}: ${output}`);
    assert.doesNotMatch(output, /Internal error|\| {4}at /, line);
  }
});
