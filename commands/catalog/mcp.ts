// `flemma mcp prompt | read`: prints prompts and resources of MCP servers.

import {
  type ServerContent,
  type ServerContents,
  serverContents,
} from "../../agent/extensions/mcp_content.ts";
import { quoteText } from "../../agent/conversation/quoted.ts";
import { failed, failure, type Outcome, success } from "../../base/problem.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import { writeLines } from "../io/streams.ts";
import { settingsOf } from "../line/overrides.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given, environment, messages } = invocation;
  const [server = "", what, ...words] = given.positionals;
  const loaded = await settingsOf(given, environment, null);
  if (!loaded.ok) return refuse(invocation, loaded.problem);
  const opened = await serverContents(server, {
    loaded: loaded.value,
    environment,
    quote: quoteText,
    tell: (problem) => messages.notice(problem),
  });
  if (!opened.ok) return refuse(invocation, opened.problem);
  const contents = opened.value;
  try {
    const text = given.command.name === "mcp prompt"
      ? await promptOf(contents, what, words)
      : await resourceOf(contents, what);
    if (!text.ok) return refuse(invocation, text.problem);
    writeLines(text.value);
    return Exit.ok;
  } finally {
    await contents.close();
  }
}

async function promptOf(
  contents: ServerContents,
  name: string | undefined,
  words: readonly string[],
): Promise<Outcome<string>> {
  if (name === undefined) return listed(await contents.list("prompts"));
  const given: Record<string, string> = {};
  for (const word of words) {
    const [, key, value] = /^([^=]+)=([^]*)$/.exec(word) ?? [];
    if (key === undefined) {
      return failure("usage", `${word} is not an argument of a prompt.`, "Write arguments as NAME=VALUE.");
    }
    Object.defineProperty(given, key, { value, enumerable: true, configurable: true });
  }
  return await contents.prompt(name, given);
}

async function resourceOf(contents: ServerContents, uri: string | undefined): Promise<Outcome<string>> {
  return uri === undefined ? listed(await contents.list("resources")) : await contents.read(uri);
}

function listed(found: Outcome<readonly ServerContent[]>): Outcome<string> {
  if (!found.ok) return failed(found.problem);
  return success(
    found.value.map(({ name, description, arguments: given }) => {
      const words = given.map(({ name, required }) => required ? ` ${name}=…` : ` [${name}=…]`).join("");
      const [line = ""] = description.trim().split("\n", 1);
      return `${name}${words}${line === "" ? "" : `  ${line}`}\n`;
    }).join(""),
  );
}
