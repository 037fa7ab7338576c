// Help for a person without any key: which variable each provider reads, and which servers on this machine need none.

import type { Problem } from "../../base/problem.ts";
import { option } from "../../base/shell_word.ts";
import type { Stop } from "../../cycle/types.ts";
import { findLocalServers, type LocalServer } from "../../providers/http/local_servers.ts";
import { providerWithKey } from "../../providers/keys/credentials.ts";
import { KNOWN_PROVIDERS } from "../../providers/known.ts";
import { VENDORS } from "../../providers/vendors.ts";
import type { CommandDocument } from "../document/open.ts";
import type { Invocation } from "../invocation.ts";
import { formatCommand } from "../line/advice.ts";
import { textOption } from "../line/options.ts";

/** Providers that the help names, the most common ones first. */
const NAMED = ["anthropic", "openai", "gemini", "openrouter", "mistral"] as const;

/** The most servers that the help names. */
const MOST_SERVERS = 3;

/**
 * Adds what to do next to the problem of a stop without a key. If a key for another provider is set, the problem
 * already says how to use that one.
 */
export async function withFirstSteps(
  { arguments: given, environment }: Pick<Invocation, "arguments" | "environment">,
  { file, session }: Pick<CommandDocument, "file" | "session">,
  stop: Stop,
): Promise<Stop> {
  const { problem } = stop;
  if (problem === undefined || providerWithKey(environment.variables) !== null) return stop;
  const { settings } = session;
  const servers = await findLocalServers(settings, environment);
  const again = (options: string): string => {
    if (given.command.name !== "ask") {
      return formatCommand(`${given.command.name === "send" ? "send" : "advance"} ${options}`.trim(), file);
    }
    const own = textOption(given, "file");
    return `flemma ask ${own === undefined ? "--last" : option("--file", own)} ${options}`.trim();
  };
  return { ...stop, problem: helped(problem, { provider: settings.provider, servers, again }) };
}

interface Help {
  /** The provider that has no key. */
  readonly provider: string;
  readonly servers: readonly LocalServer[];
  /** Returns the command that does the same with these options. */
  again(options: string): string;
}

function helped(problem: Problem, { provider, servers, again }: Help): Problem {
  const others = NAMED.filter((name) => name !== provider).map((name) =>
    `--provider ${name} (${variableOf(name)})`
  );
  const ready = servers.filter(({ models }) => models.length > 0);
  const lines = [
    ...problem.details ?? [],
    ...problem.next === undefined ? [] : [problem.next],
    `Or use another provider and its variable: ${others.join(", ")}.`,
    `Then: ${again("")}`,
  ];
  const local = (ready.length > 0 ? ready : servers).slice(0, MOST_SERVERS).map((server) => {
    const [model] = server.models;
    if (model === undefined) return withoutModel(server);
    const options = `${option("--provider", server.provider)} ${option("--model", model)}`;
    return `${server.display} on this machine needs no key: ${again(options)}`;
  });
  const [next = "To see how flemma works without a key: flemma demo", ...more] = local;
  return { ...problem, details: [...lines, ...more], next };
}

function withoutModel({ provider, display }: LocalServer): string {
  const get = provider === "ollama" ? "get one with: ollama pull qwen3:8b" : "load one in it";
  return `${display} on this machine needs no key, but lists no model yet: ${get}`;
}

function variableOf(name: (typeof NAMED)[number]): string {
  const known: Readonly<Record<string, Pick<typeof VENDORS[string], "keyVariables">>> = KNOWN_PROVIDERS;
  return (known[name] ?? VENDORS[name]!).keyVariables[0]!;
}
