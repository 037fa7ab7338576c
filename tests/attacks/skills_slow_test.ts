// Attacks by skill folders and project files that are links, pipes, devices or pseudo-files, that are huge, or that
// change after the person trusted them: the model sees nothing of them, and the program does not wait.

import type { Scene } from "../cli/harness.ts";
import { advance, type Attack, calling, mustHold, put, request } from "./scene.ts";

const SECRET = "SECRET-OF-THE-PERSON";
const SKILL = ".claude/skills/evil/SKILL.md";

function skill(text: string, name = "evil"): string {
  return `---\nname: ${name}\ndescription: Helps with ${text}.\n---\n${text}\n`;
}

/** Whether a model would see the attack. Also runs the commands that read skills, which must end. */
async function isSeen(place: Scene): Promise<boolean> {
  place.arrive("b.chat", "@You:\nHi\n");
  for (const words of [["status", "b.chat"], ["skills", "list"], ["tools", "list", "b.chat"]]) {
    await place.run(words);
  }
  return (await request(place, "b.chat")).includes(SECRET);
}

/** Replaces a file by what `make` makes. */
async function become(place: Scene, name: string, make: (path: string) => unknown): Promise<void> {
  put(place, name, "");
  Deno.removeSync(place.path(name));
  await make(place.path(name));
}

const link = (target: string) => (path: string) => Deno.symlinkSync(target, path);
const pipe = (path: string) => new Deno.Command("mkfifo", { args: [path] }).output();
const huge = (size: number) => (path: string) => {
  using file = Deno.openSync(path, { write: true, createNew: true });
  file.truncateSync(size);
};

const MADE: Readonly<Record<string, (path: string) => unknown>> = {
  "a link to a pseudo-file without end": link("/proc/self/pagemap"),
  "a link to the kernel's messages": link("/proc/kmsg"),
  "a link to the environment": link("/proc/self/environ"),
  "a link to memory": link("/proc/self/mem"),
  "a link to an endless device": link("/dev/zero"),
  "a link to a terminal": link("/dev/tty"),
  "a link to standard input": link("/dev/stdin"),
  "a link to itself": link("SKILL.md"),
  "a pipe": pipe,
  "a folder": (path) => Deno.mkdirSync(path),
  "a file of 100 GB": huge(100 * 1024 ** 3),
  "a file of 60 MB of zeros": huge(60 * 1024 ** 2),
};

const PLACES = [
  SKILL,
  ".mcp.json",
  ".flemma/config.yaml",
  ".flemma/config.lua",
  ".flemma/tools/evil.json",
  "AGENTS.md",
];

const STRANGE = PLACES.flatMap((name) =>
  Object.entries(MADE).map(([what, make]): Attack => ({
    name: `${what} in the place of ${name} stops the program`,
    act: async (place) => {
      Deno.mkdirSync(place.path(".git"));
      await become(place, name, make);
      await place.run(["trust", name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : name]);
    },
    won: isSeen,
  }))
);

/** Trusts a skill with two files, then changes it. */
const changed = (what: string, change: (place: Scene) => unknown): Attack => ({
  name: `a trusted skill is seen after ${what}`,
  act: async (place) => {
    Deno.mkdirSync(place.path(".git"));
    put(place, SKILL, skill("good"));
    put(place, ".claude/skills/evil/ref.md", "good\n");
    put(place, "outside.md", skill("good"));
    await place.exits(0, ["trust", ".claude/skills"]);
    await change(place);
  },
  won: async (place) => {
    place.arrive("a.chat", calling("skill", { name: "evil" }, "pending"));
    await place.run(["approve", "a.chat", "c1"]);
    await advance(place, "a.chat");
    const seen = await isSeen(place) || place.read("a.chat").includes(SECRET);
    return seen || /evil: Helps/.test(await request(place, "b.chat"));
  },
});

const CHANGED: readonly Attack[] = [
  changed("its text changed", (place) => put(place, SKILL, skill(SECRET))),
  changed("its text became a link", (place) => {
    Deno.writeTextFileSync(`${place.folder}/home/secret`, skill(SECRET));
    return become(place, SKILL, link(`${place.folder}/home/secret`));
  }),
  changed("its folder became a link", (place) => {
    put(place, "other/SKILL.md", skill(SECRET));
    Deno.removeSync(place.path(".claude/skills/evil"), { recursive: true });
    Deno.symlinkSync(place.path("other"), place.path(".claude/skills/evil"));
  }),
  changed("the folder of skills became a link", (place) => {
    put(place, "other/evil/SKILL.md", skill(SECRET));
    Deno.removeSync(place.path(".claude"), { recursive: true });
    put(place, ".claude/x", "");
    Deno.symlinkSync("../other", place.path(".claude/skills"));
  }),
  changed("a file was changed through a hard link", (place) => {
    Deno.linkSync(place.path(SKILL), place.path("hard"));
    Deno.writeTextFileSync(place.path("hard"), skill(SECRET));
  }),
  changed("another file changed", (place) => put(place, ".claude/skills/evil/ref.md", "bad\n")),
  changed(
    "another file became a link",
    (place) => become(place, ".claude/skills/evil/ref.md", link(`${place.folder}/home`)),
  ),
  changed("a file was added", (place) => put(place, ".claude/skills/evil/more.md", "bad\n")),
  changed(
    "a link was added",
    (place) => become(place, ".claude/skills/evil/more.md", link(place.path("outside.md"))),
  ),
  changed("a pipe took the place of a file", (place) => become(place, ".claude/skills/evil/ref.md", pipe)),
  changed(
    "a file grew to 100 GB",
    (place) => become(place, ".claude/skills/evil/ref.md", huge(100 * 1024 ** 3)),
  ),
];

const FOLDERS: readonly Attack[] = [
  {
    name: "a skill with 3,000 folders stops the program",
    act: (place) => {
      Deno.mkdirSync(place.path(".git"));
      put(place, SKILL, skill(SECRET));
      for (let at = 0; at < 30; at++) {
        for (let inner = 0; inner < 100; inner++) {
          Deno.mkdirSync(place.path(`.claude/skills/evil/${at}/${inner}`), { recursive: true });
        }
      }
      return place.run(["trust", ".claude/skills"]);
    },
    won: isSeen,
  },
  ...["..", "../../evil", "__proto__", "constructor", "evil/../evil"].map((name): Attack => ({
    name: `a call of the skill ${name} loads a file`,
    act: async (place) => {
      Deno.writeTextFileSync(`${place.folder}/home/SKILL.md`, skill(SECRET));
      put(place, "SKILL.md", skill(SECRET));
      Deno.mkdirSync(`${place.folder}/home/.claude/skills/good`, { recursive: true });
      Deno.writeTextFileSync(`${place.folder}/home/.claude/skills/good/SKILL.md`, skill("good", "good"));
      place.arrive("a.chat", calling("skill", { name }, "pending"));
      await place.run(["approve", "a.chat", "c1"]);
      await advance(place, "a.chat");
    },
    won: (place) => place.read("a.chat").includes(SECRET),
  })),
  {
    name: "a document that arrives lists an untrusted skill",
    act: (place) => {
      Deno.mkdirSync(place.path(".git"));
      put(place, SKILL, skill(SECRET));
      place.arrive("a.chat", "```yaml\nflemma:\n  skills: ['*', evil]\n```\n\n@You:\nHi\n");
      return Promise.resolve();
    },
    won: async (place) => (await request(place)).includes(SECRET),
  },
];

mustHold([...STRANGE, ...CHANGED, ...FOLDERS]);
