// Waits for tool sources, and reports if that takes long.

import { after } from "../../base/system/timer.ts";
import type { Emit } from "../../cycle/types.ts";
import type { AskedSources } from "../../tools/registration/types.ts";
import type { ToolRegistry } from "../../tools/registry.ts";

/** Milliseconds of waiting after which a notice names the sources. */
const PATIENCE = 1000;

/**
 * Waits until every source has answered.
 *
 * @param signal ends the wait
 */
export async function waitForTools(tools: ToolRegistry, emit: Emit, signal?: AbortSignal): Promise<void> {
  if (!tools.isReady()) await telling(tools.whenReady(signal), tools, emit);
}

/**
 * Waits until no source can add or replace a tool any more.
 *
 * @param asked `code` if the call is only shown; then only sources that are code are started
 * @param signal ends the wait
 */
export async function waitForTool(
  name: string,
  tools: ToolRegistry,
  emit: Emit,
  { signal, asked }: { readonly signal?: AbortSignal; readonly asked?: AskedSources } = {},
): Promise<void> {
  if (tools.mayCome(name, asked)) await telling(tools.whenKnown(name, signal, asked), tools, emit);
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
