// A release: which version may be made, and the content of its bill of materials and its formula.

import assert from "node:assert/strict";
import { Ajv } from "ajv";
import { componentOf, noticesPage } from "../../scripts/build/bundled.ts";
import { packageFolder } from "../../scripts/build/packages.ts";
import { ROOT } from "../../scripts/gate/root.ts";
import { git, output } from "../../scripts/release/packages/run.ts";
import { formula } from "../../scripts/release/packages/formula.ts";
import { run, Unusable } from "../../scripts/release/main.ts";
import { type Checkout, obstaclesToPrepare, obstaclesToRelease } from "../../scripts/release/ready.ts";
import { integrityIn, sbom } from "../../scripts/release/sbom.ts";
import {
  compareVersions,
  entryOf,
  notesOf,
  parseVersion,
  withVersion,
} from "../../scripts/release/version.ts";
import { freshFolder } from "../folder.ts";

Deno.test("versions follow semantic versioning, without build metadata", () => {
  for (const text of ["0.1.0", "1.0.0", "10.20.30", "1.0.0-rc.1", "1.0.0-alpha"]) {
    assert.notEqual(parseVersion(text), null, text);
  }
  const none = [
    "",
    "1",
    "1.0",
    "v1.0.0",
    "1.0.0 ",
    "01.0.0",
    "1.0.0-",
    "1.0.0-rc..1",
    "1.0.0-01",
    "1.0.0+7",
    "1.0.0-Ä",
  ];
  for (const text of [...none, "1.0.0.0", "-1.0.0", "1.0.0-rc.1\n", "1e3.0.0"]) {
    assert.equal(parseVersion(text), null, text);
  }
});

Deno.test("versions are ordered as in semantic versioning", () => {
  const order = [
    "0.9.9",
    "0.10.0",
    "1.0.0-1",
    "1.0.0-2",
    "1.0.0-10",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.b",
  ];
  order.push("1.0.0-rc.1", "1.0.0", "1.0.1-rc", "1.0.1", "1.1.0", "2.0.0");
  for (const [index, a] of order.entries()) {
    for (const [other, b] of order.entries()) {
      const found = Math.sign(compareVersions(parseVersion(a)!, parseVersion(b)!));
      assert.equal(found, Math.sign(index - other), `${a} and ${b}`);
    }
  }
});

const CHANGELOG = "# Changelog\n\n## 1.2.0 (2026-11-28)\n\n- Something.\n\n## 1.1.0\n\n- Before.\n";
const READY: Checkout = {
  changes: "",
  version: "1.2.0",
  changelog: CHANGELOG,
  tags: ["v1.1.0", "v1.0.9", "wip"],
};

/** Each row is a checkout where all holds but one thing. */
const UNREADY: readonly (readonly [string, Partial<Checkout>, RegExp])[] = [
  ["a changed file", { changes: " M cli.ts\n" }, /uncommitted changes: cli\.ts\./],
  ["an untracked file", { changes: "?? new.ts\n" }, /uncommitted changes: new\.ts\./],
  ["many changed files", { changes: " M a\n M b\n M c\n M d\n M e" }, /: a, b, c and 2 more\./],
  ["an invalid version", { version: "1.2", changelog: "## 1.2\n\n- X.\n" }, /"1\.2" is not a version/],
  ["a version that is already released", { tags: ["v1.2.0"] }, /1\.2\.0 is not higher than 1\.2\.0/],
  ["a version before the last release", { tags: ["v1.10.0", "v1.3.0"] }, /is not higher than 1\.10\.0/],
  [
    "no entry for the version in the changelog",
    { changelog: "## 1.1.0\n\n- Before.\n" },
    /no entry for 1\.2\.0/,
  ],
  [
    "an empty entry in the changelog",
    { changelog: "## 1.2.0\n\n## 1.1.0\n\n- Before.\n" },
    /no entry for 1\.2\.0/,
  ],
  [
    "only a longer version in the changelog",
    { changelog: "## 1.2.0-rc.1\n\n- X.\n" },
    /no entry for 1\.2\.0/,
  ],
  [
    "unreleased changes in the changelog",
    { changelog: `## Unreleased\n\n- New.\n\n${CHANGELOG}` },
    /changes without a version/,
  ],
];

for (const [name, change, reported] of UNREADY) {
  Deno.test(`the release script releases nothing with ${name}, and the message says what to do`, () => {
    const found = obstaclesToRelease({ ...READY, ...change });
    assert.equal(found.length, 1, JSON.stringify(found));
    assert.match(found[0]!.message, reported);
    assert.ok(found[0]!.next.length > 10);
  });
}

Deno.test("a checkout can be released if everything is committed and the changelog has a newer version than the last release", () => {
  assert.deepEqual(obstaclesToRelease(READY), []);
  assert.deepEqual(obstaclesToRelease({ ...READY, tags: [""] }), []);
  assert.deepEqual(
    obstaclesToRelease({ ...READY, changelog: CHANGELOG.replace("##", "## Unreleased\n\n##") }),
    [],
  );
  const tags = ["v1.2.0-rc.1"];
  assert.deepEqual(obstaclesToRelease({ ...READY, tags }), []);
});

Deno.test("a version is prepared from unreleased changes, and preparing the same version again is refused", () => {
  const changelog = "# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.1.0\n\n- Before.\n";
  const checkout = { ...READY, version: "1.1.0", changelog };
  assert.deepEqual(obstaclesToPrepare(checkout, "1.2.0"), []);
  const prepared = withVersion(changelog, "1.2.0", "2026-11-28");
  assert.equal(prepared, "# Changelog\n\n## 1.2.0 (2026-11-28)\n\n- New.\n\n## 1.1.0\n\n- Before.\n");
  assert.equal(entryOf(prepared, "1.2.0"), "- New.");
  const linked = prepared.replace("New.", "[New](docs/a.md), [old](https://example.org/b).");
  assert.equal(
    notesOf(linked, "1.2.0", "https://example.org/files"),
    "- [New](https://example.org/files/flemma-1.2.0/docs/a.md), [old](https://example.org/b).\n",
  );
  const rows: [Checkout, string, RegExp][] = [
    [checkout, "1.1.0", /is not higher than 1\.1\.0/],
    [checkout, "next", /not a version/],
    [{ ...checkout, changes: " M a" }, "1.2.0", /uncommitted changes/],
    [{ ...checkout, changelog: CHANGELOG }, "1.3.0", /no unreleased changes/],
    [{ ...checkout, changelog: `${changelog}## 1.2.0\n\n- X.\n` }, "1.2.0", /already has 1\.2\.0/],
  ];
  for (const [each, version, reported] of rows) {
    assert.match(obstaclesToPrepare(each, version).map(({ message }) => message).join(), reported);
  }
});

Deno.test("the bill of materials is valid by the schema of CycloneDX and contains each part with its license and hash", async () => {
  const library = await packageFolder("@cyclonedx/cyclonedx-library", "10.3.0");
  const read = async (name: string) =>
    JSON.parse(await Deno.readTextFile(`${library}/res/schema/${name}.SNAPSHOT.schema.json`));
  const ajv = new Ajv({ strict: false, validateFormats: false });
  for (const name of ["spdx", "jsf-0.82", "cryptography-defs"]) {
    ajv.addSchema(await read(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  }
  const validate = ajv.compile(await read("bom-1.6"));
  const components = [
    { name: "@lezer/common", version: "1.5.5", license: "MIT", notice: "…", isPackage: true },
    { name: "Lua", version: "5.4", license: "MIT", notice: "…", isPackage: false },
  ];
  const options = {
    version: "1.2.0-rc.1",
    components,
    dependencies: { "@deno/linux-x64-glibc": "2.9.6", "@lezer/common": "^1.5.5" },
    integrity: integrityIn(await Deno.readTextFile(`${ROOT}/deno.lock`)),
    epoch: 1_790_000_000,
  };
  const text = sbom(options);
  assert.equal(sbom(options), text);
  const made: unknown = JSON.parse(text);
  assert.ok(validate(made), JSON.stringify(validate.errors));
  const parts = (made as { readonly components: readonly Record<string, unknown>[] }).components;
  const byRef = new Map(parts.map((one) => [one["bom-ref"], one]));
  const [bundled, lua, deno] = [
    "bundled:@lezer/common@1.5.5",
    "bundled:Lua@5.4",
    "@deno/linux-x64-glibc@2.9.6",
  ]
    .map((reference) => byRef.get(reference));
  assert.deepEqual([byRef.size, byRef.get("@lezer/common@^1.5.5")!.version], [4, "1.5.5"]);
  assert.equal(bundled!.purl, "pkg:npm/%40lezer/common@1.5.5");
  assert.match(JSON.stringify(bundled!.hashes), /^\[{"alg":"SHA-512","content":"[0-9a-f]{128}"}\]$/);
  assert.deepEqual([lua!.name, lua!.purl, lua!.licenses], ["Lua", undefined, [{ license: { id: "MIT" } }]]);
  assert.deepEqual([deno!.group, deno!.name, deno!.version], ["@deno", "linux-x64-glibc", "2.9.6"]);
  const mine = [{ ...components[0]!, license: "Mine" }];
  assert.throws(() => sbom({ ...options, components: mine }), /Mine/, "a license that is not in the list");
});

Deno.test("a bundled part with an unchecked license, or without its license text, stops the build", async () => {
  const folder = await freshFolder("flemma-licence-");
  const write = (license: string) =>
    Deno.writeTextFile(
      `${folder}/package.json`,
      JSON.stringify({ name: "a", version: "1.0.0", license: license }),
    );
  try {
    await write("MIT");
    await assert.rejects(componentOf(folder), /a 1\.0\.0 has no text of its license/);
    await Deno.writeTextFile(`${folder}/LICENCE.txt`, "Copyright\r\nA\r\n");
    const found = await componentOf(folder);
    assert.deepEqual(found, {
      name: "a",
      version: "1.0.0",
      license: "MIT",
      notice: "Copyright\nA",
      isPackage: true,
    });
    assert.match(noticesPage([found]), /^- a 1\.0\.0: MIT$[^]*^## a 1\.0\.0\n\n```text\nCopyright\nA\n```$/m);
    await write("GPL-3.0-only");
    await assert.rejects(componentOf(folder), /under GPL-3\.0-only: may it be bundled/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("every generated module of the program is a bundle of listed parts or contains no third-party code", async () => {
  const notices = await Deno.readTextFile(`${ROOT}/NOTICES.md`);
  for (const name of ["Lua 5.4", "wasmoon", "re2js", "ajv", "yaml", "unbash"]) {
    assert.ok(notices.includes(`- ${name}`), name);
  }
  const source = await Deno.readTextFile(`${ROOT}/scripts/build/bundled.ts`);
  const ours = [
    "commands/setup/demo_files.generated.ts",
    "commands/setup/editor_files.generated.ts",
    "config/data/vendors.generated.ts",
    "config/layers/model_choices.generated.ts",
    "config/rules/builtin_tools.generated.ts",
    "config/settings.generated.ts",
    "parser/scan/wasm.generated.ts",
    "parser/tree/names.generated.ts",
    "parser/tree/terms.generated.ts",
    // Code of our own schemas, and a program of our own without packages.
    "tools/builtin/validators.generated.ts",
    "tools/vellum/host.generated.ts",
    // The interpreter of Lua, whose parts are named.
    "lua/interpreter.generated.ts",
  ];
  const { stdout } = await new Deno.Command("git", { args: ["ls-files", "*.generated.ts"], cwd: ROOT })
    .output();
  const files = new TextDecoder().decode(stdout).trim().split("\n").filter((path) =>
    !path.startsWith("tests/")
  );
  assert.ok(files.length > 8);
  assert.deepEqual(files.filter((path) => !ours.includes(path) && !source.includes(`"${path}"`)), []);
});

const FORMULA = {
  version: "1.2.0",
  address: "https://example.org/flemma-1.2.0.tar.gz",
  checksum: "0".repeat(64),
  homepage: "https://example.org/",
};

Deno.test("the Homebrew formula contains the given values and nothing else that Ruby would run", () => {
  const text = formula(FORMULA);
  assert.match(text, /^ {2}url "https:\/\/example\.org\/flemma-1\.2\.0\.tar\.gz"$/m);
  assert.match(text, /^ {2}sha256 "0{64}"$/m);
  for (
    const address of [
      'https://a"; system("x")',
      "https://a/#{`x`}",
      "https://a b",
      "a/b",
      "",
      "https://a\nb",
      "ftp://a",
    ]
  ) {
    assert.throws(() => formula({ ...FORMULA, address }), /not an address/, address);
    assert.throws(() => formula({ ...FORMULA, homepage: address }), /not an address/, address);
  }
  for (const checksum of ["", "0".repeat(63), "0".repeat(65), "G".repeat(64), `${"0".repeat(64)}\n`]) {
    assert.throws(() => formula({ ...FORMULA, checksum }), /not a SHA-256/, checksum);
  }
});

const ORIGIN = [
  "--homepage",
  "https://example.org/",
  "--address",
  "https://example.org/",
  "--maintainer",
  "A <a@b>",
];

/** What the commands that make nothing are made of. */
const CHECKOUT = [
  "CHANGELOG.md",
  "deno.json",
  "editors/emacs/flemma.el",
  "editors/vscode/package.json",
  "scripts",
];

Deno.test("preparing a version changes the changelog and every place with the version once, and only committed changes are released", async () => {
  const folder = await freshFolder("flemma-release-");
  const release = async (...words: string[]) => {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--no-lock", `${folder}/scripts/release/main.ts`, ...words],
      env: { NO_COLOR: "1" },
    }).output();
    assert.equal(new TextDecoder().decode(stderr), "");
    return { code, out: new TextDecoder().decode(stdout) };
  };
  try {
    await output("cp", ["-r", "--parents", ...CHECKOUT, folder], { cwd: ROOT });
    await Deno.writeTextFile(`${folder}/CHANGELOG.md`, "# Changelog\n\n## Unreleased\n\n- New.\n");
    await git(folder, "init", "--quiet");
    await git(folder, "add", "--all");
    await git(folder, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "--message", "A");

    assert.equal((await release("make", ...ORIGIN)).code, 1);
    const prepared = await release("prepare", "7.0.0");
    assert.equal(prepared.code, 0, prepared.out);
    assert.deepEqual((await git(folder, "diff", "--name-only")).split("\n"), CHECKOUT.slice(0, 4));
    assert.match(
      await git(folder, "diff", "--unified=0", "deno.json"),
      /^-.*\n\+ {2}"version": "7\.0\.0",$/m,
    );
    assert.match(
      await Deno.readTextFile(`${folder}/CHANGELOG.md`),
      /^## 7\.0\.0 \(\d{4}-\d\d-\d\d\)\n\n- New\.$/m,
    );
    const words = await release();
    assert.equal(words.code, 2);
    assert.match(words.out, /^Name a command\.\n\ndeno task release prepare VERSION\n/);
    const again = await release("prepare", "7.0.1");
    assert.equal(again.code, 1);
    assert.match(again.out, /uncommitted changes: CHANGELOG\.md, deno\.json, editors.* and 1 more/);
    const refused = await release("make", ...ORIGIN, "--dry-run");
    assert.equal(refused.code, 1);
    assert.match(
      refused.out,
      /^There are uncommitted changes[^\n]*\n {2}Commit or stash them\.\n$/,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Words that no command can use, with what is said of them. */
const UNUSABLE: readonly (readonly [string, RegExp])[] = [
  ["", /^Name a command\.$/],
  ["publish", /^"publish" is not a command\.$/],
  ["prepare", /^prepare takes one version\.$/],
  ["prepare 1.0.0 2.0.0", /^prepare takes one version\.$/],
  ["prepare 1.0.0 --dry-run", /^--dry-run is not an option of prepare\.$/],
  ["make now", /^make takes no "now"\.$/],
  ["make --nope", /^Unknown option '--nope'/],
  ["make --homepage", /^Option '--homepage <value>' argument missing/],
  ["make --homepage example.org", /^--address needs an address/],
  ["make --address https://a.b/ --maintainer Ada", /^--maintainer needs a name and an address/],
  ["make ORIGIN --deno /proc/none", /^\/proc\/none: not found, or not a file\.$/],
  ["make ORIGIN --deno /proc", /^\/proc: not found, or not a file\.$/],
  ["make ORIGIN --binary /etc/passwd", /^\/etc\/passwd is not a program for Linux/],
  ["make ORIGIN --deno /bin/sh --binary /bin/sh", /^Use either --deno or --binary\.$/],
  ["formula --homepage https://a.b/ --address https://a.b/ --checksum 12", /^--checksum needs a SHA-256/],
];

Deno.test("a release with unusable arguments is refused, and the message says what is wrong with them", async () => {
  for (const [line, reported] of UNUSABLE) {
    const words = line.split(" ").filter((word) => word !== "")
      .flatMap((word) => word === "ORIGIN" ? ORIGIN : [word]);
    await assert.rejects(run(words), (thrown: Error) => {
      assert.ok(thrown instanceof Unusable, line);
      assert.match(thrown.message, reported);
      return true;
    });
  }
});
