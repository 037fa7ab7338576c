// The layer of settings from the command line, which has higher precedence than all files.

import { asSentence, type Outcome, type Problem, success } from "../../base/problem.ts";
import { draftLayer } from "../layers/draft.ts";
import type { LayerLog } from "../layers/log.ts";
import { switchTo } from "../layers/switch_preset.ts";
import { writeTree } from "../layers/write_tree.ts";
import type { Catalog } from "../schema/catalog.ts";
import { modulePath } from "../schema/module_path.ts";
import type { LoadOptions } from "./find.ts";

/** The layer, with its errors as sentences. */
export interface CommandLineLayer {
  readonly log: LayerLog;
  readonly errors: readonly string[];
  readonly notices: readonly Problem[];
}

/** Creates the layer from the options, above the given layers. Fails for an unknown preset. */
export function commandLineLayer(
  { environment, preset, overrides = {}, approve = [] }: LoadOptions,
  below: { readonly logs: readonly LayerLog[]; readonly catalog: Catalog },
): Outcome<CommandLineLayer> {
  const { logs, catalog } = below;
  const module = (path: string) => modulePath(path, environment.cwd, environment.home);
  const line = draftLayer({ layer: "C", others: logs, catalog, module });
  if (preset !== undefined) {
    const switched = switchTo(line, preset, logs);
    if (!switched.ok) return switched;
  }
  const faults = [...writeTree(line, overrides, { catalog })];
  if (approve.length > 0) {
    const policy = line.read(["tools", "auto_approve"]);
    // If the policy is a function, it stays the policy. The resolver for this run still approves the names from the
    // command line.
    if (policy.ok && typeof policy.value !== "function") {
      faults.push(...line.apply("append", ["tools", "auto_approve"], [...approve]));
    }
  }
  faults.push(...line.finish(), ...line.warnings);
  const sentences = (severity: "error" | "warning") =>
    faults.filter((fault) => fault.severity === severity).map(({ message }) => `command line: ${message}`);
  return success({
    log: line.log,
    errors: sentences("error"),
    notices: sentences("warning").map((message) => ({
      code: "option-ignored",
      message: asSentence(message),
    })),
  });
}
