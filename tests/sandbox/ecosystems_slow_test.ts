// Needs bubblewrap, and those of these programs that are to be tried: npm with its registry, go, cargo, python3 with pip,
// mvn, gradle, ruby with bundler. A missing program is a skipped test. Package managers in the sandbox, with the default
// policy and with the person's own configuration: they work, and change nothing of the person's.

import assert from "node:assert/strict";
import { createSandbox } from "../../sandbox/mod.ts";
import { privateCaches } from "../../sandbox/policy/private_caches.ts";
import { freshFolder, removeFolder } from "../folder.ts";
import { plant, runInside, settings } from "./fixture.ts";

interface Ecosystem {
  readonly name: string;
  /** The program without which it is skipped. */
  readonly program: string;
  /** Writes the person's configuration and the project's files; returns what to end afterwards. */
  prepare?(home: string, project: string): AsyncDisposable | void;
  /** What a person would type; each line must succeed. */
  readonly script: string;
  readonly says: RegExp;
  /** What must be in the private caches afterwards. */
  readonly cached: string;
}

function write(path: string, text: string): void {
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  Deno.writeTextFileSync(path, text);
}

/** Writes a zip archive, as modules of Go and wheels are. */
function zip(path: string, files: Record<string, string>): void {
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  const code = "import json,sys,zipfile\nz=zipfile.ZipFile(sys.argv[1],'w')\n" +
    "for n,t in json.loads(sys.argv[2]).items(): z.writestr(n,t)\nz.close()";
  const { success } = new Deno.Command("python3", { args: ["-c", code, path, JSON.stringify(files)] })
    .outputSync();
  assert.ok(success, "python3 makes the archive");
}

const ECOSYSTEMS: readonly Ecosystem[] = [
  {
    name: "npm install, npm ci and npx",
    program: "npm",
    script: `npm init -y >/dev/null
npm install left-pad@1.3.0
npm ci
npx -y cowsay@1.6.0 works
node -p 'require("left-pad")(1, 3)'`,
    says: /< works >[^]*^ {2}1$/m,
    cached: "npm/_cacache",
  },
  {
    name: "pnpm install",
    program: "npm",
    script: `echo '{}' >package.json
npx -y pnpm@10.34.9 add left-pad@1.3.0
node -p 'require("left-pad")(1, 3)'`,
    says: /^ {2}1$/m,
    cached: "pnpm/store",
  },
  {
    name: "yarn install",
    program: "npm",
    script: `echo '{}' >package.json
npx -y yarn@1.22.22 add left-pad@1.3.0
node -p 'require("left-pad")(1, 3)'`,
    says: /^ {2}1$/m,
    cached: "yarn",
  },
  {
    name: "deno with a package",
    program: "npm",
    script: `echo 'import pad from "npm:left-pad@1.3.0"; console.log(pad(1, 3));' >a.js
"${Deno.execPath()}" run --no-config a.js`,
    says: /^ {2}1$/m,
    cached: "deno/npm",
  },
  {
    name: "go with a mirror of the person's own",
    program: "go",
    prepare(home, project) {
      const proxy = `${home}/proxy`;
      const module = "module example.org/word\n";
      const at = `${proxy}/example.org/word/@v`;
      write(`${at}/v1.0.0.info`, '{"Version":"v1.0.0"}');
      write(`${at}/v1.0.0.mod`, module);
      write(`${at}/list`, "v1.0.0\n");
      zip(`${at}/v1.0.0.zip`, {
        "example.org/word@v1.0.0/go.mod": module,
        "example.org/word@v1.0.0/word.go": 'package word\n\nconst Word = "from the proxy"\n',
      });
      const server = mirrorOf(proxy);
      write(
        `${home}/.config/go/env`,
        `GOPROXY=http://127.0.0.1:${server.addr.port}\nGONOSUMDB=*\nGOSUMDB=off\nGOFLAGS=-mod=mod\n`,
      );
      write(
        `${project}/main.go`,
        'package main\n\nimport "example.org/word"\n\nfunc main() { println(word.Word) }\n',
      );
      return server;
    },
    script: `go mod init example.org/main
go get example.org/word@v1.0.0
go run .`,
    says: /from the proxy/,
    cached: "go/pkg/mod/example.org/word@v1.0.0",
  },
  {
    name: "cargo with sources of the person's own",
    program: "cargo",
    prepare(home, project) {
      const crate = `${home}/crates/word`;
      write(`${crate}/Cargo.toml`, '[package]\nname = "word"\nversion = "1.0.0"\n');
      write(`${crate}/src/lib.rs`, 'pub const WORD: &str = "from the mirror";\n');
      write(`${crate}/.cargo-checksum.json`, '{"files":{}}');
      write(
        `${home}/.cargo/config.toml`,
        `[source.crates-io]\nreplace-with = "mine"\n[source.mine]\ndirectory = "${home}/crates"\n`,
      );
      write(
        `${project}/Cargo.toml`,
        '[package]\nname = "main"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\nword = "1"\n',
      );
      write(`${project}/src/main.rs`, 'fn main() { println!("{}", word::WORD); }\n');
    },
    script: "cargo run --quiet",
    says: /from the mirror/,
    cached: "cargo/config.toml",
  },
  {
    name: "pip in a virtual environment, with packages of the person's own",
    program: "python3",
    prepare(home) {
      const info = "word-1.0.dist-info";
      zip(`${home}/wheels/word-1.0-py3-none-any.whl`, {
        "word.py": 'WORD = "from the wheel"\n',
        [`${info}/METADATA`]: "Metadata-Version: 2.1\nName: word\nVersion: 1.0\n",
        [`${info}/WHEEL`]: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        [`${info}/RECORD`]: "",
      });
      write(`${home}/.config/pip/pip.conf`, `[global]\nno-index = true\nfind-links = ${home}/wheels\n`);
    },
    script: `python3 -m venv env
env/bin/pip install --disable-pip-version-check word
env/bin/python -c 'import word; print(word.WORD)'
test "$(env/bin/pip cache dir)" = "$PIP_CACHE_DIR"
mkdir -p "$PIP_CACHE_DIR"`,
    says: /from the wheel/,
    cached: "pip",
  },
  {
    name: "maven with settings of the person's own",
    program: "mvn",
    prepare(home, project) {
      write(`${home}/.m2/settings.xml`, "<settings><offline>true</offline></settings>\n");
      write(
        `${project}/pom.xml`,
        "<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>b</artifactId>" +
          "<version>1</version><packaging>pom</packaging></project>\n",
      );
    },
    script: "mvn -B -X validate",
    says:
      /Reading user settings from [^\n]*\/\.m2\/settings\.xml[^]*Using local repository at [^\n]*\/maven\/repository[^]*BUILD SUCCESS/,
    cached: "maven",
  },
  {
    name: "gradle with an init script of the person's own",
    program: "gradle",
    prepare(home, project) {
      write(`${home}/.gradle/init.d/own.gradle`, 'println "from the init script"\n');
      write(`${project}/build.gradle`, 'task word { doLast { println "built" } }\n');
      write(`${project}/settings.gradle`, "");
    },
    script: "gradle --offline --no-daemon word",
    says: /from the init script[^]*built/,
    cached: "gradle/init.d",
  },
  {
    name: "bundler and gem",
    program: "bundle",
    prepare(_home, project) {
      write(
        `${project}/word/word.gemspec`,
        'Gem::Specification.new { |s| s.name = "word"; s.version = "1.0"; s.summary = "w"; s.authors = ["a"]; s.files = ["lib/word.rb"] }\n',
      );
      write(`${project}/word/lib/word.rb`, 'WORD = "from the gem"\n');
      write(`${project}/Gemfile`, 'gem "word", "1.0"\n');
    },
    script: `(cd word && gem build word.gemspec && gem install --local word-1.0.gem)
bundle install --local
bundle exec ruby -e 'require "word"; puts WORD'`,
    says: /from the gem/,
    cached: "gem/gems/word-1.0",
  },
];

/** Serves the files of a folder, as a mirror in a company does. */
function mirrorOf(folder: string): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    try {
      return new Response(Deno.readFileSync(`${folder}${new URL(request.url).pathname}`));
    } catch {
      return new Response("", { status: 404 });
    }
  });
}

/** The variables of this process, without settings of the tools that are tried. */
function inherited(): Record<string, string> {
  const settings = /^(?:XDG_|PIP_(?!CERT)|npm_|GO[A-Z]|CARGO|GRADLE|MAVEN|GEM_|BUNDLE|DENO_|VIRTUAL_ENV)/i;
  return Object.fromEntries(Object.entries(Deno.env.toObject()).filter(([name]) => !settings.test(name)));
}

function has(program: string): boolean {
  return (Deno.env.get("PATH") ?? "").split(":").some((folder) => {
    try {
      return Deno.statSync(`${folder}/${program}`).isFile;
    } catch {
      return false;
    }
  });
}

/** Every file below a folder with its text, apart from the caches of commands. */
function filesBelow(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = `${folder}/${name}`;
    if (path.endsWith("/.cache/flemma") || path.endsWith("/.local/state/flemma")) continue;
    if (isDirectory) Object.assign(found, filesBelow(path));
    else found[path] = Deno.readTextFileSync(path);
  }
  return found;
}

for (const { name, program, prepare, script, says, cached } of ECOSYSTEMS) {
  Deno.test({
    name: `in the sandbox, with the default policy: ${name}`,
    ignore: !has(program),
    async fn() {
      const root = await Deno.realPath(await freshFolder("flemma-eco-"));
      try {
        const [home, project] = [`${root}/home`, `${root}/project`];
        plant(root, "home/", "project/.git/");
        const own = Deno.env.get("HOME") ?? "";
        // The registry of this machine, and the compilers of a version manager.
        if (program === "npm") await Deno.copyFile(`${own}/.npmrc`, `${home}/.npmrc`).catch(() => {});
        await using _mirror = prepare?.(home, project) ?? { [Symbol.asyncDispose]: () => Promise.resolve() };
        const variables = {
          ...inherited(),
          HOME: home,
          RUSTUP_HOME: Deno.env.get("RUSTUP_HOME") ?? `${own}/.rustup`,
          CI: "1",
        };
        const environment = { cwd: project, home, variables };
        const sandbox = createSandbox({ settings: settings(), environment, document: null, protect: [] });
        const before = filesBelow(home);
        const { code, out, err } = await runInside(sandbox, `set -e\n${script}`);
        assert.equal(code, 0, `${out}\n${err}`);
        assert.match(out + err, says);
        assert.ok(Deno.lstatSync(`${privateCaches(environment)}/${cached}`), cached);
        assert.deepEqual(filesBelow(home), before, "nothing of the person's changed");
      } finally {
        await new Deno.Command("chmod", { args: ["-R", "u+w", root] }).output();
        await removeFolder(root);
      }
    },
  });
}
