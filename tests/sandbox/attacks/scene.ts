// The scene of the attacks: a project surrounded by everything worth attacking, and the sandbox around it.

import { DEFAULT_SETTINGS, type SandboxSettings } from "../../../config/settings.generated.ts";
import { createSandbox, type RunSandbox, spawn, toolEnvironment } from "../../../sandbox/mod.ts";
import { builtinTools } from "../../../tools/builtin/mod.ts";
import { createContext } from "../../../tools/context.ts";
import type { ToolInput } from "../../../tools/definition.ts";
import { runTool } from "../../../tools/run.ts";
import { completeInput } from "../../../tools/validate.ts";
import { removeFolder } from "../../folder.ts";
import { plant, settings, world } from "../fixture.ts";

export interface Scene {
  readonly root: string;
  readonly project: string;
  /** Ports on the loopback of the machine: one that the network list holds, and one that it does not. */
  readonly listed: number;
  readonly unlisted: number;
  /** Sockets outside that answer. */
  readonly agent: string;
  readonly tmux: string;
  readonly bus: string;
  /** A process outside that must live on. */
  readonly victim: number;
  /** Requests that reached the unlisted port, and connections to the sockets. */
  readonly reached: string[];
}

export interface Ran {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

/** Calls of the kernel without a compiler: `deno run call.js NUMBER ARGS…` prints result and error number. */
const CALL = `
const libc = Deno.dlopen(Deno.build.arch === "x86_64" || Deno.build.arch === "aarch64" ? "libc.so.6" : "libc.so", {
  syscall: { parameters: ["i64", "i64", "i64", "buffer", "i64"], result: "i64" },
  __errno_location: { parameters: [], result: "pointer" },
});
const [number, a, b] = Deno.args.map(BigInt);
const result = libc.symbols.syscall(number, a ?? 0n, b ?? 0n, new TextEncoder().encode("x\\0"), 0n);
const errno = new Deno.UnsafePointerView(libc.symbols.__errno_location()).getInt32();
console.log(result === -1n ? "errno " + errno : "done " + result);
`;

/** Exchanges the paths A and B in one step, over and over, for a second: `deno run exchange.js NUMBER A B`. */
const EXCHANGE = `
const { symbols: { syscall } } = Deno.dlopen("libc.so.6", {
  syscall: { parameters: ["i64", "i64", "buffer", "i64", "buffer", "i64"], result: "i64" },
});
const [number, a, b] = Deno.args;
const path = (text) => new TextEncoder().encode(text + "\\0");
const until = Date.now() + 1000;
Deno.writeTextFileSync("started", "");
while (Date.now() < until) syscall(BigInt(number), -100n, path(a), -100n, path(b), 2n);
`;

/** Connects to a socket and says so. */
const CONNECT = `
for (const path of Deno.args) {
  try { (await Deno.connect({ transport: "unix", path })).close(); console.log("PWNED"); } catch (e) { console.log(e.name); }
}
`;

/**
 * Speaks to an address, and prints what comes back. The host `proxy` is the proxy in the variables, with its secret, if it
 * has one; `stranger` is the proxy without the secret.
 */
const TALK = `
const [to, port, ...lines] = Deno.args;
try {
  const proxy = URL.parse(Deno.env.get("HTTP_PROXY") ?? "");
  const hostname = to === "proxy" || to === "stranger" ? proxy.hostname : to;
  const own = hostname === to ? port : proxy.port;
  const secret = to === "proxy" && proxy.password !== ""
    ? ["Proxy-Authorization: Basic " + btoa(proxy.username + ":" + proxy.password)]
    : [];
  const connection = await Deno.connect({ hostname, port: Number(own) });
  const [first, ...rest] = lines;
  const text = [first, ...secret, ...rest, "", ""].join("\\r\\n");
  await connection.write(new TextEncoder().encode(text));
  console.log(await new Response(connection.readable).text());
} catch (e) { console.log(e.name); }
`;

/** Makes a fresh scene, runs `body` in it and takes everything away again. */
export async function inScene<T>(body: (scene: Scene) => Promise<T>): Promise<T> {
  const root = Deno.makeTempDirSync({ dir: Deno.realPathSync("/var/tmp"), prefix: "flemma-attack-" });
  const reached: string[] = [];
  const undo: (() => unknown)[] = [() => removeAll(root)];
  try {
    plant(
      root,
      ...[
        "project/notes.chat",
        "project/.flemma/config.yaml",
        "project/.flemma/tools/tool.ts",
        "project/main.ts",
      ],
      ...["outside/file", "home/.ssh/id", "home/.config/flemma/config.yaml", "home/.bashrc", "run/", "tmp/"],
      ...["home/.local/state/flemma/trust.json", "home/.config/gcloud/key"],
    );
    const project = `${root}/project`;
    for (
      const [name, text] of [["call.js", CALL], ["connect.js", CONNECT], ["exchange.js", EXCHANGE], [
        "talk.js",
        TALK,
      ]] as const
    ) {
      Deno.writeTextFileSync(`${project}/${name}`, text);
    }
    const { success } = new Deno.Command("git", { args: ["init", "-q"], cwd: project }).outputSync();
    if (!success) throw new Error("git init failed");
    const serve = () => {
      const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
        reached.push(request.url);
        return new Response("SERVED\n");
      });
      undo.push(() => server.shutdown());
      return server.addr.port;
    };
    const listen = (path: string) => {
      Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      const listener = Deno.listen({ transport: "unix", path });
      undo.push(() => listener.close());
      (async () => {
        for await (const connection of listener) {
          reached.push(path);
          connection.close();
        }
      })().catch(() => {});
      return path;
    };
    const victim = new Deno.Command("sleep", { args: ["600"], stdin: "null" }).spawn();
    undo.push(async () => {
      victim.kill("SIGKILL");
      await victim.status;
    });
    return await body({
      root,
      project,
      listed: serve(),
      unlisted: serve(),
      agent: listen(`${root}/agents/agent.sock`),
      tmux: listen(`${root}/tmp/tmux-7/default`),
      bus: listen(`${root}/run/bus`),
      victim: victim.pid,
      reached,
    });
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

/** Some attacks leave folders behind that their owner must open first. */
async function removeAll(root: string): Promise<void> {
  await new Deno.Command("chmod", { args: ["-R", "u+rwX", root], stderr: "null" }).output();
  await removeFolder(root);
}

/** The sandbox of a scene: the project writable, secrets hidden, everything else as it comes. */
export function sandboxOf(
  scene: Scene,
  policy: Partial<SandboxSettings["policy"]> = {},
  variables: Readonly<Record<string, string>> = {},
  backend = "bwrap",
): RunSandbox {
  const { root, project } = scene;
  return createSandbox({
    settings: settings({
      backend,
      policy: { rw_paths: ["urn:flemma:cwd", "~/.cache"], deny_read: ["$secrets"], ...policy },
    }),
    environment: world(root, {
      XDG_RUNTIME_DIR: `${root}/run`,
      TMPDIR: `${root}/tmp`,
      SSH_AUTH_SOCK: scene.agent,
      DENO_DIR: Deno.env.get("DENO_DIR") ?? `${root}/deno`,
      ANTHROPIC_API_KEY: "sk-secret",
      ...variables,
    }, project),
    document: `${project}/notes.chat`,
    // Named by a link, where an attack has planted one.
    protect: [
      `${project}/notes.chat`,
      `${project}/link.chat`,
      `${root}/home/.config/flemma/config.yaml`,
    ],
  });
}

/** One call of a built-in file tool, as the cycle makes it. */
export async function callTool(
  sandbox: RunSandbox,
  scene: Scene,
  [name, input]: readonly [string, ToolInput],
): Promise<Ran> {
  const definition = builtinTools().find((tool) => tool.name === name);
  if (definition === undefined) throw new Error(`there is no built-in tool ${name}`);
  const context = createContext({
    definition,
    toolId: "call_1",
    document: `${scene.project}/notes.chat`,
    settings: { tools: DEFAULT_SETTINGS.tools },
    environment: sandbox.host.environment,
    sandbox,
    signal: new AbortController().signal,
  });
  const { success, output, error } = await runTool(definition, completeInput(definition, input), context);
  return { out: String(output ?? ""), err: error ?? "", code: success ? 0 : 1 };
}

/** What the person does in the project afterwards, where nothing confines it. */
export function asPerson(scene: Scene, shell: string): Ran {
  const { code, stdout, stderr } = new Deno.Command("/bin/sh", {
    args: ["-c", shell],
    cwd: scene.project,
    clearEnv: true,
    env: { HOME: `${scene.root}/home`, PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C" },
    stdin: "null",
  }).outputSync();
  const decoder = new TextDecoder();
  return { out: decoder.decode(stdout), err: decoder.decode(stderr), code };
}

/** Runs one command to its end; whatever it left running is killed as the tools do it. */
export async function attack(sandbox: RunSandbox, shell: string): Promise<Ran> {
  const prepared = await sandbox.prepare(["/bin/sh", "-c", shell]);
  if (!prepared.ok) throw new Error(prepared.problem.message);
  try {
    const { cwd, variables } = sandbox.host.environment;
    const added = sandbox.addedVariables();
    const env = toolEnvironment(variables, DEFAULT_SETTINGS.tools.env, { sandboxed: true, added });
    for (;;) {
      const started = spawn(prepared.value.argv, { cwd, env });
      if (!started.ok) throw new Error(started.problem.message);
      const output = Promise.all([
        new Response(started.value.stdout).text(),
        new Response(started.value.stderr).text(),
      ]);
      const { code, signal } = await started.value.status;
      await started.value.kill();
      const [out, err] = await output;
      const failed = await prepared.value.setupFailure(err, signal);
      if (failed === null) return { out, err, code };
      // A socket of another program vanished during the set-up: it is tried again, as for a tool.
      if (prepared.value.mayRunAgain?.() !== true) throw new Error(failed.message);
    }
  } finally {
    await prepared.value.dispose();
  }
}
