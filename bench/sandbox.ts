// The cost of the sandbox's protections: a wrapped call compared with bubblewrap and a plain argument list.

import type { Environment } from "../base/environment.ts";
import { DEFAULT_SETTINGS, type SandboxSettings } from "../config/settings.generated.ts";
import { landlockVersion } from "../sandbox/kernel/landlock_version.ts";
import { bwrap } from "../sandbox/backends/builtin.ts";
import type { Outcome } from "../base/problem.ts";
import { createSandbox, type Running, type RunSandbox, spawn } from "../sandbox/mod.ts";
import { WAIT_FOR_START } from "../sandbox/process/inner_script.ts";
import { type Bench, type Figure, interleaved } from "./harness.ts";

const ROUNDS = 50;

/** Milliseconds between two commands. In a run, the model's reply takes longer. */
const PAUSE = 100;

/** Milliseconds after which modification times of folders can be trusted. */
const QUIET = 4000;

/** Commands of the bash tool: a common one, which has the goal, and an empty one, for the base cost. */
const CALLS: Readonly<Record<string, { readonly inner: readonly string[]; readonly goal?: number }>> = {
  "git status": { inner: ["/bin/bash", "-c", "exec 2>&1\ngit status --short"], goal: 1.25 },
  "empty command": { inner: ["/bin/bash", "-c", "exec 2>&1\n:"] },
};

/** Numbers of repositories in the working folder, including its own; one is the reference. */
const REPOSITORIES: readonly number[] = [1, 50, 200];

const bench: Bench = {
  name: "sandbox",
  about:
    `one command in a repository with the default policy, from set-up to clean-up: median of ${ROUNDS} runs`,
  async run(): Promise<readonly Figure[]> {
    const folder = await Deno.makeTempDir({ dir: "/var/tmp", prefix: "flemma-bench-" });
    try {
      const places = await Promise.all(REPOSITORIES.map((count) => place(`${folder}/${count}`, count)));
      // The first command of each sandbox creates folders.
      for (const { sandbox, landlock, exact, environment } of places) {
        for (const each of landlockVersion().ok ? [sandbox, landlock, exact] : [sandbox]) {
          await wrapped(each, CALLS["empty command"]!.inner, environment);
        }
      }
      // A recent change makes every command check again.
      await new Promise((resolve) => setTimeout(resolve, QUIET));
      const figures: Figure[] = [];
      for (const [name, { inner, goal }] of Object.entries(CALLS)) {
        const [first] = places;
        const cases: Record<string, () => Promise<unknown>> = {
          [`${name}, no sandbox`]: () => run(inner, first!.environment),
        };
        if (landlockVersion().ok) {
          const { exact, environment } = first!;
          cases[`${name}, Landlock, exact`] = () => wrapped(exact, inner, environment);
          for (const { count, landlock, environment } of places) {
            cases[`${name}, ${count} repositories, Landlock, repaired`] = () =>
              wrapped(landlock, inner, environment);
          }
        }
        for (const { count, sandbox, environment } of places) {
          const plain = plainList(sandbox, inner);
          cases[`${name}, ${count} repositories, bwrap only`] = () => run(plain, environment);
          cases[`${name}, ${count} repositories, with flemma`] = () => wrapped(sandbox, inner, environment);
        }
        for (const [label, value] of Object.entries(await interleaved(cases, ROUNDS, PAUSE))) {
          const against = label.replace(/with flemma$/, "bwrap only");
          figures.push({ case: label, value, unit: "ms", ...(against === label ? {} : { against, goal }) });
        }
      }
      return figures;
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};

interface Place {
  readonly count: number;
  readonly environment: Environment;
  readonly sandbox: RunSandbox;
  /** The same with Landlock. */
  readonly landlock: RunSandbox;
  /** With Landlock, and nothing to protect, because only a folder without a repository is writable. */
  readonly exact: RunSandbox;
}

async function place(folder: string, count: number): Promise<Place> {
  const environment = await repository(folder);
  for (let at = 1; at < count; at++) await makeRepository(`${environment.cwd}/packages/p${at}`);
  const document = `${environment.cwd}/notes.chat`;
  const sandboxWith = (changes: Partial<SandboxSettings>) =>
    createSandbox({
      settings: { ...DEFAULT_SETTINGS.sandbox, ...changes },
      environment,
      document,
      protect: [document, `${environment.home}/.config/flemma/config.yaml`],
    });
  const { policy } = DEFAULT_SETTINGS.sandbox;
  const empty = `${folder}/empty`;
  await Deno.mkdir(empty);
  return {
    count,
    environment,
    sandbox: sandboxWith({ backend: "required" }),
    landlock: sandboxWith({ backend: "landlock" }),
    exact: sandboxWith({ backend: "landlock", policy: { ...policy, rw_paths: [empty] } }),
  };
}

export default bench;

/** A repository with a document and editor settings, without recent changes, and a home folder. */
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
  // Git ignores the others, so that the same command is measured with one and with many.
  await Deno.writeTextFile(`${cwd}/.gitignore`, "packages/\n");
  await makeRepository(cwd);
  const variables = { HOME: home, PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8" };
  return { cwd, home, variables };
}

async function makeRepository(folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const { success } = await new Deno.Command("git", { args: ["init", "-q"], cwd: folder }).output();
  if (!success) throw new Error("git init failed");
}

/** The plain list of mounts for this policy, without this program's additions. */
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

async function wrapped(...given: Parameters<typeof tryWrapped>): Promise<void> {
  while (await tryWrapped(...given) === OUTDATED);
}

const OUTDATED = "outdated";

async function tryWrapped(
  sandbox: RunSandbox,
  inner: readonly string[],
  environment: Environment,
): Promise<typeof OUTDATED | null> {
  const [shell = "", option = "", command = ""] = inner;
  const prepared = await sandbox.prepare([shell, option, `${WAIT_FOR_START}${command}`], { waits: true });
  if (!prepared.ok) throw new Error(prepared.problem.message);
  try {
    const { cwd, variables } = environment;
    const started = prepared.value.start({ cwd, env: variables });
    // Another program changed a folder for temporary files meanwhile. The tool tries again, too.
    if (!started.ok && started.problem.code === "sandbox-outdated") return OUTDATED;
    const { stderr, signal } = await finish(started, inner);
    const failed = await prepared.value.setupFailure(stderr, signal);
    if (failed !== null) throw new Error(failed.message);
    return null;
  } finally {
    await prepared.value.dispose();
  }
}

function run(
  argv: readonly string[],
  { cwd, variables }: Environment,
): Promise<{ stderr: string; signal: string | null }> {
  return finish(spawn(argv, { cwd, env: variables }), argv);
}

async function finish(
  started: Outcome<Running>,
  argv: readonly string[],
): Promise<{ stderr: string; signal: string | null }> {
  if (!started.ok) throw new Error(started.problem.message);
  const [stderr, , status] = await Promise.all([
    new Response(started.value.stderr).text(),
    new Response(started.value.stdout).text(),
    started.value.status,
  ]);
  if (status.code !== 0) throw new Error(`${argv.join(" ")} ended with ${status.code}: ${stderr}`);
  return { stderr, signal: status.signal };
}
