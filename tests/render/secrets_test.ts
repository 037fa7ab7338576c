// Secrets of all known forms are masked, and text that only looks like one is left alone.

import assert from "node:assert/strict";
import { buildConversationView } from "../../render/conversation.ts";
import { pageHtml } from "../../render/html/page.ts";
import { loadMarkdown } from "../../render/markdown.ts";
import { withoutSecrets } from "../../render/mask.ts";
import { secretMask } from "../../render/secrets.ts";
import { parse } from "../../parser/mod.ts";

/** Letters and digits that mean nothing. */
const letters = (length: number) => "a1B2c3D4e5F6g7H8i9J0".repeat(20).slice(0, length);
const hex = (length: number) => "0123456789abcdef".repeat(20).slice(0, length);

/** For each shape texts with a secret, which stands between two signs. */
const SECRETS: readonly (readonly [name: string, ...texts: string[]])[] = [
  [
    "private key",
    `«-----BEGIN PRIVATE KEY-----\n${letters(64)}\n${letters(64)}\n-----END PRIVATE KEY-----»`,
    `«-----BEGIN OPENSSH PRIVATE KEY-----\n${letters(64)}\n-----END OPENSSH PRIVATE KEY-----»`,
    `«-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${letters(64)}\n-----END PGP PRIVATE KEY BLOCK-----»`,
    `"private_key": "«-----BEGIN RSA PRIVATE KEY-----\\n${letters(64)}\\n-----END RSA PRIVATE KEY-----»\\n"`,
    // Cut off, as results are.
    `«-----BEGIN EC PRIVATE KEY-----\n${letters(64)}\n${letters(30)}»… 20 more lines`,
    // With the numbers that a tool puts before lines.
    `1 «-----BEGIN PRIVATE KEY-----\n2 | ${letters(64)}\n3 | -----END PRIVATE KEY-----»`,
  ],
  ["Anthropic key", `key «sk-ant-api03-${letters(40)}_-x»`],
  ["OpenRouter key", `«sk-or-v1-${hex(64)}»`],
  ["OpenAI key", `«sk-${letters(48)}»`, `«sk-proj-${letters(40)}_-${letters(20)}»`],
  ["Google key", `«AIza${letters(35)}»`],
  ["Google token", `«ya29.${letters(60)}»`],
  ["Google client secret", `«GOCSPX-${letters(28)}»`],
  [
    "GitHub token",
    `«ghp_${letters(36)}»`,
    `«gho_${letters(36)}»`,
    `«github_pat_${letters(22)}_${letters(59)}»`,
  ],
  ["GitLab token", `«glpat-${letters(20)}»`],
  ["AWS key id", "«AKIAIOSFODNN7EXAMPLE»"],
  ["Slack token", `«xoxb-1234567890-${letters(24)}»`],
  ["Slack webhook URL", `«https://hooks.slack.com/services/T00000000/B00000000/${letters(24)}»`],
  ["Discord webhook URL", `«https://discord.com/api/webhooks/123456789/${letters(40)}»`],
  ["Stripe key", `«sk_live_${letters(24)}»`],
  ["npm token", `«npm_${letters(36)}»`],
  ["PyPI token", `«pypi-AgEIcHlwaS5vcmc${letters(60)}»`],
  ["Hugging Face token", `«hf_${letters(34)}»`],
  ["Groq key", `«gsk_${letters(52)}»`],
  ["xAI key", `«xai-${letters(80)}»`],
  ["SendGrid key", `«SG.${letters(22)}.${letters(43)}»`],
  ["DigitalOcean token", `«dop_v1_${hex(64)}»`],
  ["Databricks token", `«dapi${hex(32)}»`],
  ["Shopify token", `«shpat_${hex(32)}»`],
  ["Telegram token", `«123456789:AA${letters(33)}»`],
  ["age key", `«AGE-SECRET-KEY-1${"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".repeat(2).slice(0, 58)}»`],
  ["Vault token", `«hvs.${letters(24)}»`],
  ["signed token", `«eyJ${letters(20)}.eyJ${letters(40)}.${letters(43)}»`],
  ["password in a URL", "postgres://me:«hunter2»@db.example/x", "https://user:«p%40ss»@example.org"],
  [
    "authorization",
    `Authorization: Bearer «${letters(30)}»`,
    `"authorization": "Basic «dXNlcjpwYXNzd29yZA==»"`,
  ],
  ["bearer token", `curl -H 'X: Bearer «${letters(30)}»'`],
  [
    "value of a secret variable",
    `AWS_SECRET_ACCESS_KEY=«wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»`,
    `export DB_PASSWORD="«correct-horse-7»"`,
    `{"client_secret": "«abcdef123456»"}`,
    `api_key: «0123456789abcdef»`,
  ],
];

for (const [name, ...texts] of SECRETS) {
  Deno.test(`masking replaces a secret and no text around it: ${name}`, () => {
    for (const text of texts) {
      const [before, secret, after] = text.split(/[«»]/) as [string, string, string];
      const found: string[] = [];
      const masked = secretMask().mask(before + secret + after, ({ name }) => found.push(name));
      assert.equal(masked, `${before}[masked]${after}`);
      assert.deepEqual(found, [name], text);
    }
  });
}

Deno.test("words, hashes, names and settings do not count as secrets", () => {
  const texts = [
    "sk-learn is a library; the class sk-folding-cube-container-of-a-spinner too",
    `commit ${hex(40)}`,
    "const TOKEN = process.env.TOKEN;",
    "max_tokens: 4096, KEY: short1",
    "the primary KEY (id) of a table, monkey: abcdefgh12345",
    "PASSWORD: please type it again",
    "https://example.org:8080/a@b",
    "-----BEGIN CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----",
    "Bearer tokens are strings",
    "AKIAshort, ghp_short, npm_install, hf_hub_download",
    "urn:uuid:123e4567-e89b-12d3-a456-426614174000",
  ];
  for (const text of texts) assert.equal(secretMask().mask(text), text);
});

Deno.test("values of the person's own secret variables are masked everywhere, except short values", () => {
  const { mask } = secretMask({
    MY_API_KEY: "plain-words.only(here)",
    SHORT_TOKEN: "yes",
    LONGER: "plain-words.only(here) and more",
  });
  const found: string[] = [];
  const note = ({ name }: { readonly name: string }) => found.push(name);
  assert.equal(mask("say plain-words.only(here)! yes", note), "say [masked]! yes");
  assert.equal(mask("say plain-words.only(here) and more", note), "say [masked]");
  assert.deepEqual(found, ["value of MY_API_KEY", "value of LONGER"]);
});

Deno.test("masking a masked text again changes nothing", () => {
  const { mask } = secretMask();
  const once = mask(`TOKEN=${letters(30)} https://a:b@c.d ghp_${letters(36)}`);
  assert.equal(once, "TOKEN=[masked] https://a:[masked]@c.d [masked]");
  assert.equal(mask(once), once);
});

const KEY = `ghp_${letters(36)}`;

Deno.test("a secret appears nowhere in an HTML page, and its line is reported", async () => {
  const text = [
    "```json",
    `{"x": "${KEY}"}`,
    "```",
    "@System:",
    KEY,
    "",
    "@You:",
    `See [it](https://example.org/?t=${KEY}), \`${KEY}\`, ghp\\_${letters(36)} and ghp&#95;${letters(36)}.`,
    "",
    "@Assistant:",
    "<thinking>",
    KEY,
    "</thinking>",
    "",
    `**Tool Use:** \`bash\` (\`${KEY}\`)`,
    "",
    "```json",
    JSON.stringify({ command: `echo ${KEY}\ntrue`, [KEY]: { deep: [KEY] }, label: KEY }),
    "```",
    "",
    "@You:",
    `**Tool Result:** \`${KEY}\``,
    "",
    "```",
    "first",
    `second ${KEY}`,
    "```",
    "",
  ].join("\n");
  const secrets = secretMask();
  const chat = parse(new TextEncoder().encode(text));
  const helper = {
    name: KEY,
    path: `${KEY}.chat`,
    state: "idle",
    waits: false,
    cost: null,
    conversation: buildConversationView(chat, KEY),
  };
  const { conversation, masked } = withoutSecrets(
    buildConversationView(chat, KEY, new Map([[chat.calls[0]!.place.from, helper]])),
    secrets,
  );
  let html = "";
  for await (const piece of pageHtml(conversation, { markdown: await loadMarkdown(), secrets })) {
    html += piece;
  }
  assert.ok(!html.includes(letters(36)), html);
  for (const document of [undefined, "[masked].chat"]) {
    const reported = new Set(masked.filter((each) => each.document === document).map(({ line }) => line));
    for (const line of [2, 5, 8, 12, 15, 26]) {
      assert.ok(reported.has(line), `line ${line} of ${[...reported].join()}`);
    }
  }
});

Deno.test("long texts made to slow down the search for secrets are masked to their end", () => {
  const { mask } = secretMask();
  const baits = [
    "-----BEGIN PRIVATE KEY-----! ",
    "KEY=aaaaaaaaaaaaaaaaaaaaaaaa ",
    "sk-aaaa-",
    "eyJaaaaaaaa.",
    "SG.aaaaaaaaaaaaaaaaaaaa",
    "aa.bb+cc-",
    "https://a:",
    "Authorization: Bearer ",
  ];
  // A search that looks back at all of such a text for each of its places takes hours for it.
  for (const each of baits) {
    const text = mask(`${each.repeat(100_000)} ${KEY}`);
    assert.ok(text.endsWith(" [masked]"), each);
  }
});
