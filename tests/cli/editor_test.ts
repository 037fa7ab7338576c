// `flemma editor` installs files where an editor finds them, repeatedly, without overwriting what a person wrote.

import assert from "node:assert/strict";
import { EDITOR_FILES } from "../../commands/setup/editor_files.generated.ts";
import { writeProgram } from "../folder.ts";
import { type Scene, testWithScene as test } from "./harness.ts";

const PACK = ".vim/pack/flemma/start/flemma";

function atHome(place: Scene, path: string): string {
  return `${place.folder}/home/${path}`;
}

test("editor installs the files for Vim, changes nothing the second time, and updates an older version", async (place) => {
  const before = await place.run(["editor", "vim"]);
  assert.match(before.stdout, /^vim: not installed\nInstall: flemma editor vim --install \(in .*\)$/m);
  const first = await place.exits(0, ["editor", "vim", "--install"]);
  assert.match(first.stdout, new RegExp(`^Installed: .*/home/${PACK}$`, "m"));
  const source = Deno.readTextFileSync(new URL("../../editors/vim/autoload/flemma.vim", import.meta.url));
  const installed = atHome(place, `${PACK}/autoload/flemma.vim`);
  assert.equal(Deno.readTextFileSync(installed), source);
  assert.match((await place.run(["editor", "vim", "--install"])).stdout, /^Already installed: /);
  // What another version put there: noted, and not what belongs there now.
  const note = atHome(place, `${PACK}/.flemma.json`);
  const known = JSON.parse(Deno.readTextFileSync(note));
  Deno.writeTextFileSync(installed, '" old\n');
  Deno.writeTextFileSync(atHome(place, `${PACK}/gone.vim`), '" old\n');
  const hash = await sha256('" old\n');
  known.files["autoload/flemma.vim"] = known.files["gone.vim"] = hash;
  Deno.writeTextFileSync(note, JSON.stringify({ ...known, version: "0.0.1" }));
  assert.match(
    (await place.run(["doctor"])).stdout,
    /^editors\n {2}vim {2}! older than this program: flemma editor vim --install/m,
  );
  await place.exits(0, ["editor", "vim", "--install"]);
  assert.equal(Deno.readTextFileSync(installed), source);
  assert.throws(() => Deno.statSync(atHome(place, `${PACK}/gone.vim`)), Deno.errors.NotFound);
  assert.match((await place.run(["doctor"])).stdout, new RegExp(`^ {2}vim {2}/.*/${PACK}$`, "m"));
});

test("editor overwrites no file that a person wrote or changed, and moves it aside only on request", async (place) => {
  const mine = atHome(place, `${PACK}/plugin/flemma.vim`);
  Deno.mkdirSync(atHome(place, `${PACK}/plugin`), { recursive: true });
  Deno.writeTextFileSync(mine, '" mine\n');
  const refused = await place.exits(1, ["editor", "vim", "--install"]);
  assert.match(
    refused.stderr,
    /Nothing was written, because you changed plugin\/flemma\.vim in .*\n.*--force/,
  );
  assert.deepEqual([...Deno.readDirSync(atHome(place, PACK))].map(({ name }) => name), ["plugin"]);
  assert.match(
    (await place.run(["editor", "vim"])).stdout,
    /changed by you.*\nchanged by you: plugin\/flemma\.vim$/m,
  );
  const forced = await place.exits(0, ["editor", "vim", "--install", "--force"]);
  assert.match(forced.stdout, /Your changed version is in .*plugin\/flemma\.vim\.yours/);
  assert.equal(Deno.readTextFileSync(`${mine}.yours`), '" mine\n');
  Deno.writeTextFileSync(mine, '" mine again\n');
  await place.run(["editor", "vim", "--install", "--force"]);
  assert.equal(Deno.readTextFileSync(`${mine}.yours`), '" mine\n');
  assert.equal(Deno.readTextFileSync(`${mine}.yours.2`), '" mine again\n');
});

test("editor prints files, takes another folder, lists editors, and reports unknown ones", async (place) => {
  const printed = await place.run(["editor", "nvim", "--print"]);
  assert.match(printed.stdout, /^==> autoload\/flemma\.vim <==$/m);
  await place.exits(0, ["editor", "neovim", "--install", "--to", "dots/flemma"]);
  assert.ok(place.exists("dots/flemma/ftdetect/chat.vim"));
  const listed = JSON.parse((await place.run(["editor", "--json"])).stdout);
  assert.deepEqual(listed.find(({ name }: { name: string }) => name === "vim").state, "absent");
  assert.match((await place.run(["editor"])).stdout, /^neovim +not installed$/m);
  const data = await place.run(["editor", "nvim"], { env: { XDG_DATA_HOME: place.path("data") } });
  assert.match(data.stdout, /\(in .*\/place\/data\/nvim\/site\/pack\/flemma\/start\/flemma\)/);
  const emacs = await place.run(["editor", "emacs", "--install"]);
  assert.match(
    emacs.stdout,
    /^Add to your init file: \(load ".*\/home\/\.emacs\.d\/flemma\/flemma\.el"\)$/m,
  );
  const kak = await place.run(["editor", "kak", "--install"], { env: { XDG_CONFIG_HOME: "relative" } });
  assert.match(kak.stdout, /^Add to your kakrc: source '.*\/home\/\.config\/kak\/flemma\/flemma\.kak'$/m);
  const unknown = await place.exits(2, ["editor", "vmi"]);
  assert.match(unknown.stderr, /There are no files for vmi; did you mean vim\?\n.*vim, neovim/);
  place.write("file", "");
  const wrong = await place.exits(1, ["editor", "vim", "--install", "--to", "file"]);
  assert.match(wrong.stderr, /cannot be installed in .*file: .*\n.*--to FOLDER/);
});

test("editor adds the Helix lines to the person's own file and keeps every other byte", async (place) => {
  const file = `${place.folder}/config/helix/languages.toml`;
  const mine = '[[language]]\nname = "rust"\nauto-format = true';
  Deno.mkdirSync(`${place.folder}/dots`, { recursive: true });
  Deno.mkdirSync(`${place.folder}/config/helix`, { recursive: true });
  // Dotfiles are links, often enough.
  Deno.writeTextFileSync(`${place.folder}/dots/languages.toml`, mine);
  Deno.chmodSync(`${place.folder}/dots/languages.toml`, 0o640);
  Deno.symlinkSync("../../dots/languages.toml", file);
  assert.match((await place.run(["editor", "helix"])).stdout, /^helix: not installed\n/);
  const first = await place.exits(0, ["editor", "hx", "--install"]);
  assert.match(first.stdout, /^Installed: .*languages\.toml\nRestart Helix\. To print keys/);
  const installed = Deno.readTextFileSync(file);
  assert.ok(installed.startsWith(`${mine}\n\n# flemma begin, version `), installed);
  assert.ok(installed.endsWith('language-servers = ["flemma"]\n# flemma end\n'), installed);
  assert.ok(Deno.lstatSync(file).isSymlink);
  assert.equal(Deno.statSync(file).mode! & 0o777, 0o640);
  assert.match((await place.run(["editor", "helix", "--install"])).stdout, /^Already installed: /);
  assert.equal(Deno.readTextFileSync(file), installed);
  // Put there by another version: brought up to date, with what the person wrote around it kept.
  const old = '[language-server.flemma]\ncommand = "old"\n';
  const hash = (await sha256(old)).slice(0, 16);
  const around = (passage: string, hash: string) =>
    `# above\n# flemma begin, version 0.0.1, ${hash}\n${passage}# flemma end\n# below\n`;
  Deno.writeTextFileSync(file, around(old, hash));
  assert.match(
    (await place.run(["doctor"])).stdout,
    /^ {2}helix {2}! older than this program: flemma editor helix --install/m,
  );
  await place.exits(0, ["editor", "helix", "--install"]);
  const updated = Deno.readTextFileSync(file);
  assert.match(
    updated,
    /^# above\n# flemma begin, version [^]*command = "flemma"[^]*# flemma end\n# below\n$/,
  );
  assert.match((await place.run(["doctor"])).stdout, /^ {2}helix {2}\/.*languages\.toml$/m);
  // Changed by the person: left alone unless told, and then kept.
  const changed = around("mine = 1\n", hash);
  Deno.writeTextFileSync(file, changed);
  const refused = await place.exits(1, ["editor", "helix", "--install"]);
  assert.match(refused.stderr, /Nothing was written, because you changed flemma's lines in .*\n.*--force/);
  assert.equal(Deno.readTextFileSync(file), changed);
  const forced = await place.run(["editor", "helix", "--install", "--force"]);
  assert.match(forced.stdout, /Your old version is in .*languages\.toml\.yours\n/);
  assert.equal(Deno.readTextFileSync(`${file}.yours`), changed);
  assert.match(Deno.readTextFileSync(file), /^# above\n[^]*command = "flemma"/);
});

test("editor writes nothing for Helix where the person's own file already sets the same keys", async (place) => {
  const file = `${place.folder}/config/helix/languages.toml`;
  Deno.mkdirSync(`${place.folder}/config/helix`, { recursive: true });
  const rows = [
    '[language-server.flemma]\ncommand = "mine"\n',
    '[language-server]\nflemma = { command = "mine" }\n',
    "[[language]]\nname = 'chat'\n",
    "# flemma begin, version 1, 0123456789abcdef\nwithout an end\n",
  ];
  for (const mine of rows) {
    Deno.writeTextFileSync(file, mine);
    const refused = await place.run(["editor", "helix", "--install", "--force"]);
    assert.equal(refused.code, 1, mine);
    assert.match(refused.stderr, /Nothing was written, because .* already mentions flemma.*\n.*--print/);
    assert.equal(Deno.readTextFileSync(file), mine);
  }
  assert.doesNotMatch((await place.run(["doctor"])).stdout, /helix/);
  const printed = await place.run(["editor", "helix", "--print"]);
  assert.match(
    printed.stdout,
    /^==> config\.toml <==\n[^]*keys\.normal[^]*==> languages\.toml <==\n\[language-server\.flemma\]/,
  );
});

test("editor packs the VS Code extension, and says how to install it if code is not on the PATH", async (place) => {
  const installed = await place.exits(0, ["editor", "code", "--install"]);
  const path = atHome(place, ".vscode/flemma/flemma.vsix");
  assert.match(installed.stdout, /^Install it: code --install-extension \S+\/flemma\.vsix$/m);
  const listed = await new Deno.Command("python3", { args: ["-m", "zipfile", "-l", path] }).output();
  assert.match(
    new TextDecoder().decode(listed.stdout),
    /\[Content_Types\]\.xml[^]*extension\.vsixmanifest[^]*extension\/package\.json/,
  );
  const tested = await new Deno.Command("python3", { args: ["-m", "zipfile", "-t", path] }).output();
  assert.equal(new TextDecoder().decode(tested.stdout), "Done testing\n");
  assert.match((await place.run(["editor", "code", "--install"])).stdout, /^Already installed/);
  assert.match((await place.run(["doctor"])).stdout, /^ {2}vscode {2}\/.*\.vscode\/flemma$/m);
});

test("editor lets VS Code install its extension if code is on the PATH", async (place) => {
  const bin = place.path("bin");
  Deno.mkdirSync(bin);
  writeProgram(`${bin}/code`, `#!/bin/sh\necho "$@" > ${place.path("told")}\n`);
  const env = { PATH: `${bin}:${Deno.env.get("PATH")}` };
  const installed = await place.run(["editor", "vscode", "--install"], { env });
  assert.match(installed.stdout, /^Installed: [^]*^Reload VS Code to use it\.$/m);
  assert.match(place.read("told"), /^--force --install-extension \S+\/\.vscode\/flemma\/flemma\.vsix\n$/);
  // A program that fails is as good as none.
  writeProgram(`${bin}/code`, "#!/bin/sh\nexit 1\n");
  assert.match((await place.run(["editor", "vscode", "--install"], { env })).stdout, /^Install it: code/m);
});

Deno.test("the VS Code package contains every file that its manifest and its modules name", () => {
  const files = EDITOR_FILES.vscode!;
  const { main, contributes } = JSON.parse(files["package.json"]!);
  const named = [main, ...contributes.grammars.map(({ path }: { path: string }) => path)];
  for (const text of Object.values(files)) {
    named.push(...[...text.matchAll(/require\("(\.\/[^"]+)"\)/g)].map(([, name]) => name!));
  }
  for (const name of named) assert.ok(files[name.replace(/^\.\//, "")] !== undefined, name);
});

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
