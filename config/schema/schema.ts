// The settings schema: type, default, allowed layers and description of every key. Validation, `config show`, the
// reference page and the JSON Schema for editors use it.

import {
  BOOLEAN,
  COMMAND,
  type Group,
  group,
  hostKey,
  key,
  natural,
  neutralKey,
  STRING,
  type Type,
  word,
} from "./define.ts";
import { modelFacts } from "./models.ts";
import { presets } from "./presets/presets.ts";
import { sandboxGroup } from "./sandbox.ts";
import { mcpGroup } from "./extensions/mcp.ts";
import { skillsGroup } from "./extensions/skills.ts";
import { askGroup, contextGroup, hooksGroup, newDocumentGroup, runGroup } from "./extensions/work.ts";
import { toolsGroup } from "./tools.ts";
import { generalParameters, PROVIDER_TABLES } from "./parameters.ts";

const address: Type = {
  is: "custom",
  ts: "string",
  expected: "an http or https URL",
  accepts: (value) => typeof value === "string" && isAddress(value.trim()),
  hint: (value) => {
    const text = typeof value === "string" ? value.trim() : "";
    const whole = `${NEARBY.test(text) ? "http" : "https"}://${text}`;
    return isAddress(whole) && !/:\/\//.test(String(value)) ? `write ${whole}` : undefined;
  },
  json: { type: "string", pattern: "^\\s*https?://" },
};

/** Hosts on this machine or the local network; such servers have no certificate. */
const NEARBY =
  /^(?:localhost|127\.|\[::1\]|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|[\w-]+(?:\.(?:local|lan))?:\d)/i;

function isAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === "http:" || url.protocol === "https:") && url.hostname !== "";
}

export const SCHEMA: Group = group("All settings.", {
  provider: neutralKey(
    STRING,
    "The provider: anthropic, openai, vertex, gemini, moonshot, openai_chat, or a name defined in `providers`.",
    { default: "anthropic" },
  ),
  model: neutralKey(STRING, "The model, or a `$preset`; if unset, the provider's default.", {
    optional: true,
  }),
  prefill: neutralKey(
    BOOLEAN,
    "Send a conversation that ends with the model's message, so that the model continues it. Many models refuse this.",
    { default: false },
  ),
  parameters: group("Request parameters.", { ...generalParameters(false), ...PROVIDER_TABLES }, {
    ts: "Parameters",
  }),
  providers: group("Settings for each provider.", {}, {
    others: group("Settings for one provider.", {
      base_url: hostKey(address, "Base URL of the API.", { optional: true }),
      models: hostKey(
        { is: "map", of: modelFacts },
        "Facts about models, by name, such as prices. `like` copies the facts of another model.",
        { optional: true },
      ),
      max_requests: key(
        natural(1),
        "Maximum parallel requests from one process, for all its documents together; no limit if unset.",
        { optional: true, who: ["G", "C"] },
      ),
      key_command: hostKey(
        COMMAND,
        "Command that prints the API key as its first line: a shell command line, or a list of program and arguments.",
        { optional: true },
      ),
      kind: hostKey(
        word("openai_chat"),
        "API of a provider with a name of your own: a Chat Completions server.",
        {
          optional: true,
        },
      ),
      max_tokens_key: hostKey(
        word("max_tokens", "max_completion_tokens"),
        "Request field with the token limit for a Chat Completions server; `max_tokens` if unset.",
        { optional: true },
      ),
      reasoning_field: hostKey(
        STRING,
        "Message field that returns reasoning to a Chat Completions server.",
        { optional: true },
      ),
      reasoning_back: hostKey(
        word("always", "tools", "never"),
        "Messages that return their reasoning to a Chat Completions server. If unset, `always`, except to vendors known to refuse it.",
        { optional: true },
      ),
      reasoning_key: hostKey(
        word("reasoning_effort", "reasoning"),
        "Request field with the reasoning effort for a Chat Completions server; `reasoning_effort` if unset.",
        { optional: true },
      ),
      parallel_tool_calls: hostKey(
        BOOLEAN,
        "Allow several tool calls in one reply of a Chat Completions server; if unset, the server decides.",
        { optional: true },
      ),
      extra_body: hostKey(
        { is: "map", of: { is: "any" } },
        "Additional request fields, for every kind of provider; of two objects, the members are merged.",
        { optional: true },
      ),
    }, { ts: "ProviderSettings" }),
  }),
  tools: toolsGroup,
  sandbox: sandboxGroup,
  skills: skillsGroup,
  mcp: mcpGroup,
  new: newDocumentGroup,
  ask: askGroup,
  context: contextGroup,
  run: runGroup,
  hooks: hooksGroup,
  presets: presets("Named sets of provider, model, parameters and approvals."),
  files: group("Files referenced in messages.", {
    names: neutralKey(
      BOOLEAN,
      'Send the text of a file between the lines `<file path="…">` and `</file>`; if off, send only the text.',
      { default: true },
    ),
  }),
  templating: group("Templates.", {
    enabled: neutralKey(BOOLEAN, "Run the tags `{{ … }}` and `{% … %}`; if off, send them as text.", {
      default: true,
    }),
  }),
  secrets: group("Sources of credentials.", {
    gcloud: group("The gcloud command-line program.", {
      path: hostKey(STRING, "Name or path of the program.", { default: "gcloud" }),
    }),
  }),
  ui: group("What flemma shows.", {
    pricing: group("Prices.", {
      enabled: key(BOOLEAN, "Show the cost of requests.", { default: true, who: ["G"] }),
      high_cost_threshold: key(
        { is: "number", min: 0 },
        "Warn about a chosen model above this price: dollars per million tokens, input and output together.",
        { default: 30, who: ["G"] },
      ),
    }, { ts: "PricingSettings" }),
  }),
  trust: group("Trust in documents.", {
    documents: hostKey(
      word("always", "unsandboxed", "ask"),
      "What the policy may approve in an untrusted document.",
      {
        default: "unsandboxed",
      },
    ),
    approvals: hostKey(
      word("here", "anywhere", "commands"),
      "Which approvals count: those given on this machine, every one in the text, or only those of `approve`, `review` " +
        "and editor servers.",
      { default: "here" },
    ),
  }, { ts: "TrustSettings" }),
  lock: group("The lock, which allows one run at a time per document.", {
    place: key(
      word("state", "beside"),
      "Location of the lock: the state folder, or also the document's folder, if several machines share it.",
      { default: "state", who: ["G", "C"], host: true },
    ),
  }),
  undo: group("Restoring files that tools changed.", {
    keep: key(
      natural(),
      "Maximum megabytes of saved file contents, for all documents together; 0 saves nothing.",
      {
        default: 200,
        who: ["G", "C"],
        host: true,
      },
    ),
  }),
  frontmatter: group("Limits on Lua code in documents.", {
    max_steps: hostKey(natural(1), "Maximum Lua instructions for one document.", { default: 10000000 }),
    max_seconds: hostKey({ is: "number", min: 0 }, "Maximum seconds of Lua for one document.", {
      default: 2,
    }),
    max_memory_mb: hostKey(natural(1), "Maximum memory for Lua, in mebibytes.", { default: 64 }),
  }, { ts: "FrontmatterLimits" }),
}, {
  ts: "Settings",
  aliases: {
    thinking: ["parameters", "thinking"],
    max_tokens: ["parameters", "max_tokens"],
    temperature: ["parameters", "temperature"],
    timeout: ["parameters", "timeout"],
    cache_retention: ["parameters", "cache_retention"],
    ...Object.fromEntries(Object.keys(PROVIDER_TABLES).map((name) => [name, ["parameters", name]])),
  },
});

export { PROVIDER_TABLES };
