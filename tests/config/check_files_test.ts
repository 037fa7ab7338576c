import assert from "node:assert/strict";
import { fileLines } from "../../commands/settings/check.ts";
import { loadSettingsLayers } from "../../config/load.ts";
import { inWorld, type World } from "./world.ts";

interface Case {
  readonly name: string;
  readonly text: string;
  readonly reported: readonly string[];
}

function cases(file: string): Case[] {
  const all = Deno.readTextFileSync(new URL(file, import.meta.url));
  return all.split(/^=== /m).slice(1).map((part) => {
    const [name = "", ...rest] = part.split("\n");
    const [text = "", reported = ""] = rest.join("\n").split("--- told\n");
    return {
      name,
      text: `${text.trimEnd()}\n`,
      reported: reported.split("\n").filter((line) => line !== ""),
    };
  });
}

/** What the command prints, one line each, with the file's name taken off. */
async function reported(world: World, text: string): Promise<{ lines: readonly string[]; failed: boolean }> {
  const path = `${world.home}/.config/flemma/config.yaml`;
  await world.write(path, text);
  const environment = world.environment();
  const loaded = await loadSettingsLayers({ environment });
  const found = loaded.ok
    ? fileLines(loaded.value, { environment, document: null })
    : { lines: loaded.problem.message.split("\n"), exit: 2 };
  return {
    lines: found.lines.map((line) => line.replace(`${path}:`, "").replace(/^(\d+:\d+):/, "$1")),
    failed: found.exit !== 0,
  };
}

const MISTAKEN = cases("mistaken_files.txt");
const SOUND = cases("sound_files.txt");

Deno.test(`config check reports every mistake in ${MISTAKEN.length} settings files with its location and the right hint, and nothing else`, async (test) => {
  assert.ok(MISTAKEN.length >= 40);
  await inWorld(async (world) => {
    for (const { name, text, reported: expected } of MISTAKEN) {
      await test.step(name, async () => {
        const { lines } = await reported(world, text);
        const missed = expected.filter((words) => {
          const [place, ...rest] = words.split(" ");
          return !lines.some((line) => line.startsWith(`${place} `) && line.includes(rest.join(" ")));
        });
        assert.deepEqual(missed, [], `printed:\n${lines.join("\n")}`);
        assert.equal(lines.length, expected.length, `printed:\n${lines.join("\n")}`);
      });
    }
  });
});

Deno.test(`config check accepts ${SOUND.length} settings files without a mistake`, async (test) => {
  assert.ok(SOUND.length >= 20);
  await inWorld(async (world) => {
    for (const { name, text } of SOUND) {
      await test.step(
        name,
        async () => assert.deepEqual(await reported(world, text), { lines: [], failed: false }),
      );
    }
  });
});
