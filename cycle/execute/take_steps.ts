// Carries out the parts of a plan that change the text, without losing what they replace.

import { type Problem, success } from "../../base/problem.ts";
import type { ToolSettings } from "../../config/settings.generated.ts";
import type { Step } from "../plan/types.ts";
import type { DocumentStore } from "../types.ts";
import { decisionsIn, stepEdits, waitingIn } from "./step_edits.ts";
import type { Writer } from "./writer.ts";

export interface TakingParts {
  readonly store: DocumentStore;
  readonly writer: Writer;
  readonly settings: ToolSettings;
}

/**
 * Records decisions and the bodies that will be replaced in the journal, then makes all edits in one commit.
 * @returns the problem that prevented it; null if the document shows the steps
 */
export async function takeSteps(steps: readonly Step[], parts: TakingParts): Promise<Problem | null> {
  const { store, writer, settings } = parts;
  return await writer.recordDecisions(decisionsIn(steps, store.chat), waitingIn(steps, store.chat)) ??
    await keepBodies(steps, parts) ??
    await writer.commit((chat) => success(stepEdits(chat, steps, settings)));
}

async function keepBodies(steps: readonly Step[], { store, writer }: TakingParts): Promise<Problem | null> {
  for (const step of steps) {
    if (step.do !== "resolve") continue;
    const { id, text } = step;
    const body = store.chat.result(id)?.content ?? "";
    if (body === "" || body === text) continue;
    const why = `An error result replaced the text in the block of ${id}`;
    const problem = await writer.keepBody(id, body, why);
    if (problem !== null) return problem;
  }
  return null;
}
