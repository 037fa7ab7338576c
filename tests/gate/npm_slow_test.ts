// The npm package: its content, and that it works once npm has installed it.

import assert from "node:assert/strict";
import ts from "typescript";
import { PAGES } from "../../scripts/build/pages.ts";
import { configuredRegistry } from "../../scripts/release/installs/pinned.ts";
import { publicationOf } from "../../scripts/release/installs/publish.ts";
import { tryWay } from "../../scripts/release/installs/try.ts";
import { WAYS } from "../../scripts/release/installs/ways.ts";
import { withPackage } from "./installed_package.ts";
import { ANSWER, ANSWER_WITH_FILES, PROGRAM } from "../library/elsewhere/program.ts";

/** A server of tools without packages. */
const SERVER = new URL("../tools/mcp/scripted.ts", import.meta.url).pathname;

/** All files below a folder, sorted. */
async function filesBelow(folder: string, prefix = ""): Promise<string[]> {
  const files: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${folder}/${prefix}`)) {
    files.push(...isDirectory ? await filesBelow(folder, `${prefix}${name}/`) : [`${prefix}${name}`]);
  }
  return files.sort();
}

/** Where a program on the PATH lies. */
function pathOf(name: string): string {
  const folders = Deno.env.get("PATH")!.split(":");
  const found = folders.map((folder) => `${folder}/${name}`).find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
  assert.ok(found !== undefined, `${name} is not on the PATH`);
  return found;
}

/** What a compiler other than Deno's says about a program in the folder. */
function compiled(folder: string, path: string): string[] {
  const program = ts.createProgram([`${folder}/${path}`], {
    strict: true,
    exactOptionalPropertyTypes: true,
    target: ts.ScriptTarget.ES2022,
    lib: ["lib.es2022.d.ts", "lib.esnext.disposable.d.ts", "lib.dom.d.ts"],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: [],
    noEmit: true,
  });
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) =>
    `${file?.fileName.slice(folder.length)}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`
  );
}

Deno.test("npm: the package has the documented content, and works after an installation without scripts, network or Node", async (t) => {
  await withPackage(async (packages, { folder, run }) => {
    await t.step("npm: the package has no unintended file, and installation runs no script", async () => {
      // The parts of the program are listed by the test of the bundle.
      const isPart = (path: string) => /^lib\/flemma-\d+\.\d+\.\d+-[0-9a-f]{12}\/\w+\.js$/.test(path);
      const files = await filesBelow(`${packages}/flemma`);
      assert.ok(files.some(isPart));
      assert.deepEqual(files.filter((path) => !isPart(path) && !path.startsWith("docs/")), [
        ...PAGES,
        "bin/flemma.bin",
        "bin/flemma.cjs",
        "flemma.1",
        "lib/advanced.d.ts",
        "lib/advanced.js",
        "lib/advanced/mcp.js",
        "lib/flemma.js",
        "lib/lezer.d.ts",
        "lib/lezer.js",
        "lib/mod.d.ts",
        "lib/mod.js",
        "lib/parser.d.ts",
        "lib/parser.js",
        "package.json",
        "schemas/output.schema.json",
        "schemas/settings.schema.json",
      ]);
      const manifest = JSON.parse(await Deno.readTextFile(`${packages}/flemma/package.json`));
      assert.equal(manifest.name, "flemma");
      assert.equal(manifest.scripts, undefined);
      const named = [manifest.bin.flemma, manifest.man].concat(
        Object.values<string | Record<string, string>>(manifest.exports).flatMap((value) =>
          typeof value === "string" ? value : Object.values(value)
        ),
      );
      for (const path of named.filter((path) => !path.includes("*"))) {
        assert.ok((await Deno.stat(`${packages}/flemma/${path}`)).isFile, path);
      }
      assert.ok(((await Deno.stat(`${folder}/node_modules/flemma/bin/flemma.bin`)).mode! & 0o111) !== 0);
      const { size } = await Deno.stat(`${packages}/flemma/lib/parser.js`);
      assert.ok(size <= 65 * 1024, `${size} bytes`);
      // What only servers of tools need is loaded when there are any.
      const [whole, late] = await Promise.all(
        ["advanced.js", "advanced/mcp.js"].map((path) => Deno.readTextFile(`${packages}/flemma/lib/${path}`)),
      );
      assert.ok(whole!.length <= 2_450_000, `${whole!.length} characters`);
      assert.ok(!whole!.includes("notifications/cancelled") && late!.includes("notifications/cancelled"));
    });

    await t.step("npm: the package for Windows works the same if Node starts it", async () => {
      const path = `${packages}/flemma-windows/package.json`;
      const manifest = JSON.parse(await Deno.readTextFile(path));
      assert.deepEqual([manifest.name, manifest.bin, manifest.os], [
        "flemma-windows",
        { flemma: "bin/flemma.cjs" },
        ["win32"],
      ]);
      const ours = await filesBelow(`${packages}/flemma`);
      assert.deepEqual(
        await filesBelow(`${packages}/flemma-windows`),
        ours.filter((path) => path !== "bin/flemma.bin"),
      );
    });

    await t.step("npm: npx runs the demo", async () => {
      const { code, out, error } = await run(["npx", "--no-install", "flemma", "demo"], { offline: true });
      assert.equal(code, 0, out + error);
      assert.match(out, /\$ flemma advance/);
    });

    await t.step("npm: the installed program does not need Node", async () => {
      await Deno.writeTextFile(`${folder}/a.chat`, "@You:\nHello\n");
      const command = ["./node_modules/.bin/flemma", "check", "a.chat"];
      await Deno.mkdir(`${folder}/bin`);
      for (const name of ["readlink", "bwrap", "sh"]) {
        await Deno.symlink(`/usr/bin/${name}`, `${folder}/bin/${name}`);
      }
      const { code, out, error } = await run(command, { offline: true, path: `${folder}/bin` });
      assert.deepEqual({ code, out, error }, { code: 0, out: "", error: "" });
    });

    await t.step(
      "npm: tool files and MCP servers work in the program, and also in the library under Deno",
      async () => {
        const config = `${packages}/../home/.config/flemma`;
        await Deno.mkdir(`${config}/tools`, { recursive: true });
        await Deno.writeTextFile(
          `${config}/tools/shout.ts`,
          'export default { execute: (): { content: string } => ({ content: "MOIN" }) };\n',
        );
        const args = ["run", "-A", "--quiet", "--no-config", SERVER, "."];
        const one = { command: Deno.execPath(), args, sandbox: false };
        await Deno.writeTextFile(`${config}/config.yaml`, JSON.stringify({ mcp: { servers: { one } } }));
        const call = (tool: string, id: string) =>
          `**Tool Use:** \`${tool}\` (\`${id}\`)\n\n\`\`\`json\n{}\n\`\`\`\n\n`;
        const text = `@You:\nGo.\n\n@Assistant:\n${call("shout", "c1")}${call("one:echo", "c2")}`;
        await Deno.writeTextFile(`${folder}/calls.chat`, text);
        for (const id of ["c1", "c2"]) {
          const { code, error } = await run(["node_modules/.bin/flemma", "execute", "calls.chat", id]);
          assert.equal(code, 0, error);
        }
        const done = /`c1`\n\n```\nMOIN\n```\n\n\*\*Tool Result:\*\* `c2`\n\n```\necho \{\}\n```/;
        assert.match(await Deno.readTextFile(`${folder}/calls.chat`), done);
        await Deno.writeTextFile(`${folder}/calls.chat`, text);
        await Deno.writeTextFile(
          `${folder}/calls.js`,
          `import { openChat } from "flemma";
const opened = await openChat("calls.chat");
await using session = opened.value;
for (const id of ["c1", "c2"]) await session.execute(id);
`,
        );
        const { code, error } = await run([Deno.execPath(), "run", "-A", "--no-lock", "calls.js"]);
        assert.equal(code, 0, error);
        assert.match(await Deno.readTextFile(`${folder}/calls.chat`), done);
      },
    );

    // `deno task installs` tries all ways with the package managers and Nodes that people have.
    await t.step(
      "npm: after a global installation, the program starts without a network, and npm can remove it completely",
      async () => {
        const way = WAYS.find(({ name }) => name === "npm, globally")!;
        const findings = await tryWay(way, {
          publications: [await publicationOf(`${packages}/flemma`)],
          programs: Object.fromEntries(["node", "npm", "npx"].map((name) => [name, pathOf(name)])),
          upstream: await configuredRegistry(),
          parts: ["install", "version", "remove"],
        });
        assert.deepEqual([...findings], [["install", null], ["version", null], ["remove", null]]);
      },
    );

    await t.step("npm: if Node starts the program, it works the same and exits with its code", async () => {
      const command = ["node", "node_modules/flemma/bin/flemma.cjs"];
      const { out } = await run([...command, "--version"], { offline: true });
      assert.match(out, /^flemma \d+\.\d+\.\d+\n$/);
      const { code, error } = await run([...command, "status", "--nope"], { offline: true });
      assert.equal(code, 2, error);
      assert.match(error, /--nope/);
    });

    await t.step("npm: other compilers read the package's types and report a wrong use", async () => {
      await Deno.writeTextFile(
        `${folder}/good.ts`,
        `import { openChat, type Stop } from "flemma";
import { chatLanguage, chatParser } from "flemma/lezer";
import { parse, type Chat } from "flemma/parser";
export const name: string = chatLanguage.name + chatParser.parse("").type.name;
const chat: Chat = parse(new Uint8Array());
export const length: number = chat.tree.length;
export async function run(): Promise<Stop | null> {
  const opened = await openChat("a.chat");
  return opened.ok ? await opened.value.advance() : null;
}
`,
      );
      await Deno.writeTextFile(
        `${folder}/bad.ts`,
        'import { parse } from "flemma/parser";\nexport const chat: string = parse(new Uint8Array()).turns;\n',
      );
      assert.deepEqual(compiled(folder, "good.ts"), []);
      assert.deepEqual(compiled(folder, "bad.ts"), [
        "/bad.ts: Type 'readonly Turn[]' is not assignable to type 'string'.",
      ]);
    });

    await t.step(
      "npm: Node can read, change and evaluate documents, and a missing document is a problem",
      async () => {
        await Deno.writeTextFile(
          `${folder}/library.js`,
          `import * as flemma from "flemma";
import { parse } from "flemma/parser";
const role = parse(new TextEncoder().encode("@You:\\n")).turns[0].role;
console.log(JSON.stringify([role, await (${PROGRAM})(flemma), parseInt(process.versions.node)]));
`,
        );
        const { out, error } = await run(["node", "library.js"]);
        assert.equal(error, "");
        const [role, answer, version] = JSON.parse(out);
        assert.deepEqual([role, answer], ["You", version < 22 ? ANSWER : ANSWER_WITH_FILES]);
      },
    );
  });
});
