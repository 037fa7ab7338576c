// Which values the settings of a provider accept: one row per reason to refuse one.

import assert from "node:assert/strict";
import { mismatches, mismatchSentence } from "../../config/schema/check.ts";
import type { SettingKey } from "../../config/schema/define.ts";
import { providerGroup } from "../../config/schema/providers.ts";

/** The message about a value of `providers.NAME.KEY`; empty if the value is accepted. */
function refusal(key: string, written: unknown): string {
  const { type, long } = providerGroup.members[key] as SettingKey;
  const [first] = mismatches(type, long?.(written) ?? written);
  return first === undefined ? "" : mismatchSentence(key, first);
}

const VALID: readonly (readonly [key: string, value: unknown])[] = [
  ["headers", {}],
  ["headers", { "x-team": "a b", "OpenAI-Project": "p", "anthropic-beta": "one,two", "http-referer": "" }],
  ["key_env", "AWS_BEARER_TOKEN_BEDROCK"],
  ["key_env", ["_A1", "B"]],
  ["api_version", "2026-10-21"],
  ["auth", "api-key"],
  ["kind", "anthropic"],
];

for (const [key, value] of VALID) {
  Deno.test(`${key} accepts ${JSON.stringify(value)}`, () => assert.equal(refusal(key, value), ""));
}

/** Names of headers, each for one reason. */
const HEADERS: readonly (readonly [name: string, says: RegExp])[] = [
  ...[
    "Authorization",
    "x-api-key",
    "cf-access-token",
    "client-secret",
    "x-password",
    "Cookie",
    "aws-credential",
  ]
    .map((name) => [name, /would carry a key, which settings must not contain/] as const),
  ...["Host", "connection", "Content-Type", "content-length", "transfer-encoding", "te", "trailer", "upgrade"]
    .map((name) => [name, /flemma sets/] as const),
  ...["expect", "accept-encoding", "user-agent", "anthropic-version"].map((name) =>
    [name, /flemma sets/] as const
  ),
  ...["", "a b", "a:b", "a\nb", "ä"].map((name) => [name, /is not a valid header/] as const),
];

for (const [name, says] of HEADERS) {
  Deno.test(`headers refuse the name ${JSON.stringify(name)}`, () => {
    assert.match(refusal("headers", { "x-team": "a", [name]: "value" }), says);
  });
}

for (const value of ["a\nb", "a\r\nx: y", "ä", "\u0000", 5, null, ["a"]]) {
  Deno.test(`headers refuse the value ${JSON.stringify(value)}`, () => {
    assert.match(refusal("headers", { "x-team": value }), /x-team is not a valid header/);
  });
}

Deno.test("headers are a table", () => {
  for (const value of ["x: y", [], null]) {
    assert.match(refusal("headers", value), /expects a table of request headers/);
  }
});

for (
  const value of [
    "sk-ant-0123456789",
    "gsk_0123456789abcdef",
    "1A",
    "A B",
    "A-B",
    "",
    ["A", "sk-1"],
    [],
    [5],
    5,
  ]
) {
  Deno.test(`key_env refuses ${JSON.stringify(value)}, and the message does not show it`, () => {
    const message = refusal("key_env", value);
    assert.match(message, /settings contain no keys: set a variable to the key/);
    for (const text of [value].flat().map(String)) {
      assert.ok(text.length < 3 || !message.includes(text), message);
    }
  });
}

for (const value of ["latest", "2026-10", "2026-10-21x", "x2026-10-21", 20261021]) {
  Deno.test(`api_version refuses ${JSON.stringify(value)}`, () => {
    assert.match(refusal("api_version", value), /expects a day such as 2023-06-01/);
  });
}
