// Saves by another writer at random and chosen moments, during a run that writes a document and during file tools.

import assert from "node:assert/strict";
import { openFile } from "../../cycle/storage/file_store.ts";
import { withScene } from "../cli/harness.ts";
import { inScene } from "../tools/scene.ts";
import { seenInMemory } from "../tools/seen_memory.ts";
import { chooseParticipants, Company, QUESTION } from "./participants.ts";
import { type Chance, chance, HABITS, pause } from "./random.ts";

const DOCUMENT = "@System:\nBe brief.\n\n@You:\nRun it.\n\n@Assistant:\nI will.\n\n" +
  '**Tool Use:** `bash` (`c1`)\n\n```json\n{"command":"true","timeout":null}\n```\n\n' +
  "@You:\n\n**Tool Result:** `c1`\n\n```flemma:tool status=approved\n```\n\nAnd then?\n";

/** Saves of which the first ones are beside a run, and how many those are. */
const SAVES_PER_STEP = 25;
const SAVES_OF_RUN = 8;

/** Makes so many saves; answers what it did, and throws at the first thing that was lost. */
export async function saves(count: number, seed: number): Promise<string> {
  const random = chance(seed);
  let document = 0;
  let run = 0;
  for (let save = 0; save < count; save++) {
    if (save % SAVES_PER_STEP === 0 && count - save >= SAVES_OF_RUN) {
      await besideRun(random);
      run += SAVES_OF_RUN;
      save += SAVES_OF_RUN - 1;
      continue;
    }
    if (save % 2 === 0) document++;
    await (save % 2 === 0 ? besideDocument(random, save) : besideTool(random, save));
  }
  return `${run} saves beside a run, ${document} beside a document, ${
    count - document - run
  } beside write and edit: nothing lost, nothing left behind`;
}

/** Saves while a call, a job, a helper and hooks have their results written. */
async function besideRun(random: Chance): Promise<void> {
  await withScene(async (place) => {
    await using company = new Company(place, chooseParticipants(random));
    const path = place.path("a.chat");
    place.write("a.chat", `@You:\n${QUESTION}`);
    const run = place.start(["advance", "a.chat"], { env: company.env });
    const tokens: string[] = [];
    for (let save = 0; save < SAVES_OF_RUN; save++) {
      await pause(random.below(150));
      const token = `Token ${save}.`;
      const text = place.read("a.chat");
      tokens.push(token);
      await random.pick(Object.values(HABITS))(path, text.replace(QUESTION, `${QUESTION}${token}\n`));
    }
    const { code, stderr } = await run.finished;
    const now = place.read("a.chat");
    const reported = `${JSON.stringify(company.who)}\nexit ${code}\n${stderr}\n${now}`;
    assert.ok([0, 3].includes(code), reported);
    for (const token of tokens) assert.ok(now.includes(token), `${token} is lost: ${reported}`);
    company.check(place, reported);
    await company.settle(place);
  });
}

async function besideDocument(random: Chance, save: number): Promise<void> {
  await inScene(async (place) => {
    const path = place.path("a.chat");
    await Deno.writeTextFile(path, DOCUMENT);
    const token = `Token ${save}.`;
    const [how, habit] = random.pick(Object.entries(HABITS));
    const line = random.pick(["Be brief.", "And then?"]);
    const theirs = DOCUMENT.replace(line, token);
    const aimed = random.below(2) === 0;
    const instant = random.below(3);
    let saved: Promise<void> | null = null;
    let calls = 0;
    const between = async () => {
      if (!aimed || saved !== null || calls++ !== instant % 2) return;
      saved = habit(path, theirs);
      await (instant === 0 ? saved : pause(0));
    };
    const environment = { cwd: place.folder, home: place.folder, variables: {} };
    const opened = await openFile("a.chat", { environment, wait: 0, between });
    assert.ok(opened.ok);
    const store = opened.value;
    store.inPlaceWhile = random.pick([() => true, () => false]);
    if (!aimed) saved = pause(random.below(12)).then(() => habit(path, theirs));
    const whole = new TextDecoder().decode(store.chat.bytes);
    const from = whole.indexOf("```flemma:tool");
    const old = "```flemma:tool status=approved\n```".length;
    const problem = await store.commit([{ from, to: from + old, insert: "```\nthe result\n```" }]);
    // A rename has only one instant to aim at: then the save comes right behind it.
    await (saved ?? habit(path, theirs));
    await store.close();
    const after = await Deno.readTextFile(path);
    assert.equal(problem, null, JSON.stringify(problem));
    assert.ok(
      after.includes(token),
      `the save ${save}, ${how}, ${aimed ? "aimed" : "at random"}, is lost:\n${after}`,
    );
    // A save that begins when the run has ended is the last word.
    if (after.includes("status=approved")) assert.equal(after, theirs);
    else assert.equal(after, theirs.replace("```flemma:tool status=approved\n```", "```\nthe result\n```"));
    const names = [...Deno.readDirSync(place.folder)].map(({ name }) => name).sort();
    assert.deepEqual(names.filter((name) => name !== ".local"), ["a.chat", "talk.chat"]);
  });
}

async function besideTool(random: Chance, save: number): Promise<void> {
  await inScene(async (place) => {
    const path = place.path("f.txt");
    const before = Array.from({ length: 200 }, (_, line) => `line ${line}\n`).join("");
    await Deno.writeTextFile(path, before);
    const token = `token ${save}\n`;
    const theirs = before.replace("line 150\n", token);
    const habit = random.pick(Object.values(HABITS));
    const input = random.pick(
      [
        ["edit", { path: "f.txt", oldText: "line 20\n", newText: "edited\n" }],
        ["write", { path: "f.txt", content: "all new\n" }],
      ] as const,
    );
    const seen = seenInMemory();
    await place.output("read", { path: "f.txt" }, { seen });
    const saved = pause(random.below(10)).then(() => habit(path, theirs));
    const result = await place.run(input[0], input[1], { seen });
    await saved;
    const after = await Deno.readTextFile(path);
    // Theirs came before or after ours. Ours over a save that had come before would have been refused or merged.
    const ours = input[0] === "edit" ? theirs.replace("line 20\n", "edited\n") : "all new\n";
    if (after !== theirs) {
      assert.ok(result.success, JSON.stringify(result));
      assert.equal(after, ours);
    }
    const left = [...Deno.readDirSync(place.folder)].map(({ name }) => name).filter((name) =>
      /^\.flemma|~$/.test(name)
    );
    assert.deepEqual(left, []);
  });
}
