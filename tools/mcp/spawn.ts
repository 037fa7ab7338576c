// Starts the program of a server, in the sandbox unless its settings say otherwise.

import type { Environment } from "../../base/environment.ts";
import { resolvePath } from "../../base/paths.ts";
import { failure, type Outcome, success, thrownText } from "../../base/problem.ts";
import type { McpServer, Settings } from "../../config/settings.ts";
import { toolEnvironment } from "../../sandbox/policy/tool_environment.ts";
import { findProgram } from "../../sandbox/process/program.ts";
import type { Sandbox } from "../../sandbox/types.ts";
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
/** Milliseconds between asking a server to end and ending it. */
const GRACE = 2000;

/** The variables that a server may see: those of commands. */
export function serverVariables({ environment, settings, sandbox }: SpawnPlace): Record<string, string> {
  return toolEnvironment(environment.variables, settings.tools.env, {
    sandboxed: sandbox.enabled,
    kept: sandbox.keptVariables?.(),
    added: sandbox.addedVariables?.(),
  });
}

/** Starts it. Fails with what is in the way: no program, no sandbox. */
export async function spawnServer(server: McpServer, place: SpawnPlace): Promise<Outcome<Piped>> {
  const { environment, sandbox } = place;
  const wrapped = server.sandbox !== false;
  const base = { folder: place.folder, home: environment.home };
  const cwd = server.cwd ? resolvePath(server.cwd, base) : place.folder;
  // Behind the wall a program may come from where commands write; what starts outside of it must not.
  const policy = wrapped || !sandbox.enabled ? null : sandbox.policy();
  const writable = policy?.ok ? policy.value.rw_paths : [];
  const { command = "" } = server;
  const named = command?.includes("/") ? resolvePath(command, { ...base, folder: cwd }) : command ?? "";
  const program = findProgram(named, environment, writable);
  if (!program.ok) return program;
  const inner = [program.value, ...server.args ?? []];
  const prepared = wrapped ? await sandbox.prepare(inner) : null;
  if (prepared !== null && !prepared.ok) return prepared;
  const handedOut = prepared?.value.handOut();
  if (handedOut?.ok === false) return handedOut;
  const [first = "", ...args] = prepared?.value.argv ?? inner;
  try {
    const child = new Deno.Command(first, {
      args: [...args],
      cwd,
      clearEnv: true,
      env: { ...serverVariables(place), ...await caches(environment), ...server.env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      detached: true,
    }).spawn();
    const { stdin, stdout, stderr, status, pid } = child;
    let over: Promise<void> | null = null;
    const end = async () => {
      await endGroup(pid, status);
      await prepared?.value.dispose();
    };
    return success({ stdin, stdout, stderr, ended: status, kill: () => over ??= end() });
  } catch (thrown) {
    await prepared?.value.dispose();
    return failure(
      "mcp-unreachable",
      `The program ${server.command} cannot be started: ${thrownText(thrown)}.`,
    );
  }
}

/** Most servers are fetched by a runner of packages, which needs a cache that it may write. */
async function caches({ variables, home }: Environment): Promise<Record<string, string>> {
  const folder = `${variables.XDG_CACHE_HOME || `${home}/.cache`}/flemma/mcp`;
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  return { npm_config_cache: `${folder}/npm`, UV_CACHE_DIR: `${folder}/uv` };
}

/** Ends a process whose input has ended, and all that it started. */
async function endGroup(pid: number, status: Promise<unknown>): Promise<void> {
  if (!await endsWithin(status, FAREWELL)) {
    signal(pid, "SIGTERM");
    await endsWithin(status, GRACE);
  }
  // Also what it left behind.
  signal(pid, "SIGKILL");
  await status;
}

async function endsWithin(status: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<false>((done) => timer = setTimeout(() => done(false), milliseconds));
  const ended = await Promise.race([status.then(() => true), patience]);
  clearTimeout(timer);
  return ended;
}

function signal(pid: number, name: Deno.Signal): void {
  try {
    Deno.kill(-pid, name);
  } catch {
    // All of it is gone.
  }
}
