// Finds faults in settings without running anything: missing programs and folders, invalid hosts, a model and a
// provider that do not match.

import type { Environment } from "../../base/environment.ts";
import { type Outcome, problemLine } from "../../base/problem.ts";
import { DEFAULT_SETTINGS, type ProviderSettings, type Settings } from "../../config/settings.generated.ts";
import { dayOf, findModel, pricesAt } from "../../providers/models/find.ts";
import type { Day } from "../../providers/models/types.ts";
import { knownProvider, providerNames, providersOfModel } from "../../providers/registry.ts";
import { expandPath, type PathContext, resolvePolicy } from "../../sandbox/mod.ts";
import { findProgram } from "../../sandbox/process/program.ts";

/** A fault in the value of a key. */
export interface SettingsFinding {
  readonly key: string;
  /** The affected item of a list. */
  readonly item?: unknown;
  /** A full sentence without its period. */
  readonly message: string;
  /** An error keeps the feature from working at all. */
  readonly severity: "error" | "warning";
}

/** Checks the settings of a document, or of the folder if `document` is null. */
export function settingsFindings(
  settings: Settings,
  { environment, document }: PathContext,
): readonly SettingsFinding[] {
  const context = { environment, document };
  return [
    ...modelFindings(settings),
    ...entryFindings(settings),
    ...policyFindings(settings, context),
    ...pathFindings(settings, context),
    ...toolFindings(settings, context),
  ];
}

function modelFindings(settings: Settings): SettingsFinding[] {
  const { provider, model } = settings;
  const found: SettingsFinding[] = [];
  if (knownProvider(provider, settings) === null) {
    const message = `there is no provider ${provider}; known providers: ${
      providerNames(settings).join(", ")
    }`;
    found.push({ key: "provider", severity: "warning", message });
  }
  // A vendor and a server of the person's own may offer models of any provider.
  if (provider === "openai_chat" || knownProvider(provider, settings)?.kind !== undefined) return found;
  const makers = providersOfModel(model ?? "");
  if (makers.length > 0 && !makers.includes(provider)) {
    const message = `the model ${model} belongs to ${makers.join(" or ")}, but the provider is ${provider}`;
    found.push({ key: "model", severity: "warning", message });
  } else if (model?.includes("/")) {
    const message = `a model name has no "/" here: put the provider in "provider"`;
    found.push({ key: "model", severity: "warning", message });
  }
  const dear = dearModel(settings, dayOf(new Date()));
  return dear === null ? found : [...found, { key: "model", severity: "warning", message: dear }];
}

/** Settings of a provider that have an effect only with some APIs. */
const EFFECTIVE: Readonly<Partial<Record<keyof ProviderSettings, readonly string[]>>> = {
  api_version: ["anthropic"],
  auth: ["anthropic", "openai", "openai_chat", "moonshot"],
  max_tokens_key: ["openai_chat"],
  reasoning_field: ["openai_chat"],
  reasoning_back: ["openai_chat"],
  reasoning_key: ["openai_chat"],
  parallel_tool_calls: ["openai_chat"],
};

/** Returns findings about settings of providers that have no effect. */
function entryFindings(settings: Settings): SettingsFinding[] {
  return Object.entries(settings.providers).flatMap(([name, entry]) => {
    const known = knownProvider(name, settings);
    if (known === null) return [];
    const api = known.kind ?? name;
    const idle = (key: string, why: string): SettingsFinding => ({
      key: `providers.${name}.${key}`,
      severity: "warning",
      message: `${key} has no effect: ${why}`,
    });
    const isSet = (key: keyof ProviderSettings) => (entry[key] ?? null) !== null;
    return [
      ...(known.kind === undefined && isSet("kind") ? [idle("kind", `${name} is a built-in provider`)] : []),
      ...(isSet("key_ttl") && !isSet("key_command") ? [idle("key_ttl", "there is no key_command")] : []),
      ...Object.entries(EFFECTIVE).filter(([key, apis]) =>
        isSet(key as keyof ProviderSettings) && !apis.includes(api)
      ).map(([key]) => idle(key, `the API of ${name} (${api}) does not use it`)),
    ];
  });
}

/** Returns a sentence about a model that costs more than `ui.pricing.high_cost_threshold`; null for any other model. */
export function dearModel(settings: Settings, day: Day): string | null {
  const { provider, model, ui } = settings;
  const known = model === null ? null : findModel(provider, model, settings);
  const prices = known === null ? null : pricesAt(known, day, 0);
  if (prices === null || prices.input + prices.output <= ui.pricing.high_cost_threshold) return null;
  return `the model ${model} costs $${prices.input} (input) and $${prices.output} (output) per million tokens`;
}

function policyFindings({ sandbox }: Settings, context: PathContext): SettingsFinding[] {
  if (!sandbox.enabled) return [];
  const policy = resolvePolicy(sandbox, context);
  if (policy.ok) return [];
  return [{ key: "sandbox.policy", severity: "error", message: problemLine(policy.problem) }];
}

/** Returns findings about paths in lists that do not exist. */
function pathFindings({ sandbox: { policy } }: Settings, context: PathContext): SettingsFinding[] {
  const inspect = (key: string, entry: string, effect: string): SettingsFinding[] => {
    const expansion = expandPath(entry, context);
    const reason = expansion.kind === "dropped"
      ? expansion.reason
      : expansion.kind === "path" && !isThere(expansion.path, context.environment)
      ? `${expansion.path} does not exist`
      : null;
    if (reason === null) return [];
    return [{
      key: `sandbox.policy.${key}`,
      item: entry,
      severity: "warning",
      message: `${reason}, so ${effect}`,
    }];
  };
  return [
    ...policy.rw_paths.flatMap((item) => {
      const { path, create } = typeof item === "string" ? { path: item, create: false } : item;
      if (create || DEFAULT_SETTINGS.sandbox.policy.rw_paths.includes(path)) return [];
      return inspect("rw_paths", path, "nothing there can be written");
    }),
    ...(policy.deny_read ?? []).filter(isPath).flatMap((entry) =>
      inspect("deny_read", entry, "it hides nothing")
    ),
    ...(policy.protect ?? []).filter(isPath).flatMap((entry) =>
      inspect("protect", entry, "it protects nothing yet")
    ),
    ...(policy.sockets ?? []).filter((entry) => entry.includes("/"))
      .flatMap((entry) => inspect("sockets", entry, "it reaches nothing")),
  ];
}

/**
 * True if an entry is a path. Names of lists begin with a lower case letter after the dollar sign, names of variables
 * with a capital.
 */
function isPath(entry: string): boolean {
  return !/^\$[a-z]/.test(entry);
}

function toolFindings({ tools, sandbox }: Settings, context: PathContext): SettingsFinding[] {
  const { environment } = context;
  const found: SettingsFinding[] = [];
  const program = (key: string, name: unknown) => {
    if (typeof name !== "string" || name === "") return;
    const there: Outcome<string> = findProgram(name, environment, []);
    if (!there.ok) {
      found.push({ key, severity: "warning", message: there.problem.message.replace(/\.$/, "") });
    }
  };
  program("tools.bash.shell", tools.named.bash?.shell);
  program("sandbox.backends.bwrap.path", sandbox.backends.bwrap?.path);
  const cwd = tools.named.bash?.cwd;
  if (typeof cwd === "string" && cwd !== "") {
    const expansion = expandPath(cwd, context);
    if (expansion.kind === "unknown-urn") {
      found.push({ key: "tools.bash.cwd", severity: "warning", message: `unknown location ${cwd}` });
    } else if (expansion.kind === "path" && !isFolder(expansion.path, environment)) {
      found.push({
        key: "tools.bash.cwd",
        severity: "warning",
        message: `${expansion.path} is not a folder`,
      });
    }
  }
  return found;
}

function isThere(path: string, { cwd }: Environment): boolean {
  return statOf(path, cwd) !== null;
}

function isFolder(path: string, { cwd }: Environment): boolean {
  return statOf(path, cwd)?.isDirectory === true;
}

/**
 * Returns the state of a path; null if the path does not exist. Also null if the path cannot be examined, because then
 * the sandbox cannot use the path.
 */
function statOf(path: string, cwd: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path.startsWith("/") ? path : `${cwd}/${path}`);
  } catch {
    return null;
  }
}
