// The settings schema: type, default, allowed layers and description of every key. Validation, `config show`, the
// reference page and the JSON Schema for editors use it.

import { BOOLEAN, type Group, group, hostKey, key, natural, neutralKey, STRING, word } from "./define.ts";
import { presets } from "./presets/presets.ts";
import { providerGroup } from "./providers.ts";
import { sandboxGroup } from "./sandbox.ts";
import { mcpGroup } from "./extensions/mcp.ts";
import { serverToolsGroup } from "./extensions/server_tools.ts";
import { skillsGroup } from "./extensions/skills.ts";
import {
  askGroup,
  contextGroup,
  fallbackGroup,
  hooksGroup,
  instructionsGroup,
  newDocumentGroup,
  runGroup,
} from "./extensions/work.ts";
import { subagentsGroup } from "./extensions/subagents.ts";
import { toolsGroup } from "./tools.ts";
import { generalParameters, PROVIDER_TABLES } from "./parameters.ts";

export const SCHEMA: Group = group("All settings.", {
  provider: neutralKey(
    STRING,
    "The provider: anthropic, openai, vertex, gemini, moonshot, a vendor such as deepseek, openai_chat, or a name defined in `providers`.",
    { default: "anthropic" },
  ),
  model: neutralKey(STRING, "The model, or a `$preset`; if unset, the provider's default.", {
    optional: true,
  }),
  cwd: key(
    STRING,
    "The folder in which the document's tools work, relative to the document's folder; if unset, that folder. It must be " +
      "in the document's project. Project settings and instructions are looked up from it.",
    { optional: true, who: ["M"] },
  ),
  prefill: neutralKey(
    BOOLEAN,
    "Send a conversation that ends with the model's message, so that the model continues it. Many models refuse this.",
    { default: false },
  ),
  parameters: group("Request parameters.", { ...generalParameters(false), ...PROVIDER_TABLES }, {
    ts: "Parameters",
  }),
  providers: group("Settings for each provider.", {}, {
    others: providerGroup,
  }),
  tools: toolsGroup,
  sandbox: sandboxGroup,
  skills: skillsGroup,
  mcp: mcpGroup,
  server_tools: serverToolsGroup,
  new: newDocumentGroup,
  ask: askGroup,
  context: contextGroup,
  run: runGroup,
  subagents: subagentsGroup,
  fallback: fallbackGroup,
  hooks: hooksGroup,
  instructions: instructionsGroup,
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
