// Which files are the code of a run: modules that the settings name, tool files, and what both import.

import assert from "node:assert/strict";
import { loadSettingsLayers } from "../../config/load.ts";
import { testInWorld as test } from "./world.ts";

test("the code of a run is that of modules and tool files with their imports, and nothing else in their folders", async (world) => {
  const { home, project, folder } = world;
  const files: Readonly<Record<string, string>> = {
    [`${home}/.config/flemma/tools/mine.ts`]: "import './parts/part.js';\n",
    [`${home}/.config/flemma/tools/parts/part.js`]: "",
    [`${home}/.config/flemma/tools/parts/unused.ts`]: "",
    [`${home}/.config/flemma/tools/.hidden.ts`]: "",
    [`${home}/.config/flemma/tools/words.txt`]: "",
    [`${project}/.flemma/tools/theirs.mts`]: "",
    [`${folder}/more/named.jsx`]: "",
    [`${folder}/policy.ts`]: "import './rule.ts';\nexport default () => true;\n",
    [`${folder}/rule.ts`]: "",
  };
  for (const [path, text] of Object.entries(files)) await world.write(path, text);
  const yaml = `tools: { dirs: [${folder}/more, ${folder}/none], auto_approve: [${folder}/policy.ts] }\n`;
  await world.write(`${home}/.config/flemma/config.yaml`, yaml);
  const load = async () => {
    const loaded = await loadSettingsLayers({ environment: world.environment() });
    assert.ok(loaded.ok, loaded.ok ? "" : loaded.problem.message);
    return loaded.value;
  };
  const { code, seals } = await load();
  const not = /unused|hidden|words/;
  assert.deepEqual([...code].sort(), Object.keys(files).filter((path) => !not.test(path)).sort());
  assert.deepEqual([...seals.keys()], [`${folder}/policy.ts`]);
  await world.write(`${folder}/rule.ts`, "// changed\n");
  const changed = (await load()).seals.get(`${folder}/policy.ts`);
  assert.ok(typeof changed === "string" && changed !== seals.get(`${folder}/policy.ts`));
});
