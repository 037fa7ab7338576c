// The Debian package, made by dpkg-deb: its content, and that dpkg installs, starts and removes it in an empty root.

import assert from "node:assert/strict";
import { buildArchive } from "../../scripts/release/packages/archive.ts";
import {
  buildDebian,
  debianVersion,
  isMaintainer,
  type Runtime,
} from "../../scripts/release/packages/debian.ts";
import { needsOf } from "../../scripts/release/packages/elf.ts";
import { output } from "../../scripts/release/packages/run.ts";
import { COMPLETIONS } from "../../scripts/release/packages/contents.ts";
import { PAGES } from "../../scripts/build/pages.ts";
import type { Staged } from "../../scripts/release/packages/stage.ts";
import { inFolder, testInFolder as test } from "../folder.ts";

const hasDpkg = await output("dpkg-deb", ["--version"]).then(() => true, () => false);
const ignore = !hasDpkg;

/** A program that says its name as flemma does, staged as the real one is. */
async function staged(folder: string): Promise<Staged> {
  const parts = "flemma-1.2.0-0123456789ab";
  for (const name of [parts, "completions", "schemas"]) {
    await Deno.mkdir(`${folder}/${name}`, { recursive: true });
  }
  await Deno.writeTextFile(`${folder}/flemma.js`, `await import("./${parts}/late.js");\n`);
  await Deno.writeTextFile(`${folder}/${parts}/late.js`, 'console.log("flemma 1.2.0", ...Deno.args);\n');
  for (
    const name of [
      ...PAGES,
      "flemma.1",
      "schemas/settings.schema.json",
      ...Object.values(COMPLETIONS).map((name) => `completions/${name}`),
    ]
  ) {
    await Deno.writeTextFile(`${folder}/${name}`, `The text of ${name}.\n`);
  }
  return { folder, parts, version: "1.2.0" };
}

async function withStaged(body: (folder: string, staged: Staged) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    await body(folder, await staged(`${folder}/staged`));
  });
}

function build(folder: string, staged: Staged, runtime: Runtime = { kind: "path" }): Promise<string> {
  return buildDebian(folder, {
    staged,
    runtime,
    maintainer: "Ada <ada@example.org>",
    homepage: "https://example.org/",
    epoch: 1_790_000_000,
    compression: "none",
  });
}

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** dpkg with a root of its own, as whoever owns all of it. */
function dpkg(root: string, ...words: string[]): Promise<Uint8Array<ArrayBuffer>> {
  const owner = [
    "--unshare-user",
    "--uid",
    "0",
    "--gid",
    "0",
    "--dev-bind",
    "/",
    "/",
    "--die-with-parent",
    "--",
  ];
  const path = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };
  return output("bwrap", [...owner, "dpkg", `--root=${root}`, "--force-depends", ...words], { env: path });
}

/** Every file and folder below a root, but what dpkg itself keeps. */
async function below(root: string): Promise<string[]> {
  const found = text(
    await output("find", [root, "-mindepth", "1", "-path", `${root}/var`, "-prune", "-o", "-print"]),
  );
  return found.split("\n").map((path) => path.slice(root.length + 1)).filter((path) => path !== "").sort();
}

Deno.test({
  name:
    "Debian: the package contains the bundle, launcher, manual page, completions and dependencies, and root owns all files",
  ignore,
  fn: () =>
    withStaged(async (folder, staged) => {
      const path = await build(folder, staged);
      assert.equal(path, `${folder}/flemma_1.2.0_all.deb`);
      const rows = text(await output("dpkg-deb", ["--contents", path])).trim().split("\n")
        .map((row) => row.split(/\s+/)).filter(([mode]) => mode!.startsWith("-"));
      assert.ok(rows.every(([, owner]) => owner === "root/root"));
      assert.deepEqual(rows.map(([mode, , , , , name]) => `${mode} ${name}`), [
        "-rwxr-xr-x ./usr/bin/flemma",
        "-rw-r--r-- ./usr/lib/flemma/flemma-1.2.0-0123456789ab/late.js",
        "-rw-r--r-- ./usr/lib/flemma/flemma.js",
        "-rw-r--r-- ./usr/share/bash-completion/completions/flemma",
        "-rw-r--r-- ./usr/share/doc/flemma/changelog.gz",
        "-rw-r--r-- ./usr/share/doc/flemma/copyright",
        "-rw-r--r-- ./usr/share/fish/vendor_completions.d/flemma.fish",
        "-rw-r--r-- ./usr/share/flemma/schemas/settings.schema.json",
        "-rw-r--r-- ./usr/share/man/man1/flemma.1.gz",
        "-rw-r--r-- ./usr/share/zsh/vendor-completions/_flemma",
      ]);
      const field = async (name: string) => text(await output("dpkg-deb", ["--field", path, name])).trim();
      assert.equal(await field("Depends"), "");
      assert.equal(await field("Recommends"), "bubblewrap");
      assert.equal(await field("Maintainer"), "Ada <ada@example.org>");
      assert.match(await field("Description"), /needs a Deno, 2\.4\.2 or later, on the PATH/);
      // The same content is the same file.
      await Deno.mkdir(`${folder}/again`);
      assert.deepEqual(
        await Deno.readFile(path),
        await Deno.readFile(await build(`${folder}/again`, staged)),
      );
    }),
});

Deno.test({
  name:
    "Debian: a package with Deno is installed into an empty root, starts there, is complete, and can be purged completely",
  ignore,
  fn: () =>
    withStaged(async (folder, staged) => {
      // A small program in place of Deno, which says how it was started.
      const deno = await Deno.realPath("/bin/echo");
      const path = await build(folder, staged, { kind: "deno", path: deno });
      const { architecture, glibc } = await needsOf(deno);
      assert.equal(path, `${folder}/flemma_1.2.0_${architecture}.deb`);
      const depends = text(await output("dpkg-deb", ["--field", path, "Depends"])).trim();
      assert.equal(depends, `libc6 (>= ${glibc}), libgcc-s1`);
      const root = `${folder}/root`;
      for (const name of ["info", "updates"]) {
        await Deno.mkdir(`${root}/var/lib/dpkg/${name}`, { recursive: true });
      }
      await Deno.writeTextFile(`${root}/var/lib/dpkg/status`, "");
      await dpkg(root, "--install", path);
      assert.equal(text(await dpkg(root, "--verify", "flemma")), "");
      assert.equal(await started(root, ["flemma", "say", "a b"]), `${FLAGS} say a b\n`);
      await dpkg(root, "--purge", "flemma");
      assert.deepEqual(await below(root), []);
    }),
});

const FLAGS = "run --no-config --no-lock --cached-only --quiet -A /usr/lib/flemma/flemma.js";

/** Runs a program in a root that has, beside the package, the shell and the libraries of this machine. */
async function started(root: string, words: readonly string[]): Promise<string> {
  const here: string[] = [];
  const libraries = [
    "/lib64",
    "/usr/lib64",
    ...Array.from(Deno.readDirSync("/usr/lib"), ({ name }) => `/usr/lib/${name}`),
  ]
    .filter((path) => /64$|-linux-gnu$/.test(path));
  for (const path of libraries) here.push("--ro-bind-try", path, path);
  const layout = [
    "--ro-bind",
    `${root}/usr/bin`,
    "/usr/bin",
    "--ro-bind",
    `${root}/usr/lib/flemma`,
    "/usr/lib/flemma",
  ];
  const shell = ["--ro-bind", await Deno.realPath("/bin/sh"), "/bin/sh", "--symlink", "/usr/lib", "/lib"];
  return text(
    await output("bwrap", [
      ...[
        ...layout,
        ...here,
        ...shell,
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--tmpfs",
        "/root",
        "--unshare-net",
      ],
      ...[
        "--clearenv",
        "--setenv",
        "PATH",
        "/usr/bin",
        "--setenv",
        "HOME",
        "/root",
        "--die-with-parent",
        "--",
      ],
      ...words,
    ]),
  );
}

Deno.test("Debian: a release candidate sorts before its release; a maintainer is a name and an email address on one line", () => {
  assert.deepEqual(["1.2.0", "1.2.0-rc.1"].map(debianVersion), ["1.2.0", "1.2.0~rc.1"]);
  assert.ok(isMaintainer("Ada Lovelace <ada@example.org>"));
  for (
    const other of [
      "",
      "Ada",
      "<ada@example.org>",
      "Ada <ada>",
      "Ada <a@b> x",
      "Ada\nDepends: x <a@b>",
      "Ada <a@b\n>",
    ]
  ) {
    assert.ok(!isMaintainer(other), JSON.stringify(other));
  }
});

test("Debian: the package build refuses a program that is not for Linux with glibc", async (folder) => {
  const rows: [string, Uint8Array<ArrayBuffer>, RegExp][] = [
    ["a text", new TextEncoder().encode("#!/bin/sh\n"), /not a program for Linux/],
    ["nothing", new Uint8Array(), /not a program for Linux/],
    ["another machine", elf(0xf3, "GLIBC_2.17"), /not a program for Linux on x86_64 or arm64/],
    ["another library", elf(0x3e, "musl"), /does not use glibc/],
  ];
  for (const [name, bytes, reported] of rows) {
    await Deno.writeFile(`${folder}/${name}`, bytes);
    await assert.rejects(needsOf(`${folder}/${name}`), reported, name);
  }
  await Deno.writeFile(`${folder}/good`, elf(0xb7, "GLIBC_2.9 GLIBC_2.27 GLIBC_2.3"));
  assert.deepEqual(await needsOf(`${folder}/good`), { architecture: "arm64", glibc: "2.27" });
});

/** The beginning of a program for a machine, with words in it. */
function elf(machine: number, words: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(64);
  bytes.set([0x7f, ...new TextEncoder().encode("ELF")]);
  bytes[0x12] = machine;
  return new Uint8Array([...bytes, ...new TextEncoder().encode(words)]);
}

Deno.test("the archive contains one folder named after its version, and equal content gives an identical archive", async () => {
  await withStaged(async (folder, staged) => {
    const path = await buildArchive(folder, staged, 1_790_000_000);
    const names = text(await output("tar", ["--list", "--gzip", "--file", path])).trim().split("\n");
    assert.ok(names.every((name) => name.startsWith("flemma-1.2.0/")), names.join());
    assert.ok(names.includes("flemma-1.2.0/flemma-1.2.0-0123456789ab/late.js"));
    assert.ok(names.includes("flemma-1.2.0/completions/_flemma"));
    await Deno.mkdir(`${folder}/again`);
    await Deno.utime(`${staged.folder}/flemma.js`, 1, 1);
    const again = await buildArchive(`${folder}/again`, staged, 1_790_000_000);
    assert.deepEqual(await Deno.readFile(path), await Deno.readFile(again));
    assert.deepEqual([...Deno.readDirSync(`${folder}/again`)].length, 1);
  });
});
