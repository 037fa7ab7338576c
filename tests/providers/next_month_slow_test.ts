// A model released next month, on each kind: whatever is stated about it, a conversation with it is never worse than with
// nothing stated. No request is refused, it thinks, its thinking goes back, and its replies may be as long.

import assert from "node:assert/strict";
import type { Settings } from "../../config/settings.generated.ts";
import type { ModelSetting } from "../../config/values.ts";
import { choiceOf } from "../../providers/models/choice.ts";
import { keepLearned, withLearned } from "../../providers/models/learned.ts";
import { readList } from "../../providers/models/listing.ts";
import { called, type Conversation, converse, thought } from "../cycle/conversation.ts";

interface Kind {
  readonly model: string;
  /** Rows of the vendor's own list, from the least to the most that it states. */
  readonly listed: readonly Readonly<Record<string, unknown>>[];
  /** The known model that `like` names; null if there is none. */
  readonly like: string | null;
}

const yes = { supported: true };
const no = { supported: false };
const claude = (disabled: object) => ({
  max_input_tokens: 1_000_000,
  max_tokens: 128_000,
  lifecycle: "active",
  capabilities: {
    thinking: { supported: true, types: { adaptive: yes, enabled: no, disabled, between_tools: no } },
    effort: { supported: true, low: yes, medium: yes, high: yes, xhigh: yes, max: yes },
  },
});

const KINDS: Readonly<Record<string, Kind>> = {
  anthropic: {
    model: "claude-sonnet-6",
    listed: [{}, { max_input_tokens: 2_000_000, max_tokens: 128_000 }, claude(no), claude(yes)],
    like: choiceOf("anthropic")!.standard,
  },
  openai: {
    model: "gpt-6.3-sol",
    listed: [{}, { object: "model", owned_by: "openai", shutdown_date: "2028-01-01" }],
    like: choiceOf("openai")!.standard,
  },
  gemini: {
    model: "gemini-4.5-argon",
    listed: [{}, { inputTokenLimit: 1_048_576, outputTokenLimit: 65_536, thinking: true }],
    like: choiceOf("gemini")!.standard,
  },
  vertex: { model: "gemini-4.5-argon", listed: [], like: choiceOf("vertex")!.standard },
  moonshot: {
    model: "kimi-k4-pro",
    listed: [{}, { context_length: 1_048_576 }],
    like: choiceOf("moonshot")!.standard,
  },
  openai_chat: {
    model: "qwen9",
    listed: [{}, { max_model_len: 65_536 }, {
      context_length: 262_144,
      top_provider: { max_completion_tokens: 65_536 },
    }],
    like: null,
  },
};

const PRICES = { prices: { input: 5, output: 25 } };

/** What counts about the requests of a conversation. */
interface Measured {
  /** Tokens that a reply may have. */
  readonly most: number;
  /** The request's parameters about thinking. */
  readonly thinks: boolean;
  /** Thinking and signatures in the last request. */
  readonly sentBack: number;
  readonly problems: readonly string[];
  readonly notices: readonly string[];
}

async function measure(
  provider: string,
  model: string,
  facts: ModelSetting | null,
  listed: unknown,
): Promise<Measured> {
  const replies = [called("a", "c1"), thought("b"), called("c", "c2"), thought("d")];
  let measured: Measured | null = null;
  await converse({ replies, text: "@System:\nBe brief.\n" }, async (talk) => {
    talk.takesKey = true;
    talk.tools = [{ name: "bash", description: "Runs.", input_schema: { type: "object" } }];
    talk.ask(provider, model);
    talk.settings = await describe(talk, facts, listed);
    const notices: string[] = [];
    for (const [id, question] of [["c1", "One?"], ["c2", "Two?"]] as const) {
      talk.say(question);
      notices.push(...await reportedBy(talk));
      talk.answer(id, "out");
      notices.push(...await reportedBy(talk));
    }
    const text = JSON.stringify(talk.body);
    const most = /"(?:max_tokens|max_output_tokens|max_completion_tokens|maxOutputTokens)":(\d+)/.exec(text);
    measured = {
      most: Number(most?.[1]),
      thinks: /"(?:thinking|reasoning|thinkingConfig|reasoning_effort)":/.test(text),
      sentBack:
        text.match(/"(?:signature|encrypted_content|thoughtSignature|reasoning_content)":"[^"]/g)?.length ??
          0,
      problems: talk.replay.problems,
      notices,
    };
  });
  return measured!;
}

/** States facts about the model in the settings, and in the list that the vendor gave last. */
async function describe(talk: Conversation, facts: ModelSetting | null, listed: unknown): Promise<Settings> {
  const { provider, model } = talk.settings;
  const environment = {
    cwd: talk.folder,
    home: talk.folder,
    variables: { XDG_STATE_HOME: `${talk.folder}/state` },
  };
  if (listed !== null) {
    await keepLearned(environment, provider, { day: "2026-12-20", models: readList({ data: [listed] })! });
  }
  const providers = facts === null ? {} : { [provider]: { models: { [model!]: facts } } };
  return await withLearned(environment, { ...talk.settings, providers });
}

async function reportedBy(talk: Conversation): Promise<readonly string[]> {
  const { outcome, reported } = await talk.send();
  assert.equal(outcome.kind, "completed", JSON.stringify(outcome));
  return reported;
}

for (const [provider, { model, listed, like }] of Object.entries(KINDS)) {
  const rows: readonly (readonly [string, ModelSetting | null, unknown])[] = [
    ["prices only", PRICES, null],
    ["an empty entry", {}, null],
    ...(like === null
      ? []
      : [["like", { like }, null] as const, ["like and prices", { like, ...PRICES }, null] as const]),
    ...listed.flatMap((row, index) => {
      const entry = { id: model, ...row };
      return [
        [`models list --refresh, row ${index + 1}`, null, entry],
        [`models list --refresh, row ${index + 1}, and prices`, PRICES, entry],
        ...(like === null
          ? []
          : [[`models list --refresh, row ${index + 1}, and like`, { like }, entry] as const]),
      ] as const;
    }),
  ];
  Deno.test(`a new model of ${provider} is never worse with facts than without: prices, like, the vendor's list`, async () => {
    const plain = await measure(provider, model, null, null);
    assert.deepEqual(plain.problems, []);
    assert.ok(plain.sentBack >= 2, "its thinking goes back");
    for (const [what, facts, row] of rows) {
      const found = await measure(provider, model, facts, row);
      assert.deepEqual(found.problems, [], what);
      assert.ok(found.most >= plain.most, `${what}: ${found.most} < ${plain.most}`);
      assert.ok(found.thinks || !plain.thinks, `${what}: it does not think`);
      assert.equal(found.sentBack, plain.sentBack, what);
      const others = found.notices.filter((words) => !plain.notices.includes(words));
      assert.deepEqual(others, [], what);
    }
  });
}
