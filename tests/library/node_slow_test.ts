// The loop of the library in Node 22: the examples, the tools, the lock, and what Node lacks.

import assert from "node:assert/strict";
import { type ReplayScript, startReplay } from "../../advanced.ts";
import { ROOT } from "../../scripts/gate/root.ts";
import { type Installed, type RunOptions, withPackage } from "../gate/installed_package.ts";

const SYSTEM = `${Deno.build.os}-${Deno.build.arch === "x86_64" ? "x64" : "arm64"}`;
const NODE = [`node-${SYSTEM}@22`, "@types/node@22"];

/** Starts Node without the open files that the starter of the tests left: Node cannot keep them from commands. */
const WITHOUT_FILES =
  'for f in /proc/self/fd/*; do n=${f##*/}; [ "$n" -le 2 ] || eval "exec $n>&-"; done; exec "$@"';

const call = (id: string, name: string, input: Record<string, unknown>) => ({
  tool_use: { id, name, input },
});

class Place {
  readonly #installed: Installed;

  constructor(installed: Installed) {
    this.#installed = installed;
  }

  get folder(): string {
    return this.#installed.folder;
  }

  async write(name: string, text: string): Promise<void> {
    await Deno.writeTextFile(`${this.folder}/${name}`, text);
  }

  async settings(text: string): Promise<void> {
    const folder = `${this.#installed.home}/.config/flemma`;
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(`${folder}/config.yaml`, text);
  }

  /** The words that start a program in Node. */
  node(...words: readonly string[]): string[] {
    const program = `${this.folder}/node_modules/node-${SYSTEM}/bin/node`;
    return [
      "bash",
      "-c",
      WITHOUT_FILES,
      "bash",
      program,
      "--no-warnings",
      "--experimental-strip-types",
      ...words,
    ];
  }

  start(words: readonly string[], options: RunOptions = {}): Deno.ChildProcess {
    return this.#installed.start(words, options);
  }

  async run(words: readonly string[], options: RunOptions = {}) {
    return await this.#installed.run(words, options);
  }

  /** Runs a program in Node with a model that gives these replies. */
  async runWith(script: ReplayScript, words: readonly string[], options: RunOptions = {}) {
    await using replay = await startReplay(script);
    const variables = { ...modelAt(replay.url), ...options.variables };
    const ran = await this.run(this.node(...words), { ...options, variables });
    if (script.replies.length > 0) assert.deepEqual(replay.problems, []);
    return ran;
  }
}

const modelAt = (url: string) => ({ FLEMMA_ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "replay" });

/** A program that opens a document, runs it, and prints how that ended. */
const RUN = `
import { openChat } from "flemma";
const opened = await openChat(process.argv[2]);
if (!opened.ok) console.log(JSON.stringify(opened.problem));
else {
  console.log(JSON.stringify(await opened.value.advance()));
  await opened.value.close();
}
`;

/** A program that holds a document until it is killed. */
const HOLD = `
import { openChat } from "flemma";
const opened = await openChat(process.argv[2]);
console.log(opened.ok ? "open" : opened.problem.code);
setInterval(() => {}, 1000);
`;

Deno.test("the loop of the library runs in Node 22", async (t) => {
  await withPackage(async (_, installed) => {
    const place = new Place(installed);
    await place.write("run.ts", RUN);
    await place.write("hold.ts", HOLD);
    for (const name of ["bot", "job", "evaluate"]) {
      await Deno.copyFile(`${ROOT}/examples/library/${name}.ts`, `${place.folder}/${name}.ts`);
    }

    await t.step("commands and file tools work in the sandbox", async () => {
      await place.write("file.txt", "one\ntwo\n");
      await place.write("tools.chat", "@You:\nGo.\n");
      const { out, error } = await place.runWith({
        replies: [
          {
            reply: [
              call("b", "bash", { command: "cat file.txt; touch /etc/made; exit 3" }),
              call("r", "read", { path: "file.txt" }),
              call("e", "edit", { path: "file.txt", oldText: "two", newText: "2" }),
              call("g", "grep", { pattern: "one", path: "file.txt" }),
            ],
          },
          { reply: [{ text: "All done." }] },
        ],
      }, ["run.ts", "tools.chat"]);
      assert.notEqual(out, "", error);
      const { reason, reply, usage } = JSON.parse(out);
      assert.deepEqual([reason, reply, usage.requests], ["done", "All done.", 2]);
      const text = await Deno.readTextFile(`${place.folder}/tools.chat`);
      assert.match(text, /`b` \(error\)[^]*one\ntwo\n[^]*Read-only file system[^]*exit code 3/);
      assert.match(text, /`r`\n\n```\none\ntwo\n```/);
      assert.match(text, /`g`\n\n```\nfile.txt:1:one/);
      assert.equal(await Deno.readTextFile(`${place.folder}/file.txt`), "one\n2\n");
    });

    await t.step("Node and Deno respect each other's lock, and a killed program leaves none", async () => {
      await place.write("held.chat", "@You:\nGo.\n");
      const deno = [Deno.execPath(), "run", "-A", "--quiet", "--node-modules-dir=manual"];
      for (const [holder, other] of [[place.node(), deno], [deno, place.node()]] as const) {
        await using child = place.start([...holder, "hold.ts", "held.chat"]);
        const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
        assert.equal((await reader.read()).value, "open\n");
        const refused = await place.run([...other, "run.ts", "held.chat"]);
        assert.equal(JSON.parse(refused.out).code, "document-locked");
        child.kill("SIGKILL");
        await child.status;
        await reader.cancel();
        await child.stderr.cancel();
        await using replay = await startReplay({ replies: [{ reply: [{ text: "Free." }] }] });
        const free = await place.run([...other, "run.ts", "held.chat"], { variables: modelAt(replay.url) });
        assert.match(free.out, /"done"/, free.error);
        await place.write("held.chat", "@You:\nGo.\n");
      }
    });

    await t.step("what Node lacks is a problem with a remedy", async () => {
      await place.write("lacks.chat", "@You:\nGo.\n");
      const bin = `${place.folder}/some`;
      await Deno.mkdir(bin);
      for (const name of ["bash", "sh", "bwrap"]) await Deno.symlink(`/usr/bin/${name}`, `${bin}/${name}`);
      const unlocked = JSON.parse((await place.run(place.node("run.ts", "lacks.chat"), { path: bin })).out);
      assert.equal(unlocked.code, "runtime-unsupported");
      assert.match(unlocked.next, /Install flock/);
      const proxied = await place.runWith({ replies: [] }, ["run.ts", "lacks.chat"], {
        variables: { https_proxy: "http://127.0.0.1:9", http_proxy: "http://127.0.0.1:9", NO_PROXY: "" },
      });
      assert.match(proxied.out, /proxy/);
      assert.doesNotMatch(proxied.out, /"done"/);
    });

    await t.step(
      "a command is refused if Node was started with open files, which it would inherit",
      async () => {
        await place.write("open.chat", "@You:\nGo.\n");
        await place.settings("tools: { auto_approve: [bash] }\n");
        const replies = [{ reply: [call("c", "bash", { command: "touch ran" })] }, {
          reply: [{ text: "No." }],
        }];
        const [shell = "", flag = "", ...node] = place.node("run.ts", "open.chat");
        node[0] = node[0]!.replace('exec "$@"', 'exec "$@" 19</dev/null');
        await using replay = await startReplay({ replies });
        await place.run([shell, flag, ...node], { variables: modelAt(replay.url) });
        assert.match(
          await Deno.readTextFile(`${place.folder}/open.chat`),
          /was started with open files that commands would inherit \(descriptors 19\)/,
        );
        assert.throws(() => Deno.statSync(`${place.folder}/ran`), Deno.errors.NotFound);
        await place.settings("");
      },
    );

    await t.step("file tools without Deno say how to install it", async () => {
      await place.write("nodeno.chat", "@You:\nGo.\n");
      await Deno.rename(`${place.folder}/node_modules/@deno`, `${place.folder}/node_modules/@away`);
      const bin = `${place.folder}/most`;
      await Deno.mkdir(bin);
      for (const name of ["bash", "sh", "bwrap", "flock", "rg", "git"]) {
        await Deno.symlink(`/usr/bin/${name}`, `${bin}/${name}`);
      }
      const script = {
        replies: [{ reply: [call("r", "read", { path: "run.ts" })] }, { reply: [{ text: "I see." }] }],
      };
      await place.runWith(script, ["run.ts", "nodeno.chat"], { path: bin });
      assert.match(await Deno.readTextFile(`${place.folder}/nodeno.chat`), /npm install -g deno/);
      await Deno.rename(`${place.folder}/node_modules/@away`, `${place.folder}/node_modules/@deno`);
    });

    await t.step("the example of a job answers by its exit code", async () => {
      const job = async (replies: ReplayScript["replies"], input = "-a {{ 6 * 7 }} @./run.ts\n") =>
        await place.runWith({ replies }, ["job.ts", "Is it sound?"], { input });
      const good = await job([{ reply: [{ text: "OK, it is." }] }]);
      assert.deepEqual([good.code, good.out], [0, "OK, it is.\n"], good.error);
      assert.match(good.error, /^1 requests, \$/);
      assert.equal((await job([{ reply: [{ text: "PROBLEM: no test." }] }])).code, 1);
      const failed = await job([]);
      assert.equal(failed.code, 2, failed.out);
      assert.notEqual(failed.error, "");
    });

    await t.step(
      "the example of an evaluation prints verdicts and costs, and changes no document",
      async () => {
        for (const [name, expected] of [["a", "4"], ["b", "nine"]] as const) {
          await place.write(`${name}.chat`, `@You:\nWhat is it, ${name}?\n`);
          await place.write(`${name}.expected`, `${expected}\n`);
        }
        const replies = [{ reply: [{ text: "It is 4." }] }, { reply: [{ text: "It is eight." }] }];
        const { code, out } = await place.runWith({ replies }, ["evaluate.ts", "a.chat", "b.chat"]);
        assert.equal(code, 1);
        assert.match(
          out,
          /^passed\ta\.chat\t\d+ tokens\t\S+\tIt is 4\.\nfailed\tb\.chat\t[^]*\n1 of 2 passed, \$/,
        );
        assert.equal(await Deno.readTextFile(`${place.folder}/a.chat`), "@You:\nWhat is it, a?\n");
      },
    );

    await t.step(
      "the example of a bot shows a waiting call, and its buttons approve and reject",
      async () => {
        await place.settings("tools:\n  auto_approve_sandboxed: false\n");
        await place.write("bot.chat", "@You:\n");
        await using replay = await startReplay({
          replies: [
            { reply: [call("c1", "bash", { command: "echo made > made.txt; : '<b>'" })] },
            { reply: [{ text: "Made it." }] },
            { reply: [call("c2", "bash", { command: "rm made.txt" })] },
            { reply: [{ text: "Left it." }] },
          ],
        });
        await using bot = place.start(place.node("bot.ts", "bot.chat", "0"), {
          variables: modelAt(replay.url),
        });
        const reader = bot.stdout.pipeThrough(new TextDecoderStream()).getReader();
        const url = ((await reader.read()).value ?? "").trim();
        const post = async (path: string, form: Record<string, string>) =>
          await (await fetch(`${url}${path}`, { method: "POST", body: new URLSearchParams(form) })).text();
        const asked = await post("/ask", { question: "Make it, {{ 6 * 7 }} @./run.ts." });
        assert.match(asked, /echo made &#62; made\.txt; : &#39;&#60;b&#62;&#39;[^]*Approve/);
        assert.throws(() => Deno.statSync(`${place.folder}/made.txt`));
        const digestIn = (page: string) => /name="digest" value="([^"]+)"/.exec(page)![1]!;
        assert.match(await post("/approve", { id: "c1", digest: "another" }), /has changed/);
        assert.match(await post("/approve", { id: "c1", digest: digestIn(asked) }), /<p>Made it\.<\/p>/);
        assert.equal(await Deno.readTextFile(`${place.folder}/made.txt`), "made\n");
        const second = await post("/ask", { question: "Remove it." });
        assert.match(second, /rm made\.txt/);
        assert.match(await post("/reject", { id: "c2", digest: digestIn(second) }), /<p>Left it\.<\/p>/);
        assert.equal(await Deno.readTextFile(`${place.folder}/made.txt`), "made\n");
        assert.match(replay.requests[0]!.body, /Make it, \{\{ 6 \* 7 \}\} @\.\/run\.ts\./);
        using unused = await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(url).port) });
        bot.kill("SIGTERM");
        assert.equal(await unused.read(new Uint8Array(1)), null);
        assert.equal((await bot.status).code, 0);
        await reader.cancel();
        await bot.stderr.cancel();
      },
    );
  }, NODE);
});
