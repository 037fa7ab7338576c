// What an MCP server with default settings can reach: the same as a command, and no more.

import assert from "node:assert/strict";
import { freshFolder } from "../../folder.ts";
import { scripted, withPlace } from "./scene.ts";

const SECRET = "sk-secret-value-of-a-provider";

Deno.test("a sandboxed MCP server can reach its folder, as a command can, but not other folders, state, processes, keys or the document", () =>
  withPlace(async (place) => {
    const outside = await Deno.realPath(await freshFolder("flemma-mcp-outside-"));
    const victim = new Deno.Command("sleep", { args: ["60"] }).spawn();
    try {
      Deno.writeTextFileSync(`${place.folder}/a.chat`, "@You:\nGo.\n");
      const commands: readonly (readonly [string, RegExp])[] = [
        ["echo in > in.txt && cat in.txt", /\bin\n= 0$/m],
        [`echo out > ${outside}/out.txt`, /Read-only file system/],
        [`echo x > ${place.root}/state/flemma/mine`, /Read-only file system/],
        [`kill -9 ${victim.pid}`, /No such process/],
        [`kill -9 ${Deno.pid}`, /No such process/],
        ["echo '@You: x' >> a.chat", /Read-only file system/],
        ["echo key: $ANTHROPIC_API_KEY$OPENAI_API_KEY", /\bkey:\n= 0$/m],
        [`ls -d /proc/${Deno.pid}`, /No such file/],
        ["mv a.chat b.chat", /busy|Read-only/i],
      ];
      await Deno.mkdir(`${place.root}/state/flemma`, { recursive: true });
      const whole = commands.map(([command]) => `{ ${command}; } 2>&1; echo "= $?"`);
      const calls = whole.map((command) => ({ name: "one:shell", input: { command } }));
      const bare = whole.map((command) => ({ name: "bash", input: { label: "x", command } }));
      const served = await place.run({ one: scripted() }, calls);
      const run = await place.run({}, bare);
      for (const [at, [command, expected]] of commands.entries()) {
        assert.match(served.result(at), expected, command);
        assert.match(run.result(at), expected, command);
      }
      assert.deepEqual([...Deno.readDirSync(outside)], []);
      assert.throws(() => Deno.statSync(`${place.root}/state/flemma/mine`), Deno.errors.NotFound);
      assert.equal(Deno.readTextFileSync(`${place.folder}/a.chat`), "@You:\nGo.\n");
      victim.kill("SIGTERM");
      assert.equal((await victim.status).signal, "SIGTERM");
    } finally {
      await Deno.remove(outside, { recursive: true });
    }
  }, { ANTHROPIC_API_KEY: SECRET, OPENAI_API_KEY: SECRET }));

for (const sandbox of [true, false]) {
  const where = sandbox ? "in" : "outside of";
  Deno.test(`processes started by a server ${where} the sandbox end when the document is closed, even in a separate process session`, () =>
    withPlace(async (place) => {
      const seconds = `3600.${Math.floor(Math.random() * 1e9)}`;
      const begun = `pgrep -f '^sleep ${seconds}$' >/dev/null`;
      const command = `setsid sleep ${seconds} >/dev/null 2>&1 & until ${begun}; do :; done; echo started`;
      const running = async () => {
        const { stdout } = await new Deno.Command("pgrep", { args: ["-f", `^sleep ${seconds}$`] }).output();
        return new TextDecoder().decode(stdout);
      };
      const { result } = await place.with(
        { one: { ...scripted(), sandbox } },
        [{ name: "one:shell", input: { command } }],
        async (chat) => {
          await chat.advance();
          assert.notEqual(await running(), "");
        },
      );
      assert.match(result(0), /started/);
      // The kernel ends the processes of a namespace after the first one; without that, this test does not end.
      while (await running() !== "");
      const records = [...Deno.readDirSync(`${place.root}/state/flemma/started`)];
      assert.deepEqual(records, [], "nothing is left to be ended by the next run");
    }));
}

Deno.test("while a sandboxed MCP server works on a call, a file tool waits, and then runs", () =>
  withPlace(async (place) => {
    const { result } = await place.run({ one: scripted() }, [
      { name: "one:shell", input: { command: "sleep 0.2; echo made > made.txt" } },
      { name: "read", input: { label: "x", path: "made.txt", offset: null, limit: null } },
    ]);
    assert.match(result(1), /made/);
  }));
