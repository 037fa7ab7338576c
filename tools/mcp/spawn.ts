// Starts the program of a server, in the sandbox unless its settings say otherwise.

import type { Environment } from "../../base/environment.ts";
import { resolvePath } from "../../base/paths.ts";
import { failure, type Outcome, type Problem, success } from "../../base/problem.ts";
import type { McpServer, Settings } from "../../config/settings.generated.ts";
import { namedCode } from "../../sandbox/outside/named_code.ts";
import { isInReach, makeOutsidePlace, outOfReach, writableRoots } from "../../sandbox/outside/place.ts";
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

/**
 * Returns the variables that the settings of a server may insert. The person's own settings may insert tokens; a
 * project's may insert only what commands get.
 */
export function insertableVariables(name: string, place: SpawnPlace): Record<string, string> {
  return variablesFor(place, place.settings.tools.personal_servers.includes(name));
}

/** Returns the variables of commands, with credentials that are not keys of model providers if the caller asks for them. */
function variablesFor(
  { environment, settings, sandbox }: SpawnPlace,
  passCredentials = false,
): Record<string, string> {
  return toolEnvironment(environment.variables, settings.tools.env, {
    passCredentials,
    sandboxed: sandbox.enabled,
    kept: sandbox.socketVariables?.(),
    added: sandbox.addedVariables?.(),
  });
}

/**
 * Starts the program. Fails with the reason: no program, no sandbox, or code in reach of commands for a server outside
 * the sandbox.
 */
export async function spawnServer(
  name: string,
  server: McpServer,
  place: SpawnPlace,
): Promise<Outcome<Piped>> {
  const found = server.sandbox === false ? startOutside(name, server, place) : startInside(server, place);
  if (!found.ok) return withKey(found.problem, name);
  const once = () => started(found.value, server, place);
  // `null` means that the sandbox changed before the server started. The server did not run, so a second attempt is
  // safe.
  return await once() ?? await once() ??
    failure("sandbox-outdated", "The sandbox changed while a server was starting.");
}

/** Adds to the problem of a missing program the setting that names it. */
function withKey(problem: Problem, name: string): { readonly ok: false; readonly problem: Problem } {
  if (problem.code !== "program-not-found") return { ok: false, problem };
  const message = `${problem.message} Install it, or correct mcp.servers.${name}.command.`;
  return { ok: false, problem: { ...problem, message } };
}

/** The command to run, its folder and its variables. */
interface Start extends Pick<SpawnOptions, "cwd" | "env"> {
  readonly argv: readonly string[];
}

/** In the sandbox, a program may be in a folder that commands can write. */
function startInside(server: McpServer, place: SpawnPlace): Outcome<Start> {
  const cwd = folderOf(server, place);
  const program = findProgram(commandOf(server, cwd, place), place.environment, []);
  if (!program.ok) return program;
  const argv = [program.value, ...server.args ?? []];
  return success({ argv, cwd, env: { ...variablesFor(place), ...server.env } });
}

/** Outside of it, nothing may be run, loaded or searched for where commands can write. */
function startOutside(name: string, server: McpServer, place: SpawnPlace): Outcome<Start> {
  const { environment, sandbox } = place;
  const roots = writableRoots(sandbox);
  const asked = folderOf(server, place);
  const made = makeOutsidePlace(`mcp ${name}`, variablesFor(place), environment, roots);
  if (!made.ok) return made;
  const own = made.value;
  const isAway = isInReach(asked, roots);
  const cwd = isAway ? own.cwd : asked;
  const env = { ...own.variables, ...outOfReach(server.env ?? {}, roots) };
  const within = { ...environment, variables: env };
  const program = findProgram(commandOf(server, asked, place), within, roots);
  if (!program.ok) {
    return program.problem.code === "program-in-writable-path"
      ? refused(name, program.problem.message)
      : program;
  }
  const argv = [program.value, ...server.args ?? []];
  const code = isAway && server.cwd
    ? asked
    : namedCode(argv, { home: environment.home, folders: [asked, own.cwd], roots });
  return code === null ? success({ argv, cwd, env }) : refused(
    name,
    `Commands in the sandbox can change ${code}, which the MCP server ${name} would run or load.`,
  );
}

function refused(name: string, message: string): Outcome<never> {
  return failure(
    "mcp-code-in-reach",
    message,
    `Start the server in the sandbox (remove mcp.servers.${name}.sandbox), or move its code to a folder that is not in ` +
      "sandbox.policy.rw_paths. It may get the project's folder as an argument or a variable.",
  );
}

function folderOf(server: McpServer, { environment, folder }: SpawnPlace): string {
  return server.cwd ? resolvePath(server.cwd, { folder, home: environment.home }) : folder;
}

/** True if the settings of a server name an existing folder, which then is all that the server may know. */
export function hasFolderArgument(server: McpServer, place: SpawnPlace): boolean {
  const cwd = folderOf(server, place);
  return (server.args ?? []).some((argument) => {
    const path = argument.replace(/^--?[\w-]+=/, "");
    if (path === "") return false;
    try {
      return Deno.statSync(resolvePath(path, { folder: cwd, home: place.environment.home })).isDirectory;
    } catch {
      // Not a path of an existing file, as most arguments.
      return false;
    }
  });
}

function commandOf(server: McpServer, folder: string, { environment }: SpawnPlace): string {
  const command = server.command ?? "";
  return command.includes("/") ? resolvePath(command, { folder, home: environment.home }) : command;
}

/** Starts a command; null if the sandbox changed before it ran. */
async function started(
  { argv, cwd, env }: Start,
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
  let over: Promise<Problem | null> | null = null;
  const end = async (errors: () => Promise<string>) => {
    await endsWithin(status, FAREWELL);
    // The kill also ends leftover children of the server.
    await kill();
    try {
      if (!value.wrapped) return null; // A child that survived may hold the standard error open.
      const { signal } = await status;
      return await value.setupFailure(await errors(), signal);
    } finally {
      await value.dispose();
    }
  };
  return success({
    stdin: writable,
    stdout,
    stderr,
    ended: status,
    kill: (errors) => over ??= end(errors),
  });
}

async function endsWithin(status: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<void>((done) => timer = setTimeout(done, milliseconds));
  await Promise.race([status, patience]);
  clearTimeout(timer);
}
