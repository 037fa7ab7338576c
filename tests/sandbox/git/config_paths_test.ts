// What git reads and runs because of its configuration, and what its index names.

import assert from "node:assert/strict";
import { readGitSettings } from "../../../sandbox/git/settings_file.ts";
import { pathsInConfig } from "../../../sandbox/git/config_paths.ts";
import { indexEntries, readIndex } from "../../../sandbox/git/index_file.ts";
import { git, plant } from "../fixture.ts";
import { inFolder, testInFolder as test } from "../../folder.ts";

const SPELLINGS = [
  "[core]\n\thooksPath = hooks\n",
  '[Core] HooksPath="a b" ; c\n[alias]\n x = "!./a" # b\n',
  '[filter "Cry pt\\"x"]\n\tclean = sh \\\n  ./run\n\trequired\n',
  '[include]\n\tpath = "../a\\tb\\"c\\\\"\n[includeIf "gitdir:~/x/"]\npath=y',
  "[remote.old]\nurl = a;b\n[a]\n  b = c   d  \n",
  "; nothing\n# here\n\n[empty]\n",
  "\uFEFF[core]\r\n\tpager = less -R\r\n",
];

test("a git configuration is read as git reads it", (root) => {
  for (const [index, text] of SPELLINGS.entries()) {
    const file = `${root}/${index}`;
    Deno.writeTextFileSync(file, text);
    const stated = git(root, "config", "--no-includes", "-z", "--list", "--file", file).split("\0").filter(
      Boolean,
    );
    const expected = stated.map((line) => {
      const [key = "", ...value] = line.split("\n");
      return { key, value: value.length === 0 ? "true" : value.join("\n") };
    });
    const read = readGitSettings(text).settings.map(({ key, value }) => ({ key, value }));
    assert.deepEqual(read, expected, text);
  }
});

test("included files, hook folders and commands are listed, with relative paths resolved as git resolves them", (root) => {
  plant(root, "w/.git/", "w/more");
  Deno.writeTextFileSync(
    `${root}/w/.git/config`,
    '[include]\npath = ../more\n[includeIf "onbranch:x"]\npath = ~/own\n[core]\nhooksPath = .husky/_\n' +
      '[filter "a"]\nclean = python3 ./tools/clean.py --x=/opt/y\n[alias]\nx = "!tools/x; b"\n' +
      '[core]\npager = less\n[remote "o"]\nurl = https://example.org/a/b\n[user]\nname = a/b\n',
  );
  Deno.writeTextFileSync(`${root}/w/more`, "[core]\nfsmonitor = ./watch\n[include]\npath = more\n");
  assert.deepEqual(pathsInConfig(`${root}/w/.git/config`, { folder: `${root}/w`, home: "/h" }), [
    ...[`${root}/w/more`, `${root}/w/watch`, "/h/own", `${root}/w/.husky`],
    ...[`${root}/w/tools/clean.py`, "/opt/y", `${root}/w/tools/x`],
  ]);
});

Deno.test("flemma ignores a setting that refers to the working folder itself or a parent of it", () => {
  const place = { folder: "/w/a", home: "/h" };
  return inFolder((root) => {
    Deno.writeTextFileSync(
      `${root}/c`,
      "[core]\nhooksPath = .\npager = /\neditor = ../../w/\nsshCommand = ./b\n",
    );
    assert.deepEqual(pathsInConfig(`${root}/c`, place), ["/w/a/b"]);
  });
});

test("a git index of any version and hash type is read as git lists it", (root) => {
  for (const format of ["sha1", "sha256"]) {
    const folder = `${root}/${format}`;
    plant(
      root,
      `${format}/a`,
      `${format}/long/folder/name/file`,
      `${format}/long/folder/name/other`,
      `${format}/z`,
    );
    git(root, "init", "-q", `--object-format=${format}`, folder);
    git(root, "init", "-q", `--object-format=${format}`, `${folder}/inner`);
    git(`${folder}/inner`, "commit", "-q", "--allow-empty", "-m", "x");
    git(folder, "add", "--intent-to-add", "z");
    git(folder, "-c", "advice.addEmbeddedRepo=false", "add", "a", "long", "inner");
    for (const version of ["2", "3", "4"]) {
      git(folder, "update-index", "--index-version", version);
      const listed = git(folder, "ls-files", "-s", "-z").split("\0").filter(Boolean).map((line) => {
        const [, mode, hash, path] = /^(\d+) (\w+) \d\t(.*)$/s.exec(line)!;
        return { path, hash, link: mode === "160000" };
      });
      const read = readIndex(`${folder}/.git/index`).map(({ path, hash, link }) => ({ path, hash, link }));
      assert.deepEqual(read, listed, `${format} ${version}`);
    }
  }
});

test("a git index that is invalid, cut off or has changed lengths yields no names", (root) => {
  plant(root, "w/a", "w/b");
  git(root, "init", "-q", `${root}/w`);
  git(`${root}/w`, "add", "a", "b");
  const bytes = Deno.readFileSync(`${root}/w/.git/index`);
  assert.equal(indexEntries(bytes).length, 2);
  for (let length = 0; length < bytes.length; length++) {
    assert.deepEqual(indexEntries(bytes.subarray(0, length)), [], `${length} bytes`);
  }
  const more = bytes.slice();
  more[11] = 200;
  assert.deepEqual(indexEntries(more), []);
  assert.deepEqual(indexEntries(new TextEncoder().encode("DIRC and then a text that is none")), []);
});
