// What the protections of the sandbox cost: a wrapped call against bubblewrap with its plain argument list.

import type { Environment } from "../base/environment.ts";
import { DEFAULT_SETTINGS } from "../config/settings.ts";
import { bwrap } from "../sandbox/backends/builtin.ts";
import { createSandbox, type RunSandbox, spawn } from "../sandbox/mod.ts";
import { type Bench, type Figure, interleaved } from "./harness.ts";

const ROUNDS = 50;

/** Milliseconds after which the times of folders can be trusted. */
const QUIET = 4000;

/** What the bash tool starts for a common command, which has the goal, and for an empty one, to see the bare cost. */
const CALLS: Readonly<Record<string, { readonly inner: readonly string[]; readonly goal?: number }>> = {
  "git status": { inner: ["/bin/bash", "-c", "exec 2>&1\ngit status --short"], goal: 1.25 },
  "empty command": { inner: ["/bin/bash", "-c", "exec 2>&1\n:"] },
};

const bench: Bench = {
  name: "sandbox",
  about:
    `one command in a repository under the default policy, median of ${ROUNDS}, from preparing to cleaning up`,
  async run(): Promise<readonly Figure[]> {
    const folder = await Deno.makeTempDir({ dir: "/var/tmp", prefix: "flemma-bench-" });
    try {
      const environment = await repository(folder);
      const document = `${environment.cwd}/notes.chat`;
      const sandbox = createSandbox({
        settings: { ...DEFAULT_SETTINGS.sandbox, backend: "required" },
        environment,
        document,
        protect: [document, `${environment.home}/.config/flemma/config.yaml`],
      });
      const figures: Figure[] = [];
      for (const [name, { inner, goal }] of Object.entries(CALLS)) {
        const times = await interleaved({
          [`${name}, no sandbox`]: () => run(inner, environment),
          [`${name}, bare bwrap`]: () => run(plainList(sandbox, inner), environment),
          [`${name}, wrapped`]: () => wrapped(sandbox, inner, environment),
        }, ROUNDS);
        for (const [label, value] of Object.entries(times)) {
          figures.push({
            case: label,
            value,
            unit: "ms",
            ...(label.endsWith("wrapped") ? { against: `${name}, bare bwrap`, goal } : {}),
          });
        }
      }
      return figures;
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};

export default bench;

/** A repository with a document and editor settings, in which nothing happened for a while, and a home. */
async function repository(folder: string): Promise<Environment> {
  const [cwd, home] = [`${folder}/project`, `${folder}/home`];
  for (
    const path of ["project/.vscode", "project/.flemma", "home/.cache", "home/.local/share/applications"]
  ) {
    await Deno.mkdir(`${folder}/${path}`, { recursive: true });
  }
  for (const name of ["notes.chat", "main.ts"]) {
    await Deno.writeTextFile(`${cwd}/${name}`, `${name}\n`);
  }
  const { success } = await new Deno.Command("git", { args: ["init", "-q"], cwd }).output();
  if (!success) throw new Error("git init failed");
  // What changed a moment ago is looked at anew by every command.
  await new Promise((resolve) => setTimeout(resolve, QUIET));
  const variables = { HOME: home, PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8" };
  return { cwd, home, variables };
}

/** The list of sandbox 7.1 for this policy, without anything this program adds to it. */
function plainList(sandbox: RunSandbox, inner: readonly string[]): readonly string[] {
  const policy = sandbox.policy();
  if (!policy.ok) throw new Error(policy.problem.message);
  const existing = policy.value.rw_paths.filter((path) => {
    try {
      return Deno.statSync(path) !== null;
    } catch {
      return false;
    }
  });
  const list = bwrap.wrap({ ...policy.value, rw_paths: existing }, { path: "/usr/bin/bwrap" }, inner);
  if (!list.ok) throw new Error(list.problem.message);
  return list.value;
}

async function wrapped(
  sandbox: RunSandbox,
  inner: readonly string[],
  environment: Environment,
): Promise<void> {
  const prepared = await sandbox.prepare(inner);
  if (!prepared.ok) throw new Error(prepared.problem.message);
  try {
    const { stderr, signal } = await run(prepared.value.argv, environment);
    const failed = await prepared.value.setupFailure(stderr, signal);
    if (failed !== null) throw new Error(failed.message);
  } finally {
    await prepared.value.dispose();
  }
}

async function run(
  argv: readonly string[],
  { cwd, variables }: Environment,
): Promise<{ stderr: string; signal: Deno.Signal | null }> {
  const started = spawn(argv, { cwd, env: variables });
  if (!started.ok) throw new Error(started.problem.message);
  const [stderr, , status] = await Promise.all([
    new Response(started.value.stderr).text(),
    new Response(started.value.stdout).text(),
    started.value.status,
  ]);
  if (status.code !== 0) throw new Error(`${argv.join(" ")} ended with ${status.code}: ${stderr}`);
  return { stderr, signal: status.signal };
}
