// The hooks of one run: asks those that an event concerns, and combines their answers.

import { hideSecrets, hideSecretsIn } from "../../../base/text/secrets.ts";
import { plural } from "../../../base/text/plural.ts";
import { sha256 } from "../../../base/hash.ts";
import type { Hook, HookEvent } from "../../../config/hooks/definition.ts";
import { matchesTool } from "../../../config/hooks/matcher.ts";
import type { Emit } from "../../../cycle/types.ts";
import type { ApprovalDecision } from "../../../tools/approval/mod.ts";
import type { DecidedCall } from "../../../tools/approval/downgrades.ts";
import type { ExecutionResult } from "../../../tools/definition.ts";
import { type HookAnswer, readAnswer } from "./answer.ts";
import { changesInput, type ClaudeCall, claudeCall, claudeResponse } from "./claude_calls.ts";
import { fitsCondition } from "./condition.ts";
import { type HookText, joinHookTexts } from "./hook_text.ts";
import { CANCELED, type HookPlace, runOneHook } from "./run_hook.ts";

/** Name of hooks in decisions. */
const SOURCE = "urn:flemma:approval:hooks";
/** Resolvers whose answer a hook may not replace by an approval: all that come before approvals by rules. */
const LATE = new Set(["default", "urn:flemma:approval:risk", "urn:flemma:approval:sandbox"]);

/** Options of the hooks of a run. */
export interface HooksOptions extends HookPlace {
  readonly document: string | null;
  /** Id of the document, the same in every run. */
  readonly session: string;
  readonly emit: Emit;
  /** Returns the folder in which calls of a tool work. */
  folderOf(tool: string): string;
}

/** One hook that ran, with its answer; `failed` says why there is none. */
export type RanHook =
  & { readonly hook: Hook }
  & ({ readonly answer: HookAnswer } | { readonly failed: string });

/** What the hooks before a call say together. */
interface CombinedAnswer {
  readonly decision: HookAnswer["decision"];
  readonly detail: string;
  readonly reason: string;
  /** True if the decision is to ask because a hook failed. */
  readonly isFailure: boolean;
}

/** The answer to a message, or after a reply. */
export interface HookReply {
  /** The reason of a block; null if no hook blocks. */
  readonly blocked: { readonly names: readonly string[]; readonly text: string } | null;
  /** Text for the model; empty if there is none. */
  readonly context: string;
}

/** The hooks of one open document. */
export class Hooks {
  readonly #options: HooksOptions;
  /** Answers before calls, by id, tool and input. */
  readonly #asked = new Map<string, Promise<CombinedAnswer>>();
  /** Texts from hooks before calls, which belong to their results. */
  readonly #texts = new Map<string, readonly HookText[]>();
  /** The hooks that ran before calls, by id. */
  readonly #ranBefore = new Map<string, readonly RanHook[]>();
  readonly #reported = new Set<string>();
  readonly #running = new Set<AbortController>();
  #ended: { readonly name: string; readonly reason: string } | null = null;

  constructor(options: HooksOptions) {
    this.#options = options;
  }

  /** Forgets the answers of an earlier run, which may have been canceled. */
  begin(): void {
    this.#asked.clear();
    this.#ended = null;
  }

  /** The hook that ended the run, and its reason; null if none did. The end is reported once. */
  takeEnd(): { readonly name: string; readonly reason: string } | null {
    const ended = this.#ended;
    this.#ended = null;
    return ended;
  }

  /** How often hooks may make the model continue in a run; 0 if none may. */
  get maxContinuations(): number {
    const { settings, loaded } = this.#options;
    const given = settings.hooks.max_continuations;
    const own = loaded.hooks.some(({ event, owner }) =>
      event === "Stop" && (owner !== "project" || given !== null)
    );
    return own ? given ?? USUAL_CONTINUATIONS : 0;
  }

  /** Ends the hooks that run now; false if none runs. */
  cancelAll(): boolean {
    for (const controller of this.#running) controller.abort();
    return this.#running.size > 0;
  }

  /** Returns the hooks that were asked last about a call before it, with their answers. */
  askedAbout(id: string): readonly RanHook[] {
    return this.#ranBefore.get(id) ?? [];
  }

  /** Returns the hooks that would run before a call, as lines for a person. Runs none. */
  async linesFor(call: DecidedCall): Promise<readonly string[]> {
    const hooks = await this.#matching("PreToolUse", this.#claudeCall(call), call.name);
    return hooks.map(({ name, fault, file }) =>
      fault === null
        ? `the hook ${name} runs before the call (${file})`
        : `the hook ${name} does not run: ${fault}`
    );
  }

  /**
   * Combines the decision of the approval chain with the answers of hooks before the call. A denial is final without
   * asking a hook. Hooks that were asked about the same call before are not asked again, except before a call that the
   * person approved.
   */
  async decide(
    call: DecidedCall,
    decided: ApprovalDecision,
    { signal, approved }: { readonly signal: AbortSignal; readonly approved: boolean },
  ): Promise<ApprovalDecision> {
    if (decided.decision === "deny") return decided;
    const key = JSON.stringify([call.id, call.name, call.input]);
    const asked = approved ? undefined : this.#asked.get(key);
    const answer = asked ?? this.#askAbout(call, signal);
    this.#asked.set(key, answer);
    const { decision, detail, reason, isFailure } = await answer;
    const { chain } = decided;
    const linked = (made: ApprovalDecision): ApprovalDecision =>
      chain === undefined || decision === null ? made : {
        ...made,
        chain: [
          ...chain,
          {
            name: SOURCE,
            priority: -1,
            answer: decision === "allow" ? "approve" : ANSWERS[decision],
            detail,
          },
        ],
      };
    switch (decision) {
      case null:
        return decided;
      case "deny":
        return linked({ decision: "deny", source: SOURCE, detail, forModel: reason });
      case "ask":
        if (approved && isFailure) {
          this.#notice(
            "hook-failed",
            `${call.name} (${call.id}) runs as you approved it, although ${detail}.`,
            call.id,
          );
        }
        if (decided.decision === "require_approval") {
          return linked({
            ...decided,
            detail: decided.detail === undefined ? detail : `${decided.detail}; ${detail}`,
          });
        }
        return linked({ decision: "require_approval", source: SOURCE, detail });
      case "allow":
        return decided.decision === "require_approval" && LATE.has(decided.source) &&
            decided.detail === undefined
          ? linked({ decision: "approve", source: SOURCE, detail })
          : decided;
    }
  }

  /** Returns the result of a call with the texts of hooks below it. Success and failure stay as they are. */
  async afterCall(
    call: DecidedCall,
    result: ExecutionResult,
    signal: AbortSignal,
    watch: (file: string | null) => Promise<FileWatch>,
  ): Promise<ExecutionResult> {
    const event = result.success ? "PostToolUse" : "PostToolUseFailure";
    const translated = this.#claudeCall(call);
    const hooks = signal.aborted ? [] : await this.#matching(event, translated, call.name);
    const texts = [...this.#texts.get(call.id) ?? []];
    this.#texts.delete(call.id);
    const changed: string[] = [];
    if (hooks.length > 0) {
      const file = await watch(translated.file);
      const response = result.success
        ? { tool_response: claudeResponse(translated, result) }
        : { error: result.error ?? "", tool_response: claudeResponse(translated, result) };
      const ran = await this.#run(
        hooks,
        { ...this.#callInput(call, translated), ...response },
        signal,
        call.id,
      );
      for (const each of ran) texts.push(...textsOf(each));
      changed.push(...await file.changed());
    }
    if (texts.length === 0 && changed.length === 0) return result;
    const added = [...(texts.length === 0 ? [] : [joinHookTexts(texts)]), ...changed].join("\n\n");
    return hideSecretsIn(withText(result, added));
  }

  /** Asks the hooks about the person's message. */
  async onPrompt(prompt: string, signal: AbortSignal): Promise<HookReply> {
    const hooks = await this.#matching("UserPromptSubmit", null, "");
    if (hooks.length === 0) return NO_REPLY;
    return this.#replyOf(await this.#run(hooks, { prompt }, signal), true);
  }

  /** Asks the hooks after a complete reply. */
  async onStop(reply: string, isContinued: boolean, signal: AbortSignal): Promise<HookReply> {
    const hooks = await this.#matching("Stop", null, "");
    const counting = hooks.filter(({ owner }) =>
      owner !== "project" || this.#options.settings.hooks.max_continuations !== null
    );
    if (counting.length === 0) return NO_REPLY;
    const input = { stop_hook_active: isContinued, last_assistant_message: reply };
    return this.#replyOf(await this.#run(counting, input, signal), false);
  }

  #replyOf(ran: readonly RanHook[], isPrompt: boolean): HookReply {
    // A hook that ends the run blocks a message, and never makes the model continue.
    const ends = ran.some((each) => "answer" in each && each.answer.endsRun);
    const blocks = ({ decision, endsRun }: HookAnswer) =>
      isPrompt ? decision === "deny" || endsRun : decision === "deny" && !ends;
    const blocking = ran.flatMap((each) =>
      "answer" in each && blocks(each.answer)
        ? [{ name: each.hook.name, code: each.answer.code, text: each.answer.reason }]
        : []
    );
    const texts = ran.flatMap((each): HookText[] =>
      "answer" in each && each.answer.context !== ""
        ? [{ name: each.hook.name, code: each.answer.code, text: each.answer.context }]
        : []
    );
    return {
      blocked: blocking.length === 0 ? null : {
        names: blocking.map(({ name }) => name),
        text: hideSecrets(joinHookTexts(blocking)),
      },
      context: isPrompt && texts.length > 0 ? hideSecrets(joinHookTexts(texts)) : "",
    };
  }

  async #askAbout(call: DecidedCall, signal: AbortSignal): Promise<CombinedAnswer> {
    const translated = this.#claudeCall(call);
    const hooks = await this.#matching("PreToolUse", translated, call.name);
    const ran = await this.#run(hooks, this.#callInput(call, translated), signal, call.id);
    const texts = ran.flatMap((each): HookText[] =>
      "answer" in each && each.answer.context !== ""
        ? [{ name: each.hook.name, code: 0, text: each.answer.context }]
        : []
    );
    this.#texts.set(call.id, texts);
    this.#ranBefore.set(call.id, ran);
    const unsupported = this.#unsupportedFor(translated, call.name);
    return combined(ran, translated, unsupported);
  }

  /** Returns the place of an entry that matches a call but cannot run; null unless such calls are to wait. */
  #unsupportedFor({ name }: ClaudeCall, tool: string): string | null {
    const { settings, loaded } = this.#options;
    if (settings.hooks.unsupported !== "wait") return null;
    const found = loaded.unsupported.find(({ matcher }) =>
      matcher !== null && matchesTool(matcher, [name, tool])
    );
    return found === undefined ? null : `${found.place} of ${found.file} cannot run: ${found.why}`;
  }

  async #matching(event: HookEvent, call: ClaudeCall | null, tool: string): Promise<readonly Hook[]> {
    const { loaded, environment } = this.#options;
    const place = {
      home: environment.home,
      project: loaded.project,
      loadShell: () => import("npm:unbash@6.0.4"),
    };
    const found: Hook[] = [];
    for (const hook of loaded.hooks) {
      if (hook.event !== event) continue;
      if (call !== null && !matchesTool(hook.matcher, [call.name, tool])) continue;
      if (call !== null && hook.condition !== null && !await fitsCondition(hook.condition, call, place)) {
        continue;
      }
      // The same command twice is one hook.
      if (found.some((other) => other.fault === null && isSame(other, hook))) continue;
      found.push(hook);
    }
    return found;
  }

  /** Runs hooks in parallel; returns their answers in configured order. */
  async #run(
    hooks: readonly Hook[],
    members: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    id?: string,
  ): Promise<readonly RanHook[]> {
    if (hooks.length === 0) return [];
    const controller = new AbortController();
    const onAbort = () => controller.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    this.#running.add(controller);
    try {
      const ran = await Promise.all(hooks.map((hook) => this.#runOne(hook, members, controller.signal, id)));
      for (const each of ran) this.#report(each, id);
      return ran;
    } finally {
      this.#running.delete(controller);
      signal.removeEventListener("abort", onAbort);
    }
  }

  async #runOne(
    hook: Hook,
    members: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    id?: string,
  ): Promise<RanHook> {
    const { emit, session, loaded } = this.#options;
    if (hook.fault !== null) return { hook, failed: `does not run: ${hook.fault}` };
    const about = id === undefined ? {} : { id };
    emit({ event: "hook:started", name: hook.name, on: hook.event, ...about });
    const input = JSON.stringify({
      session_id: uuidOf(session),
      transcript_path: null,
      cwd: loaded.project,
      permission_mode: "default",
      hook_event_name: hook.event,
      ...members,
    });
    const end = await runOneHook(hook, `${input}\n`, this.#options, signal);
    const outcome = end.ok ? readAnswer(hook.event, end.value) : { failed: end.problem };
    emit({
      event: "hook:finished",
      name: hook.name,
      on: hook.event,
      ...about,
      decision: "answer" in outcome ? outcome.answer.decision : null,
      ...("failed" in outcome ? { failed: outcome.failed } : {}),
    });
    return { hook, ...outcome };
  }

  /** Shows failures and words for the person, each once. */
  #report(ran: RanHook, id?: string): void {
    const { hook } = ran;
    if ("failed" in ran) {
      if (ran.failed === CANCELED) return;
      const remedy = hook.event === "PreToolUse" && hook.onFailure === "block"
        ? " The call waits for you. To prevent that, narrow the matcher of the hook, or set onFailure: allow in its entry."
        : "";
      const missing = hook.outside || hook.owner !== "settings" || hook.fault !== null
        ? ""
        : " It runs in the sandbox; sandbox: false in its entry moves it out.";
      this.#notice("hook-failed", `The hook ${hook.name} ${ran.failed}.${remedy}${missing}`, id, true);
      return;
    }
    const { notice, endsRun, reason } = ran.answer;
    if (notice !== "") this.#notice("hook-says", `${hook.name}: ${notice}`, id);
    if (endsRun) this.#ended = { name: hook.name, reason };
  }

  #notice(code: string, message: string, id?: string, once = false): void {
    const safe = hideSecrets(message);
    if (once && this.#reported.has(safe)) return;
    this.#reported.add(safe);
    this.#options.emit({ event: "notice", code, message: safe, ...(id === undefined ? {} : { id }) });
  }

  #claudeCall({ name, input }: DecidedCall): ClaudeCall {
    return claudeCall(name, input, {
      folder: this.#options.folderOf(name),
      home: this.#options.environment.home,
    });
  }

  #callInput({ id, name, input }: DecidedCall, translated: ClaudeCall): Record<string, unknown> {
    return {
      tool_name: translated.name,
      tool_input: translated.input,
      tool_use_id: id,
      flemma: { tool: name, input, document: this.#options.document },
    };
  }
}

/** Notices whether hooks change the file of a call. */
export interface FileWatch {
  /** Returns a line for each changed file, after the hooks. */
  changed(): Promise<readonly string[]>;
}

/** Continuations by hooks in a run, unless the settings say otherwise. */
const USUAL_CONTINUATIONS = 3;

const NO_REPLY: HookReply = { blocked: null, context: "" };

const ANSWERS = { deny: "deny", ask: "require_approval" } as const;

/** Combines the answers before a call: deny wins over ask, and ask over allow. */
function combined(ran: readonly RanHook[], call: ClaudeCall, unsupported: string | null): CombinedAnswer {
  const denying: HookText[] = [];
  const asking: string[] = [];
  const failing: string[] = [];
  const allowing: string[] = [];
  for (const each of ran) {
    const { hook } = each;
    if ("failed" in each) {
      if (hook.onFailure === "block") failing.push(`the hook ${hook.name} ${each.failed}`);
      continue;
    }
    const { decision, reason, code, updatedInput } = each.answer;
    const why = reason === "" ? "" : `: ${reason.split("\n", 1)[0]}`;
    if (decision === "deny") denying.push({ name: hook.name, code, text: reason });
    if (decision === "ask") asking.push(`the hook ${hook.name} asks${why}`);
    // Another input would contradict the text of the document.
    else if (updatedInput !== null && changesInput(updatedInput, call)) {
      asking.push(`the hook ${hook.name} wants another input, and a call runs only as the document shows it`);
    } else if (decision === "allow" && hook.owner !== "project") {
      allowing.push(`the hook ${hook.name} approves${why}`);
    }
  }
  if (denying.length > 0) {
    const names = [...new Set(denying.map(({ name }) => name))].join(", ");
    const [first] = denying;
    const why = first!.text === "" ? "" : `: ${first!.text.split("\n", 1)[0]}`;
    const reason = hideSecrets(`The call was denied by a hook.\n\n${joinHookTexts(denying)}`);
    return { decision: "deny", detail: hideSecrets(`denied by ${names}${why}`), reason, isFailure: false };
  }
  if (unsupported !== null) failing.push(unsupported);
  const waits = [...asking, ...failing];
  if (waits.length > 0) {
    const [first = ""] = waits;
    const more = waits.length === 1 ? "" : ` (and ${plural(waits.length - 1, "more hook")})`;
    return {
      decision: "ask",
      detail: hideSecrets(`${first}${more}`),
      reason: "",
      isFailure: asking.length === 0,
    };
  }
  const [allowed] = allowing;
  if (allowed === undefined) return { decision: null, detail: "", reason: "", isFailure: false };
  return { decision: "allow", detail: hideSecrets(allowed), reason: "", isFailure: false };
}

/** Returns the texts for the model of a hook after a call. */
function textsOf(ran: RanHook): HookText[] {
  if (!("answer" in ran)) return [];
  const { decision, reason, context, code } = ran.answer;
  const text = [...(decision === "deny" ? [reason] : []), context].filter((each) => each !== "").join("\n");
  return text === "" ? [] : [{ name: ran.hook.name, code, text }];
}

function withText(result: ExecutionResult, text: string): ExecutionResult {
  if (!result.success) return { ...result, error: `${result.error ?? ""}\n\n${text}`.trim() };
  const { output } = result;
  const own = typeof output === "string"
    ? output
    : output === undefined || output === null
    ? ""
    : typeof output === "object"
    ? JSON.stringify(output)
    : String(output);
  return { ...result, output: own === "" ? text : `${own.trimEnd()}\n\n${text}` };
}

function isSame(a: Hook, b: Hook): boolean {
  return a.command === b.command && a.outside === b.outside && a.owner === b.owner &&
    a.timeout === b.timeout &&
    a.onFailure === b.onFailure;
}

/** Writes an id as a UUID, which scripts expect. */
function uuidOf(id: string): string {
  const hex = id.replaceAll("-", "").padEnd(32, "0");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    "-",
  );
}

/** Returns an id of a document that is the same in every run and does not reveal the path. */
export async function sessionOf(path: string | null): Promise<string> {
  return path === null ? crypto.randomUUID() : await sha256(path);
}
