// Starts the program of a server, in the sandbox unless its settings say otherwise.

import type { Environment } from "../../base/environment.ts";
import { resolvePath } from "../../base/paths.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import type { McpServer, Settings } from "../../config/settings.generated.ts";
import { toolEnvironment } from "../../sandbox/policy/tool_environment.ts";
import { prepareUnsandboxed } from "../../sandbox/process/unsandboxed.ts";
import { findProgram } from "../../sandbox/process/program.ts";
import type { Sandbox, SpawnOptions } from "../../sandbox/types.ts";
import type { Piped } from "./pipes.ts";

/** Inputs for starting server programs. */
export interface SpawnPlace {
  readonly environment: Environment;
  readonly settings: Pick<Settings, "tools">;
  readonly sandbox: Sandbox;
  /** Absolute path of the document's folder. */
  readonly folder: string;
}

/** Milliseconds for a server to exit on its own after its input has ended. */
const FAREWELL = 500;

/** Returns the environment variables for a server, which are those of commands. */
export function serverVariables({ environment, settings, sandbox }: SpawnPlace): Record<string, string> {
  return toolEnvironment(environment.variables, settings.tools.env, {
    sandboxed: sandbox.enabled,
    kept: sandbox.socketVariables?.(),
    added: sandbox.addedVariables?.(),
  });
}

/** Starts the program. Fails with the reason: no program, or no sandbox. */
export async function spawnServer(server: McpServer, place: SpawnPlace): Promise<Outcome<Piped>> {
  const found = programOf(server, place);
  if (!found.ok) return found;
  const { argv, cwd } = found.value;
  const env = { ...serverVariables(place), ...await caches(place.environment), ...server.env };
  const once = () => started(argv, { cwd, env }, server, place);
  // Null means that the sandbox changed before the start, so nothing ran and a second attempt is safe.
  return await once() ?? await once() ??
    failure("sandbox-outdated", "The sandbox changed while a server was starting.");
}

/** The command to run, and its folder. */
function programOf(
  server: McpServer,
  { environment, sandbox, folder }: SpawnPlace,
): Outcome<{ readonly argv: readonly string[]; readonly cwd: string }> {
  const base = { folder, home: environment.home };
  const cwd = server.cwd ? resolvePath(server.cwd, base) : folder;
  // In the sandbox a program may be in a folder that commands can write; outside of the sandbox it must not be.
  const policy = server.sandbox !== false || !sandbox.enabled ? null : sandbox.policy();
  const writable = policy?.ok ? policy.value.rw_paths : [];
  const command = server.command ?? "";
  const named = command.includes("/") ? resolvePath(command, { ...base, folder: cwd }) : command;
  const program = findProgram(named, environment, writable);
  return program.ok ? success({ argv: [program.value, ...server.args ?? []], cwd }) : program;
}

/** Starts a command; null if the sandbox changed before it ran. */
async function started(
  argv: readonly string[],
  { cwd, env }: Pick<SpawnOptions, "cwd" | "env">,
  server: McpServer,
  { environment, sandbox }: SpawnPlace,
): Promise<Outcome<Piped> | null> {
  const prepared = server.sandbox === false
    ? success(prepareUnsandboxed(argv, false, environment))
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
    // The kill also ends leftover children of the server.
    await kill();
    await value.dispose();
  };
  return success({ stdin: writable, stdout, stderr, ended: status, kill: () => over ??= end() });
}

/** Most servers are started by a package runner, which needs a writable cache. */
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
