// The chain of approval resolvers: asks them in order and returns the decision and its source.

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

/** An error of a resolver; the chain continued without it. */
export interface ResolverFault {
  /** Name of the resolver. */
  readonly resolver: string;
  /** What the resolver did wrong. */
  readonly message: string;
}

/** Former names of built-in resolvers, from before they became URNs. */
const OLDER_NAMES: Readonly<Record<string, string>> = {
  "config:auto_approve": "urn:flemma:approval:config",
  "frontmatter:auto_approve": "urn:flemma:approval:frontmatter",
  "config:catch_all_approve": "urn:flemma:approval:catch-all",
};

/** Resolvers that approve by circumstance, such as a working sandbox, although no person named the tool. */
const CIRCUMSTANTIAL: ReadonlySet<string> = new Set([
  "urn:flemma:approval:risk",
  "urn:flemma:approval:sandbox",
  "urn:flemma:approval:catch-all",
]);

/**
 * If a resolver with a higher priority than this fails, later resolvers can no longer approve a call by circumstance.
 */
const GUARDS_ABOVE = 25;

/** Milliseconds that a resolver may take. If it takes longer, it is treated as if it had thrown. */
const PATIENCE = 5000;

/**
 * Name of the resolver that has no time limit here, because each of its sandbox tests has a limit. On a busy machine
 * the few tests may together take longer than the limit for a guard. This resolver guards nothing, so waiting for it
 * costs no safety.
 */
const BOUNDS_ITSELF = "urn:flemma:approval:sandbox";

const DECISIONS: ReadonlySet<unknown> = new Set<Decision>(["approve", "require_approval", "deny"]);

/** Resolvers by name; asked by priority, highest first, then by name. */
export class ApprovalRegistry {
  readonly #entries = new Map<string, ResolverEntry>();
  readonly #onFault: (fault: ResolverFault) => void;

  /**
   * Creates an empty chain.
   *
   * @param onFault called once for each way in which a resolver threw or returned an invalid answer
   */
  constructor(onFault: (fault: ResolverFault) => void = () => {}) {
    const reported = new Set<string>();
    this.#onFault = (fault) => {
      const text = `${fault.resolver}\n${fault.message}`;
      if (!reported.has(text)) onFault(fault);
      reported.add(text);
    };
  }

  /** Adds a resolver. Registering the same name again replaces it, including its priority. */
  register(name: string, definition: ResolverDefinition): Outcome<void> {
    if (name === "" || (name.includes(".") && !name.startsWith("urn:flemma:"))) {
      return failure(
        "resolver-name",
        `The approval resolver name "${name}" must not be empty or contain a dot; a dot marks a module path.`,
      );
    }
    if (typeof definition.resolve !== "function") {
      return failure("resolver-invalid", `The approval resolver "${name}" has no function resolve.`);
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

  /** Removes a resolver, built-in ones too. Returns true if it existed. */
  unregister(name: string): boolean {
    return this.#entries.delete(canonical(name));
  }

  /** A copy of an entry; null if there is none. */
  get(name: string): ResolverEntry | null {
    const entry = this.#entries.get(canonical(name));
    return entry === undefined ? null : { ...entry };
  }

  /** True if a resolver with this name exists. */
  has(name: string): boolean {
    return this.#entries.has(canonical(name));
  }

  /** Number of resolvers. */
  count(): number {
    return this.#entries.size;
  }

  /** Removes all resolvers. */
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

  /** Returns only the decision of `resolveWithSource`. */
  async resolve(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    context: ApprovalContext,
  ): Promise<Decision> {
    return (await this.resolveWithSource(tool, input, context)).decision;
  }

  /**
   * Asks the resolvers in order until one answers. If none answers, the decision is `require_approval` by `default`. A
   * resolver that throws or returns an invalid answer counts as passing. If that resolver is a guard, no later
   * resolver may approve by circumstance alone (sandbox, risk level, catch-all), because a broken guard must not open
   * the way to an approval.
   *
   * @param options with `explain` the decision lists what each resolver answered; after the one that decided, only
   * built-in resolvers are asked. With `waiting`, only a decision that asks a person lists the answers, of the
   * resolvers that were asked
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
        ? {
          decision: "require_approval",
          source: entry.name,
          detail: `an earlier resolver failed: ${faulty}`,
        }
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

  /** Asks one resolver. If it fails, the error is reported, and the question passes on to the next resolver. */
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
    this.#onFault({ resolver: entry.name, message: `answered ${describe(answer)}, which is not a decision` });
    return { decision: null, failed: true };
  }
}

/**
 * Resolvers of this process. A resolver registered here is asked in every document that the program opens afterwards,
 * in addition to those of the settings and of the document's host. The built-in resolvers belong to one document each
 * and are not in this chain, so `get` returns null for their names; `ChatSession.explain` shows what they answer.
 *
 * ```ts
 * import { approval } from "flemma/advanced";
 *
 * approval.register("no-force", {
 *   resolve: (tool, input) => tool === "bash" && /push\s+--force/.test(String(input.command)) ? "deny" : null,
 * });
 * console.log(approval.unregister("no-force")); // true
 * ```
 */
export const processApproval: ApprovalRegistry = new ApprovalRegistry();

interface Question {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly context: ApprovalContext;
}

interface ResolverAnswer {
  /** Decision of the resolver; null if it passed. */
  readonly decision: Decision | null;
  readonly explanation?: Explanation;
  /** True if the resolver threw or returned an invalid answer. */
  readonly failed: boolean;
}

/** Returns why a resolver decided; empty if the resolver does not say. The decision is valid either way. */
async function explanationOf(
  entry: ResolverEntry,
  { tool, input, context }: Question,
): Promise<{ readonly explanation?: Explanation }> {
  if (entry.why === undefined) return {};
  try {
    const reply = await inTime(entry, entry.why(tool, input, context));
    return reply === null ? {} : { explanation: reply };
  } catch (thrown) {
    return { explanation: { detail: `its explanation failed: ${thrownText(thrown)}` } };
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
      return [`its explanation failed: ${thrownText(thrown)}`];
    }
  }
}

/** True if a resolver may answer about a tool. Also true if `concerns` throws. */
function isConcerned({ concerns }: ResolverEntry, tool: string): boolean {
  try {
    return concerns?.(tool) !== false;
  } catch {
    return true;
  }
}

function isBuiltin(name: string): boolean {
  return name.startsWith("urn:flemma:approval:");
}

/**
 * Returns the priority of a resolver; 50 if it is not a valid number. With NaN, a failing resolver would not block
 * approvals by circumstance, because every comparison with NaN is false.
 */
function priorityOf({ priority }: ResolverDefinition): number {
  return typeof priority === "number" && !Number.isNaN(priority) ? priority : 50;
}

function canonical(name: string): string {
  return own(OLDER_NAMES, name) ?? name;
}

/** Returns the answer of a resolver; rejects after the time limit. */
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
