// Shows a call completely in one line, for hosts with enough space.

import type { Settings } from "../../config/settings.generated.ts";
import type { Call } from "../../parser/types.ts";
import { builtinTools } from "../../tools/builtin/mod.ts";
import { previewCall } from "../../tools/preview.ts";

/** Returns the complete preview of a call, safe to show. */
export function callTitle({ name, input }: Pick<Call, "name" | "input">, { tools }: Settings): string {
  return previewCall(builtinTools(tools).find((each) => each.name === name), name, input, Infinity);
}
