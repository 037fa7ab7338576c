// What leaves this machine besides the conversation: a random cache key, and names of files without their folders.

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/settings.generated.ts";
import { dryRun } from "../../cycle/send/request.ts";
import { parse } from "../../parser/mod.ts";
import { getProvider } from "../../providers/registry.ts";
import { PNG } from "../pictures.ts";
import { inFolder } from "../folder.ts";

const MODELS: Readonly<Record<string, string | null>> = {
  anthropic: null,
  openai: "gpt-5.4",
  gemini: null,
  vertex: null,
  moonshot: null,
  openai_chat: "qwen3",
};

/** Returns the body of the request that a document would make. */
async function bodyOf(
  folder: string,
  text: string,
  name: string | null,
  provider = "openai",
): Promise<string> {
  const settings = {
    ...DEFAULT_SETTINGS,
    provider,
    model: MODELS[provider]!,
    parameters: { ...DEFAULT_SETTINGS.parameters, vertex: { project_id: "demo" } },
  };
  const found = await getProvider(provider, settings);
  assert.ok(found.ok);
  const prepared = await dryRun({
    chat: parse(new TextEncoder().encode(text)),
    document: name === null ? null : `${folder}/${name}`,
    settings,
    environment: { cwd: folder, home: folder, variables: { XDG_STATE_HOME: `${folder}/state` } },
    provider: found.value,
    tools: [],
  });
  assert.ok(prepared.kind === "ready", JSON.stringify(prepared));
  return prepared.request.body;
}

const keyIn = (body: string): string | undefined => JSON.parse(body).prompt_cache_key;

const HI = "@You:\nhi\n";
const LONGER = `${HI}\n@Assistant:\nHello.\n\n@You:\nWhat now?\n`;

Deno.test("the cache key is a random id that stays when the document is continued, moved or renamed", async () => {
  await inFolder(async (folder) => {
    const key = keyIn(await bodyOf(folder, HI, "talk.chat"));
    assert.match(key ?? "", /^[0-9a-f]{32}$/);
    assert.equal(keyIn(await bodyOf(folder, HI, "talk.chat")), key);
    assert.equal(keyIn(await bodyOf(folder, LONGER, "talk.chat")), key);
    assert.equal(keyIn(await bodyOf(folder, LONGER, "elsewhere/other.chat")), key);
    assert.notEqual(keyIn(await bodyOf(folder, "@You:\nhello\n", "talk.chat")), key);
    assert.equal(keyIn(await bodyOf(folder, HI, null)), undefined);
  });
  await inFolder(async (other) => {
    const first = keyIn(await bodyOf(other, HI, "talk.chat"));
    await Deno.remove(`${other}/state`, { recursive: true });
    assert.notEqual(
      keyIn(await bodyOf(other, HI, "talk.chat")),
      first,
      "the key is not computed from anything",
    );
  });
});

Deno.test("the helpers of a document share a cache key, which no other document has", () =>
  inFolder(async (folder) => {
    const keyOf = async (name: string, text = HI) => keyIn(await bodyOf(folder, text, name));
    const key = await keyOf("talk.chat.d/a.chat");
    assert.match(key ?? "", /^[0-9a-f]{32}$/);
    assert.equal(await keyOf("talk.chat.d/b.chat", LONGER), key);
    for (const other of ["talk.chat", "other.chat.d/a.chat", "talk.chat.d/a.chat.d/c.chat"]) {
      assert.notEqual(await keyOf(other), key, other);
    }
  }));

Deno.test("two conversations with the same first message have different cache keys, before and after their replies", async () => {
  await inFolder(async (folder) => {
    const key = async (text: string, name: string) => keyIn(await bodyOf(folder, text, name));
    const one = await key(HI, "one.chat");
    const two = await key(HI, "two.chat");
    assert.notEqual(one, two);
    const other = LONGER.replace("Hello.", "Good day.");
    assert.equal(await key(LONGER, "one.chat"), one);
    assert.equal(await key(other, "two.chat"), two);
    // The documents change places.
    assert.equal(await key(LONGER, "two.chat"), one);
    assert.equal(await key(other, "one.chat"), two);
    // A new conversation at the place of an old one.
    const three = await key(HI, "one.chat");
    assert.ok(three !== one && three !== two);
    assert.equal(await key(`${LONGER}\n@Assistant:\nThis.\n\n@You:\nAnd?\n`, "far/away.chat"), one);
  });
});

Deno.test("if the cache key cannot be stored, requests of this process still share one", async () => {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/state`, "in the way");
    const text = "@You:\nnot storable\n";
    const key = keyIn(await bodyOf(folder, text, "talk.chat"));
    assert.match(key ?? "", /^[0-9a-f]{32}$/);
    assert.equal(keyIn(await bodyOf(folder, text, "talk.chat")), key);
  });
});

Deno.test("a damaged cache key is not sent", async () => {
  await inFolder(async (folder) => {
    const text = "@You:\ndamaged\n";
    await bodyOf(folder, text, "talk.chat");
    const [entry] = [...Deno.readDirSync(`${folder}/state/flemma/cache_keys`)];
    await Deno.writeTextFile(`${folder}/state/flemma/cache_keys/${entry!.name}`, "/home/ada");
    assert.match(keyIn(await bodyOf(folder, text, "talk.chat")) ?? "", /^[0-9a-f]{32}$/);
  });
});

for (const provider of Object.keys(MODELS)) {
  Deno.test(`no request to ${provider} names a folder of this machine, also for files in results`, async () => {
    await inFolder(async (folder) => {
      await Deno.mkdir(`${folder}/deep`);
      await Deno.writeFile(`${folder}/deep/dot.png`, PNG);
      await Deno.writeTextFile(`${folder}/deep/a.pdf`, "%PDF-1.4\n");
      await Deno.writeFile(`${folder}/deep/b.zip`, new Uint8Array([80, 75, 3, 4, 0, 0]));
      const files = ["dot.png", "a.pdf", "b.zip"];
      const calls = files.map((file, index) =>
        `**Tool Use:** \`read\` (\`c${index}\`)\n\n\`\`\`json\n{"path":"deep/${file}"}\n\`\`\`\n`
      );
      const results = files.map((file, index) =>
        `**Tool Result:** \`c${index}\`\n\n\`\`\`\n@./deep/${file}\n\`\`\`\n`
      );
      const typed = files.map((file) => `@./deep/${file} and @/${folder}/deep/${file}`).join("\n");
      const text = `@You:\nlook\n\n@Assistant:\n${calls.join("\n")}\n@You:\n${results.join("\n")}\n` +
        `@Assistant:\nSeen.\n\n@You:\n${typed}\n`;
      const body = await bodyOf(folder, text, "talk.chat", provider);
      assert.ok(!body.includes(folder), body);
      assert.ok(body.includes("b.zip"));
    });
  });
}
