// `flemma auth`: keeps keys in the system's keyring. It stores keys, but never prints one.

import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import type { Settings } from "../../config/settings.generated.ts";
import { type KnownSignIn, knownSignIns } from "../../agent/extensions/sign_ins.ts";
import { helperPlace } from "../../agent/extensions/helper_place.ts";
import type { Environment } from "../../base/environment.ts";
import { type Keyring, systemKeyring } from "../../providers/keys/keyring.ts";
import { type KeyReport, keyReport, keyWords } from "../../providers/keys/sources.ts";
import type { CredentialKind } from "../../providers/keys/types.ts";
import type { KnownProvider } from "../../providers/known.ts";
import { knownProvider, providersInUse, unknownProvider } from "../../providers/registry.ts";
import type { Invocation } from "../invocation.ts";
import { Exit } from "../io/exit.ts";
import { readHidden } from "../io/hidden_line.ts";
import { refuse } from "../io/refuse.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeLines, writeOutput } from "../io/streams.ts";
import { switchOption } from "../line/options.ts";
import { settingsOf } from "../line/overrides.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { arguments: given, environment } = invocation;
  const loaded = await settingsOf(given, environment, null);
  if (!loaded.ok) return refuse(invocation, loaded.problem);
  const { settings } = loaded.value;
  const [name] = given.positionals;
  if (given.command.name === "auth show") return await show(invocation, settings, name);
  const provider = providerNamed(name ?? "", settings);
  if (!provider.ok) return refuse(invocation, provider.problem);
  const helpers = helperPlace(settings, environment, null)();
  const keyring = keyringFor(helpers.environment, provider.value);
  if (!keyring.ok) return refuse(invocation, keyring.problem);
  return given.command.name === "auth set"
    ? await set(invocation, provider.value, keyring.value)
    : await remove(invocation, provider.value, keyring.value);
}

async function set(invocation: Invocation, provider: KnownProvider, keyring: Keyring): Promise<number> {
  const { arguments: given, messages, environment } = invocation;
  if (given.positionals.length > 1) return refuse(invocation, KEY_IN_ARGUMENTS);
  const key = await keyFrom(invocation, provider);
  if (key === null) return Exit.interrupted;
  if (!key.ok) return refuse(invocation, key.problem);
  const problem = await keyring.store(provider.name, kindOf(provider), key.value);
  if (problem !== null) return refuse(invocation, problem);
  messages.note(`flemma: ${keyring.name} now stores the key of ${provider.display}.`);
  const variable = provider.keyVariables.find((name) => environment.variables[name]);
  if (variable !== undefined) messages.note(`  The variable ${variable} is also set, and takes precedence.`);
  return Exit.ok;
}

async function remove(invocation: Invocation, provider: KnownProvider, keyring: Keyring): Promise<number> {
  const removed = await keyring.remove(provider.name, kindOf(provider));
  if (!removed.ok) return refuse(invocation, removed.problem);
  const { messages } = invocation;
  if (removed.value) messages.note(`flemma: ${keyring.name} no longer stores a key of ${provider.display}.`);
  else messages.say(`flemma: ${keyring.name} has no key of ${provider.display}.`);
  return removed.value ? Exit.ok : Exit.failure;
}

/** Reports where each key comes from, by variable or keyring name only. */
async function show(invocation: Invocation, settings: Settings, name: string | undefined): Promise<number> {
  const names = name === undefined ? providersInUse(settings, invocation.environment.variables) : [name];
  const found: Record<string, KeyReport> = {};
  for (const each of names) {
    const provider = providerNamed(each, settings);
    if (!provider.ok) return refuse(invocation, provider.problem);
    const { environment } = invocation;
    found[each] = await keyReport({ provider: provider.value, environment, settings });
  }
  const signIns = name === undefined ? await knownSignIns(invocation.environment) : [];
  if (switchOption(invocation.arguments, "json") === true) {
    const report: Record<string, KeyReport | readonly KnownSignIn[]> = { ...found };
    if (signIns.length > 0) report.mcp = signIns;
    writeOutput(`${safeJson(report)}\n`);
  } else {
    const width = Math.max(...[...names, ...signIns.map(({ name }) => name)].map((each) => each.length));
    const lines = [
      ...Object.entries(found).map(([each, report]) => [each, keyWords(report)] as const),
      ...signIns.map((signIn) => [signIn.name, signInWords(signIn)] as const),
    ];
    writeLines(lines.map(([each, words]) => `${each.padEnd(width)}  ${words}\n`).join(""));
  }
  return name === undefined || found[name]!.found ? Exit.ok : Exit.failure;
}

function signInWords({ issuer, scope, kept, file, wanted }: KnownSignIn): string {
  const rights = scope === null ? "" : ` (${scope})`;
  const place = kept === "keyring" ? "in the keyring" : "in a file hidden from commands";
  const project = file === null ? "" : `, for ${file}`;
  const more = wanted.length === 0 ? "" : `; a call needed more: ${wanted.join(" ")}`;
  return `signed in at ${issuer}${rights}, ${place}${project}${more}`;
}

function providerNamed(name: string, settings: Settings): Outcome<KnownProvider> {
  const provider = knownProvider(name, settings);
  return provider === null ? unknownProvider(name, settings) : success(provider);
}

function kindOf({ keyKind }: KnownProvider): CredentialKind {
  return keyKind ?? "api_key";
}

function keyringFor(environment: Environment, provider: KnownProvider): Outcome<Keyring> {
  const keyring = systemKeyring(environment);
  if (keyring !== null) return success(keyring);
  const { name, keyVariables: [variable = ""] } = provider;
  return failure(
    "keyring-missing",
    Deno.build.os === "linux"
      ? "No keyring is available: the program secret-tool (from libsecret) was not found."
      : "No keyring is available.",
    `Set the variable ${variable}, or name a command that prints the key: providers.${name}.key_command`,
  );
}

const KEY_IN_ARGUMENTS = failure(
  "usage",
  "A key on the command line stays in the shell's history.",
  "Leave it out and type it at the prompt, or pipe it in.",
).problem;

/** Reads the key from a pipe, or from the terminal without showing it; null if the person canceled. */
async function keyFrom({ input }: Invocation, provider: KnownProvider): Promise<Outcome<string> | null> {
  let text: string | null;
  try {
    text = Deno.stdin.isTerminal()
      ? await readHidden(`Key of ${provider.display} (not shown): `)
      : new TextDecoder().decode(input.read().bytes);
  } catch (thrown) {
    return failure("key-unreadable", `The key cannot be read: ${thrownText(thrown)}.`);
  }
  if (text === null) return null;
  const key = text.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return success(key);
  return failure(
    "usage",
    key === ""
      ? "No key was given."
      : "That is not a key: it contains spaces, line breaks or other invalid characters.",
    `Pipe it in: printf %s KEY | flemma auth set ${provider.name}`,
  );
}
