// Background jobs of programs that outlive a run: a job of one run is used in the next, and ends with the program.

import assert from "node:assert/strict";
import * as acp from "@agentclientprotocol/sdk";
import { begin, choose, say, withAgent } from "../editors/acp/client.ts";
import { toolReply } from "../editors/acp/replies.ts";
import { LspEditor } from "../editors/lsp/client.ts";
import { type Scene, withScene } from "./harness.ts";
import { type Reply, textReply, withServer } from "./replies.ts";
import { watching } from "./watching.ts";

/** Seconds that a job sleeps, by test; no other process has this number. */
const MARK = 200_000 + Deno.pid * 4;

const bash = (id: string, command: string, background: boolean): Reply =>
  toolReply(id, "bash", { command, label: "x", timeout: null, "flemma.background": background });

/** Starts a job that says that it runs, and in the next run a command that waits for what the job makes then. */
const replies = (mark: number): Reply[] => [
  bash("c1", `touch runs; (until [ -e go ]; do sleep 0.05; done; touch made) & exec sleep ${mark}`, true),
  bash("c2", "until [ -e runs ]; do sleep 0.05; done", false),
  textReply("It runs."),
  bash("c3", "touch go; until [ -e made ]; do sleep 0.05; done; echo used", false),
  textReply("Used."),
];

const SETTINGS = "tools: { auto_approve: [bash] }\n";

/** The living processes of the job with this number. */
function sleepers(mark: number): string[] {
  return [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const words = Deno.readTextFileSync(`/proc/${name}/cmdline`).split("\0");
      return words[0] === "sleep" && words[1] === String(mark) ? [name] : [];
    } catch {
      return []; // The process has ended.
    }
  });
}

/** Waits until no process of the job is left: after kill -9 the kernel ends them. */
async function untilGone(mark: number): Promise<void> {
  while (sleepers(mark).length > 0) await new Promise((done) => setTimeout(done, 20));
}

function add(place: Scene, question: string): void {
  place.write("a.chat", `${place.read("a.chat").trimEnd()}\n${question}\n`);
}

Deno.test("watch keeps a job between two saves, and ends it with Ctrl-C", () =>
  withServer(replies(MARK), ({ env }) =>
    withScene(async (place) => {
      place.settings(SETTINGS);
      place.write("a.chat", "@You:\n");
      await watching(place, env, ["a.chat"], async (watch) => {
        add(place, "Start.");
        assert.equal((await watch.next("stopped")).reason, "done");
        assert.match(place.read("a.chat"), /It ends when flemma watch ends\./);
        assert.equal(sleepers(MARK).length, 1);
        add(place, "Use it.");
        assert.equal((await watch.next("stopped")).reason, "done");
        assert.match(place.read("a.chat"), /\nused\n[^]*Used\./);
        assert.equal(sleepers(MARK).length, 1);
        watch.kill("SIGINT");
        assert.equal(await watch.ends(), 0);
        assert.deepEqual(sleepers(MARK), []);
        const text = place.read("a.chat");
        assert.match(text, /\*\*Job Result:\*\* `job_\w+` \(error\)\n\n```\nStopped with flemma watch after/);
        assert.match(text, /\(error job=job_\w+\)/);
      });
    })));

Deno.test("if watch is killed between two runs, no process of its job is left, and the next run writes that the job is lost", () =>
  withServer([...replies(MARK + 1).slice(0, 3), textReply("Lost.")], ({ env }) =>
    withScene(async (place) => {
      place.settings(SETTINGS);
      place.write("a.chat", "@You:\n");
      await watching(place, env, ["a.chat"], async (watch) => {
        add(place, "Start.");
        await watch.next("stopped");
        watch.kill("SIGKILL");
        await watch.ends();
      });
      await untilGone(MARK + 1);
      add(place, "And?");
      const next = await place.start(["advance", "a.chat"], { env: { ...env, ANTHROPIC_API_KEY: "k" } })
        .finished;
      assert.equal(next.code, 0, next.stderr);
      const text = place.read("a.chat");
      assert.equal(text.split("**Job Result:**").length, 2);
      assert.match(text, /\*\*Job Result:\*\* `job_\w+` \(error\)\n\n```\nJob lost: its run ended/);
    })));

Deno.test("an ACP conversation keeps a job between two prompts, and ends it when it is closed", () =>
  withServer(replies(MARK + 2), ({ env }) =>
    withScene(async (place) => {
      place.settings(SETTINGS);
      await withAgent(place, env, choose("allow_once"), async (client) => {
        const { sessionId } = await begin(client);
        assert.equal((await say(client, sessionId, "Start.")).stopReason, "end_turn");
        assert.equal(sleepers(MARK + 2).length, 1);
        assert.equal((await say(client, sessionId, "Use it.")).stopReason, "end_turn");
        assert.match(client.text(), /Used\./);
        assert.equal(sleepers(MARK + 2).length, 1);
        await client.ctx.request(acp.methods.agent.session.close, { sessionId });
        assert.deepEqual(sleepers(MARK + 2), []);
        const [{ name } = { name: "" }] = [...Deno.readDirSync(place.path(".flemma/chats"))].filter((
          { name },
        ) => name.endsWith(".chat"));
        const text = place.read(`.flemma/chats/${name}`);
        assert.match(text, /It ends when the client closes this conversation\./);
        assert.match(text, /\nused\n/);
        assert.match(
          text,
          /\*\*Job Result:\*\* `job_\w+` \(error\)\n\n```\nStopped with the conversation after/,
        );
      });
    })));

Deno.test("the language server keeps a job between two runs, and ends it when the document is closed", () =>
  withServer(replies(MARK + 3), ({ env }) =>
    withScene(async (place) => {
      place.settings(SETTINGS);
      place.write("a.chat", "@You:\nStart.\n");
      const uri = `file://${place.path("a.chat")}`;
      await using editor = await LspEditor.start(place, { env: { ...env, ANTHROPIC_API_KEY: "k" } });
      editor.open(uri, "@You:\nStart.\n");
      await editor.execute("flemma.advance", { uri, version: 1 });
      await editor.runEnds();
      assert.equal(sleepers(MARK + 3).length, 1);
      editor.replace(uri, "It runs.\n\n@You:\n", "It runs.\n\n@You:\nUse it.\n");
      await editor.execute("flemma.advance", { uri, version: editor.versionOf(uri) });
      await editor.runEnds(2);
      assert.match(
        editor.textOf(uri),
        /It ends when the editor closes this document\.[^]*\nused\n[^]*Used\./,
      );
      assert.equal(sleepers(MARK + 3).length, 1);
      const stopped = await editor.execute("flemma.cancel", { uri, version: editor.versionOf(uri) });
      assert.deepEqual(stopped.result, { cancelled: true });
      await untilGone(MARK + 3);
      assert.equal(await editor.shutdown(), 0);
    })));
