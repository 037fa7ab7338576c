// Shared by the sandbox tests: real folders outside /tmp, settings, a run of a wrapped command.

import assert from "node:assert/strict";
import type { Environment } from "../../base/environment.ts";
import { DEFAULT_SETTINGS, type SandboxSettings } from "../../config/settings.generated.ts";
import {
  BackendRegistry,
  type CommandsWatch,
  createSandbox,
  registerBuiltinBackends,
  type RunSandbox,
  spawn,
} from "../../sandbox/mod.ts";
import { isInside } from "../../base/paths.ts";
import { listeningSockets } from "../../sandbox/policy/listening.ts";
import type { RunningProgram } from "../../sandbox/protect/own_code.ts";
import { writeProgram } from "../folder.ts";

/** Makes folders (names that end with a slash), files and links (`link -> target`) below `folder`. */
export function plant(folder: string, ...names: string[]): void {
  for (const name of names) {
    const [path = "", target] = name.split(" -> ");
    const full = `${folder}/${path}`;
    Deno.mkdirSync(path.endsWith("/") ? full : full.slice(0, full.lastIndexOf("/")), { recursive: true });
    if (target !== undefined) Deno.symlinkSync(target, full);
    else if (!path.endsWith("/")) Deno.writeTextFileSync(full, `text of ${path}\n`);
  }
}

/** Whether something stands at a path, a link that leads nowhere too. */
export function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

export const IDENTITY = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
const DEFAULTS = ["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"];

/** Runs git in a folder, as somebody, with nobody's configuration; answers what it prints. */
export function git(folder: string, ...args: string[]): string {
  const { stdout, stderr, success } = new Deno.Command("git", {
    args: [...IDENTITY, ...DEFAULTS, ...args],
    cwd: folder,
    env: { GIT_CONFIG_NOSYSTEM: "1", HOME: "/nonexistent" },
  }).outputSync();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

/** Writes an executable shell script. */
export function script(path: string, ...lines: string[]): string {
  writeProgram(path, ["#!/bin/sh", ...lines, ""].join("\n"));
  return path;
}

/** A world whose home and state lie in `folder`, so that tests leave nothing behind. */
export function world(folder: string, variables: Record<string, string> = {}, cwd = folder): Environment {
  const home = `${folder}/home`;
  Deno.mkdirSync(home, { recursive: true });
  return { cwd, home, variables: { HOME: home, PATH: "/usr/bin:/bin", ...variables } };
}

export function settings(
  changes: Partial<Omit<SandboxSettings, "policy">> & { policy?: Partial<SandboxSettings["policy"]> } = {},
): SandboxSettings {
  const defaults = DEFAULT_SETTINGS.sandbox;
  return { ...defaults, ...changes, policy: { ...defaults.policy, ...changes.policy } };
}

/** A sandbox for a document `folder/project/notes.chat` with `folder/project` as its only writable path. */
/** The built-in backends without Landlock, so that tests of bubblewrap do not depend on the kernel. */
export function withoutLandlock(): BackendRegistry {
  const registry = new BackendRegistry();
  registerBuiltinBackends(registry);
  registry.unregister("landlock");
  return registry;
}

export function projectSandbox(
  folder: string,
  changes: Parameters<typeof settings>[0] = {},
  more: {
    protect?: string[];
    variables?: Record<string, string>;
    running?: RunningProgram;
    around?: CommandsWatch;
    listening?: () => readonly string[];
    /** @default without Landlock, unless the settings name it */
    registry?: BackendRegistry;
  } = {},
): RunSandbox {
  const project = `${folder}/project`;
  const document = `${project}/notes.chat`;
  return createSandbox({
    settings: settings({ ...changes, policy: { rw_paths: ["urn:flemma:cwd"], ...changes.policy } }),
    environment: world(folder, more.variables, project),
    document,
    protect: more.protect ?? [document],
    running: more.running,
    around: more.around,
    registry: more.registry ?? (changes.backend === "landlock" ? undefined : withoutLandlock()),
    // Other tests open and close sockets at the same time.
    listening: more.listening ?? (() => listeningSockets().filter((path) => isInside(path, folder))),
  });
}

/** Fails with one clear sentence where the real bubblewrap cannot be used. */
export async function requireBubblewrap(sandbox: RunSandbox): Promise<void> {
  const answer = await sandbox.available();
  assert.ok(
    answer.ok,
    answer.ok
      ? ""
      : `These tests need a working bubblewrap. ${answer.problem.message} ${answer.problem.next ?? ""}`,
  );
}

export interface Ran {
  code: number;
  out: string;
  err: string;
  /** Code of the set-up failure, or null. */
  setup: string | null;
}

/** Runs a shell script inside the sandbox; the real bubblewrap must stand around it. */
export async function runInside(sandbox: RunSandbox, shell: string): Promise<Ran> {
  await requireBubblewrap(sandbox);
  const ran = await runPrepared(sandbox, ["/bin/sh", "-c", shell]);
  assert.equal(ran.setup, null, ran.err);
  return ran;
}

/** Runs whatever `prepare` answers, in the working directory of the sandbox. */
export async function runPrepared(sandbox: RunSandbox, argv: string[]): Promise<Ran> {
  const prepared = await sandbox.prepare(argv);
  assert.ok(prepared.ok, prepared.ok ? "" : prepared.problem.message);
  const { cwd, variables } = sandbox.host.environment;
  try {
    while (true) {
      const started = spawn(prepared.value.argv, {
        cwd,
        env: { ...variables, ...sandbox.addedVariables() },
      });
      assert.ok(started.ok, started.ok ? "" : started.problem.message);
      const [out, err, { code, signal }] = await Promise.all([
        new Response(started.value.stdout).text(),
        new Response(started.value.stderr).text(),
        started.value.status,
      ]);
      const problem = await prepared.value.setupFailure(err, signal);
      // A socket of another test may vanish before it is masked.
      if (problem !== null && prepared.value.mayRunAgain?.() === true) continue;
      return { code, out, err, setup: problem?.code ?? null };
    }
  } finally {
    await prepared.value.dispose();
  }
}
