// Ten realistic skills: five valid ones in all forms of the format, five invalid in different ways.

/** Files of each skill by its folder. */
export const TEN_SKILLS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "word-count": {
    "SKILL.md":
      "---\nname: word-count\ndescription: Counts words of a text. Use it when the user asks how long one is.\n" +
      "license: MIT\n---\n\n# Counting words\n\nRun `sh scripts/count.sh FILE`. See [units](references/units.md).\n",
    "scripts/count.sh": 'wc -w < "$1" && echo counted by the skill\n',
    "references/units.md": "A word is what blanks surround.\n",
  },
  // Byte order mark, CR LF, a folded description, keys of other programs.
  "release-notes": {
    "SKILL.md":
      "\ufeff---\r\nname: release-notes\r\ndescription: >\r\n  Writes release notes\r\n  from commits.\r\nargument-hint: TAG\r\n---\r\n\r\nAsk git.\r\n",
  },
  // The commonest mistake in the wild: a colon that YAML takes for a key.
  "api-style": {
    "SKILL.md":
      "---\nname: api-style\ndescription: Conventions of our API. Use when: an endpoint is added\n  or changed.\n" +
      "allowed-tools: [Bash, Read]\nmetadata:\n  version: 1.0\n---\nNouns, not verbs.\n",
  },
  // Kept for people by its author.
  deploy: {
    "SKILL.md":
      "---\nname: deploy\ndescription: Deploys to production.\ndisable-model-invocation: true\n---\nNever alone.\n",
  },
  // Its folder has another name, and small letters of another alphabet are letters.
  überblick: {
    "SKILL.md":
      "---\nname: übersicht\ndescription: Fasst ein Verzeichnis zusammen.\n---\nLies zuerst README.\n",
  },
  // Broken, each in its own way.
  headless: { "SKILL.md": "# Headless\n\nThere is no frontmatter here.\n" },
  endless: { "SKILL.md": "---\nname: endless\ndescription: The frontmatter has no end.\n\nText.\n" },
  "Loud-Name": { "SKILL.md": "---\nname: Loud-Name\ndescription: Shouts.\n---\nText.\n" },
  silent: { "SKILL.md": "---\nname: silent\ndesciption: A slip of the keyboard.\n---\nText.\n" },
  tabbed: { "SKILL.md": "---\nname: tabbed\nmetadata:\n\tauthor: me\ndescription: Tabs.\n---\nText.\n" },
};

/** Writes them into a folder, which is made. */
export async function writeSkills(
  folder: string,
  skills: Readonly<Record<string, Readonly<Record<string, string>>>> = TEN_SKILLS,
): Promise<void> {
  for (const [name, files] of Object.entries(skills)) {
    for (const [path, text] of Object.entries(files)) {
      const file = `${folder}/${name}/${path}`;
      await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
      await Deno.writeTextFile(file, text);
    }
  }
}
