// `--model` with a model of another provider than that of the settings.

import assert from "node:assert/strict";
import { testWithScene as test } from "./harness.ts";

const SENTENCE = /^flemma: gpt-6-luna is a model of openai, so openai is used instead of anthropic\.\n/;

test("a model of another provider is asked at that provider, for which the settings of the run apply", async (place) => {
  place.write("a.chat", "```lua\nprint('once')\n```\n\n@You:\nHello\n");
  const { stdout, stderr } = await place.exits(0, ["send", "a.chat", "--dry-run", "--model", "gpt-6-luna"], {
    env: { OPENAI_API_KEY: "k" },
  });
  assert.match(stderr, /gpt-6-luna is a model of openai, so openai is used instead of anthropic\./);
  assert.equal(stderr.split("once").length, 2);
  const { model, max_output_tokens } = JSON.parse(stdout);
  assert.deepEqual([model, typeof max_output_tokens], ["gpt-6-luna", "number"]);
});

test("without that provider's key, the message names its variable, and nothing is sent", async (place) => {
  place.write("a.chat", "@You:\nHello\n");
  const { stderr } = await place.exits(1, ["advance", "a.chat", "--model", "gpt-6-luna"]);
  assert.match(stderr, SENTENCE);
  assert.match(stderr, /No key for OpenAI was found .*\n {2}Set the variable OPENAI_API_KEY/);
  assert.equal(place.read("a.chat"), "@You:\nHello\n");
});

test("a provider that is named too stays", async (place) => {
  place.write("a.chat", "@You:\nHello\n");
  const words = ["send", "a.chat", "--dry-run", "--model", "gpt-6-luna", "--provider", "anthropic"];
  const { stderr } = await place.exits(0, words);
  assert.doesNotMatch(stderr, SENTENCE);
  assert.match(stderr, /gpt-6-luna is not in the table of known models/);
});
