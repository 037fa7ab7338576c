// Chooses the Deno that runs tool files, and its permissions. This is the Deno that runs this program; a compiled
// program uses the installed Deno.

import type { Environment } from "../../base/environment.ts";
import { baseName } from "../../base/paths.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { ownDeno } from "../../base/system/own_deno.ts";
import { permissionFlags } from "../../sandbox/policy/deno_permissions.ts";
import { findProgram } from "../../sandbox/process/program.ts";
import type { Policy } from "../../sandbox/types.ts";
import { HOST, PLUGIN_API } from "./host.generated.ts";

/**
 * Returns the Deno to run tool files with. Fails with `deno-missing`, or with the failure of `findProgram`.
 *
 * @param writable folders that commands may change; a Deno inside them is not started, unless it is `own`
 * @param own the runtime of this process; null if this runtime cannot run other files
 */
export function findDeno(
  environment: Environment,
  writable: readonly string[],
  own: string | null = ownDeno(),
): Outcome<string> {
  // This runtime may be in the project, because npm put it there. Commands cannot change this program's own runtime,
  // wherever it is.
  if (own !== null && baseName(own) === "deno") return success(own);
  const installed = findProgram("deno", environment, writable);
  if (installed.ok || installed.problem.code !== "program-not-found") return installed;
  return failure(
    "deno-missing",
    "Tool files need Deno, but the program deno was not found in PATH.",
    "Install it, for example: npm install -g deno",
  );
}

/** Permissions of a host that runs with the person's full rights. */
export const ALL_RIGHTS: readonly string[] = ["--allow-all"];

/**
 * Returns the permissions of a host under the policy: the flags of `permissionFlags`, access to its own environment
 * variables (only those it was given), and information about its machine. In the sandbox, the sandbox itself enforces
 * protected and unreadable paths, however long their lists.
 */
export function rightsOf(policy: Policy, wrapped: boolean): string[] {
  const bounds = wrapped ? { ...policy, protect: [], deny_read: [] } : policy;
  return [...permissionFlags(bounds, { variables: [], wrapped }), "--allow-env", "--allow-sys"];
}

/**
 * The command that starts a host, which then changes to the folder `cwd`; `word` is the prefix of its messages.
 * `names` are what files import from the package that they are written for.
 */
export function hostCommand(
  deno: string,
  rights: readonly string[],
  { word, cwd, names }: { readonly word: string; readonly cwd: string; readonly names: Iterable<string> },
): string[] {
  return [
    deno,
    "run",
    "--quiet",
    "--no-config",
    "--no-lock",
    "--no-check",
    "--node-modules-dir=none",
    // Published files leave out the ending of a path, or write .js for a file that ends with .ts.
    "--unstable-sloppy-imports",
    `--import-map=${importMap(names)}`,
    ...rights,
    dataUrl("application/javascript", HOST),
    word,
    cwd,
  ];
}

function dataUrl(type: string, text: string): string {
  const bytes = new TextEncoder().encode(text);
  return `data:${type};base64,${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
}

const API = dataUrl("application/javascript", PLUGIN_API);

/** Returns the import map. A name that the package lacks here becomes a value that says so as soon as it is used. */
function importMap(names: Iterable<string>): string {
  const missing = [...names].filter((name) => !PROVIDED.has(name));
  const api = missing.length === 0 ? API : dataUrl(
    "application/javascript",
    [
      `import { missing } from ${JSON.stringify(API)};`,
      `export * from ${JSON.stringify(API)};`,
      ...missing.map((name) => `export const ${name} = missing(${JSON.stringify(name)});`),
    ].join("\n"),
  );
  return dataUrl(
    "application/json",
    JSON.stringify({ imports: { "@vellumai/plugin-api": api, "flemma": api } }),
  );
}

/** The names that `plugin_api.ts` exports. */
const PROVIDED: ReadonlySet<string> = new Set(["RiskLevel", "defineTool", "missing"]);
