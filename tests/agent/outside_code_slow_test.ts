// Code that runs outside the sandbox, or counts as the person's own: commands cannot change it, and it is compared
// before each use. Needs bubblewrap.

import assert from "node:assert/strict";
import type { MemoryOptions } from "../../agent/types.ts";
import { filesIn, trustFiles } from "../../config/sources/tool_folders.ts";
import { asking, inPlace, type Place } from "./place.ts";

function plant(path: string, text: string): string {
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  Deno.writeTextFileSync(path, text);
  return path;
}

/** A tool file that answers with what a file next to the project says. */
function toolFile(library: string, target: "host" | "sandbox"): string {
  return `import { word } from ${JSON.stringify(library)};
export default { executionTarget: "${target}", defaultRiskLevel: "low", execute: () => ({ content: word }) };\n`;
}

const WORD = 'export const word = "as it was";\n';
const CHANGED = 'export const word = "as a command wrote it";\n';

interface Case {
  readonly name: string;
  /** Plants the code; returns the file that changes, and further settings of tools. */
  plant(place: Place): Promise<{ readonly file: string; readonly tools?: Record<string, unknown> }>;
}

const TOOLS: readonly Case[] = [
  ...(["host", "sandbox"] as const).map((target): Case => ({
    name: `an import of the person's tool file for the ${target}`,
    plant: (place) => {
      const file = plant(place.path("lib.ts"), WORD);
      plant(`${place.folder}/config/flemma/tools/say.ts`, toolFile(`${file}?v=1`, target));
      return Promise.resolve({ file });
    },
  })),
  ...(["host", "sandbox"] as const).map((target): Case => ({
    name: `an import of a trusted project's tool file for the ${target}`,
    plant: async (place) => {
      const file = plant(place.path("lib.ts"), WORD);
      const folder = place.path(".flemma/tools");
      plant(`${folder}/say.ts`, toolFile("../../%6cib.ts", target));
      const names = await filesIn(folder);
      assert.ok(names.ok && (await trustFiles(place.environment, folder, names.value)).ok);
      return { file };
    },
  })),
  {
    name: "the target of a link in the person's folder",
    plant: (place) => {
      const file = plant(
        place.path("say.js"),
        'export default { executionTarget: "host", defaultRiskLevel: "low", execute: () => ({ content: "as it was" }) };\n',
      );
      Deno.mkdirSync(`${place.folder}/config/flemma/tools`, { recursive: true });
      Deno.symlinkSync(file, `${place.folder}/config/flemma/tools/say.js`);
      return Promise.resolve({ file });
    },
  },
  {
    name: "a file in a folder of tools.dirs",
    plant: (place) => {
      const file = plant(
        place.path("mine/say.js"),
        'export default { executionTarget: "host", defaultRiskLevel: "low", execute: () => ({ content: "as it was" }) };\n',
      );
      return Promise.resolve({ file, tools: { dirs: [place.path("mine")] } });
    },
  },
  {
    name: "an import of a module, loaded at each call",
    plant: (place) => {
      const file = plant(place.path("lib.ts"), WORD);
      const module = plant(
        place.path("module.ts"),
        `export const definitions = [{ name: "say", description: "d", input_schema: { type: "object" },
  execute: async () => ({ success: true, output: (await import("./lib.ts")).word }) }];\n`,
      );
      return Promise.resolve({ file, tools: { modules: [module] } });
    },
  },
];

/** Opens a document with two calls of `say` and one of `bash`, and hands it to `work`. */
async function withCalls(
  place: Place,
  tools: Record<string, unknown>,
  command: string,
  work: (run: (id: string) => Promise<string>) => Promise<void>,
): Promise<void> {
  const options: MemoryOptions = {
    settings: {
      overrides: {
        tools: { require_approval: false, auto_approve_risk: "high", ...tools },
        sandbox: { policy: { rw_paths: ["urn:flemma:cwd"] } },
      },
    },
  };
  const text = asking(["c1", "say", "{}"], ["c2", "say", "{}"], [
    "c3",
    "bash",
    JSON.stringify({ label: "x", command }),
  ]);
  await using session = await place.memory(text, options);
  await work(async (id) => {
    await session.execute(id);
    return session.chat.result(id)?.content ?? "";
  });
}

for (const { name, plant: prepare } of TOOLS) {
  Deno.test(`after a change of ${name}, the next call of the run does not execute it`, async () => {
    await inPlace(async (place) => {
      const { file, tools = {} } = await prepare(place);
      await withCalls(place, tools, "true", async (run) => {
        assert.equal(await run("c1"), "as it was");
        Deno.writeTextFileSync(
          file,
          file.endsWith("lib.ts") ? CHANGED : CHANGED + Deno.readTextFileSync(file),
        );
        assert.match(await run("c2"), /changed after this run began|is not as you trusted it/);
      });
    });
  });

  Deno.test(`a command cannot change ${name}`, async () => {
    await inPlace(async (place) => {
      const { file, tools = {} } = await prepare(place);
      const before = Deno.readTextFileSync(file);
      const folder = file.slice(0, file.lastIndexOf("/"));
      const command =
        `echo x >>${file}; mv ${file} ${file}.old; rm -f ${file}; mv ${folder} ${folder}.old; true`;
      await withCalls(place, tools, command, async (run) => {
        assert.match(await run("c3"), /Read-only|busy/);
        assert.equal(Deno.readTextFileSync(file), before);
        assert.equal(await run("c1"), "as it was");
      });
    });
  });
}

Deno.test("a command cannot add a tool file to a folder of tools.dirs, even one that does not exist yet", async () => {
  for (const exists of [true, false]) {
    await inPlace(async (place) => {
      const folder = place.path("mine");
      if (exists) Deno.mkdirSync(folder);
      const command = `mkdir -p ${folder}; echo "export default {};" >${folder}/new.js; true`;
      await withCalls(place, { dirs: [folder] }, command, async (run) => {
        await run("c3");
        assert.throws(() => Deno.lstatSync(`${folder}/new.js`), Deno.errors.NotFound, `exists: ${exists}`);
      });
    });
  }
});

Deno.test("if a file that a resolver imports was changed, the resolver decides nothing, and the call waits", async () => {
  await inPlace(async (place) => {
    const library = plant(place.path("lib.ts"), "export const answer = null;\n");
    const resolver = plant(
      place.path("resolver.ts"),
      'export default async () => (await import(`./lib.ts`)).answer === null ? "approve" : "approve";\n',
    );
    const options: MemoryOptions = {
      settings: {
        overrides: {
          tools: { resolvers: [{ path: resolver }], auto_approve: [], auto_approve_sandboxed: false },
        },
      },
    };
    const text = asking(["c1", "write", JSON.stringify({ label: "x", path: "made.txt", content: "x" })]);
    for (const changes of [false, true]) {
      await using session = await place.memory(text, options);
      if (changes) Deno.writeTextFileSync(library, "export const answer = 1;\n");
      const [call] = await session.calls();
      assert.equal(call?.decided.decision, changes ? "require_approval" : "approve");
    }
  });
});
