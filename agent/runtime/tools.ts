// Collects the tools of one document, and everything for deciding about their calls and running them.

import { sha256 } from "../../base/hash.ts";
import { changeSince } from "../../config/code/imports.ts";
import { resolvePath } from "../../base/paths.ts";
import { type Outcome, type Problem, problemLine, success } from "../../base/problem.ts";
import { openSeenFiles } from "../../cycle/storage/seen_files.ts";
import type { Emit } from "../../cycle/types.ts";
import type { RunSandbox } from "../../sandbox/mod.ts";
import { type Decide, DecidedPaths } from "../../tools/approval/mod.ts";
import { folderOfCalls, rulesOf, type RuleSubject } from "../../tools/approval/rules_of.ts";
import type { Caller } from "../../tools/definition.ts";
import { FileHelper } from "../../tools/files/file_helper.ts";
import { answersOf } from "../extensions/answers.ts";
import { offeredTools } from "../extensions/offered.ts";
import { registerSkills } from "../extensions/skills.ts";
import { SavedFiles } from "../undo/saved_files.ts";
import { type RegisteredTools, registerTools, type ToolsSubject } from "../tools.ts";
import type { Settings } from "../../config/settings.generated.ts";
import type { RunPurse } from "../../cycle/usage/purse.ts";
import { ASK_TOOL } from "../../config/layers/presets.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import { authorityIn, isAgreed } from "../trust/agreement.ts";
import type { JobsParts } from "./jobs/jobs.ts";
import type { Composed, Runtime, RuntimeOptions } from "./types.ts";

export interface Tooling extends Pick<RegisteredTools, "servers" | "end">, Pick<Runtime, "helpers"> {
  readonly tools: ToolsSubject & Pick<JobsParts, "background">;
  readonly ruled: RuleSubject;
}

/** Registers tools and skills, and emits their problems. Fails like `registerTools` and `registerSkills`. */
export async function createTooling(
  parts: Composed & {
    readonly sandbox: RunSandbox;
    readonly purse: RunPurse;
    /** Decides about a call, once everything is composed. */
    readonly decide: () => Decide;
  },
  options: RuntimeOptions,
  tell: Emit,
): Promise<Outcome<Tooling>> {
  const { subject: { settings, loaded }, store: { path }, journal, sandbox } = parts;
  const { environment, fetch, jobs } = options;
  const searchesFiles = options.settings?.noConfig !== true;
  const changed = (module: string) => changeSince(module, loaded.seals.get(module), environment.home);
  const subject = { settings, environment, document: path, sandbox, searchesFiles, fetch, changed, jobs };
  const registered = await registerTools(subject, options.tools, tell);
  if (!registered.ok) return registered;
  const { tools, warnings, end, servers } = registered.value;
  const skills = await registerSkills(tools, { environment, settings, document: path });
  if (!skills.ok) return skills;
  const helpers = await helpersOf(tools, parts, options, tell);
  if (!helpers.ok) return helpers;
  tellAll([...warnings, ...skills.value], tell);
  const seen = await openSeenFiles(environment, path, (problem) => tellAll([problem], tell));
  const ruled = { tools, settings, sandbox, environment, document: path, loaded };
  const rules = await rulesOf(ruled);
  const resolve = (tool: string, given: string) =>
    resolvePath(given, { folder: folderOfCalls(ruled, tool), home: environment.home });
  const run = { conversationId: await conversationOf(path), requestId: crypto.randomUUID() };
  const caller = (id: string): Caller => ({
    ...run,
    interactive: options.interactive ?? false,
    approvedByPerson: journal.approval(id)?.by === "person",
    offered: offeredTools(tools, settings).map(({ name }) => name),
    tell: (content) => tell({ event: "tool:message", id, content }),
    askSecret: options.askSecret,
  });
  return success({
    tools: {
      tools,
      settings,
      sandbox,
      environment,
      document: path,
      seen,
      kept: new SavedFiles(environment, path, settings.undo.keep, tell),
      servers,
      rules,
      changed,
      paths: rules === null ? null : new DecidedPaths(rules, resolve),
      disk: new FileHelper({ sandbox, program: (name) => sandbox.host.program(name) }),
      caller,
      answers: answersOf(parts).given,
      background: new WeakMap(),
    },
    ruled,
    servers,
    end,
    helpers: helpers.value,
  });
}

/** Registers the tool that asks helpers, if the document may offer it. Its code is loaded only then. */
async function helpersOf(
  tools: ToolRegistry,
  { subject, blocks, store, purse, decide, sandbox }: Parameters<typeof createTooling>[0],
  options: RuntimeOptions,
  emit: Emit,
): Promise<Outcome<Tooling["helpers"]>> {
  const { openHelper, environment } = options;
  const { path } = store;
  const isOffered = (of: Settings) => of.tools.offered?.includes(ASK_TOOL) === true;
  if (openHelper === undefined || path === null || !isOffered(subject.settings)) return success(null);
  const { loaded, settings } = subject;
  const agreed = await isAgreed(environment, path, await authorityIn(subject, blocks.frontmatter));
  if (!agreed.ok) return agreed;
  const { registerHelpers, offeredByUntrusted } = await import("./helpers/register.ts");
  if (!isOffered(loaded.settings) && !agreed.value && loaded.settings.trust.documents !== "always") {
    tellAll([offeredByUntrusted(path)], emit);
    return success(null);
  }
  if (settings.subagents.depth === 0) return success(null);
  return registerHelpers(tools, {
    path,
    chat: () => store.chat,
    environment,
    subject,
    tools,
    sandbox,
    options,
    openHelper,
    purse,
    emit,
    decide,
    isAgreed: agreed.value,
  });
}

/** Emits each problem as a notice, with its remedy. */
export function tellAll(problems: readonly Problem[], tell: Emit): void {
  for (const problem of problems) {
    tell({ event: "notice", code: problem.code, message: problemLine(problem) });
  }
}

/** Returns an id of the document for tools. The id is the same in every run and does not reveal the path. */
async function conversationOf(path: string | null): Promise<string> {
  return path === null ? crypto.randomUUID() : await sha256(path);
}
