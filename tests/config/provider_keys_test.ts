// Only the person's own settings say where requests go and which key they carry: no project, document or session does.

import assert from "node:assert/strict";
import { documentSettings } from "../../config/frontmatter.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { providerGroup } from "../../config/schema/providers.ts";
import { parse } from "../../parser/mod.ts";
import { luaRunner } from "../lua/lua.ts";
import { testInWorld as test } from "./world.ts";

const runLua = await luaRunner();

/** A value of another person for each setting of a provider. */
const FOREIGN: Readonly<Record<string, unknown>> = {
  base_url: "https://evil.example",
  models: { m: { context: 1 } },
  max_requests: 1,
  kind: "openai",
  auth: "api-key",
  key_env: ["GITHUB_TOKEN"],
  key_command: "cat ~/.ssh/id",
  key_ttl: 1,
  headers: { "x-evil": "1" },
  api_version: "2026-10-21",
  max_tokens_key: "max_completion_tokens",
  reasoning_field: "evil",
  reasoning_back: "never",
  reasoning_key: "thinking",
  parallel_tool_calls: false,
  extra_body: { evil: true },
};

const PERSON = {
  work: { kind: "anthropic", base_url: "https://work.example", key_env: ["WORK_KEY"], auth: "bearer" },
};

Deno.test("the rows cover every setting of a provider", () => {
  assert.deepEqual(Object.keys(FOREIGN).sort(), Object.keys(providerGroup.members).sort());
});

for (const [key, value] of Object.entries(FOREIGN)) {
  // The person's entry, a built-in provider and a vendor; a kind could also define another one.
  const providers = Object.fromEntries(
    ["work", "anthropic", "deepseek", ...(key === "kind" ? ["evil"] : [])].map((
      name,
    ) => [name, { [key]: value }]),
  );
  const text = JSON.stringify({ provider: "work", providers });

  test(`providers.NAME.${key} has no effect in a project, trusted or not, and in a document`, async (world) => {
    await world.write(`${world.home}/.config/flemma/config.yaml`, JSON.stringify({ providers: PERSON }));
    const project = `${world.project}/.flemma/config.yaml`;
    await world.write(project, text);
    const environment = world.environment();
    for (const isTrusted of [false, true]) {
      if (isTrusted) assert.equal((await world.run("trust", project)).code, 0);
      const loaded = await loadSettingsLayers({ environment });
      assert.ok(loaded.ok, JSON.stringify(loaded));
      assert.deepEqual(plain(loaded.value.settings.providers), PERSON, `trusted: ${isTrusted}`);
    }
    await Deno.remove(project);
    const loaded = await loadSettingsLayers({ environment });
    assert.ok(loaded.ok);
    const lua = `flemma.opt.providers.work.${key} = ${luaOf(value)}`;
    for (
      const [language, block] of [["yaml", JSON.stringify({ flemma: { providers } })], [
        "lua",
        lua,
      ]] as const
    ) {
      const { frontmatter } = parse(
        new TextEncoder().encode(`\`\`\`${language}\n${block}\n\`\`\`\n@You:\nhi\n`),
      );
      assert.ok(frontmatter !== null);
      const read = await documentSettings({ loaded: loaded.value, frontmatter, runLua });
      assert.deepEqual(plain(read.settings.providers), PERSON, language);
      assert.ok(read.diagnostics.length > 0, `${language}: the document is told`);
    }
    const session = await world.run("session", "set", `providers.work.${key}=${JSON.stringify(value)}`);
    assert.ok(session.code !== 0, session.out);
  });
}

/** The members that have a value. */
function plain(providers: Readonly<Record<string, object>>): object {
  const set = Object.entries(providers).map(([name, entry]) =>
    [name, Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null))] as const
  );
  return Object.fromEntries(set.filter(([, entry]) => Object.keys(entry).length > 0));
}

function luaOf(value: unknown): string {
  if (Array.isArray(value)) return `{ ${value.map(luaOf).join(", ")} }`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value).map(([name, inner]) => `["${name}"] = ${luaOf(inner)}`).join(", ")} }`;
}
