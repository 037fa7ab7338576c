// Resolvers for `auto_approve`: the person's settings, the document, and names approved for one run.

import { isModulePath } from "../../config/schema/module_path.ts";
import type { ToolSettings } from "../../config/settings.generated.ts";
import type { AutoApprove, Presets } from "../../config/values.ts";
import { expandFor, presetsOf, type ToolFacts } from "./presets.ts";
import type { ApprovalContext, Decision, ResolverDefinition } from "./types.ts";

type Input = Readonly<Record<string, unknown>>;

/** Answers according to one value of `auto_approve`. */
interface Policy {
  answer(tool: string, input: Input, context: ApprovalContext): Promise<Decision | null>;
}

/**
 * Answers according to the person's `tools.auto_approve`. If the document sets it too, this resolver only denies,
 * because no document may lift a denial. With the approval profile of the plugin, it also answers according to the
 * value that merges the person's and the document's settings.
 */
export function configResolver(settings: ToolSettings, tools: ToolFacts): ResolverDefinition {
  const { document, approval_profile } = settings;
  const denied = new Set(settings.denied);
  // If the document only adds names to the list or removes some, the function in the person's settings still answers.
  const silent = document !== null && (document.assigned || typeof settings.auto_approve !== "function");
  const own = policyOf(presetsOf(settings), settings, tools, silent ? "throw" : "ask");
  const merged = document !== null && approval_profile === "v0.11"
    ? policyOf(presetsOf({ approval_profile, presets: document.presets }), document, tools, "ask")
    : null;
  return {
    priority: 100,
    description: "the auto_approve setting",
    explain: (tool) => [
      ...(silent ? ["the document has its own list; only denials apply here"] : []),
      ...listLines(tool, settings.auto_approve, presetsOf(settings), { excluded: settings.excluded, tools }),
      ...(denied.has(tool) ? [`the project denies ${tool}`] : []),
    ],
    async resolve(tool, input, context) {
      if (denied.has(tool)) return "deny";
      if (!silent) return await own.answer(tool, input, context);
      let answer: Decision | null;
      try {
        answer = await own.answer(tool, input, context);
      } catch {
        // The function in the person's settings failed. It might have denied the call, so the call waits for a person.
        return "require_approval";
      }
      if (answer === "deny") return answer;
      return merged === null ? null : await merged.answer(tool, input, context);
    },
  };
}

/** Answers according to the document's own `auto_approve`; exists only if the document sets it. */
export function frontmatterResolver(settings: ToolSettings, tools: ToolFacts): ResolverDefinition | null {
  const { document, approval_profile } = settings;
  if (document === null || approval_profile !== "founding") return null;
  const presets = presetsOf({ approval_profile, presets: document.presets });
  const policy = policyOf(presets, document, tools, "throw");
  return {
    priority: 90,
    description: "the document's auto_approve",
    explain: (tool) =>
      listLines(tool, document.auto_approve, presets, { excluded: document.excluded, tools }),
    resolve: (tool, input, context) => policy.answer(tool, input, context),
  };
}

/**
 * Approves what the command line names for this run and what rules approve. It comes after every resolver that could
 * deny or ask. It exists only if the command line names a tool, or if a rule approves calls.
 */
export function runResolver(
  settings: ToolSettings,
  tools: ToolFacts,
  rules: ResolverDefinition | null,
): ResolverDefinition | null {
  if (settings.approved.length === 0) return rules;
  const presets = presetsOf(settings);
  const isNamed = (tool: string) => {
    const names = namesFor(tool);
    return names.approve.has(tool) || names.deny.has(tool);
  };
  const namesFor = (tool: string) => expandFor(tool, settings.approved, presets, { tools });
  return {
    priority: 80,
    description: "approved for this run, or by rules",
    resolve: (tool, input, context) => {
      const names = namesFor(tool);
      if (names.deny.has(tool)) return "deny";
      return names.approve.has(tool) ? "approve" : rules?.resolve(tool, input, context) ?? null;
    },
    why: (tool, input, context) => isNamed(tool) ? null : rules?.why?.(tool, input, context) ?? null,
    explain: async (tool, input, context) => [
      ...(isNamed(tool) ? ["named for this run"] : []),
      ...await rules?.explain?.(tool, input, context) ?? [],
    ],
  };
}

/** Module paths in the lists of these settings, each of which becomes a resolver. */
export function policyModules(settings: ToolSettings): string[] {
  const lists = [settings.auto_approve, settings.document?.auto_approve ?? null];
  const names = lists.flatMap((list) => (Array.isArray(list) ? list as readonly string[] : []));
  return [...new Set(names.filter(isModulePath))];
}

/**
 * @param broken what happens if the function throws: `ask` makes the call wait for the person, `throw` reports an error
 */
function policyOf(
  presets: Presets,
  { auto_approve: value, excluded }: { auto_approve: AutoApprove | null; excluded: readonly string[] },
  tools: ToolFacts,
  broken: "ask" | "throw",
): Policy {
  if (typeof value !== "function") {
    return {
      answer: (tool) => {
        const lists = expandFor(tool, value ?? [], presets, { excluded, tools });
        return Promise.resolve(lists.deny.has(tool) ? "deny" : lists.approve.has(tool) ? "approve" : null);
      },
    };
  }
  return {
    async answer(tool, input, context) {
      let answer: unknown;
      try {
        answer = await value(tool, input, context);
      } catch (thrown) {
        // The registry reports the error and asks the next resolver. But the sandbox and the risk of a tool no longer
        // approve anything.
        if (broken === "throw") throw thrown;
        // The person sees that something is wrong, because the call waits and the decision names this resolver.
        return "require_approval";
      }
      if (answer === true) return "approve";
      if (answer === false) return "require_approval";
      return answer === "deny" ? "deny" : null;
    },
  };
}

/** Returns the entries of a list that apply to a tool, as lines for a person. */
function listLines(
  tool: string,
  list: AutoApprove | null,
  presets: Presets,
  { excluded, tools }: { readonly excluded: readonly string[]; readonly tools: ToolFacts },
): readonly string[] {
  if (list === null) return ["tools.auto_approve is not set"];
  if (typeof list === "function") return ["a function decides"];
  const { approve, deny } = expandFor(tool, list, presets, { excluded, tools });
  const names = (found: ReadonlySet<string>) => [...found].join(", ") || "nothing";
  const written = JSON.stringify(list);
  if (deny.has(tool)) return [`${tool} is denied by ${written}`];
  const without = excluded.includes(tool) ? ` without ${tool}` : "";
  return [`${tool} ${approve.has(tool) ? "in" : "not in"} ${written}${without} = ${names(approve)}`];
}
