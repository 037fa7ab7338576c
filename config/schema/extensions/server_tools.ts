// Settings schema of tools that a provider runs itself, such as its search of the web.

import { BOOLEAN, type Group, group, key, natural, type Type } from "../define.ts";
import { asEnabled, switchHint } from "../../data/values.ts";

const domain: Type = {
  is: "custom",
  ts: "string",
  expected: "a domain such as docs.rs",
  accepts: (value) => typeof value === "string" && /^[\w-]+(?:\.[\w-]+)+$/.test(value),
  hint: (value) =>
    typeof value === "string" && /^\w+:\/\//.test(value)
      ? "write only the domain, without https://"
      : undefined,
  json: { type: "string", pattern: "^[\\w-]+(\\.[\\w-]+)+$" },
};

const stricter = { documentNarrows: true, projectNarrows: true } as const;

function serverTool(doc: string): Group {
  return group(doc, {
    enabled: key(
      BOOLEAN,
      "Offer the tool to the model. A table in your own settings does so too, unless it says `enabled: false`.",
      { default: false, narrows: "false", ...stricter },
    ),
    max_uses: key(natural(1), "Maximum number of uses in one request.", {
      default: 5,
      narrows: "lower",
      ...stricter,
    }),
    allowed_domains: key(
      { is: "list", item: domain },
      "The only domains, with everything below them; if unset, all.",
      { optional: true, narrows: "subset", ...stricter },
    ),
    blocked_domains: key({ is: "list", item: domain }, "Domains to leave out, with everything below them.", {
      default: [],
      narrows: "append",
      ...stricter,
    }),
  }, { ts: "ServerToolSettings", short: asEnabled, isOnWhenWritten: true, hint: switchHint });
}

export const serverToolsGroup = group(
  "Tools that the provider runs itself. Queries leave the machine without a question, and results are untrusted text.",
  {
    web_search: serverTool("Search of the web by the provider."),
    web_fetch: serverTool("Fetching of web pages by the provider."),
  },
);
