// Builds the runtime of a document for its current frontmatter: sandbox, tools, approval, provider, cycle.

import { type Outcome, success } from "../../base/problem.ts";
import { Cycle, type CycleParts } from "../../cycle/mod.ts";
import { brokenPlaceholder } from "../../cycle/plan/batched.ts";
import { RunLimits } from "../../cycle/send/limits.ts";
import { conflictMarks } from "../../cycle/plan/conflict_marks.ts";
import type { DocumentStore, Emit, Send } from "../../cycle/types.ts";
import type { Call, Diagnostic } from "../../parser/types.ts";
import { type CallReasons, type Decide, reasonsOf } from "../../tools/approval/mod.ts";
import { previewCall, previewIsCut } from "../../tools/preview.ts";
import { checkInput } from "../../tools/validate.ts";
import { answersOf } from "../extensions/answers.ts";
import { waitForTool } from "../extensions/waiting.ts";
import { createNotices, emitWithoutSecrets, reportStateOnce } from "./notices.ts";
import { FileChanges } from "../trust/file_changes.ts";
import { WrittenFiles } from "../review/written_files.ts";
import { learnCredentials } from "../../sandbox/policy/credentials.ts";
import { sandboxOf, sandboxOptionsOf } from "../sandbox.ts";
import { providerOf } from "./sender.ts";
import { blocksOf, haveSameSettings, type SubjectSettings, subjectSettings } from "../settings.ts";
import { includesInstructions } from "../conversation/instructions/sections.ts";
import type { AroundRun, RunHooks } from "../conversation/hooks/around_run.ts";
import { runnerOf, type ToolsSubject } from "../tools.ts";
import { guardOf } from "../trust/open_guard.ts";
import { createDocumentApproval } from "./approval.ts";
import type { SharedParts } from "./jobs/keeper.ts";
import { JobsOnDemand } from "./jobs/on_demand.ts";
import { RUN } from "./jobs/owner.ts";
import { createPause } from "./pause.ts";
import { createRequestParts } from "./requests.ts";
import { createTooling, tellAll } from "./tools.ts";
import type { Composed, ReadBefore, Runtime, RuntimeOptions } from "./types.ts";

/** Builds the runtime of a document. The runtime does not run calls or test the sandbox before it is used. */
export async function compose(
  store: DocumentStore,
  given: RuntimeOptions,
  before: ReadBefore = {},
): Promise<Outcome<Runtime>> {
  const tell = reportStateOnce(emitWithoutSecrets(given.emit ?? (() => {})));
  const { path } = store;
  const blocks = blocksOf(store.chat);
  const subject = before.subject === undefined
    ? await subjectSettings(given, { path, ...blocks }, before.sources)
    : success(before.subject);
  if (!subject.ok) return subject;
  const { environment } = subject.value;
  const options = { ...given, emit: tell, environment };
  learnCredentials(environment.variables, subject.value.settings.tools.env.keys);
  tellAll(subject.value.loaded.notices, tell);
  const key = keyOf(store, subject.value);
  const kept = await usable(before.kept ?? null, key, subject.value);
  const guarded = kept === null
    ? await guardOf(store, options, subject.value)
    : await goOnWith(kept, { store, emit: tell });
  if (!guarded.ok) return guarded;
  const { journal, guard } = guarded.value;
  const sandbox = kept?.sandbox ?? sandboxOf(environment, store, subject.value, { around: guard });
  const composed = { store, blocks, subject: subject.value, journal };
  const { compacts, above } = options;
  const limits = new RunLimits(subject.value.settings, { compacts, purse: above?.purse });
  const deciding: { decide: Decide | null } = { decide: null };
  const equipped = await createTooling(
    { ...composed, sandbox, purse: limits.purse, decide: () => deciding.decide! },
    options,
    tell,
  );
  if (!equipped.ok) return equipped;
  const { tools, ruled, servers, end, helpers } = equipped.value;
  const hooks = await hooksOf({ ...composed, tools, ruled, emit: tell });
  const approval = await createDocumentApproval(
    { ...composed, tools, guard, hooks: hooks?.deciding ?? null },
    options,
  );
  if (!approval.ok) return approval;
  const { decide, approvalOf, askedAlthough, untrustedDocument, doubts, doubtsNow } = approval.value;
  deciding.decide = decide;
  const errors = subject.value.diagnostics.filter(({ severity }) => severity === "error");
  const blockers = () => [...errors, ...conflictMarks(store.chat), ...brokenPlaceholder(store.chat)];
  const blockersNow = () =>
    haveSameSettings(blocksOf(store.chat), blocks) ? blockers() : [changedBlock(store)];
  const previews = previewing(tools);
  const reasons = new Map<string, CallReasons>();
  const changes = new FileChanges(environment, path, tell);
  const reported = kept?.reported ?? { notices: 0, changes: 0, last: "" };
  const { emit, tellNews } = createNotices(
    tell,
    sandbox,
    (news) => changes.add(news),
    (id) => reasons.get(id),
    reported,
  );
  const pause = createPause({ store, guard, sandbox, environment, emit });
  const { send, ...requests } = createRequestParts(
    { ...composed, tools: tools.tools, servers, blockers: blockersNow, pause, limits },
    options,
    emit,
  );
  const { jobKeeper } = options;
  const jobsParts: ConstructorParameters<typeof JobsOnDemand>[0] = {
    store,
    environment,
    settings: subject.value.settings.tools,
    available: options.jobs,
    owner: jobKeeper?.owner ?? RUN,
    outlives: jobKeeper !== undefined,
    emit,
    preview: previews.preview,
    background: tools.background,
    shareNetwork: () => sandbox.shareNetwork(),
  };
  const jobs = kept?.jobs.goOnWith(jobsParts) ?? new JobsOnDemand(jobsParts);
  const cycle = cycleOf(
    { ...composed, tools, approvalOf, askedAlthough, ...previews, send, blockers: blockersNow },
    { decide: keepingReasons(decide, tools, reasons), emit, options, hooks, helpers, jobs },
  );
  return success({
    servers,
    changes,
    forgetTools: () => tools.tools.clear(),
    endTools: async () => {
      await end();
      tellNews();
    },
    blocks,
    subject: subject.value,
    sandbox,
    journal,
    cycle,
    jobs,
    kept: () => ({ key, sandbox, guard, journal, jobs, reported }),
    hooks,
    helpers,
    limits,
    pause,
    ...requests,
    get blockers() {
      return blockers();
    },
    decide,
    rules: tools.rules,
    tool: async (name) => {
      await waitForTool(name, tools.tools, emit, { asked: "code" });
      return tools.tools.get(name);
    },
    ruled,
    ...previews,
    untrustedDocument,
    doubts,
    doubtsNow,
    approvalOf,
    guard,
    rest: () => sandbox.endWorker(),
  });
}

/** Identifies the sandbox of a document's tools: runs with the same key can share it. */
function keyOf({ path, named }: DocumentStore, { environment, ...subject }: SubjectSettings): string {
  const { settings, protect } = sandboxOptionsOf(environment, { path, named }, subject);
  return JSON.stringify([path, named, environment.cwd, settings, protect]);
}

/** Returns the parts of an earlier run; null if this run cannot use them, and then their jobs are stopped. */
async function usable(
  kept: SharedParts | null,
  key: string,
  { settings }: SubjectSettings,
): Promise<SharedParts | null> {
  if (kept === null || !kept.jobs.isAlive) return null;
  if (kept.key === key && settings.tools.jobs.enabled) return kept;
  await kept.jobs.stopAll("settings");
  return null;
}

async function goOnWith(
  { guard, journal }: SharedParts,
  parts: { readonly store: DocumentStore; readonly emit: Emit },
): ReturnType<typeof guardOf> {
  const problem = await guard.continueWith(parts);
  return problem === null ? success({ guard, journal }) : { ok: false, problem };
}

/** Adds the instructions of subfolders to results, if the document includes the project's instructions. */
function instructedRunner(
  run: CycleParts["run"],
  { store, tools }: Pick<Composed, "store"> & { readonly tools: ToolsSubject },
): CycleParts["run"] {
  if (!tools.settings.instructions.nested) return run;
  const shown = new Set<string>();
  return async (call, signal, onOutput) => {
    const result = await run(call, signal, onOutput);
    const isFileTool = tools.tools.get(call.name)?.origin === "built-in" &&
      typeof call.input.path === "string";
    if (!result.success || !isFileTool || !includesInstructions(store.chat)) return result;
    const { withNestedInstructions } = await import("../conversation/instructions/nested.ts");
    return await withNestedInstructions(call, result, { chat: store.chat, tools, shown });
  };
}

/** Creates the hooks; null if none is configured, and then their code is not loaded. */
async function hooksOf(parts: AroundRun): Promise<RunHooks | null> {
  if (parts.subject.loaded.hooks === null) return null;
  const { createRunHooks } = await import("../conversation/hooks/around_run.ts");
  return await createRunHooks(parts);
}

/** Builds the previews of calls and of their changes to files. */
function previewing(
  { tools, ...subject }: ToolsSubject,
): Pick<Runtime, "written" | "preview" | "previewIsCut"> {
  const written = new WrittenFiles({ ...subject, tool: (name) => tools.get(name) });
  return {
    written,
    preview: (call) =>
      previewCall(tools.get(call.name), call.name, call.input, undefined, written.note(call)),
    previewIsCut: (call) =>
      previewIsCut(tools.get(call.name), call.name, call.input, undefined, written.note(call)),
  };
}

/** Decides about a call. If the call waits, saves the reasons for the event that reports it. */
function keepingReasons(decide: Decide, { rules }: ToolsSubject, reasons: Map<string, CallReasons>): Decide {
  return async (call, options) => {
    const decided = await decide(call, { ...options, explain: "waiting" });
    if (decided.decision === "require_approval") reasons.set(call.id, await reasonsOf(decided, call, rules));
    return decided;
  };
}

/** Builds the cycle of the document. The cycle stops as soon as the frontmatter changes. */
function cycleOf(
  {
    store,
    subject: { settings },
    tools,
    journal,
    approvalOf,
    askedAlthough,
    written,
    preview,
    send,
    blockers,
  }:
    & Composed
    & Pick<Runtime, "written" | "preview">
    & Pick<CycleParts, "approvalOf" | "askedAlthough" | "send">
    & { readonly tools: ToolsSubject; readonly blockers: () => readonly Diagnostic[] },
  { decide, emit, options, hooks, helpers, jobs }: {
    readonly hooks: RunHooks | null;
    readonly helpers: Runtime["helpers"];
    readonly jobs: JobsOnDemand;
    readonly decide: Decide;
    readonly emit: Emit;
    readonly options: RuntimeOptions;
  },
): Cycle {
  const registry = tools.tools;
  const run = instructedRunner(runnerOf(tools, emit), { store, tools });
  return new Cycle({
    store,
    journal,
    approvalOf,
    askedAlthough,
    settings,
    tools: registry,
    awaitTool: (name, signal) => waitForTool(name, registry, emit, { signal }),
    decide,
    run: jobs.run(hooks?.run(run) ?? run),
    checkInput,
    checkAnswers: answersOf({ store, journal }).check,
    goesOn: helpers === null ? undefined : (call) => helpers.goesOn(call),
    preview,
    diff: (call: Call) => written.diff(call),
    prefill: async () => {
      if (!settings.prefill) return false;
      // An unknown provider is reported when the request is sent.
      const provider = await providerOf({ provider: options.provider, settings });
      return provider.ok && provider.value.takesPrefill(settings);
    },
    send: jobs.send(hooks === null ? send : afterAnswer(options, send, hooks.send(send))),
    emit,
    blockers,
    signal: options.signal,
  });
}

/** Hooks saw the message when its request went into a batch, so they do not see it again before the reply. */
function afterAnswer({ batch }: RuntimeOptions, plain: Send, hooked: Send): Send {
  let isFirst = (batch?.answer ?? null) !== null;
  return (signal, how) => {
    const send = isFirst ? plain : hooked;
    isFirst = false;
    return send(signal, how);
  };
}

/** Stops a run whose frontmatter changed: its permissions and restrictions are no longer known. */
function changedBlock({ chat: { frontmatter } }: DocumentStore): Diagnostic {
  return {
    code: "frontmatter_changed",
    type: "frontmatter",
    severity: "error",
    message: "The frontmatter was changed during this run. Advance again to use the new settings.",
    start: frontmatter?.start ?? 1,
    end: frontmatter?.end ?? 1,
  };
}
