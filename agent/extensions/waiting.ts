// Waits for sources of tools, and says so when that takes long (tools 5).

import { after } from "../../base/system/timer.ts";
import type { Emit } from "../../cycle/types.ts";
import type { ToolRegistry } from "../../tools/registry.ts";

/** Milliseconds after which the person is told what is waited for. */
const PATIENCE = 1000;

/**
 * Waits until every source has answered.
 *
 * @param signal ends the waiting
 */
export async function waitForTools(tools: ToolRegistry, emit: Emit, signal?: AbortSignal): Promise<void> {
  if (!tools.isReady()) await telling(tools.whenReady(signal), tools, emit);
}

/**
 * Waits until a tool is there, or no source is left that may have it.
 *
 * @param signal ends the waiting
 */
export async function waitForTool(
  name: string,
  tools: ToolRegistry,
  emit: Emit,
  signal?: AbortSignal,
): Promise<void> {
  if (tools.mayCome(name)) await telling(tools.whenKnown(name, signal), tools, emit);
}

async function telling(wait: Promise<void>, tools: ToolRegistry, emit: Emit): Promise<void> {
  const endPatience = after(PATIENCE, () => {
    const names = tools.sources().filter(({ state }) => state === "pending").map(({ name }) => name);
    if (names.length === 0) return;
    emit({
      event: "notice",
      code: "tools-waiting",
      message: `Waiting for the tools of ${names.join(", ")}.`,
    });
  });
  try {
    await wait;
  } finally {
    endPatience();
  }
}
