// A provider's prompt cache is matched by bytes, so a longer conversation must not change earlier bytes.

import assert from "node:assert/strict";
import type { ScriptedReply } from "../../providers/replay/server.ts";
import { ECHO, inPlace, textOf, withModel } from "./place.ts";

const TURNS = 20;

const BLOCK = "```yaml\nwho: Ada\nflemma: { parameters: { thinking: medium } }\n```\n";
const START = `${BLOCK}@System:\nYou help {{ who }}.\n{{ include("rules.md") }}\n`;

/** What the person says, in every form that has to come out the same in each later request. */
const STATED: readonly ((turn: number) => string)[] = [
  (turn) => `Question ${turn} of {{ who }}: {{ string.rep("x", ${turn}) }}`,
  () => `{{ include("notes.md") }}\nAnd this?`,
  () => "See @./notes.md, and @./data.json.",
  () => "{% for i = 1, 3 do %}{{ i }} {% end %}\n\n```js\n{{ left.alone }}\n```",
];

const replyTo = (turn: number): readonly ScriptedReply[] => [
  {
    reply: [
      { thinking: `plan ${turn}\n` },
      { text: `Look ${turn}.\n` },
      { tool_use: { id: `call_${turn}`, name: "echo", input_text: `{"text": "out ${turn}", "n": 1.0}` } },
    ],
  },
  { reply: [{ thinking: `end ${turn}` }, { text: `Answer ${turn}:\n@You:\nquoted\n` }] },
];

/** From the system prompt on: what stands before are parameters of the one request. */
function kept(body: string): string {
  return body.slice(body.indexOf('"system":'));
}

Deno.test(`over ${TURNS} turns with includes, tools and frontmatter, each request extends the bytes of the request before`, async (t) => {
  await inPlace(async (place) => {
    place.write("rules.md", "Be brief.\n");
    place.write("notes.md", "Notes.\n");
    place.write("data.json", '{"b":1,"a":2}\n');
    const replies = Array.from({ length: TURNS }, (_, turn) => replyTo(turn)).flat();
    await withModel(replies, async (provider, replay) => {
      let text = START;
      for (let turn = 0; turn < TURNS; turn++) {
        text = `${text.replace(/\n@You:\n\n$/, "")}\n@You:\n${STATED[turn % STATED.length]!(turn)}\n`;
        const session = await place.memory(text, {
          provider,
          tools: [ECHO],
          settings: { approve: ["echo"] },
        });
        const { reason, problem } = await session.advance();
        assert.equal(reason, "done", problem?.message);
        text = textOf(session);
      }
      const bodies = replay.requests.map(({ body }) => kept(body));
      assert.equal(bodies.length, 2 * TURNS);
      const stable = bodies.slice(1).filter((body, index) =>
        body.startsWith(bodies[index]!.slice(0, -"]}".length))
      );
      const share = 100 * stable.length / (bodies.length - 1);
      await t.step(
        `${stable.length} of ${bodies.length - 1} requests, ${share.toFixed(1)} %, ${
          bodies.at(-1)!.length
        } bytes at the end`,
        () => {
          assert.equal(stable.length, bodies.length - 1);
        },
      );
      assert.deepEqual(replay.problems, []);
    });
  });
});
