// Which Deno runs tool files, and with which rights: the program's own where it is one, else the one that is installed.

import type { Environment } from "../../base/environment.ts";
import { nameOf } from "../../base/paths.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { permissionFlags } from "../../sandbox/policy/deno_permissions.ts";
import { findProgram } from "../../sandbox/process/program.ts";
import type { Policy } from "../../sandbox/types.ts";
import { HOST, PLUGIN_API } from "./host.generated.ts";

/**
 * The Deno to run tool files with. Fails with `deno-missing` and with what `findProgram` says.
 *
 * @param writable folders that commands may change: no other Deno in them is started
 * @param own the runtime of this process, null where it runs no other files
 */
export function findDeno(
  environment: Environment,
  writable: readonly string[],
  own: string | null = ownDeno(),
): Outcome<string> {
  // It may lie in the project, where npm put it; what this program runs from is kept from commands wherever it lies.
  if (own !== null) return success(own);
  const installed = findProgram("deno", environment, writable);
  if (installed.ok || installed.problem.code !== "program-not-found") return installed;
  return failure(
    "deno-missing",
    "Tool files are run by Deno, and no program deno was found in PATH.",
    "Install it, for example with npm install -g deno.",
  );
}

/** The runtime of this very process, where it can run other files: not a program that is compiled into one. */
function ownDeno(): string | null {
  if (Deno.build.standalone) return null;
  try {
    const path = Deno.execPath();
    return nameOf(path) === "deno" ? path : null;
  } catch {
    // Another runtime that only stands in for Deno.
    return null;
  }
}

/** The rights of a host that works as the person. */
export const ALL_RIGHTS: readonly string[] = ["--allow-all"];

/**
 * The rights of a host for the policy: what `permissionFlags` says, and to know its own variables, which are no more than
 * it was given, and its machine. Behind a wall the wall holds what must not be written, however long the list.
 */
export function rightsOf(policy: Policy, wrapped: boolean): string[] {
  const bounds = wrapped ? { ...policy, protect: [], deny_read: [] } : policy;
  return [...permissionFlags(bounds, { variables: [], wrapped }), "--allow-env", "--allow-sys"];
}

/** The words that start a host; `word` is what its messages are known by. */
export function hostCommand(deno: string, rights: readonly string[], word: string): string[] {
  return [
    deno,
    "run",
    "--quiet",
    "--no-config",
    "--no-lock",
    "--no-check",
    "--node-modules-dir=none",
    `--import-map=${IMPORT_MAP}`,
    ...rights,
    dataUrl("application/javascript", HOST),
    word,
  ];
}

function dataUrl(type: string, text: string): string {
  const bytes = new TextEncoder().encode(text);
  return `data:${type};base64,${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
}

const API = dataUrl("application/javascript", PLUGIN_API);

const IMPORT_MAP = dataUrl(
  "application/json",
  JSON.stringify({ imports: { "@vellumai/plugin-api": API, "flemma": API } }),
);
