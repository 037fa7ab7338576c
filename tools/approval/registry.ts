// The chain of approval resolvers: who is asked, in which order, and who decided.

import { own } from "../../base/is_object.ts";
import { byBytes } from "../../base/bytes.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import { after } from "../../base/system/timer.ts";
import type {
  ApprovalContext,
  ApprovalDecision,
  ChainLink,
  Decision,
  Explanation,
  ResolverDefinition,
  ResolverEntry,
} from "./types.ts";

/** Something a resolver did wrong; the chain went on without it. */
export interface ResolverFault {
  /** Name of the resolver. */
  readonly resolver: string;
  /** What it did wrong. */
  readonly message: string;
}

/** Names the founding documents gave to built-in resolvers before they were URNs. */
const OLDER_NAMES: Readonly<Record<string, string>> = {
  "config:auto_approve": "urn:flemma:approval:config",
  "frontmatter:auto_approve": "urn:flemma:approval:frontmatter",
  "config:catch_all_approve": "urn:flemma:approval:catch-all",
};

/** Resolvers that approve by circumstance, not because somebody named the call. */
const CIRCUMSTANTIAL: ReadonlySet<string> = new Set([
  "urn:flemma:approval:risk",
  "urn:flemma:approval:sandbox",
  "urn:flemma:approval:catch-all",
]);

/** Errors of resolvers above this priority lower a circumstantial approval. */
const GUARDS_ABOVE = 25;

/** Milliseconds a resolver may take before it counts as having thrown. */
const PATIENCE = 5000;

/**
 * Bounds itself: each try of the sandbox has its limit, and on a busy machine the few that are made may together take longer
 * than a guard may. It guards nothing, so whoever waits for it loses no safety.
 */
const BOUNDS_ITSELF = "urn:flemma:approval:sandbox";

const DECISIONS: ReadonlySet<unknown> = new Set<Decision>(["approve", "require_approval", "deny"]);

/** Resolvers by name; asked by priority, highest first, then by name (approval sections 1, 2 and 8). */
export class ApprovalRegistry {
  readonly #entries = new Map<string, ResolverEntry>();
  readonly #onFault: (fault: ResolverFault) => void;

  /**
   * Makes an empty chain.
   *
   * @param onFault told once of each way a resolver threw or gave no valid answer
   */
  constructor(onFault: (fault: ResolverFault) => void = () => {}) {
    const reported = new Set<string>();
    this.#onFault = (fault) => {
      const text = `${fault.resolver}\n${fault.message}`;
      if (!reported.has(text)) onFault(fault);
      reported.add(text);
    };
  }

  /** Adds a resolver; the same name again replaces it, also with another priority. */
  register(name: string, definition: ResolverDefinition): Outcome<void> {
    if (name === "" || (name.includes(".") && !name.startsWith("urn:flemma:"))) {
      return failure(
        "resolver-name",
        `The approval resolver name "${name}" must not be empty or hold a dot; a dot marks a module path.`,
      );
    }
    const known = canonical(name);
    this.#entries.set(known, {
      ...definition,
      priority: priorityOf(definition),
      resolve: definition.resolve.bind(definition),
      ...(definition.why === undefined ? {} : { why: definition.why.bind(definition) }),
      ...(definition.concerns === undefined ? {} : { concerns: definition.concerns.bind(definition) }),
      ...(definition.explain === undefined ? {} : { explain: definition.explain.bind(definition) }),
      name: known,
    });
    return success(undefined);
  }

  /** Adds the resolver of a module, whose name may be its path. */
  registerModule(name: string, definition: ResolverDefinition): void {
    this.#entries.set(name, { ...definition, priority: priorityOf(definition), name });
  }

  /** Removes a resolver, built-in ones too. True if it was there. */
  unregister(name: string): boolean {
    return this.#entries.delete(canonical(name));
  }

  /** A copy of an entry; null when there is none. */
  get(name: string): ResolverEntry | null {
    const entry = this.#entries.get(canonical(name));
    return entry === undefined ? null : { ...entry };
  }

  /** Whether there is a resolver of that name. */
  has(name: string): boolean {
    return this.#entries.has(canonical(name));
  }

  /** Number of resolvers. */
  count(): number {
    return this.#entries.size;
  }

  /** Takes all resolvers away. */
  clear(): void {
    this.#entries.clear();
  }

  /** Copies of all entries in the order they are asked. */
  getAll(): ResolverEntry[] {
    return [...this.#entries.values()]
      .map((entry) => ({ ...entry }))
      .sort((a, b) => b.priority - a.priority || byBytes(a.name, b.name));
  }

  /** See `getAll`. */
  get_all(): ResolverEntry[] {
    return this.getAll();
  }

  /** The decision of `resolveWithSource` alone. */
  async resolve(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    context: ApprovalContext,
  ): Promise<Decision> {
    return (await this.resolveWithSource(tool, input, context)).decision;
  }

  /**
   * Asks one resolver after the other until one answers. Nobody answering means `require_approval` by `default`.
   * A resolver that throws or answers nonsense passes, but then nothing below may approve by circumstance alone
   * (sandbox, risk level, catch-all): a broken guard must not open the door.
   *
   * @param options `explain`: the verdict tells what each resolver said; behind the one that decided, only those that
   * come with the program are asked. With `waiting` only a verdict that asks a person tells it, of those that were asked
   */
  async resolveWithSource(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    context: ApprovalContext,
    { explain = false }: { readonly explain?: boolean | "waiting" } = {},
  ): Promise<ApprovalDecision> {
    const frozen = deepFreeze(structuredClone(input));
    const question = { tool, input: frozen, context };
    const asked: [ResolverEntry, ResolverAnswer][] = [];
    let faulty: string | null = null;
    let found: ApprovalDecision | null = null;
    for (const entry of this.getAll()) {
      if (found !== null && !(explain === true && isBuiltin(entry.name))) continue;
      if (!isConcerned(entry, tool)) continue;
      const reply = await this.#ask(entry, question);
      asked.push([entry, reply]);
      if (found !== null) continue;
      if (reply.failed && entry.priority > GUARDS_ABOVE) faulty = entry.name;
      if (reply.decision === null) continue;
      found = reply.decision === "approve" && faulty !== null && CIRCUMSTANTIAL.has(entry.name)
        ? { decision: "require_approval", source: entry.name, detail: `${faulty} failed before it` }
        : { decision: reply.decision, source: entry.name, ...reply.explanation };
    }
    const decided: ApprovalDecision = found ?? { decision: "require_approval", source: "default" };
    if (explain === false || (explain === "waiting" && decided.decision !== "require_approval")) {
      return decided;
    }
    const chain: ChainLink[] = [];
    for (const [entry, reply] of asked) chain.push(await linkOf(entry, reply, question));
    return { ...decided, chain };
  }

  /** The answer of one resolver; what it does wrong is told, and passes. */
  async #ask(entry: ResolverEntry, question: Question): Promise<ResolverAnswer> {
    const { tool, input, context } = question;
    let answer: unknown;
    try {
      answer = await inTime(entry, entry.resolve(tool, input, context));
    } catch (thrown) {
      this.#onFault({ resolver: entry.name, message: thrownText(thrown) });
      return { decision: null, failed: true };
    }
    if (answer === null || answer === undefined) return { decision: null, failed: false };
    if (DECISIONS.has(answer)) {
      return { decision: answer as Decision, ...await explanationOf(entry, question), failed: false };
    }
    this.#onFault({ resolver: entry.name, message: `answered ${describe(answer)}, which is no decision` });
    return { decision: null, failed: true };
  }
}

/**
 * Resolvers of this process: what a program registers once is asked in every document that it opens afterwards, beside
 * those of the settings and of the document's host.
 *
 * ```ts
 * import { approval } from "flemma";
 *
 * approval.register("no-force", {
 *   resolve: (tool, input) => tool === "bash" && /push\s+--force/.test(String(input.command)) ? "deny" : null,
 * });
 * console.log(approval.unregister("no-force")); // true
 * ```
 */
export const processApproval: ApprovalRegistry = new ApprovalRegistry();

/** One question to the chain. */
interface Question {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly context: ApprovalContext;
}

/** What a resolver said. */
interface ResolverAnswer {
  /** Null when it passed. */
  readonly decision: Decision | null;
  readonly explanation?: Explanation;
  /** Whether it threw or answered nonsense. */
  readonly failed: boolean;
}

/** Why a resolver decided; nothing where it does not say. The decision stands either way. */
async function explanationOf(
  entry: ResolverEntry,
  { tool, input, context }: Question,
): Promise<{ readonly explanation?: Explanation }> {
  if (entry.why === undefined) return {};
  try {
    const reply = await inTime(entry, entry.why(tool, input, context));
    return reply === null ? {} : { explanation: reply };
  } catch (thrown) {
    return { explanation: { detail: `it failed to say why: ${thrownText(thrown)}` } };
  }
}

async function linkOf(
  entry: ResolverEntry,
  reply: ResolverAnswer,
  { tool, input, context }: Question,
): Promise<ChainLink> {
  const { name, priority } = entry;
  const answer = reply.failed ? "error" : reply.decision ?? "pass";
  const own = reply.explanation === undefined ? [] : [reply.explanation.detail];
  return { name, priority, answer, detail: [...own, ...await linesOf()].join("\n") };

  async function linesOf(): Promise<readonly string[]> {
    if (reply.failed || entry.explain === undefined) return [];
    try {
      return await inTime(entry, entry.explain(tool, input, context));
    } catch (thrown) {
      return [`it failed to say why: ${thrownText(thrown)}`];
    }
  }
}

/** Whether a resolver may have something to say about a tool; one that cannot tell is asked. */
function isConcerned({ concerns }: ResolverEntry, tool: string): boolean {
  try {
    return concerns?.(tool) !== false;
  } catch {
    return true;
  }
}

/** Whether a resolver comes with the program. */
function isBuiltin(name: string): boolean {
  return name.startsWith("urn:flemma:approval:");
}

/** What is no number would compare as neither above nor below the guards, so that a broken guard opened the door. */
function priorityOf({ priority }: ResolverDefinition): number {
  return typeof priority === "number" && !Number.isNaN(priority) ? priority : 50;
}

function canonical(name: string): string {
  return own(OLDER_NAMES, name) ?? name;
}

/** What a resolver answers, unless it takes too long. */
async function inTime<T>({ name }: ResolverEntry, answer: T | PromiseLike<T>): Promise<T> {
  if (typeof answer !== "object" || answer === null || name === BOUNDS_ITSELF) return await answer;
  let stop = (): void => {};
  const late = new Promise<never>((_, reject) => {
    stop = after(PATIENCE, () => reject(new Error(`no answer within ${PATIENCE / 1000} seconds`)));
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    stop();
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}

function describe(value: unknown): string {
  return typeof value === "function" ? "a function" : JSON.stringify(value) ?? String(value);
}
