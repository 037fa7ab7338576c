// Which variables of the person become known secrets.

import assert from "node:assert/strict";
import { findOwnKey, hideSecrets } from "../../../base/text/secrets.ts";
import { learnCredentials } from "../../../sandbox/policy/credentials.ts";

Deno.test("credentials, named keys and addresses with passwords become known; other variables do not", () => {
  const variables = {
    ANTHROPIC_API_KEY: "anthropic-0123456789",
    GITHUB_TOKEN: "github-0123456789",
    NAMED_BY_SETTINGS: "named-0123456789",
    DATABASE_URL: "postgres://user:pass-0123456789@db.example.org/x",
    HOME: "/home/somebody-here",
    EDITOR: "some-editor --wait",
    GOOGLE_APPLICATION_CREDENTIALS: "/home/somebody-here/key.json",
  };
  learnCredentials(variables, ["NAMED_BY_SETTINGS"]);
  const shown = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, hideSecrets(value)]),
  );
  assert.deepEqual(shown, {
    ...variables,
    ANTHROPIC_API_KEY: "[ANTHROPIC_API_KEY]",
    GITHUB_TOKEN: "[GITHUB_TOKEN]",
    NAMED_BY_SETTINGS: "[NAMED_BY_SETTINGS]",
    DATABASE_URL: "[DATABASE_URL]",
  });
  assert.equal(hideSecrets("x pass-0123456789"), "x [password in DATABASE_URL]");
  const keys = Object.entries(variables).filter(([, value]) => findOwnKey(value) !== null).map(([name]) =>
    name
  );
  assert.deepEqual(keys, ["ANTHROPIC_API_KEY", "NAMED_BY_SETTINGS"]);
});
