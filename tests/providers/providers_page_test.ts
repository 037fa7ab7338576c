// The settings shown on docs/reference/providers.md are valid, and lead where the page says.

import assert from "node:assert/strict";
import { chatInMemory } from "../../agent/mod.ts";
import { KNOWN_PROVIDERS } from "../../providers/known.ts";
import { testInFolder as test } from "../folder.ts";

const PAGE = await Deno.readTextFile(new URL("../../docs/reference/providers.md", import.meta.url));

const EXAMPLES = [...PAGE.matchAll(/^```yaml settings=(\S+) asks=(\S+)\n([^]*?)^```$/gm)]
  .map(([, name = "", url = "", text = ""]) => ({ name, url, text }));

Deno.test("the page about providers shows every built-in provider, each in five lines at most", () => {
  const shown = EXAMPLES.map(({ text }) => /^provider: (\S+)$/m.exec(text)?.[1]);
  // Servers of one's own stand for the last one.
  const missing = Object.keys(KNOWN_PROVIDERS).filter((name) =>
    !shown.includes(name) && name !== "openai_chat"
  );
  assert.deepEqual(missing, []);
  assert.ok(EXAMPLES.length >= 10);
  for (const { name, text } of EXAMPLES) assert.ok(text.trim().split("\n").length <= 5, name);
});

for (const { name, url, text } of EXAMPLES) {
  test(`with the settings for ${name} on the page, requests go to ${url}`, async (folder) => {
    await Deno.writeTextFile(`${folder}/config.yaml`, text);
    const opened = await chatInMemory(new TextEncoder().encode("@You:\nhi\n"), {
      environment: { cwd: folder, home: folder, variables: {} },
      settings: { configPath: `${folder}/config.yaml` },
    });
    assert.ok(opened.ok, JSON.stringify(opened));
    const prepared = await opened.value.request();
    assert.ok(prepared.kind === "ready", JSON.stringify(prepared));
    assert.equal(prepared.request.url, url);
    assert.deepEqual(prepared.warnings, []);
  });
}
