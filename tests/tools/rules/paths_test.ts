// Rules about paths apply to the real path.

import assert from "node:assert/strict";
import { evaluate, testInRepository as test, type Where } from "./policy.ts";

const INSIDE = [{ approve: ["read", "write", "ls", "grep"], path: ["./src/**"] }];

/** Whether rules approve reading a path. */
async function reads(
  path: string,
  where: Where,
  rules: Parameters<typeof evaluate>[0] = INSIDE,
): Promise<boolean> {
  return (await evaluate(rules, "read", { path }, where)).approved;
}

test("a path is approved by its real location, however it is written", async (folder) => {
  await Deno.writeTextFile(`${folder}/src/a.ts`, "");
  await Deno.symlink("src", `${folder}/link`);
  // The tool takes `..` by the text: this one leads to src, not to where the link leads.
  await Deno.symlink("/etc", `${folder}/src/etc`);
  assert.ok(await reads("src/etc/../a.ts", { folder }));
  const rows = [
    "src/a.ts",
    "./src/a.ts",
    "src//a.ts",
    "src/../src/a.ts",
    "link/a.ts",
    "src",
    "src/new/b.ts",
  ];
  for (const path of rows) {
    assert.ok(await reads(path, { folder }), path);
    assert.ok(await reads(`${folder}/${path}`, { folder }), `${folder}/${path}`);
  }
});

test("none of the path attacks is approved outside the folder of a rule", async (folder) => {
  await Deno.mkdir(`${folder}/out`);
  await Deno.writeTextFile(`${folder}/out/secret`, "");
  await Deno.symlink("../out", `${folder}/src/link`);
  await Deno.symlink("../out/secret", `${folder}/src/file`);
  await Deno.symlink("link", `${folder}/src/chain`);
  await Deno.symlink("/proc/self", `${folder}/src/self`);
  await Deno.symlink(`../out/not-there`, `${folder}/src/dangling`);
  const attacks: Readonly<Record<string, string>> = {
    "src/link/secret": "a link to a folder",
    "src/file": "a link to a file",
    "src/chain/secret": "a link to a link",
    "src/dangling": "a link to a file that is not there yet",
    "src/../out/secret": "up and down again",
    "src/./../out/secret": "with a dot",
    "out/secret": "beside it",
    "srcs/x": "a name that only begins alike",
    "SRC/a.ts": "other letters",
    "out/secret/": "a slash behind a file",
    "src/self/cwd/out/secret": "the working folder by way of the process",
    "/proc/self/cwd/src/a.ts": "the same, which would be inside",
    "/proc/self/root/etc/passwd": "the root by way of the process",
    "/dev/null": "a device",
    "/dev/stdin": "what is piped in",
    "/sys/kernel/notes": "the kernel",
    "/etc/passwd": "elsewhere",
    "~/x": "at home",
    "src/\0": "a character that ends a path",
  };
  for (const [path, reason] of Object.entries(attacks)) {
    assert.equal(await reads(path, { folder }), false, `${path}: ${reason}`);
  }
});

test("a pipe or a socket below the folder is not approved", async (folder) => {
  await new Deno.Command("mkfifo", { args: [`${folder}/src/pipe`] }).output();
  assert.equal(await reads("src/pipe", { folder }), false);
});

test("a rule approves reading a file that has a second hard link, but not writing it", async (folder) => {
  await Deno.writeTextFile(`${folder}/src/a.ts`, "");
  await Deno.link(`${folder}/src/a.ts`, `${folder}/twin`);
  const writes = await evaluate(INSIDE, "write", { path: "src/a.ts" }, { folder });
  assert.equal(writes.approved, false);
  assert.match(writes.why ?? "", /several hard links/);
  assert.ok(await reads("src/a.ts", { folder }));
});

test("a rule approves reading a protected path, but not writing it", async (folder) => {
  const where = { folder, protect: [`${folder}/src/hooks`] };
  assert.equal((await evaluate(INSIDE, "write", { path: "src/hooks/x" }, where)).approved, false);
  assert.ok((await evaluate(INSIDE, "write", { path: "src/other/x" }, where)).approved);
  assert.ok(await reads("src/hooks/x", where));
});

test("a file system mounted below the folder of a rule is not part of that folder", async (folder) => {
  const world = {
    crossesMount: (front: string, path: string) =>
      front === `${folder}/src` && path.startsWith(`${folder}/src/bind/`),
  };
  assert.equal(await reads("src/bind/out/secret", { folder, world }), false);
  assert.ok(await reads("src/a.ts", { folder, world }));
});

test("if the parent folder is mounted below the folder of a rule, flemma finds it in the system's mount table", async (folder) => {
  await Deno.mkdir(`${folder}/src/bind`);
  const script = new URL("./evaluate_path.ts", import.meta.url).pathname;
  const args = [
    "--dev-bind",
    "/",
    "/",
    "--bind",
    folder,
    `${folder}/src/bind`,
    Deno.execPath(),
    "run",
    "-A",
  ];
  const { code, stdout, stderr } = await new Deno.Command("bwrap", {
    args: [...args, "--no-check", "--quiet", script, folder, "src/bind/docs/x", "src/a.ts"],
    env: { NO_COLOR: "1" },
  }).output();
  const stated = new TextDecoder().decode(stderr);
  assert.equal(code, 0, stated);
  assert.deepEqual(JSON.parse(new TextDecoder().decode(stdout)), [false, true]);
});

test("patterns that exclude paths take precedence, whatever their order and however the path is written", async (folder) => {
  await Deno.writeTextFile(`${folder}/src/.env`, "");
  await Deno.symlink(".env", `${folder}/src/plain`);
  for (
    const path of [["./**", "!**/.env*"], ["!**/.env*", "./**"], ["./**", "!.env*"], ["./**", "!src/.env"]]
  ) {
    const rules = [{ approve: "read", path }];
    assert.equal(await reads("src/.env", { folder }, rules), false, JSON.stringify(path));
    assert.equal(await reads("src/plain", { folder }, rules), false, JSON.stringify(path));
    assert.ok(await reads("src/a.ts", { folder }, rules), JSON.stringify(path));
  }
});

test("path patterns support wildcards, brackets, braces, names at any depth, and folders with all content", async (folder) => {
  const rows: [pattern: string, path: string, fits: boolean][] = [
    ["src/**", "src", true],
    ["src/**", "src/a/b/.c", true],
    ["src/*", "src/a", true],
    ["src/*", "src/.a", true],
    ["src/*", "src/a/b", false],
    ["src/*.ts", "src/a.ts", true],
    ["src/?.ts", "src/ab.ts", false],
    ["src/[ab].ts", "src/b.ts", true],
    ["src/[!ab].ts", "src/b.ts", false],
    ["src/{a,b}.ts", "src/b.ts", true],
    ["src/{a,b}.ts", "src/c.ts", false],
    ["**/x/*.ts", "src/deep/x/a.ts", true],
    ["*.ts", "src/deep/a.ts", true],
    ["*.ts", "/elsewhere/a.ts", false],
    ["Makefile", "src/Makefile", true],
    ["./Makefile", "src/Makefile", false],
    ["../*", "../other-file", true],
    ["src/**/b.ts", "src/b.ts", true],
    ["src/a\\*b", "src/a*b", true],
    ["src/a\\*b", "src/axb", false],
    ["$HOME/**", "/home/nobody/x", true],
    ["~/**", "/home/nobody/x", true],
    ["/tmp/**", "/tmp/x", true],
    ["src/(a)+", "src/(a)+", true],
    ["src/a.ts", "src/axts", false],
  ];
  for (const [pattern, path, fits] of rows) {
    const rules = [{ approve: "read", path: pattern }];
    assert.equal(await reads(path, { folder }, rules), fits, `${pattern} of ${path}`);
  }
});

test("rules that ask or deny apply to the path as written and to its real path, at any depth", async (folder) => {
  await Deno.writeTextFile(`${folder}/.env`, "");
  await Deno.symlink("../.env", `${folder}/src/plain`);
  await Deno.symlink("docs", `${folder}/papers`);
  const denied = async (path: string, pattern: string | string[]) =>
    (await evaluate([{ deny: "read", path: pattern }], "read", { path }, { folder })).restriction?.decision;
  assert.equal(await denied(".env", "**/.env*"), "deny");
  assert.equal(await denied("src/plain", "**/.env*"), "deny");
  assert.equal(await denied("/elsewhere/.env", ".env"), "deny");
  assert.equal(await denied("papers/x", "papers/**"), "deny");
  assert.equal(await denied("papers/x", "docs/**"), "deny");
  assert.equal(await denied("src/a.ts", "**/.env*"), undefined);
  assert.equal(await denied("src/x", ["src/**", "!src/x"]), undefined);
  assert.equal(await denied("src/y", ["src/**", "!src/x"]), "deny");
});

test("on file systems that ignore case, a denial applies to both spellings", async (folder) => {
  const where = { folder, world: { ignoresCase: () => true } };
  const found = await evaluate([{ deny: "read", path: "./Secret/**" }], "read", { path: "secret/x" }, where);
  assert.equal(found.restriction?.decision, "deny");
  assert.equal(await reads("SRC/a.ts", where), false, "an approval uses the exact name");
});

test("searching a folder is approved only if no path below it is excluded or denied", async (folder) => {
  const plain = [{ approve: ["grep", "ls"], path: "./**" }];
  const asks = async (rules: Parameters<typeof evaluate>[0], path: string | null = ".") =>
    (await evaluate(rules, "grep", { path }, { folder })).approved;
  assert.ok(await asks(plain));
  assert.ok(await asks(plain, null), "no path is the working folder");
  assert.equal(await asks([{ approve: "grep", path: ["./**", "!**/.env*"] }]), false);
  assert.equal(await asks([{ approve: "grep", path: ["./**", "!docs/**"] }]), false);
  assert.ok(
    await asks([{ approve: "grep", path: ["./**", "!docs/**"] }], "src"),
    "nothing of docs is below src",
  );
  assert.equal(await asks([...plain, { deny: "read", path: "./docs/secret/**" }]), false);
  assert.equal(await asks([...plain, { deny: "read", path: "./docs/secret/**" }], "docs"), false);
  assert.ok(await asks([...plain, { deny: "read", path: "./docs/secret/**" }], "src"));
  assert.ok(await asks([...plain, { deny: "write", path: "./docs/**" }]), "writing is something else");
});

test("a rule does not approve a call that lacks the input which the rule is about", async (folder) => {
  for (const input of [{}, { path: "" }, { path: 5 }, { path: null }]) {
    assert.equal((await evaluate(INSIDE, "read", input, { folder })).approved, false, JSON.stringify(input));
  }
  assert.equal((await evaluate(INSIDE, "bash", { command: "ls" }, { folder })).approved, false);
});

test("searching a folder above a forbidden file asks the person, and reading the file itself is denied", async (folder) => {
  const decisions = async (rules: Parameters<typeof evaluate>[0], tool: string, path?: string) => {
    const { restriction } = await evaluate(rules, tool, {
      pattern: "x",
      ...path === undefined ? {} : { path },
    }, { folder });
    return restriction?.decision ?? "pass";
  };
  await Deno.writeTextFile(`${folder}/src/a.ts`, "x");
  const rows: readonly (readonly [Record<string, unknown>, string, string | undefined, string])[] = [
    [{ deny: "read", path: "src/**" }, "grep", undefined, "require_approval"],
    [{ deny: "read", path: "src/**" }, "grep", ".", "require_approval"],
    [{ deny: "read", path: "src/**" }, "grep", "src", "deny"],
    [{ deny: "read", path: "src/**" }, "grep", "src/a.ts", "deny"],
    [{ deny: "read", path: "src/**" }, "grep", "docs", "pass"],
    [{ ask: "read", path: "**/.env*" }, "grep", "docs", "require_approval"],
    [{ deny: "*", path: "src/**" }, "grep", ".", "require_approval"],
    // Names are not what stands in files.
    [{ deny: "read", path: "src/**" }, "find", ".", "pass"],
    [{ deny: "read", path: "src/**" }, "ls", ".", "pass"],
    [{ deny: ["find", "ls"], path: "src/**" }, "find", ".", "require_approval"],
    [{ deny: ["find", "ls"], path: "src/**" }, "ls", undefined, "require_approval"],
    [{ deny: ["find", "ls"], path: "src/**" }, "grep", ".", "pass"],
    [{ deny: "write", path: "src/**" }, "grep", ".", "pass"],
    [{ approve: "read", path: "src/**" }, "grep", ".", "pass"],
    [{ deny: "read" }, "grep", ".", "pass"],
    [{ deny: "read", path: "src/a.ts" }, "grep", "src/a.ts", "deny"],
  ];
  for (const [rule, tool, path, expected] of rows) {
    assert.equal(await decisions([rule], tool, path), expected, `${JSON.stringify(rule)} ${tool} ${path}`);
  }
});
