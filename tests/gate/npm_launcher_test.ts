// The script that npm links as `flemma` finds its Deno, wherever a package manager puts that.

import assert from "node:assert/strict";
import { inFolder, testInFolder as test, writeProgram } from "../folder.ts";

const LAUNCHER = new URL("../../scripts/build/npm/flemma.bin", import.meta.url).pathname;
const SYSTEM = `${Deno.build.os}-${Deno.build.arch === "x86_64" ? "x64" : "arm64"}${
  Deno.build.os === "linux" ? "-glibc" : ""
}`;

interface Layout {
  /** Where the package lies. */
  readonly at: string;
  /** Programs that stand for Deno. */
  readonly deno: readonly string[];
  /** Links, `from -> to`. */
  readonly links?: readonly string[];
  /** What is started. */
  readonly start: string;
  readonly path?: string;
  readonly node?: string;
}

/** Lays the package out, starts it, and answers what the program that stood for Deno was given, with its own place. */
async function started({ at, deno, links = [], start, path = "", node }: Layout) {
  return await inFolder(async (folder) => {
    const root = `${folder}/a package`;
    await Deno.mkdir(`${root}/${at}/bin`, { recursive: true });
    await Deno.copyFile(LAUNCHER, `${root}/${at}/bin/flemma.bin`);
    for (const place of [...deno, ...(node === undefined ? [] : [node])]) {
      await Deno.mkdir(`${root}/${place.slice(0, place.lastIndexOf("/"))}`, { recursive: true });
      writeProgram(
        `${root}/${place}`,
        `#!/bin/sh\nprintf '%s\\n' "$(readlink -f -- "$0")" "$@" "$DENO_NO_UPDATE_CHECK"\nexit 3\n`,
      );
    }
    for (const link of links) {
      const [from, to] = link.split(" -> ") as [string, string];
      await Deno.mkdir(`${root}/${from.slice(0, from.lastIndexOf("/"))}`, { recursive: true });
      await Deno.symlink(to, `${root}/${from}`);
    }
    // No other Deno may be on the PATH.
    await Deno.mkdir(`${root}/system`);
    for (const name of ["readlink", "uname"]) {
      await Deno.symlink(`/usr/bin/${name}`, `${root}/system/${name}`);
    }
    const { code, stdout, stderr } = await new Deno.Command("/bin/sh", {
      args: ["-c", 'exec "$0" "$@"', start.startsWith("/") ? start : `./${start}`, "say", "a b", ""],
      cwd: root,
      clearEnv: true,
      env: {
        PATH: `${root}/${path || "nothing"}:${root}/system`,
        CDPATH: "/",
        ...(node === undefined ? {} : { NODE_OPTIONS: `--require ${root}/.pnp.cjs` }),
      },
    }).output();
    const lines = new TextDecoder().decode(stdout).trimEnd().split("\n");
    return {
      code,
      lines: lines.map((line) => line.replace(root, "ROOT")),
      stated: new TextDecoder().decode(stderr),
    };
  });
}

const FLAGS = ["run", "--no-config", "--no-lock", "--cached-only", "--quiet", "-A"];

/** Which folder of a layout has the Deno that is to be started; the others have another one. */
const LAYOUTS: Readonly<Record<string, Layout & { readonly finds: string }>> = {
  "a flat folder of packages, as npm and yarn create it": {
    at: "node_modules/flemma",
    deno: [`node_modules/@deno/${SYSTEM}/deno`],
    links: ["node_modules/.bin/flemma -> ../flemma/bin/flemma.bin"],
    start: "node_modules/.bin/flemma",
    finds: `node_modules/@deno/${SYSTEM}/deno`,
  },
  "a folder with a different version nested below the package": {
    at: "node_modules/flemma",
    deno: [`node_modules/@deno/${SYSTEM}/deno`, `node_modules/flemma/node_modules/@deno/${SYSTEM}/deno`],
    links: ["node_modules/.bin/flemma -> ../flemma/bin/flemma.bin"],
    start: "node_modules/.bin/flemma",
    finds: `node_modules/flemma/node_modules/@deno/${SYSTEM}/deno`,
  },
  "a folder outside the package's own, as pnpm creates it": {
    at: "node_modules/.pnpm/flemma@1/node_modules/flemma",
    deno: [`node_modules/.pnpm/@deno+${SYSTEM}@2/node_modules/@deno/${SYSTEM}/deno`],
    links: [
      "node_modules/flemma -> .pnpm/flemma@1/node_modules/flemma",
      `node_modules/.pnpm/flemma@1/node_modules/@deno/${SYSTEM} -> ../../../@deno+${SYSTEM}@2/node_modules/@deno/${SYSTEM}`,
    ],
    start: "node_modules/flemma/bin/flemma.bin",
    finds: `node_modules/.pnpm/@deno+${SYSTEM}@2/node_modules/@deno/${SYSTEM}/deno`,
  },
  "a chain of links, one of them from a distant folder": {
    at: "opt/lib/node_modules/flemma",
    deno: [`opt/lib/node_modules/flemma/node_modules/@deno/${SYSTEM}/deno`],
    links: [
      "opt/bin/flemma -> ../lib/node_modules/flemma/bin/flemma.bin",
      "home/bin -> ../opt/bin",
      "start here -> home/bin/flemma",
    ],
    start: "start here",
    finds: `opt/lib/node_modules/flemma/node_modules/@deno/${SYSTEM}/deno`,
  },
  "a package whose dependencies are in parent folders": {
    at: "a/node_modules/x/node_modules/flemma",
    deno: [`a/node_modules/@deno/${SYSTEM}/deno`],
    start: "a/node_modules/x/node_modules/flemma/bin/flemma.bin",
    finds: `a/node_modules/@deno/${SYSTEM}/deno`,
  },
  "a folder that also contains an unrelated Deno": {
    at: "node_modules/flemma",
    deno: [`node_modules/node_modules/@deno/${SYSTEM}/deno`, `node_modules/@deno/${SYSTEM}/deno`],
    start: "node_modules/flemma/bin/flemma.bin",
    finds: `node_modules/@deno/${SYSTEM}/deno`,
  },
  "a folder with Deno for several systems": {
    at: "node_modules/flemma",
    deno: [
      "node_modules/@deno/aix-ppc64/deno",
      `node_modules/@deno/${SYSTEM}/deno`,
      "node_modules/@deno/zos-s390/deno",
    ],
    start: "node_modules/flemma/bin/flemma.bin",
    finds: `node_modules/@deno/${SYSTEM}/deno`,
  },
  "a package without Deno, with a Deno on the PATH": {
    at: "node_modules/flemma",
    deno: ["tools/deno"],
    path: "tools",
    start: "node_modules/flemma/bin/flemma.bin",
    finds: "tools/deno",
  },
};

for (const [name, layout] of Object.entries(LAYOUTS)) {
  Deno.test(`npm: flemma finds Deno and starts from ${name}`, async () => {
    const { code, lines, stated } = await started(layout);
    assert.equal(stated, "");
    assert.deepEqual(lines, [
      `ROOT/${layout.finds}`,
      ...FLAGS,
      `ROOT/${layout.at}/lib/flemma.js`,
      "say",
      "a b",
      "",
      "1",
    ]);
    assert.equal(code, 3);
  });
}

Deno.test("npm: if packages are stored in archives, the program is started by Node, which finds Deno", async () => {
  const { code, lines } = await started({
    at: "unplugged/node_modules/flemma",
    deno: [],
    start: "unplugged/node_modules/flemma/bin/flemma.bin",
    path: "tools",
    node: "tools/node",
  });
  assert.deepEqual(lines, [
    "ROOT/tools/node",
    "ROOT/unplugged/node_modules/flemma/bin/flemma.cjs",
    "say",
    "a b",
  ]);
  assert.equal(code, 3);
});

Deno.test("npm: if there is no Deno for this system, the message says so and explains how to get one", async () => {
  const { code, lines, stated } = await started({
    at: "node_modules/flemma",
    // One that is for other systems only counts as none.
    deno: [
      "node_modules/deno/package",
      "node_modules/@deno/aix-ppc64/deno",
      "node_modules/@deno/zos-s390/deno",
    ],
    start: "node_modules/flemma/bin/flemma.bin",
  });
  assert.equal(code, 1);
  assert.deepEqual(lines, [""]);
  assert.equal(
    stated,
    "flemma: The package for this system was not found, so there is no Deno.\n" +
      "  Install flemma again without --omit=optional or --no-optional, or put Deno on the PATH.\n",
  );
});

test("if Deno itself cannot start, a filter prints the document unchanged, and flemma reports the cause", async (root) => {
  await Deno.writeTextFile(`${root}/file`, "");
  const document = "@You:\nhi\n";
  const run = async (line: string, home: string) => {
    const { code, stdout, stderr } = await new Deno.Command("/bin/sh", {
      args: ["-c", `printf '@You:\\nhi\\n' | (${line})`, LAUNCHER],
      cwd: root,
      env: { HOME: home },
    }).output();
    return [code, new TextDecoder().decode(stdout), new TextDecoder().decode(stderr)] as const;
  };
  const gone = (words: string) => `mkdir gone; cd gone; rmdir ../gone; "$0" ${words}`;
  const rows: readonly (readonly [line: string, home: string, out: string, reported: RegExp])[] = [
    [gone("advance"), root, document, /The working folder cannot be used: it was deleted/],
    [gone(""), root, document, /The working folder cannot be used/],
    [gone("-q"), root, document, /The working folder cannot be used/],
    [gone(`advance ${root}/file`), root, "", /The working folder cannot be used/],
    [gone("status"), root, "", /The working folder cannot be used/],
    ['"$0" approve', `${root}/file`, document, /HOME names \S+\/file, and \S+\/file is not a folder/],
    [
      '"$0" approve',
      `${root}/file/a/b`,
      document,
      /HOME names \S+\/file\/a\/b, and \S+\/file is not a folder/,
    ],
  ];
  for (const [line, home, out, reported] of rows) {
    const [code, stdout, stderr] = await run(line, home);
    assert.deepEqual([code, stdout], [1, out], `${line} ${home}: ${stderr}`);
    assert.match(stderr, reported);
  }
  // What Deno takes is left to it: a home that is missing, is not told, or is no absolute path.
  for (const home of [`${root}/nothing/here`, "", "here/x"]) {
    const [, , stderr] = await run('"$0" --version', home);
    assert.doesNotMatch(stderr, /HOME names/, home);
  }
});
