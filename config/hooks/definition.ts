// Hooks: the person's or project's commands that run around calls, messages and the end of a run. Reads their table in
// the shape of Claude Code.

import { isObject } from "../../base/is_object.ts";
import { shellWord } from "../../base/shell_word.ts";
import { hookName } from "./command_words.ts";
import { matcherFault } from "./matcher.ts";

/** Events for which hooks run. */
export const HOOK_EVENTS = [
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "UserPromptSubmit",
  "Stop",
] as const;

/** An event for which hooks run. */
export type HookEvent = typeof HOOK_EVENTS[number];

/** Seconds that a hook may take if its entry does not say. */
const USUAL_TIMEOUT = 60;
/** Maximum seconds that a hook may take. */
const MOST_SECONDS = 600;

/** Who wrote a hook: the person in their settings, a file that `hooks.from` names, or the project. */
export type HookOwner = "settings" | "from" | "project";

/** Where a table of hooks comes from. */
export interface HookOrigin {
  readonly owner: HookOwner;
  readonly file: string;
}

/** One command that runs for an event. */
export interface Hook extends HookOrigin {
  readonly event: HookEvent;
  /** Position in the table, such as `PreToolUse[0].hooks[1]`. */
  readonly place: string;
  /** Name in messages and results: the script's, else the program's. */
  readonly name: string;
  /** Pattern of tool names, as written; empty matches all. */
  readonly matcher: string;
  /** Permission rule that a call must also match; null matches all. */
  readonly condition: string | null;
  /** The command line of the shell. */
  readonly command: string;
  /** Seconds after which the hook is ended. */
  readonly timeout: number;
  /** What a failure of the hook means for a call: it waits, or the failure is only reported. */
  readonly onFailure: "block" | "allow";
  /** True if the hook runs outside the sandbox. */
  readonly outside: boolean;
  /** Why the hook does not run, as the end of a sentence; null if it runs. Calls that it matches then wait. */
  readonly fault: string | null;
}

/** An entry that flemma does not run, such as a hook of another event. */
export interface UnsupportedHook extends HookOrigin {
  readonly place: string;
  /** The reason, as the end of a sentence. */
  readonly why: string;
  /** The matcher of an entry of `PreToolUse`; null for other events. */
  readonly matcher: string | null;
}

/** The hooks of one table. */
export interface HookTable {
  readonly file: string;
  readonly hooks: readonly Hook[];
  readonly unsupported: readonly UnsupportedHook[];
  /** Mistakes, each as `PLACE SENTENCE`. */
  readonly faults: readonly string[];
  /** Values that have no effect, each as a sentence. */
  readonly warnings: readonly string[];
}

/**
 * Reads a table of hooks. A wrong entry becomes a hook with a fault, so that it cannot be overlooked: its calls wait.
 *
 * @param table the value of `hooks`
 */
export function readHooks(table: unknown, origin: HookOrigin): HookTable {
  const found = new FoundHooks(origin);
  if (!isObject(table)) {
    if (table !== undefined && table !== null) found.faults.push("hooks must be a table of events");
    return found;
  }
  for (const [event, groups] of Object.entries(table)) {
    if (!isEvent(event)) {
      // The person's own settings have more keys below `hooks`, which the schema checks.
      found.leaveOut(event, `there is no event ${event} here`, null);
      continue;
    }
    found.addEvent(event, groups);
  }
  return found;
}

/** Returns the first mistake in the groups of one event, as the end of a sentence; null if there is none. */
export function hookFault(event: HookEvent, groups: unknown): string | null {
  const { faults } = readHooks({ [event]: groups }, { owner: "settings", file: "" });
  return faults[0] ?? null;
}

class FoundHooks implements HookTable {
  readonly hooks: Hook[] = [];
  readonly unsupported: UnsupportedHook[] = [];
  readonly faults: string[] = [];
  readonly warnings: string[] = [];
  readonly #origin: HookOrigin;

  constructor(origin: HookOrigin) {
    this.#origin = origin;
  }

  get file(): string {
    return this.#origin.file;
  }

  leaveOut(place: string, why: string, matcher: string | null): void {
    this.unsupported.push({ ...this.#origin, place, why, matcher });
  }

  addEvent(event: HookEvent, groups: unknown): void {
    if (!Array.isArray(groups)) return this.#wrong(event, event, "must be a list of tables with hooks");
    for (const [at, group] of groups.entries()) this.#addGroup(event, `${event}[${at}]`, group);
  }

  #addGroup(event: HookEvent, place: string, group: unknown): void {
    if (!isObject(group)) return this.#wrong(event, place, "must be a table with matcher and hooks");
    const { matcher = "", hooks } = group;
    const fault = typeof matcher === "string" ? matcherFault(matcher) : "is not a text";
    if (fault !== null) return this.#wrong(event, `${place}.matcher`, fault);
    if (!Array.isArray(hooks)) return this.#wrong(event, `${place}.hooks`, "must be a list of hooks");
    for (const [at, entry] of hooks.entries()) {
      this.#addEntry(event, `${place}.hooks[${at}]`, String(matcher), entry);
    }
  }

  #addEntry(event: HookEvent, place: string, matcher: string, entry: unknown): void {
    if (!isObject(entry)) return this.#wrong(event, place, "must be a table with type and command", matcher);
    const { type = "command", timeout, sandbox, onFailure = "block", if: condition = null, args = [] } =
      entry;
    const unsupported = type !== "command"
      ? `hooks of type ${JSON.stringify(type)} do not run here`
      : entry.async === true || entry.asyncRewake === true
      ? "asynchronous hooks do not run here"
      : null;
    if (unsupported !== null) {
      return this.leaveOut(place, unsupported, event === "PreToolUse" ? matcher : null);
    }
    const fault = typeof entry.command !== "string" || entry.command.trim() === ""
      ? ["command", "must be a command line"]
      : !Array.isArray(args) || args.some((word) => typeof word !== "string")
      ? ["args", "must be a list of texts"]
      : timeout !== undefined && !(typeof timeout === "number" && timeout > 0)
      ? ["timeout", "must be a number of seconds above 0"]
      : sandbox !== undefined && typeof sandbox !== "boolean"
      ? ["sandbox", "must be true or false"]
      : onFailure !== "block" && onFailure !== "allow"
      ? ["onFailure", "must be block or allow"]
      : condition !== null && typeof condition !== "string"
      ? ["if", "must be a permission rule, such as Bash(git push *)"]
      : null;
    if (fault !== null) return this.#wrong(event, `${place}.${fault[0]}`, fault[1]!, matcher);
    if (typeof timeout === "number" && timeout > MOST_SECONDS) {
      this.warnings.push(`${place}.timeout is more than ${MOST_SECONDS} seconds, so ${MOST_SECONDS} apply.`);
    }
    const { owner } = this.#origin;
    if (sandbox === false && owner !== "settings") {
      this.warnings.push(
        `${place}.sandbox has no effect in this file: only your own settings can move a hook out of the sandbox.`,
      );
    }
    const command = [entry.command as string, ...(args as string[]).map(shellWord)].join(" ");
    this.hooks.push({
      ...this.#origin,
      event,
      place,
      name: hookName(command),
      matcher,
      condition: condition as string | null,
      command,
      timeout: Math.min(typeof timeout === "number" ? timeout : USUAL_TIMEOUT, MOST_SECONDS),
      onFailure: onFailure as Hook["onFailure"],
      outside: sandbox === false && owner === "settings",
      fault: null,
    });
  }

  /** Adds a mistake, and a hook that keeps the calls it could match waiting. */
  #wrong(event: HookEvent, place: string, why: string, matcher = ""): void {
    this.faults.push(`${place} ${why}`);
    this.hooks.push({
      ...this.#origin,
      event,
      place,
      name: place,
      matcher,
      condition: null,
      command: "",
      timeout: USUAL_TIMEOUT,
      onFailure: "block",
      outside: false,
      fault: `${place} ${why}`,
    });
  }
}

function isEvent(name: string): name is HookEvent {
  return (HOOK_EVENTS as readonly string[]).includes(name);
}
