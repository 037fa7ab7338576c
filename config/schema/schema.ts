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
  expected: "an http or https address",
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
    "Who is asked: anthropic, openai, vertex, gemini, moonshot, openai_chat, or a name that `providers` makes.",
    { default: "anthropic" },
  ),
  model: neutralKey(STRING, "The model, or a `$preset`; the provider's default when unset.", {
    optional: true,
  }),
  prefill: neutralKey(
    BOOLEAN,
    "Send a conversation whose last word is the model's to models that go on from it; all others refuse it.",
    { default: false },
  ),
  parameters: group("Parameters of requests.", { ...generalParameters(false), ...PROVIDER_TABLES }, {
    ts: "Parameters",
  }),
  providers: group("Where providers are.", {}, {
    others: group("One provider.", {
      base_url: hostKey(address, "Address of its API.", { optional: true }),
      models: hostKey(
        { is: "map", of: modelFacts },
        "Models by name: what the program shall know of them, such as prices. `like` takes over another one's facts.",
        { optional: true },
      ),
      max_requests: key(
        natural(1),
        "Requests that it gets at a time from one process, however many documents that advances; no limit when unset.",
        { optional: true, who: ["G", "C"] },
      ),
      key_command: hostKey(
        COMMAND,
        "A command that prints the key, its first line counts: a line of shell, or a list of program and arguments.",
        { optional: true },
      ),
      kind: hostKey(word("openai_chat"), "Makes a name of your own a Chat Completions server.", {
        optional: true,
      }),
      max_tokens_key: hostKey(
        word("max_tokens", "max_completion_tokens"),
        "What a Chat Completions server calls the limit of the reply; `max_tokens` when unset.",
        { optional: true },
      ),
      reasoning_field: hostKey(
        STRING,
        "The member of messages in which a Chat Completions server gets reasoning back.",
        { optional: true },
      ),
      reasoning_back: hostKey(
        word("always", "tools", "never"),
        "Which messages take their reasoning back to a Chat Completions server; `tools`, those of calls in work, when unset.",
        { optional: true },
      ),
      reasoning_key: hostKey(
        word("reasoning_effort", "reasoning"),
        "The member of requests that names the effort to a Chat Completions server; `reasoning_effort` when unset.",
        { optional: true },
      ),
      parallel_tool_calls: hostKey(
        BOOLEAN,
        "Whether a Chat Completions server may make several calls in one reply; its own choice when unset.",
        { optional: true },
      ),
      extra_body: hostKey(
        { is: "map", of: { is: "any" } },
        "Further members of requests to a Chat Completions server.",
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
  files: group("Files that a message refers to.", {
    names: neutralKey(
      BOOLEAN,
      'Send the text of a file between the lines `<file path="…">` and `</file>`; off sends the bare text.',
      { default: true },
    ),
  }),
  templating: group("Templates.", {
    enabled: neutralKey(BOOLEAN, "Run the tags `{{ … }}` and `{% … %}`; off sends them as text.", {
      default: true,
    }),
  }),
  secrets: group("Where credentials come from.", {
    gcloud: group("The gcloud program.", {
      path: hostKey(STRING, "The program.", { default: "gcloud" }),
    }),
  }),
  ui: group("What is shown.", {
    pricing: group("Prices.", {
      enabled: key(BOOLEAN, "Show what requests cost.", { default: true, who: ["G"] }),
      high_cost_threshold: key(
        { is: "number", min: 0 },
        "Dollars per million tokens, in and out together, above which a model that is chosen gets a warning.",
        { default: 30, who: ["G"] },
      ),
    }, { ts: "PricingSettings" }),
  }),
  trust: group("Whom to believe.", {
    documents: hostKey(
      word("always", "unsandboxed", "ask"),
      "What policy may approve in a stranger's document.",
      {
        default: "unsandboxed",
      },
    ),
  }, { ts: "TrustSettings" }),
  lock: group("One run at a time for each document.", {
    place: key(
      word("state", "beside"),
      "Where the lock lies: in the state folder, or beside the document too, for machines that share its folder.",
      { default: "state", who: ["G", "C"], host: true },
    ),
  }),
  undo: group("Having back what tools did to files.", {
    keep: key(
      natural(),
      "Megabytes that are kept of what files held, for all documents together; 0 keeps nothing.",
      {
        default: 200,
        who: ["G", "C"],
        host: true,
      },
    ),
  }),
  frontmatter: group("Limits on Lua.", {
    max_steps: hostKey(natural(1), "Instructions.", { default: 10000000 }),
    max_seconds: hostKey({ is: "number", min: 0 }, "Seconds.", { default: 2 }),
    max_memory_mb: hostKey(natural(1), "Mebibytes.", { default: 64 }),
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
