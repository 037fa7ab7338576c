// Starts the program of a server, in the sandbox unless its settings say otherwise.

import type { Environment } from "../../base/environment.ts";
import { resolvePath } from "../../base/paths.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import type { McpServer, Settings } from "../../config/settings.generated.ts";
import { toolEnvironment } from "../../sandbox/policy/tool_environment.ts";
import { bare } from "../../sandbox/process/unsandboxed.ts";
import { findProgram } from "../../sandbox/process/program.ts";
import type { Sandbox, SpawnOptions } from "../../sandbox/types.ts";
import type { Piped } from "./pipes.ts";

/** What programs of servers are started with. */
export interface SpawnPlace {
  readonly environment: Environment;
  readonly settings: Pick<Settings, "tools">;
  readonly sandbox: Sandbox;
  /** The folder of the document; absolute. */
  readonly folder: string;
}

/** Milliseconds in which a server whose input has ended may go by itself. */
const FAREWELL = 500;

/** The variables that a server may see: those of commands. */
export function serverVariables({ environment, settings, sandbox }: SpawnPlace): Record<string, string> {
  return toolEnvironment(environment.variables, settings.tools.env, {
    sandboxed: sandbox.enabled,
    kept: sandbox.socketVariables?.(),
    added: sandbox.addedVariables?.(),
  });
}

/** Starts it. Fails with what is in the way: no program, no sandbox. */
export async function spawnServer(server: McpServer, place: SpawnPlace): Promise<Outcome<Piped>> {
  const found = programOf(server, place);
  if (!found.ok) return found;
  const { argv, cwd } = found.value;
  const env = { ...serverVariables(place), ...await caches(place.environment), ...server.env };
  const once = () => started(argv, { cwd, env }, server, place);
  // Nothing began where the look that the wall was made from did not hold.
  return await once() ?? await once() ??
    failure("sandbox-outdated", "The sandbox changed while a server was started.");
}

/** What is to be run, and where. */
function programOf(
  server: McpServer,
  { environment, sandbox, folder }: SpawnPlace,
): Outcome<{ readonly argv: readonly string[]; readonly cwd: string }> {
  const base = { folder, home: environment.home };
  const cwd = server.cwd ? resolvePath(server.cwd, base) : folder;
  // Behind the wall a program may come from where commands write; what starts outside of it must not.
  const policy = server.sandbox !== false || !sandbox.enabled ? null : sandbox.policy();
  const writable = policy?.ok ? policy.value.rw_paths : [];
  const command = server.command ?? "";
  const named = command.includes("/") ? resolvePath(command, { ...base, folder: cwd }) : command;
  const program = findProgram(named, environment, writable);
  return program.ok ? success({ argv: [program.value, ...server.args ?? []], cwd }) : program;
}

/** Null where the sandbox was another one by then. */
async function started(
  argv: readonly string[],
  { cwd, env }: Pick<SpawnOptions, "cwd" | "env">,
  server: McpServer,
  { environment, sandbox }: SpawnPlace,
): Promise<Outcome<Piped> | null> {
  const prepared = server.sandbox === false
    ? success(bare(argv, false, environment))
    : await sandbox.prepare(argv);
  if (!prepared.ok) return prepared;
  const { value } = prepared;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const running = value.start({ cwd, env, stdin: readable });
  if (!running.ok) {
    await value.dispose();
    return running.problem.code === "sandbox-outdated" ? null : running;
  }
  const { stdout, stderr, status, kill } = running.value;
  let over: Promise<void> | null = null;
  const end = async () => {
    await endsWithin(status, FAREWELL);
    // Also what it left behind.
    await kill();
    await value.dispose();
  };
  return success({ stdin: writable, stdout, stderr, ended: status, kill: () => over ??= end() });
}

/** Most servers are fetched by a runner of packages, which needs a cache that it may write. */
async function caches({ variables, home }: Environment): Promise<Record<string, string>> {
  const folder = `${variables.XDG_CACHE_HOME || `${home}/.cache`}/flemma/mcp`;
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  return { npm_config_cache: `${folder}/npm`, UV_CACHE_DIR: `${folder}/uv` };
}

async function endsWithin(status: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<void>((done) => timer = setTimeout(done, milliseconds));
  await Promise.race([status, patience]);
  clearTimeout(timer);
}
