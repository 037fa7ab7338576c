// A machine as somebody has it who never saw this project: an empty home, and on the PATH what is put there.

export interface Finished {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Commands with the paths of their programs. */
export type Programs = Readonly<Record<string, string>>;

export interface Machine {
  /** Holds `home`, with `project` in it, and nothing else of anybody. Its path has blanks. */
  readonly root: string;
  readonly home: string;
  readonly project: string;
  /**
   * Runs a program in a folder, `project` unless another is named.
   *
   * @param options.offline without any network
   */
  run(
    words: readonly string[],
    options?: { offline?: boolean; folder?: string; input?: string },
  ): Promise<Finished>;
}

/** Programs of the system that bring packages or run scripts, which would stand in for what somebody does not have. */
const LEFT_OUT = /^(node|nodejs|npm|npx|corepack|pnpm|pnpx|yarn|yarnpkg|bun|bunx|deno|flemma)$/;

/** What a bare machine has beside its tools: what the launcher needs, and what the demo's commands do. */
const BARE = ["sh", "readlink", "uname", "env", "bash", "cat"];

/**
 * Makes a machine, hands it to `body` and removes it.
 *
 * @param place.programs commands that are on the PATH before those of the system, each with the path of its program
 * @param place.registry the registry of the person's npm
 * @param place.bare whether the system has next to nothing, no bubblewrap either
 */
export async function withMachine<Result>(
  place: { readonly programs: Programs; readonly registry: string; readonly bare?: boolean },
  body: (machine: Machine) => Promise<Result>,
): Promise<Result> {
  // Not below /tmp: every sandbox makes that writable.
  const root = await Deno.makeTempDir({ dir: await Deno.realPath("/var/tmp"), prefix: "flemma installs " });
  try {
    const home = `${root}/a person's home`;
    const project = `${home}/my project`;
    for (const folder of [home, project, `${root}/tmp`, `${root}/bin`, `${root}/system`]) {
      await Deno.mkdir(folder, { mode: 0o700 });
    }
    await Deno.writeTextFile(
      `${home}/.npmrc`,
      `registry=${place.registry}/\nprefix=${home}/.global\nupdate-notifier=false\naudit=false\nfund=false\n`,
    );
    for (const [command, program] of Object.entries(place.programs)) {
      await put(program, `${root}/bin/${command}`);
    }
    for (const { name } of place.bare ? BARE.map((name) => ({ name })) : Deno.readDirSync("/usr/bin")) {
      if (!LEFT_OUT.test(name)) await Deno.symlink(`/usr/bin/${name}`, `${root}/system/${name}`);
    }
    const env = environment(root, home, place.registry);
    return await body({
      root,
      home,
      project,
      run: (words, { offline = false, folder = project, input } = {}) =>
        finished(offline ? [...WITHOUT_NETWORK, "--", ...words] : words, folder, env, input),
    });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

/** Makes a command; what Node runs is started by the Node of the machine. */
async function put(program: string, command: string): Promise<void> {
  const real = await Deno.realPath(program);
  if (/\.c?js$/.test(real)) {
    await Deno.writeTextFile(command, `#!/bin/sh\nexec node '${real}' "$@"\n`, { mode: 0o755 });
  } else await Deno.symlink(real, command);
}

const WITHOUT_NETWORK = ["/usr/bin/bwrap", "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent"];

function environment(root: string, home: string, registry: string): Record<string, string> {
  const global = [
    `${home}/.global/bin`,
    `${home}/.pnpm`,
    `${home}/.pnpm/bin`,
    `${home}/.bun/bin`,
    `${home}/.yarn/bin`,
  ];
  return {
    HOME: home,
    PATH: [...global, `${root}/bin`, `${root}/system`].join(":"),
    TMPDIR: `${root}/tmp`,
    LANG: "C.UTF-8",
    PNPM_HOME: `${home}/.pnpm`,
    // Yarn reads no .npmrc, and takes no registry without TLS unless it is told to.
    YARN_NPM_REGISTRY_SERVER: registry,
    YARN_UNSAFE_HTTP_WHITELIST: "127.0.0.1",
    YARN_ENABLE_TELEMETRY: "0",
    BUN_INSTALL: `${home}/.bun`,
    DO_NOT_TRACK: "1",
    CI: "1",
  };
}

async function finished(
  [program = "", ...args]: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  input = "",
): Promise<Finished> {
  const child = new Deno.Command(program.includes("/") ? program : "/usr/bin/env", {
    args: program.includes("/") ? args : [program, ...args],
    cwd,
    clearEnv: true,
    env: { ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [{ code, stdout, stderr }] = await Promise.all([
    child.output(),
    // A program that reads nothing may be gone first.
    new Blob([input]).stream().pipeTo(child.stdin).catch(() => {}),
  ]);
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, out: text(stdout), error: text(stderr) };
}
