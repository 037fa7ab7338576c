// The program run from a URL: its unchanged sources, and the bundle, of which two versions never mix.

import assert from "node:assert/strict";
import { bundleProgram } from "../../scripts/build/bundle.ts";
import { versioned } from "../../scripts/build/versioned.ts";
import { ROOMS } from "../../scripts/gate/layers.ts";
import { ROOT } from "../../scripts/gate/root.ts";
import { denoFolder, freshFolder } from "../folder.ts";

interface Finished {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

interface Place {
  readonly folder: string;
  /** Where the files of `served` are to be had. */
  readonly address: string;
  /** What the address shows; may be exchanged. */
  served: string;
  run(flags: readonly string[], words: readonly string[], stdin?: string): Promise<Finished>;
}

/** Serves a folder over loopback, to a Deno whose cache has the packages of npm and nothing else. */
async function withAddress(body: (place: Place) => Promise<void>): Promise<void> {
  const folder = await freshFolder("flemma-address-");
  const place = { served: ROOT };
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const path = `${place.served}${new URL(request.url).pathname}`;
    const types: Readonly<Record<string, string>> = {
      ts: "application/typescript",
      json: "application/json",
    };
    try {
      const type = types[path.slice(path.lastIndexOf(".") + 1)] ?? "text/javascript";
      return new Response(await Deno.readFile(path), { headers: { "content-type": type } });
    } catch {
      return new Response(null, { status: 404 });
    }
  });
  const { port } = server.addr as Deno.NetAddr;
  try {
    for (const name of ["home", "cache", "work"]) await Deno.mkdir(`${folder}/${name}`);
    await Deno.symlink(`${denoFolder()}/npm`, `${folder}/cache/npm`);
    await Deno.writeTextFile(`${folder}/work/a.chat`, "@You:\nHello\n");
    await body(Object.assign(place, {
      folder,
      address: `http://127.0.0.1:${port}`,
      async run(flags: readonly string[], words: readonly string[], stdin?: string): Promise<Finished> {
        const child = new Deno.Command(Deno.execPath(), {
          args: ["run", "--quiet", "--no-prompt", ...flags, ...words],
          cwd: `${folder}/work`,
          clearEnv: true,
          env: {
            PATH: "/usr/bin:/bin",
            HOME: `${folder}/home`,
            DENO_DIR: `${folder}/cache`,
            NO_COLOR: "1",
            DENO_NO_UPDATE_CHECK: "1",
          },
          stdin: stdin === undefined ? "null" : "piped",
          stdout: "piped",
          stderr: "piped",
        }).spawn();
        if (stdin !== undefined) await new Blob([stdin]).stream().pipeTo(child.stdin);
        const { code, stdout, stderr } = await child.output();
        const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
        return { code, out: text(stdout), error: text(stderr) };
      },
    }));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("the unchanged sources run from a URL without an import map", () =>
  withAddress(async ({ folder, address, run }) => {
    await Deno.mkdir(`${folder}/home/.config/flemma`, { recursive: true });
    await Deno.writeTextFile(`${folder}/home/.config/flemma/config.yaml`, "model: claude-haiku-4-5\n");
    const { code, out, error } = await run(["-A"], [`${address}/cli.ts`, "status", "a.chat"]);
    assert.equal(code, 0, error);
    assert.match(out, /^next: flemma advance a\.chat sends the conversation$/m);
  }));

Deno.test("every import of a package in the program names the version from the list of imports in deno.json", async () => {
  const { imports } = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.json`));
  const pinned: readonly string[] = Object.values<string>(imports).map((one) => one.replace("npm:/", "npm:"));
  const isPinned = (specifier: string) =>
    pinned.some((one) => specifier === one || specifier.startsWith(one.endsWith("/") ? one : `${one}/`));
  const faults: string[] = [];
  let seen = 0;
  for (const room of Object.keys(ROOMS).filter((name) => !name.endsWith(".ts"))) {
    for (const path of modulesBelow(`${ROOT}/${room}`)) {
      // What hosts of Lezer import is no part of the program.
      if (path.includes("/parser/lezer/")) continue;
      const text = (await Deno.readTextFile(path)).replace(/^\s*(?:\*|\/\/).*$/gm, "");
      for (
        const [, type, from, late] of text.matchAll(
          /^(?:import|export)( type)?[^"';]*? from "([^".][^"]*)"|import\("([^".][^"]*)"\)/gm,
        )
      ) {
        const specifier = from ?? late!;
        if (specifier.startsWith("node:")) continue;
        if (type !== undefined && from !== undefined && !specifier.startsWith("npm:")) continue;
        seen++;
        if (!isPinned(specifier)) faults.push(`${path.slice(ROOT.length + 1)}: ${specifier}`);
      }
    }
  }
  assert.deepEqual(faults, []);
  assert.ok(seen > 20, `${seen} imports were seen`);
});

function modulesBelow(folder: string): string[] {
  return Array.from(Deno.readDirSync(folder)).flatMap(({ name, isDirectory }) =>
    isDirectory
      ? modulesBelow(`${folder}/${name}`)
      : /(?<!generated)\.ts$/.test(name)
      ? [`${folder}/${name}`]
      : []
  );
}

Deno.test("a bundle at a URL loads only parts of its own version, and if these are gone, it says what to do", () =>
  withAddress(async (place) => {
    const { folder, address, run } = place;
    const built = `${folder}/built`;
    await Deno.mkdir(built);
    await bundleProgram(`${built}/flemma.js`);
    const names: string[] = [];
    for (const [version, mark] of [["one", ""], ["two", "console.error('the second version');\n"]] as const) {
      await Deno.mkdir(`${folder}/${version}/flemma`, { recursive: true });
      for (const { name } of Deno.readDirSync(`${built}/flemma`)) {
        const text = await Deno.readTextFile(`${built}/flemma/${name}`);
        await Deno.writeTextFile(
          `${folder}/${version}/flemma/${name}`,
          name === "main.js" ? mark + text : text,
        );
      }
      await Deno.copyFile(`${built}/flemma.js`, `${folder}/${version}/flemma.js`);
      names.push(await versioned(`${folder}/${version}/flemma.js`));
    }
    assert.notEqual(names[0], names[1]);
    for (const name of names) assert.match(name, /^flemma-\d+\.\d+\.\d+-[0-9a-f]{12}$/);

    const program = `${address}/flemma.js`;
    place.served = `${folder}/one`;
    assert.match((await run(["-A"], [program, "--version"])).out, /^flemma \d/);
    // The server has another version now. Of the first one nothing but the first file was fetched.
    place.served = `${folder}/two`;
    const gone = await run(["-A"], [program, "advance"], "@You:\nHello\n");
    assert.equal(gone.out, "@You:\nHello\n");
    assert.match(
      gone.error,
      /Could not fetch a part of flemma: .*\n {2}Start it once with deno run --reload/,
    );
    assert.equal(gone.code, 1);
    // The runtime remembers what it did not find; so somebody else now, who fetched the first file just before.
    await Deno.remove(`${folder}/cache/remote`, { recursive: true });
    place.served = `${folder}/one`;
    assert.match((await run(["-A"], [program, "--version"])).out, /^flemma \d/);
    place.served = `${folder}/two`;
    // While it still has the first one's parts, these are what is run.
    for (const { name } of Deno.readDirSync(`${folder}/one/${names[0]}`)) {
      await Deno.mkdir(`${folder}/two/${names[0]}`, { recursive: true });
      await Deno.copyFile(`${folder}/one/${names[0]}/${name}`, `${folder}/two/${names[0]}/${name}`);
    }
    assert.deepEqual(await run(["-A"], [program, "check", "a.chat"]), { code: 0, out: "", error: "" });
    await Deno.remove(`${folder}/two/${names[0]}`, { recursive: true });
    const later = await run(["-A"], [program, "send"], "@You:\nHello\n");
    assert.equal(later.out, "@You:\nHello\n");
    assert.match(later.error, /Could not fetch a part of flemma/);
    const fresh = await run(["-A", "--reload"], [program, "check", "a.chat"]);
    assert.deepEqual(fresh, { code: 0, out: "", error: "the second version\n" });
  }));

Deno.test("the permissions on the install page are sufficient, and without any one of them flemma fails and names it", () =>
  withAddress(async ({ run }) => {
    const page = await Deno.readTextFile(`${ROOT}/docs/reference/install.md`);
    const rows = [...page.matchAll(/^\| (`.*`) \| (?:none|`(--.*)`) \|$/gm)].map(([, commands, flags]) => ({
      commands: [...commands!.matchAll(/`([^`]+)`/g)].map(([, command]) => command!),
      flags: flags?.split(" ") ?? [],
    }));
    assert.deepEqual(rows.map(({ flags }) => flags.length), [0, 2, 4]);
    const more: Readonly<Record<string, readonly string[]>> = {
      check: ["a.chat"],
      parse: ["--json", "a.chat"],
      config: ["show"],
      models: ["list"],
      status: ["a.chat"],
      approve: ["a.chat", "--all"],
      reject: ["a.chat", "--all"],
      undo: ["a.chat"],
      "tools list": ["a.chat"],
      "approval explain": ["a.chat"],
    };
    const started = (flags: readonly string[], command: string) =>
      run(flags, [`${ROOT}/cli.ts`, ...command.split(" "), ...more[command] ?? []]);
    for (const { commands, flags } of rows) {
      for (const command of commands) {
        const { out, error } = await started(flags, command);
        assert.doesNotMatch(
          out + error,
          /permission|Requires|Internal error|Help: flemma .*--help/,
          command,
        );
      }
      for (const flag of flags) {
        const { code, error } = await started(flags.filter((other) => other !== flag), commands[0]!);
        assert.match(error, new RegExp(`Missing permission ${flag}: flemma requires `));
        assert.equal(code, 1);
      }
    }
  }));

Deno.test("if a permission is missing, a filter prints the document unchanged", () =>
  withAddress(async ({ run }) => {
    const { out, error, code } = await run(["--allow-read"], [`${ROOT}/cli.ts`, "advance"], "@You:\nHello\n");
    assert.equal(out, "@You:\nHello\n");
    assert.match(error, /Missing permission --allow-env/);
    assert.equal(code, 1);
  }));
