// Runs the tests of the command line with the program started in each form in which it is distributed.
//
//   test_ways.ts [WAY,WAY…] [FILE…]   the tests in FILE, or those of the command line, in these ways or in all
//
// A binary needs a base, given by DENORT_BIN (and COMPILE_DENO with the Deno of its version). npm installs the package
// into an empty project; from then on the only runtime on the PATH is Node 22.

import { buildPackages } from "../build/npm.ts";
import { print, ROOT } from "./root.ts";
import { asBinary, baseOfEnvironment, fromSource, makeBundle, type Way, withoutRuntimes } from "./ways.ts";

/** The version of Node for the package. */
const NODE = "22";

const WAYS: Readonly<Record<string, (folder: string) => Promise<Way>>> = {
  source: () => Promise.resolve(fromSource()),
  bundle: (folder) => makeBundle(`${folder}/bundle`),
  npm: installed,
  async binary(folder) {
    const base = baseOfEnvironment();
    if (base === null) throw new Error("a binary needs a base: name one by DENORT_BIN");
    await makeBundle(`${folder}/bundle`);
    return await asBinary(`${folder}/bundle`, folder, base);
  },
};

const [first = "", ...rest] = Deno.args;
const named = first.split(",").every((name) => Object.hasOwn(WAYS, name)) ? first.split(",") : [];
const files = named.length > 0 ? rest : Deno.args;
for (const file of files) {
  if (!file.startsWith("-") && !await Deno.stat(`${ROOT}/${file}`).then(() => true, () => false)) {
    print(`deno task test-ways [${Object.keys(WAYS).join(",")}] [FILE…]: there is no ${file}`);
    Deno.exit(2);
  }
}

const broken: string[] = [];
for (const name of named.length > 0 ? named : Object.keys(WAYS)) {
  const folder = await Deno.makeTempDir({ dir: "/var/tmp", prefix: `flemma-way-${name}-` });
  try {
    const { program, path } = await WAYS[name]!(folder);
    print(`== ${name}: ${program.join(" ")}`);
    const { code } = await new Deno.Command(Deno.execPath(), {
      args: ["test", "-A", "--parallel", ...(files.length > 0 ? files : ["tests/cli"])],
      cwd: ROOT,
      env: {
        ...{ NO_COLOR: "1", DENO_JOBS: Deno.env.get("DENO_JOBS") ?? "2" },
        ...{ PATH: path, FLEMMA_TEST_PROGRAM: JSON.stringify(program), FLEMMA_TEST_PROCESSES: "1" },
      },
      stdin: "null",
      stdout: "inherit",
      stderr: "inherit",
    }).spawn().status;
    if (code !== 0) broken.push(name);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
print(broken.length === 0 ? "the same in every way" : `FAILED: ${broken.join(", ")}`);
Deno.exit(broken.length === 0 ? 0 : 1);

/** Returns the package, installed by npm in an empty project. */
async function installed(folder: string): Promise<Way> {
  const npm = async (cwd: string, ...args: string[]) => {
    const { success, stdout, stderr } = await new Deno.Command("npm", { args, cwd, stdin: "null" }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout).trim();
  };
  const [built] = await buildPackages(`${folder}/built`);
  const archive = await npm(folder, "pack", "--silent", "--pack-destination", folder, built!);
  const flags = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  for (const name of ["project", "node"]) {
    await Deno.mkdir(`${folder}/${name}`);
    await Deno.writeTextFile(`${folder}/${name}/package.json`, '{"name":"somebody","private":true}');
  }
  const runtime = `node-${Deno.build.os}-${Deno.build.arch === "x86_64" ? "x64" : "arm64"}`;
  await npm(`${folder}/node`, "install", ...flags, `${runtime}@${NODE}`);
  await npm(`${folder}/project`, "install", ...flags, `${folder}/${archive}`);
  return {
    program: [`${folder}/project/node_modules/.bin/flemma`],
    path: await withoutRuntimes(`${folder}/bin`, `${folder}/node/node_modules/${runtime}/bin/node`),
  };
}
