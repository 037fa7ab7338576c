// Rehearses a release on fresh Debian machines: `deno task rehearsal [--files FOLDER] [--from COMMIT] [WORD…]`.
//
//   rehearsal.ts                  makes the release in a fresh clone of the last commit, and tries every way to install it
//   rehearsal.ts --files FOLDER   tries the files that `deno task release make --deno …` left in FOLDER
//   rehearsal.ts --from COMMIT    also upgrades from that commit and goes back, with documents, state, keys and sign-ins
//   rehearsal.ts … WORD…          tries only what has one of these words in its name

import { parseArgs } from "node:util";
import manifest from "../../deno.json" with { type: "json" };
import { parseReplayScript, startReplay } from "../../providers/replay/server.ts";
import { serveProtected } from "../../tests/tools/mcp/authorization_server.ts";
import { checkPage } from "../gate/examples.ts";
import { print, ROOT } from "../gate/root.ts";
import { configuredRegistry } from "./installs/pinned.ts";
import { startRegistry } from "./installs/registry.ts";
import { programsOf } from "./installs/tools.ts";
import { output } from "./packages/run.ts";
import { listedFiles } from "./rehearsal/left_over.ts";
import { HOME, withMachine } from "./rehearsal/machine.ts";
import { type Way, waysOf, withPackages } from "./rehearsal/ways.ts";

const PAGE = "docs/guide/first-conversation.md";
const EDITORS = ["vim", "neovim", "emacs", "kakoune", "helix", "vscode"];
const { version } = manifest;
/** Puts a page's files into the user's home, and makes the user the owner of the page's folder. */
const GIVE = `cp -r "$1/home/." "$2" && chown -R 1000:1000 "$2"`;

const { values: { files: made, from }, positionals: words } = parseArgs({
  args: Deno.args,
  options: { files: { type: "string" }, from: { type: "string" } },
  allowPositionals: true,
});
if (Deno.uid() !== 0 || Deno.build.target !== "x86_64-unknown-linux-gnu") {
  print("This creates Debian machines, so it needs root, debootstrap and Linux on x86_64.");
  Deno.exit(1);
}
const work = await Deno.makeTempDir({ dir: "/var/tmp", prefix: "flemma-rehearsal-" });
const files = `${work}/files`;
let isGood = true;
let tried = 0;
try {
  await output("install", ["-d", "-m", "755", work, files]);
  if (made === undefined) await makeIn(files);
  else await output("cp", ["-r", `${made}/.`, files]);
  await output("sha256sum", ["--quiet", "--check", "SHA256SUMS"], { cwd: files });
  await output("tar", ["-xzf", `flemma-${version}.tar.gz`], { cwd: files });
  await addPrograms();
  await using registry = startRegistry([], await configuredRegistry());
  await using server = serveFiles(`${files}/flemma-${version}`);
  for (const way of waysOf(version, `http://127.0.0.1:${server.addr.port}`)) {
    await report(way.name, () => tryWay(way, registry.address));
  }
  if (from !== undefined) {
    await buildFrom(from);
    await report(`upgrade from ${from}, and back`, () => tryPrograms("upgrade.sh"));
    await report(`keys and sign-ins, also from ${from}`, () => tryPrograms("keys.sh"));
  }
} finally {
  await Deno.remove(work, { recursive: true });
}
if (tried === 0) print(`No trial has ${words.join(" or ")} in its name.`);
Deno.exit(isGood && tried > 0 ? 0 : 1);

/** Makes the release as docs/project/releasing.md says, in a fresh clone of the last commit. */
async function makeIn(target: string): Promise<void> {
  const clone = `${work}/clone`;
  await output("git", ["clone", "--quiet", ROOT, clone]);
  const task = (...words: string[]) => output(Deno.execPath(), ["task", "--quiet", ...words], { cwd: clone });
  await task("release", "prepare", version);
  await task("generate");
  const author = ["-c", "user.name=Rehearsal", "-c", "user.email=rehearsal@example.org"];
  await output("git", [...author, "commit", "--all", "--quiet", "--message", `Release ${version}`], {
    cwd: clone,
  });
  const address = "https://example.org/flemma";
  const origin = [
    "--homepage",
    address,
    "--address",
    address,
    "--maintainer",
    "Rehearsal <rehearsal@example.org>",
  ];
  await task("release", "make", ...origin, "--deno", Deno.execPath(), "--output", target);
}

/** Adds the programs that machines have before, and the scripts of `rehearsal/`. */
async function addPrograms(): Promise<void> {
  await Deno.mkdir(`${files}/programs`);
  await output("cp", [Deno.execPath(), `${files}/programs/deno`]);
  for (const name of ["node20", "node22", "node24", "npm10"] as const) {
    // The program is in the folder `bin` of its package.
    const [path = ""] = Object.values(await programsOf([name]));
    await output("cp", ["-rL", path.replace(/\/bin\/[^/]+$/, ""), `${files}/programs/${name}`]);
  }
  await output("cp", ["-r", `${ROOT}/scripts/release/rehearsal`, `${files}/scripts`]);
  await output("chmod", ["-R", "a+rX", files]);
}

/** Builds the program of an earlier commit. */
async function buildFrom(commit: string): Promise<void> {
  const clone = `${work}/before`;
  await output("git", ["clone", "--quiet", ROOT, clone]);
  await output("git", ["checkout", "--quiet", commit], { cwd: clone });
  await output(Deno.execPath(), ["task", "--quiet", "build"], { cwd: clone });
  await output("cp", ["-r", `${clone}/dist`, `${files}/before`]);
  await output("chmod", ["-R", "a+rX", files]);
}

/** Prints what came out of one trial, unless it is not among the words. */
async function report(name: string, run: () => Promise<string | null>): Promise<void> {
  if (words.length > 0 && !words.some((word) => name.includes(word))) return;
  tried++;
  const begun = performance.now();
  const fault = await run();
  const seconds = Math.round((performance.now() - begun) / 1000);
  print(`${fault === null ? "ok    " : "FAILED"} ${name}, ${seconds} s`);
  if (fault !== null) print(`  ${fault.trimEnd().replaceAll("\n", "\n  ")}`);
  isGood &&= fault === null;
}

/** Installs flemma, does what the pages tell a new user to do, and removes it; returns what went wrong first. */
function tryWay(way: Way, registry: string): Promise<string | null> {
  return withMachine(files, async ({ upper, entering, run, written }) => {
    const root = way.needsRoot === true;
    const env = { npm_config_registry: `${registry}/`, npm_config_update_notifier: "false" };
    const given = await run(way.given ?? "true", { root: true });
    if (given !== null) return given;
    if (way.start !== undefined) {
      const script =
        `mkdir -p ~/.local/bin; printf '#!/bin/sh\\nexec ${way.start} "$@"\\n' > ~/.local/bin/flemma`;
      await run(`${script}; chmod 755 ~/.local/bin/flemma`);
    }
    const before = new Set(await written());
    const steps: readonly (() => Promise<string | null>)[] = [
      () => run(way.install, { root, env }),
      () => run(`flemma --version; [ "$(flemma --version)" = "flemma ${version}" ]`),
      () => run("flemma doctor || [ $? = 1 ]"),
      () =>
        run(
          `flemma demo > ~/demo; cat ~/demo; grep 'Commands run inside the sandbox (${way.sandbox})' ~/demo`,
        ),
      async () => {
        const faults = await checkPage(ROOT, PAGE, ["flemma"], {
          dir: `${upper}${HOME}`,
          onFile: (folder) => output("sh", ["-c", GIVE, "give", folder, `${upper}${HOME}`]).then(() => {}),
          wrap: entering,
        });
        return faults.length === 0 ? null : faults.join("\n");
      },
      () => run(EDITORS.map((name) => `flemma editor ${name} --install`).join("\n")),
      () =>
        run("rm -r ~/demo ~/.vim ~/.local/share/nvim ~/.emacs.d ~/.config/kak ~/.config/helix ~/.vscode*"),
      () => run(way.remove, { root, env }),
      async () => {
        const listed = await listedFiles({ "~": HOME });
        const left = (await written()).filter((path) =>
          !before.has(path) && !listed.test(path) && way.others?.test(path) !== true
        );
        return left.length === 0 ? null : `not listed in docs/reference/install.md:\n${left.join("\n")}`;
      },
    ];
    for (const step of steps) {
      const fault = await step();
      if (fault !== null) return fault;
    }
    return null;
  });
}

/** Runs a script of `rehearsal/` in which `before` and `after` are the two programs, with a model and an MCP server. */
async function tryPrograms(script: string): Promise<string | null> {
  const parsed = await parseReplayScript(await Deno.readTextFile(`${ROOT}/examples/replay/tutorial.yaml`));
  if (!parsed.ok) throw new Error(parsed.problem.message);
  await using model = await startReplay(parsed.value);
  const server = serveProtected();
  try {
    const fault = await withMachine(files, async ({ run }) => {
      const programs = Object.entries({ before: "before", after: `flemma-${version}` }).map((
        [name, folder],
      ) =>
        `printf '#!/bin/sh\\nexec deno run -A --quiet /release/${folder}/flemma.js "$@"\\n' > /usr/local/bin/${name}
        chmod 755 /usr/local/bin/${name}`
      );
      const packages = ["bubblewrap", "dbus", "gnome-keyring", "libsecret-tools"];
      const given = await run([withPackages(...packages), ...programs].join("\n"), { root: true });
      if (given !== null) return given;
      const env = { FLEMMA_ANTHROPIC_BASE_URL: model.url, MCP_SERVER: server.url };
      const isKeys = script === "keys.sh";
      return await run(
        `${
          isKeys ? "dbus-run-session -- " : "ANTHROPIC_API_KEY=replay "
        }bash -euo pipefail /release/scripts/${script}`,
        { env },
      );
    });
    const faults = [...(fault === null ? [] : [fault]), ...model.problems, ...server.faults];
    return faults.length === 0 ? null : faults.join("\n");
  } finally {
    await server.close();
  }
}

/** Serves the files of a folder on loopback. */
function serveFiles(folder: string): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const file = await Deno.open(`${folder}${decodeURIComponent(new URL(request.url).pathname)}`).catch(() =>
      null
    );
    if (file === null) return new Response(null, { status: 404 });
    return new Response(file.readable, { headers: { "content-type": "text/javascript" } });
  });
}
