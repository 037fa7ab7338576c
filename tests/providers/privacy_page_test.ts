// What docs/reference/privacy.md says about requests is true: headers, fields about the person, storage, recipients.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { parse } from "../../parser/mod.ts";
import { evaluateChat } from "../../prompt/evaluate.ts";
import { KNOWN_PROVIDERS } from "../../providers/known.ts";
import { getProvider } from "../../providers/registry.ts";
import { VENDORS } from "../../providers/vendors.ts";
import { testInFolder as test } from "../folder.ts";

const PAGE = await Deno.readTextFile(new URL("../../docs/reference/privacy.md", import.meta.url));

const KEY_HEADERS = ["authorization", "x-api-key", "x-goog-api-key"];
const OTHER_HEADERS = ["content-type", "user-agent", "anthropic-version", "anthropic-beta"];

/** Fields in which APIs take facts about the person or the machine. */
const ABOUT_PEOPLE = ["user", "metadata", "safety_identifier", "labels", "user_id", "end_user", "container"];

/** Value of the storage field in each API that has one. */
const STORE: Readonly<Record<string, unknown>> = { openai: false, gemini: false, xai: false };

for (const name of [...Object.keys(KNOWN_PROVIDERS), ...Object.keys(VENDORS)]) {
  test(`a request to ${name} contains nothing but what the page about privacy lists`, async (folder) => {
    await Deno.writeTextFile(`${folder}/note.txt`, "attached words");
    const found = await getProvider(name);
    assert.ok(found.ok);
    const environment = { cwd: folder, home: folder, variables: {} };
    const document = `${folder}/talk.chat`;
    const prompt = await evaluateChat(parse(new TextEncoder().encode("@You:\nread @./note.txt please\n")), {
      document,
      environment,
    });
    const { request } = found.value.buildRequest({
      prompt,
      tools: [],
      settings: {
        ...DEFAULT_SETTINGS,
        provider: name,
        model: "some-model",
        parameters: { ...DEFAULT_SETTINGS.parameters, vertex: { project_id: "my-project" } },
      },
      cacheKey: found.value.usesCacheKey === true ? "random-id" : null,
      key: "secret-key",
      baseUrl: "https://server.example",
      day: "2026-11-28",
    });
    const headers = Object.keys(request.headers);
    assert.equal(headers.filter((header) => KEY_HEADERS.includes(header)).length, 1);
    assert.deepEqual(headers.filter((header) => ![...KEY_HEADERS, ...OTHER_HEADERS].includes(header)), []);
    assert.match(request.headers["user-agent"] ?? "", /^flemma\/\S+$/);
    const body = JSON.parse(request.body);
    assert.deepEqual(ABOUT_PEOPLE.filter((field) => field in body), []);
    assert.equal(body.store, STORE[name]);
    assert.equal("prompt_cache_key" in body, name === "openai");
    assert.ok(request.body.includes("attached words"));
    for (const secret of ["secret-key", folder, "talk.chat", Deno.hostname()]) {
      assert.ok(!request.body.includes(secret), secret);
      assert.ok(!request.url.includes(secret), secret);
    }
  });
}

Deno.test("the page about privacy names who gets the requests of every provider", () => {
  for (const { name, defaultBaseUrl } of Object.values(KNOWN_PROVIDERS)) {
    const host = name === "openai_chat" ? "`base_url`" : new URL(defaultBaseUrl).host;
    assert.ok(
      PAGE.split("\n").some((line) => line.startsWith(`| \`${name}\` `) && line.includes(host)),
      name,
    );
  }
  for (const [name, { baseUrls }] of Object.entries(VENDORS)) {
    for (const url of Object.values(baseUrls)) {
      const host = url.split("/")[2]!;
      assert.ok(
        PAGE.split("\n").some((line) => line.startsWith(`| \`${name}\` `) && line.includes(host)),
        url,
      );
    }
  }
});
