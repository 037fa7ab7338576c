// `flemma doctor`: reports on this machine and its settings, to read before asking for help.

import { VERSION } from "../line/version.ts";
import { stateFolder } from "../../base/folders.ts";
import { realPathOrNull } from "../../base/files.ts";
import { baseName, isInside, parentOf } from "../../base/paths.ts";
import { type Outcome, thrownText } from "../../base/problem.ts";
import { recordsOf } from "../../cycle/usage/log.ts";
import type { Fill } from "../../cycle/usage/fill.ts";
import { type KeyReport, keyReport, keyWords } from "../../providers/keys/sources.ts";
import { currentModel } from "../../providers/models/choice.ts";
import { knownProvider, providersInUse } from "../../providers/registry.ts";
import { statusExitCode } from "../../sandbox/mod.ts";
import { type CacheSet, cacheSets } from "../../sandbox/outside/cache_sets.ts";
import type { OutsideHook } from "../../agent/conversation/hooks/outside_hooks.ts";
import { contextFill } from "../../agent/conversation/context_fill.ts";
import { decidedBy } from "../../agent/review/decided_by.ts";
import { type Confinement, confinement, type ToolRow, toolRows } from "../../agent/views/confinement.ts";
import { renderConfinement } from "../sandbox/confinement.ts";
import { readSubject, settingsFor } from "../document/read.ts";
import type { SubjectSettings } from "../../agent/settings.ts";
import { Exit } from "../io/exit.ts";
import { editorStates } from "./editor.ts";
import type { Invocation } from "../invocation.ts";
import { layerFiles } from "../settings/layer_files.ts";
import { switchOption } from "../line/options.ts";
import { fillWords, sizeWords } from "../io/amounts.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeLines, writeOutput } from "../io/streams.ts";

interface Report {
  readonly versions: Readonly<Record<string, string>>;
  readonly settings: { readonly files: readonly string[]; readonly problems: readonly string[] };
  /** The provider that requests go to; null if the settings are invalid. */
  readonly provider: string | null;
  /** The current model; null if none is set. */
  readonly model: string | null;
  /** How full the context window is; null without a document. */
  readonly context: Fill | null;
  /** For each provider, the variable of its key, or why there is no key. The value never contains a key. */
  readonly credentials: Readonly<Record<string, KeyReport>>;
  readonly state: { readonly folder: string; readonly problem: string | null };
  readonly tools: readonly { readonly name: string; readonly source: string; readonly approval: string }[];
  /** Editors with installed runtime files; `reachable` is the writable path that contains them, or null. */
  readonly editors: readonly {
    readonly name: string;
    readonly folder: string;
    readonly state: string;
    readonly reachable: string | null;
  }[];
  /** Hooks that run outside the sandbox; `reachable` is something that they name and commands can change, or null. */
  readonly hooks: readonly OutsideHook[];
  /** What commands fetched and built, by project. */
  readonly caches: readonly CacheSet[];
  readonly sandbox: Confinement | null;
}

export async function run(invocation: Invocation): Promise<number> {
  const subject = await readSubject(invocation, invocation.arguments.positionals[0]);
  if ("exit" in subject) return subject.exit;
  const evaluated = await settingsFor(invocation, subject);
  const report = await examine(invocation, subject.path, evaluated);
  if (switchOption(invocation.arguments, "json") === true) writeOutput(`${safeJson(jsonOf(report))}\n`);
  else writeLines(textOf(report));
  if (!evaluated.ok) return Exit.usage;
  const { settings, state } = report;
  const unhealthy = settings.problems.length > 0 || state.problem !== null || lacksKey(report);
  return unhealthy ? Exit.failure : report.sandbox === null ? Exit.ok : statusExitCode(report.sandbox.status);
}

/** True if the current provider has no key, so that no request can be sent. */
function lacksKey({ provider, credentials }: Report): boolean {
  return provider !== null && credentials[provider]?.found === false;
}

async function examine(
  invocation: Invocation,
  path: string | null,
  evaluated: Outcome<SubjectSettings>,
): Promise<Report> {
  const { environment } = invocation;
  const files = await layerFiles(invocation, path);
  const credentials: Record<string, KeyReport> = {};
  const settings = evaluated.ok ? evaluated.value.settings : undefined;
  for (const name of providersInUse(settings, environment.variables)) {
    const provider = knownProvider(name, settings);
    if (provider === null) continue;
    credentials[name] = await keyReport({ provider, environment, settings });
  }
  const { problem } = evaluated.ok ? { problem: null } : evaluated;
  const blocks = evaluated.ok ? evaluated.value.diagnostics.map(({ message }) => message) : [];
  const notices = evaluated.ok ? evaluated.value.loaded.notices.map(({ message }) => message) : [];
  const tools = evaluated.ok
    ? await toolRows({ environment: evaluated.value.environment, path, subject: evaluated.value })
    : null;
  const sandbox = evaluated.ok
    ? await confinement({ environment: evaluated.value.environment, path, subject: evaluated.value })
    : null;
  return {
    versions: {
      flemma: VERSION,
      deno: Deno.version.deno,
      system: `${Deno.build.os} ${Deno.osRelease()} ${Deno.build.arch}`,
    },
    settings: {
      files: files.ok ? files.value : [],
      problems: [
        ...(problem === null ? [] : problem.message.split("\n")),
        ...blocks,
        ...notices,
        ...(tools === null || tools.ok ? [] : [tools.problem.message]),
      ],
    },
    provider: evaluated.ok ? evaluated.value.settings.provider : null,
    model: evaluated.ok ? currentModel(evaluated.value.settings) : null,
    context: evaluated.ok && path !== null
      ? contextFill(
        evaluated.value.settings,
        (await Deno.stat(path)).size,
        await recordsOf(environment, path),
      )
      : null,
    credentials,
    state: { folder: stateFolder(environment), problem: await stateProblem(stateFolder(environment)) },
    tools: tools?.ok ? tools.value.map(toolJson) : [],
    editors: (await editorStates(environment)).flatMap(({ name, folder, state }) =>
      folder === null || state === "absent" || state === "taken"
        ? []
        : [{ name, folder, state, reachable: reachableRoot(folder, sandbox) }]
    ),
    hooks: evaluated.ok && evaluated.value.loaded.hooks !== null
      ? (await import("../../agent/conversation/hooks/outside_hooks.ts")).outsideHooks(evaluated.value, {
        path,
      })
      : [],
    caches: cacheSets(environment),
    sandbox,
  };
}

/** The writable path through which commands can change what an editor runs; null if they cannot. */
function reachableRoot(folder: string, sandbox: Confinement | null): string | null {
  if (sandbox === null || !sandbox.status.enabled) return null;
  const { writable, protected: held } = sandbox.status;
  const real = realPathOrNull(folder) ?? folder;
  if (held.some(({ path }) => isInside(real, path))) return null;
  return writable.find(({ path }) => isInside(real, path))?.path ?? null;
}

function toolJson({ name, origin, decided: { decision, source } }: ToolRow): Report["tools"][number] {
  const words = origin === "built-in" ? "built in" : `from a ${origin}`;
  return { name, source: words, approval: approvalWords(decision, source) };
}

function approvalWords(decision: ToolRow["decided"]["decision"], source: string): string {
  const who = source === "default" ? "" : ` (${decidedBy(source)})`;
  switch (decision) {
    case "approve":
      return `runs without asking${who}`;
    case "deny":
      return `is denied${who}`;
    default:
      return `asks you${who}`;
  }
}

/** Returns the folder, or its nearest existing parent, because a report creates no folders. */
async function nearestFolder(folder: string): Promise<string> {
  try {
    await Deno.lstat(folder);
    return folder;
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound) || folder === "/") throw thrown;
    return await nearestFolder(parentOf(folder));
  }
}

/** Returns why the state folder is not writable; null if it is writable. */
async function stateProblem(folder: string): Promise<string | null> {
  try {
    const dir = await nearestFolder(folder);
    await Deno.remove(await Deno.makeTempFile({ dir, prefix: "doctor-" }));
    return null;
  } catch (thrown) {
    return `it is not writable: ${thrownText(thrown)}`;
  }
}

function textOf(report: Report): string {
  const rows = (entries: readonly (readonly [string, string])[]) => {
    const width = Math.max(0, ...entries.map(([name]) => name.length));
    return entries.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`);
  };
  const {
    versions,
    settings,
    provider,
    model,
    context,
    credentials,
    state,
    tools,
    editors,
    hooks,
    caches,
    sandbox,
  } = report;
  const key = (name: string, found: KeyReport) =>
    `${name === provider && lacksKey(report) ? "! " : ""}${keyWords(found)}`;
  const lines = [
    "versions",
    ...rows(Object.entries(versions)),
    "settings",
    ...settings.files.map((line) => `  ${line}`),
    ...settings.problems.map((line) => `  ! ${line}`),
    "model",
    `  ${provider ?? "unknown, because the settings cannot be read"}${model === null ? "" : ` ${model}`}`,
    ...(context === null ? [] : [`  context: ${fillWords(context)}`]),
    "keys",
    ...rows(Object.entries(credentials).map(([name, found]) => [name, key(name, found)])),
    "state",
    `  ${state.folder}${state.problem === null ? "" : `\n  ! ${state.problem}`}`,
    "tools",
    ...rows(tools.map(({ name, source, approval }) => [name, `${source}, ${approval}`])),
  ];
  if (hooks.length > 0) {
    lines.push("hooks outside the sandbox", ...rows(hooks.map((hook) => [hook.name, hookWords(hook)])));
  }
  if (caches.length > 0) {
    const width = ({ bytes, complete }: CacheSet) => `${complete ? "" : "more than "}${sizeWords(bytes)}`;
    lines.push("caches of commands", ...rows(caches.map((set) => [baseName(set.path), width(set)])));
  }
  if (editors.length > 0) {
    lines.push("editors", ...rows(editors.map(({ name, ...rest }) => [name, editorWords(name, rest)])));
  }
  if (sandbox !== null) lines.push("sandbox", renderConfinement(sandbox).trimEnd().replace(/^/gm, "  "));
  return `${lines.join("\n")}\n`;
}

function hookWords({ event, file, reachable }: OutsideHook): string {
  return reachable === null
    ? `${event}, in ${file}; whatever it starts in the project can do everything`
    : `! ${event}, in ${file}: does not run, because commands can change ${reachable}: move it, or shorten ` +
      "sandbox.policy.rw_paths";
}

function editorWords(
  name: string,
  { folder, state, reachable }: { folder: string; state: string; reachable: string | null },
): string {
  if (reachable !== null) {
    return `! ${folder} is in ${reachable}, which commands can write: install it elsewhere, or shorten ` +
      "sandbox.policy.rw_paths";
  }
  switch (state) {
    case "older":
      return `! older than this program: flemma editor ${name} --install (in ${folder})`;
    case "changed":
      return `changed by you, in ${folder}`;
    default:
      return folder;
  }
}

function jsonOf({ sandbox, ...rest }: Report) {
  if (sandbox === null) return { ...rest, sandbox: null };
  const { status, enabledBy, obstacle } = sandbox;
  return {
    ...rest,
    sandbox: {
      ...status,
      enabled_by: enabledBy,
      auto_approval: { bash: obstacle === null, because: obstacle },
    },
  };
}
