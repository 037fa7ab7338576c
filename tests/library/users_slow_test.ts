// Programs as their authors build them: compiled strictly, bundled with esbuild, and run from the bundle.

import assert from "node:assert/strict";
import * as esbuild from "esbuild";
import ts from "typescript";
import { ROOT } from "../../scripts/gate/root.ts";
import { withPackage } from "../gate/installed_package.ts";

/** Asks a scripted model about a call of its own tool. Only the output differs between runtimes. */
const loop = (print: string) => `
import { chatInMemory, replayProvider, type RunResult, startReplay } from "flemma";
import { parse } from "flemma/parser";
const weather = {
  name: "weather",
  input_schema: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
  execute: ({ place }: { readonly place?: unknown }) => ({ success: true, output: \`Rain in \${place}.\` }),
};
const tool_use = { id: "call_1", name: "weather", input: { place: "Oslo" } };
await using replay = await startReplay({ replies: [{ reply: [{ tool_use }] }, { reply: [{ text: "Take an umbrella." }] }] });
const opened = await chatInMemory(new TextEncoder().encode("@You:\\nDo I need an umbrella?\\n"), {
  provider: replayProvider(replay),
  settings: { approve: ["weather"], noConfig: true },
  tools: [weather],
});
if (!opened.ok) throw new Error(opened.problem.message);
const result: RunResult = await opened.value.advance();
const chat = parse(opened.value.chat.bytes);
await opened.value.close();
${print}(\`\${result.reason}: \${chat.calls[0]?.name}, \${chat.turns.length} turns, \${result.reply}\\n\`);
`;

const PROGRAMS = {
  "node.ts": loop('import { stdout } from "node:process";\nstdout.write').replace(
    /^([^]*)(import \{ stdout \}.*\n)([^]*)$/,
    "$2$1$3",
  ),
  "deno.ts": loop("console.log"),
  "browser.ts": `
import { applyEdits, type Chat, parse, setStatus } from "flemma/parser";
const call = "**Tool Use:** \`bash\` (\`c\`)\\n\\n\`\`\`json\\n{}\\n\`\`\`\\n";
const result = "**Tool Result:** \`c\`\\n\\n\`\`\`flemma:tool status=pending\\n\`\`\`\\n";
const bytes = new TextEncoder().encode(\`@Assistant:\\n\${call}\\n@You:\\n\${result}\`);
const chat: Chat = parse(bytes);
const edits = chat.results.flatMap((each) => setStatus(chat, each, "approved", "fence"));
console.log(new TextDecoder().decode(applyEdits(bytes, edits)).split("\\n").at(-3));
`,
};

const OUTPUT = {
  "node.ts": "done: weather, 5 turns, Take an umbrella.\n",
  "deno.ts": "done: weather, 5 turns, Take an umbrella.\n\n",
  "browser.ts": "```flemma:tool status=approved\n",
};

/** Characters that a minified bundle may have. The packages for Lezer are in it; without them, the parser has 65 KB. */
const LARGEST = { "node.ts": 2_800_000, "deno.ts": 2_800_000, "browser.ts": 78 * 1024 };

const NODE_PACKAGE = `node-${Deno.build.os}-${Deno.build.arch === "x86_64" ? "x64" : "arm64"}`;
const NODE = [`${NODE_PACKAGE}@22`, "@types/node@22"];

type Name = keyof typeof PROGRAMS;
const NAMES = Object.keys(PROGRAMS) as Name[];

/** What a compiler with the strictest usual options says about programs in the folder. */
function compiled(folder: string, files: readonly string[], types: readonly string[]): string[] {
  const program = ts.createProgram(files.map((file) => `${folder}/${file}`), {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    target: ts.ScriptTarget.ES2022,
    lib: ["lib.es2022.d.ts", "lib.esnext.disposable.d.ts", "lib.dom.d.ts"],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    typeRoots: [`${folder}/node_modules/@types`],
    types: [...types],
    noEmit: true,
  });
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) =>
    `${file?.fileName.slice(folder.length)}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`
  );
}

Deno.test("programs of others compile strictly, and run from bundles of a known size", async (t) => {
  await withPackage(async (_, { folder, run }) => {
    for (const name of NAMES) await Deno.writeTextFile(`${folder}/${name}`, PROGRAMS[name]);
    const examples = [...Deno.readDirSync(`${ROOT}/examples/library`)].map(({ name }) => name).sort();
    for (const name of examples) {
      await Deno.copyFile(`${ROOT}/examples/library/${name}`, `${folder}/${name}`);
    }

    await t.step("the examples and the programs compile strictly, those for Node with its types", () => {
      assert.deepEqual(examples, ["bot.ts", "evaluate.ts", "job.ts"]);
      assert.deepEqual(compiled(folder, [...examples, "node.ts"], ["node"]), []);
      assert.deepEqual(compiled(folder, ["deno.ts", "browser.ts"], []), []);
    });

    for (const name of NAMES) {
      await t.step(`the bundle of ${name} works without the package`, async () => {
        const isBrowser = name === "browser.ts";
        const { outputFiles } = await esbuild.build({
          absWorkingDir: folder,
          entryPoints: [name],
          bundle: true,
          minify: true,
          write: false,
          format: isBrowser ? "iife" : "esm",
          platform: isBrowser ? "browser" : "node",
          target: "es2022",
          logLevel: "silent",
        });
        const [{ text } = { text: "" }] = outputFiles;
        const line = `${name}: ${Math.round(text.length / 1024)} KB, minified\n`;
        Deno.stdout.writeSync(new TextEncoder().encode(line));
        assert.ok(text.length <= LARGEST[name], `${text.length} characters`);
        await Deno.mkdir(`${folder}/${name}.d`);
        await Deno.writeTextFile(`${folder}/${name}.d/bundle.mjs`, text);
        const runtime = name === "deno.ts"
          ? [Deno.execPath(), "run", "-A", "--quiet"]
          : [`${folder}/node_modules/${NODE_PACKAGE}/bin/node`];
        const { code, out, error } = await run([...runtime, `${name}.d/bundle.mjs`]);
        assert.deepEqual({ code, out, error }, { code: 0, out: OUTPUT[name], error: "" });
      });
    }

    await t.step("without the package of the editor, flemma/lezer names it", async () => {
      await Deno.remove(`${folder}/node_modules/@codemirror`, { recursive: true });
      const { code, error } = await run([
        "node",
        "--input-type=module",
        "-e",
        'await import("flemma/lezer");',
      ]);
      assert.equal(code, 1);
      assert.match(error, /Cannot find package '@codemirror\/language'/);
    });
  }, NODE);
  await esbuild.stop();
});
