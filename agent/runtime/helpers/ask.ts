// Asks a helper: makes its document or continues it, advances it, and returns its last reply.

import type { Environment } from "../../../base/environment.ts";
import { isThere, makeFile } from "../../../base/files.ts";
import { parentOf, resolvePath, workFolderOf } from "../../../base/paths.ts";
import { failure, type Outcome, success, thrownText } from "../../../base/problem.ts";
import { agreeToFolder } from "../../../config/document/work_folder.ts";
import { worktreeAt } from "../../../config/document/worktrees.ts";
import type { ApprovalPreset } from "../../../config/values.ts";
import { openJournal } from "../../../cycle/storage/journal.ts";
import type { RunPurse } from "../../../cycle/usage/purse.ts";
import type { CycleEvent, Emit } from "../../../cycle/types.ts";
import { parse } from "../../../parser/mod.ts";
import type { Call, Chat } from "../../../parser/types.ts";
import type { RequestLimiter } from "../../../providers/http/limiter.ts";
import type { RunSandbox } from "../../../sandbox/mod.ts";
import type { Decide } from "../../../tools/approval/mod.ts";
import type { ExecutionContext, ExecutionResult, ToolInput } from "../../../tools/definition.ts";
import type { ToolRegistry } from "../../../tools/registry.ts";
import { lastReply } from "../../conversation/last_reply.ts";
import { textOfNewChat } from "../../conversation/new_chat.ts";
import { offeredTools } from "../../extensions/offered.ts";
import type { SubjectSettings } from "../../settings.ts";
import type { ChatOptions, ChatSession, WaitingHelper } from "../../types.ts";
import { type HelperQuestion, readQuestion, refuseCycle, refuseQuestion } from "./bounds.ts";
import { depthOf, helperLine, nameForPreset, shownPath } from "./names.ts";
import { type AskedHelper, failedHelper, helperResult } from "./outcome.ts";
import { type FoundHelper, HelperFolder, identifyCall } from "./place.ts";
import {
  helperInstructions,
  isAnswered,
  isAsked,
  nextTurn,
  removeUnfinished,
  writeQuestion,
} from "./question.ts";
import type { RecordedQuestion } from "./record.ts";
import { helperSettings } from "./rights.ts";
import type { AskingRepository } from "./repository.ts";
import type { AskingOptions, OpenHelper } from "./types.ts";
import type { HelperWorktrees, WorktreePlace } from "./worktree.ts";

/** The document that asks. */
export interface AskingDocument {
  /** Real path. */
  readonly path: string;
  chat(): Chat;
  readonly environment: Environment;
  readonly subject: SubjectSettings;
  readonly tools: ToolRegistry;
  readonly sandbox: Pick<RunSandbox, "enabled" | "backend">;
  readonly options: ChatOptions & AskingOptions;
  readonly openHelper: OpenHelper;
  /** What the run has used of its limits. */
  readonly purse: RunPurse;
  readonly emit: Emit;
  /** Decides about a call of this document; known once the document is open. */
  decide(): Decide;
  /** True if the person trusts the frontmatter of this document in its current version. */
  readonly isAgreed: boolean;
}

export class DocumentHelpers {
  readonly #asking: AskingDocument;
  readonly folder: HelperFolder;
  #limiter: RequestLimiter | null = null;
  #worktrees: Promise<HelperWorktrees> | null = null;
  /** DocumentHelpers that work now, by the path of their document. A second question waits for the first. */
  readonly #working = new Map<string, Promise<unknown>>();

  constructor(asking: AskingDocument) {
    this.#asking = asking;
    this.folder = new HelperFolder(asking.environment, asking.path);
  }

  /** Answers a call of the tool. */
  async ask(input: ToolInput, context: ExecutionContext): Promise<ExecutionResult> {
    const question = readQuestion(input);
    const call = this.#asking.chat().call(context.toolId);
    if (call === undefined) return refused("The call was removed from the document.");
    const found = await this.#helperFor(call, question, context);
    if (!found.ok) return refused(found.problem.message);
    const { helper, asked, files } = found.value;
    const before = this.#working.get(helper.path);
    const work = (before ?? Promise.resolve()).catch(() => {}).then(() =>
      context.signal.aborted
        ? refused("Canceled before the helper was asked.")
        : this.#work(helper, asked, { question, files, context })
    );
    this.#working.set(helper.path, work);
    return await work;
  }

  /** True if a call that waits for this helper can go on: it waits for nobody, and no other run uses it. */
  async goesOn(call: Call): Promise<boolean> {
    const found = await this.folder.ofCall(await identifyCall(this.#asking.chat(), call));
    if (found === null || !isThere(found.path)) return true;
    const chat = parse(await Deno.readFile(found.path));
    return !chat.results.some(({ status, content }) => status === "pending" && content === "");
  }

  /** Returns the helper in whose document a call waits, with the calls that wait there. */
  async waitingFor(call: Call): Promise<WaitingHelper | null> {
    const found = await this.folder.ofCall(await identifyCall(this.#asking.chat(), call));
    if (found === null) return null;
    const { name, path } = found;
    const { options: { settings, tools, resolvers }, openHelper, environment } = this.#asking;
    const opened = await openHelper(path, {
      ...defined({ settings, tools, resolvers }),
      environment: withoutFolders(environment),
      readOnly: true,
    });
    if (!opened.ok) return { name, path, calls: [] };
    await using session = opened.value;
    return { name, path, calls: await session.calls() };
  }

  /** Finds the helper that a call asked before, or chooses the one to ask, after all checks. */
  async #helperFor(call: Call, question: HelperQuestion, context: ExecutionContext): Promise<
    Outcome<
      { readonly helper: FoundHelper; readonly asked: RecordedQuestion; readonly files: readonly string[] }
    >
  > {
    const { path, subject, purse } = this.#asking;
    const chat = this.#asking.chat();
    const identity = await identifyCall(chat, call);
    const known = await this.folder.ofCall(identity);
    const files = await this.#files(question.files, context);
    if (known !== null) {
      const asked = { ...identity, turn: known.turn };
      return success({ helper: known, asked, files: files.ok ? files.value : [] });
    }
    if (!path.endsWith(".chat")) {
      return failure("helper-place", "Only a document whose name ends in .chat can ask helpers.");
    }
    if (await this.#isRepaired()) {
      return failure(
        "helper-refused",
        "Helpers are not possible in this sandbox, because it does not keep commands from changing their documents.",
      );
    }
    const presets = subject.settings.tools.presets;
    const why = refuseQuestion(question, {
      bounds: subject.settings.subagents,
      depth: depthOf(path),
      asked: purse.questions,
      presets: Object.keys(presets),
    });
    if (why !== null) return failure("helper-refused", why);
    if (!files.ok) return files;
    // Counted before anything is awaited, because calls of one reply are asked in parallel.
    purse.questions++;
    const chosen = question.document === null
      ? await this.#newHelper(question, identity, context)
      : await this.#oldHelper(question.document, call);
    if (!chosen.ok) {
      purse.questions--;
      return chosen;
    }
    // The place of a question to an existing helper is recorded under the lock of the helper.
    const turn = question.document === null ? 0 : -1;
    return success({ helper: chosen.value, asked: { ...identity, turn }, files: files.value });
  }

  async #newHelper(
    { name, preset }: HelperQuestion,
    identity: Omit<RecordedQuestion, "turn">,
    context: ExecutionContext,
  ): Promise<Outcome<FoundHelper>> {
    const repository = await this.#repository(preset, context.signal);
    return repository.ok ? await this.folder.add(name ?? nameForPreset(preset), identity) : repository;
  }

  async #oldHelper(name: string, call: Call): Promise<Outcome<FoundHelper>> {
    const chat = this.#asking.chat();
    const others = await Promise.all(
      chat.calls.filter((each) => each.name === call.name).map((each) => identifyCall(chat, each)),
    );
    const helper = await this.folder.find(name, others);
    if (!helper.ok) return helper;
    const cycle = refuseCycle(helper.value.path, this.#above);
    return cycle === null ? helper : failure("helper-cycle", cycle);
  }

  /** Finds the repository in which a new helper gets a worktree, before anything is made; null if it gets none. */
  async #repository(preset: string | null, signal: AbortSignal): Promise<Outcome<AskingRepository | null>> {
    const presets = this.#asking.subject.settings.tools.presets;
    if (preset === null || presets[preset]?.worktree !== true) return success(null);
    return await (await this.#ownWorktrees()).find(signal);
  }

  async #ownWorktrees(): Promise<HelperWorktrees> {
    return await (this.#worktrees ??= import("./worktree.ts").then(({ HelperWorktrees }) =>
      new HelperWorktrees(this.#asking)
    ));
  }

  /** Makes the worktree of a new helper, or finishes it after a kill; null if its preset gives none. */
  async #worktree(
    helper: FoundHelper,
    preset: string | null,
    signal: AbortSignal,
  ): Promise<Outcome<WorktreePlace | null>> {
    const repository = await this.#repository(preset, signal);
    if (!repository.ok || repository.value === null) return repository as Outcome<null>;
    const worktrees = await this.#ownWorktrees();
    const known = helper.known.worktree;
    const recorded = known === undefined ? null : worktreeAt(this.#asking.environment, known);
    const chosen = recorded !== null
      ? success(recorded)
      : await worktrees.choose(helper.name, helper.path, repository.value);
    if (!chosen.ok) return chosen;
    if (recorded === null) {
      const noted = await this.folder.giveWorktree(helper, chosen.value.folder);
      if (!noted.ok) return noted;
    }
    return await worktrees.fill(chosen.value, signal);
  }

  /** Returns the lines of a result that name the worktree in which a helper works. */
  async #notes({ settings }: ChatSession): Promise<readonly string[]> {
    const worktree = settings.cwd === null ? null : worktreeAt(this.#asking.environment, settings.cwd);
    if (worktree === null) return [];
    const [{ worktreeNotes }, worktrees] = await Promise.all([
      import("./worktree.ts"),
      this.#ownWorktrees(),
    ]);
    return worktreeNotes(worktree, await worktrees.isChanged(worktree));
  }

  /** True if the sandbox only restores protected files after a command. */
  async #isRepaired(): Promise<boolean> {
    const { sandbox } = this.#asking;
    const backend = sandbox.enabled ? await sandbox.backend() : null;
    return backend?.ok === true && backend.value.repairs === true;
  }

  get #above(): readonly string[] {
    return [...this.#asking.options.above?.documents ?? [], this.#asking.path];
  }

  /** Decides about files to attach as about calls of `read`. Fails for the model. */
  async #files(paths: readonly string[], context: ExecutionContext): Promise<Outcome<readonly string[]>> {
    const { environment, path } = this.#asking;
    const base = { folder: workFolderOf(environment, path), home: environment.home };
    const found: string[] = [];
    for (const [at, each] of paths.entries()) {
      const id = `${context.toolId}#${at}`;
      const decided = await this.#asking.decide()({ id, name: "read", input: { path: each } });
      const isApproved = decided.decision === "approve" ||
        (decided.decision === "require_approval" && context.caller?.approvedByPerson === true);
      const real = resolvePath(each, base);
      if (!isApproved || !context.sandbox.isPathReadable(real)) {
        return failure("helper-file", `The file ${each} cannot be attached, because read may not read it.`);
      }
      if (!isThere(real)) return failure("helper-file", `The file ${each} does not exist.`);
      found.push(relativePath(this.folder.folder, real));
    }
    return success(found);
  }

  async #work(
    helper: FoundHelper,
    asked: RecordedQuestion,
    { question, files, context }: {
      readonly question: HelperQuestion;
      readonly files: readonly string[];
      readonly context: ExecutionContext;
    },
  ): Promise<ExecutionResult> {
    const { name, path } = helper;
    const line = helperLine(callerPath(path), name);
    const shown: AskedHelper = { name, document: shownPath(callerPath(path), name), line, notes: [] };
    context.onOutput(`${line}\n`);
    const made = isThere(path) ? success(undefined) : await this.#make(helper, question, context.signal);
    if (!made.ok) return failedHelper(shown, made.problem.message);
    for (;;) {
      const opened = await this.#open(path, name, context);
      if (!opened.ok) {
        const { code, message } = opened.problem;
        if (code !== "document-locked") return failedHelper(shown, `The helper cannot be opened: ${message}`);
        const why = `The helper ${name} (${shown.document}) is being advanced by another run.`;
        return { success: false, waits: { helper: name, document: shown.document, message: why } };
      }
      await using session = opened.value;
      const ready = await this.#ready(session, helper, asked, { question, files });
      if (!ready.ok) return failedHelper(shown, ready.problem.message);
      // The journal that the session has read names the calls that were removed.
      if (ready.value === "reopen") continue;
      return await this.#finish(session, shown, ready.value);
    }
  }

  /** Advances a helper that is ready, and returns its answer. */
  async #finish(
    session: ChatSession,
    shown: AskedHelper,
    state: "answered" | "asked",
  ): Promise<ExecutionResult> {
    const stop = state === "answered" ? { reason: state } as const : await session.advance();
    const open = stop.reason === "pending" ? await session.calls() : [];
    const notes = await this.#notes(session);
    return helperResult(stop, { ...shown, notes }, { reply: lastReply(session.chat), open });
  }

  /** Brings a helper's document to the point from which it is advanced. Nothing is written twice. */
  async #ready(
    session: ChatSession,
    helper: FoundHelper,
    asked: RecordedQuestion,
    { question, files }: { readonly question: HelperQuestion; readonly files: readonly string[] },
  ): Promise<Outcome<"answered" | "asked" | "reopen">> {
    let { turn } = asked;
    if (turn < 0) {
      turn = nextTurn(session.chat);
      const recorded = await this.folder.ask(helper, { ...asked, turn });
      if (!recorded.ok) return recorded;
    }
    if (!isAsked(session.chat, turn)) {
      const tags = session.settings.templating.enabled;
      const edit = writeQuestion(session.chat, question.question, { files, tags });
      if (!edit.ok) return edit;
      const problem = await session.edit([edit.value]);
      return problem === null ? success("asked") : { ok: false, problem };
    }
    if (isAnswered(session.chat, turn)) return success("answered");
    const journal = await openJournal({ path: helper.path, environment: this.#asking.environment });
    if (!journal.ok) return journal;
    const edit = removeUnfinished(session.chat, journal.value.unfinished());
    if (edit === null) return success("asked");
    const removed = session.chat.turns.at(-1)!.calls.map(({ id }) => id);
    const problem = await session.edit([edit]);
    if (problem !== null) return { ok: false, problem };
    await journal.value.recordFinished(removed);
    return success("reopen");
  }

  /** Makes the document of a new helper, and agrees to what the caller was allowed. */
  async #make(
    helper: FoundHelper,
    { preset: presetName }: HelperQuestion,
    signal: AbortSignal,
  ): Promise<Outcome<void>> {
    const { path } = helper;
    const { environment, subject, tools } = this.#asking;
    const preset = presetName === null ? null : subject.settings.tools.presets[presetName] ?? null;
    const worktree = await this.#worktree(helper, presetName, signal);
    if (!worktree.ok) return worktree;
    const folder = worktree.value?.folder ?? workFolderOf(environment, this.#asking.path);
    const settings = helperSettings(
      {
        logs: subject.logs,
        settings: subject.settings,
        tools: tools.getAll({ includeDisabled: true }).map(({ name }) => name),
        offered: offeredTools(tools, subject.settings).map(({ name }) => name),
      },
      {
        cwd: worktree.value === null ? relativePath(parentOf(path), folder) : folder,
        writable: worktree.value ?? undefined,
        preset,
        presetName,
        mayAsk: depthOf(path) < subject.settings.subagents.depth,
      },
    );
    if (!settings.ok) return settings;
    const system = await systemText(preset, environment);
    if (!system.ok) return system;
    const tags = subject.settings.templating.enabled;
    const bytes = textOfNewChat({
      settings: settings.value,
      system: helperInstructions(system.value, { tags, worktree: worktree.value !== null }),
    });
    // Before the document exists, so that a killed run leaves none without it.
    const agreed = await agreeToFolder(environment, path, await Deno.realPath(folder));
    if (!agreed.ok) return agreed;
    try {
      await makeFile(path, bytes, 0o666);
      return success(undefined);
    } catch (thrown) {
      return failure("helper-folder", `The document of the helper cannot be created: ${thrownText(thrown)}.`);
    }
  }

  async #open(path: string, name: string, context: ExecutionContext): Promise<Outcome<ChatSession>> {
    const { options, openHelper, purse, environment } = this.#asking;
    const { provider, fetch, retry, stream, compacts, interactive, askSecret, tools, resolvers } = options;
    const { approve: _, ...settings } = options.settings ?? {};
    const opened = await openHelper(path, {
      ...defined({ provider, fetch, retry, stream, compacts, interactive, askSecret, tools, resolvers }),
      settings,
      environment: withoutFolders(environment),
      limiter: options.limiter ?? (this.#limiter ??= await newLimiter()),
      signal: context.signal,
      emit: (event) => report(event, name, context),
      above: { purse, documents: this.#above },
    });
    if (!opened.ok || !this.#asking.isAgreed) return opened;
    // The person agreed to the same for the caller.
    const agreement = await opened.value.agreement();
    const trusted = !agreement.ok || agreement.value.agreed ? agreement : await opened.value.trust();
    if (trusted.ok) return opened;
    await opened.value.close();
    return trusted;
  }
}

/** Returns the environment of the process, without the folders of the document that asks. */
function withoutFolders(
  { workFolder: _work, projectFolder: _project, ...own }: Environment,
): Environment {
  return own;
}

function callerPath(helper: string): string {
  return parentOf(helper).slice(0, -2);
}

/** Reports what a helper does as output of the call. */
function report(event: CycleEvent, name: string, context: ExecutionContext): void {
  const text = event.event === "tool:executing" || event.event === "approval:pending"
    ? `${event.event === "tool:executing" ? "" : "waits: "}${event.preview}`
    : event.event === "notice"
    ? event.message
    : null;
  if (text !== null) context.onOutput(`${name}: ${text}\n`);
}

async function newLimiter(): Promise<RequestLimiter> {
  const { RequestLimiter } = await import("../../../providers/http/limiter.ts");
  return new RequestLimiter();
}

/** Reads the instructions of a preset: a text, or a file of the person. */
async function systemText(
  preset: ApprovalPreset | null,
  environment: Environment,
): Promise<Outcome<string | undefined>> {
  const system = preset?.system;
  if (system === undefined || !/^(?:\.{1,2}|~)?\/[^\n]*$/.test(system)) return success(system);
  const [{ configFolder }, { expandHome }] = await Promise.all([
    import("../../../base/folders.ts"),
    import("../../../base/paths.ts"),
  ]);
  const path = expandHome(system, environment.home);
  try {
    const file = path.startsWith("/") ? path : `${configFolder(environment)}/${path}`;
    return success((await Deno.readTextFile(file)).trimEnd());
  } catch (thrown) {
    return failure(
      "preset-invalid",
      `The file ${system} of the preset cannot be read: ${thrownText(thrown)}.`,
    );
  }
}

/** Returns a path relative to a folder. Both are absolute. */
function relativePath(folder: string, path: string): string {
  const [from, to] = [folder, path].map((each) => each.split("/").filter((name) => name !== ""));
  let shared = 0;
  while (shared < from!.length && shared < to!.length && from![shared] === to![shared]) shared++;
  const up = from!.slice(shared).map(() => "..");
  const names = [...up, ...to!.slice(shared)];
  return up.length === 0 ? `./${names.join("/")}` : names.join("/");
}

function defined<T extends object>(members: T): Partial<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>;
}

function refused(error: string): ExecutionResult {
  return { success: false, error };
}
