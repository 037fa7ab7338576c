// The cost of a hook that does nothing: run by flemma, compared with the same script by hand, in the sandbox and outside.

import { runOneHook } from "../agent/conversation/hooks/run_hook.ts";
import type { Environment } from "../base/environment.ts";
import { readHooks } from "../config/hooks/definition.ts";
import type { LoadedHooks } from "../config/hooks/loaded.ts";
import { DEFAULT_SETTINGS } from "../config/settings.generated.ts";
import { bwrap } from "../sandbox/backends/builtin.ts";
import { createSandbox, type RunSandbox, spawn } from "../sandbox/mod.ts";
import { type Bench, type Figure, interleaved } from "./harness.ts";

const ROUNDS = 50;
/** Milliseconds after which modification times of folders can be trusted. */
const QUIET = 4000;
const INPUT = `${JSON.stringify({ hook_event_name: "PreToolUse", tool_name: "Bash" })}\n`;

const bench: Bench = {
  name: "hooks",
  about: `one hook that does nothing: median of ${ROUNDS} runs`,
  async run(): Promise<readonly Figure[]> {
    const folder = await Deno.makeTempDir({ dir: "/var/tmp", prefix: "flemma-bench-" });
    try {
      const home = `${folder}/home`;
      const project = `${folder}/project`;
      Deno.mkdirSync(`${home}/bin`, { recursive: true });
      Deno.mkdirSync(project);
      const script = `${home}/bin/nothing.sh`;
      Deno.writeTextFileSync(script, "#!/bin/bash\nexit 0\n", { mode: 0o755 });
      const variables = { PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin", HOME: home };
      const environment: Environment = { cwd: project, home, variables };
      const sandbox = createSandbox({
        settings: DEFAULT_SETTINGS.sandbox,
        environment,
        document: `${project}/a.chat`,
        protect: [],
      });
      // A recent change makes every command check again.
      await new Promise((resolve) => setTimeout(resolve, QUIET));
      const hook = (outside: boolean) => () => hookOnce(script, outside, { environment, sandbox, project });
      const plain = plainList(sandbox, ["/bin/bash", "-c", script]);
      const values = await interleaved({
        "by hand, bwrap": () => byHand(plain, environment),
        "in the sandbox": hook(false),
        "by hand": () => byHand(["/bin/bash", "-c", script], environment),
        "outside the sandbox": hook(true),
      }, ROUNDS);
      const against: Readonly<Record<string, string>> = {
        "in the sandbox": "by hand, bwrap",
        "outside the sandbox": "by hand",
      };
      return Object.entries(values).map(([label, value]) => ({
        case: label,
        value,
        unit: "ms",
        ...(against[label] === undefined ? {} : { against: against[label], goal: 1.3 }),
      }));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};

async function hookOnce(
  script: string,
  outside: boolean,
  { environment, sandbox, project }: {
    readonly environment: Environment;
    readonly sandbox: RunSandbox;
    readonly project: string;
  },
): Promise<void> {
  const { hooks, unsupported } = readHooks(
    { PreToolUse: [{ hooks: [{ command: script, sandbox: !outside }] }] },
    { owner: "settings", file: "" },
  );
  const loaded: LoadedHooks = { hooks, unsupported, files: [], seals: new Map(), project, notices: [] };
  const place = { environment, settings: DEFAULT_SETTINGS, sandbox, loaded };
  const ended = await runOneHook(hooks[0]!, INPUT, place, new AbortController().signal);
  if (!ended.ok) throw new Error(ended.problem);
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

async function byHand(argv: readonly string[], environment: Environment): Promise<void> {
  const running = spawn(argv, {
    cwd: environment.cwd,
    env: environment.variables,
    stdin: new TextEncoder().encode(INPUT),
  });
  if (!running.ok) throw new Error(running.problem.message);
  const { stdout, stderr, status } = running.value;
  const [, , { code }] = await Promise.all([
    stdout.pipeTo(new WritableStream()),
    stderr.pipeTo(new WritableStream()),
    status,
  ]);
  if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}`);
}

export default bench;
