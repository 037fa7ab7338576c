// The fields of a SKILL.md, and each possible mistake with its location.

import assert from "node:assert/strict";
import { readSkill } from "../../tools/skills/read.ts";

const BODY = "\n---\nDo it.\n";

/** Findings as `LINE:COLUMN severity code`. */
async function findings(text: string, folder = "pdf"): Promise<string[]> {
  const reading = await readSkill(text, folder);
  return reading.findings.map(({ line, column, severity, code }) => `${line}:${column} ${severity} ${code}`);
}

Deno.test("a valid skill is read with its name, its description on one line and the instructions below", async () => {
  const text = "---\nname: pdf\ndescription: |\n  Reads PDF.\n  Fills forms.\n---\n\nOne.\n---\nTwo.\n";
  assert.deepEqual(await readSkill(text, "pdf"), {
    skill: {
      name: "pdf",
      description: "Reads PDF. Fills forms.",
      offered: true,
      body: "\nOne.\n---\nTwo.\n",
      bodyLine: 7,
    },
    name: "pdf",
    findings: [],
  });
});

Deno.test("a skill file may have a byte order mark and CR LF", async () => {
  const { skill, findings } = await readSkill(
    "\ufeff---\r\nname: pdf\r\ndescription: Reads.\r\n---\r\nDo it.\r\n",
    "pdf",
  );
  assert.deepEqual([skill?.name, skill?.description, findings], ["pdf", "Reads.", []]);
});

const LONG = "x".repeat(65);

const rows = [
  ["no content", "", ["1:1 error skill_frontmatter_missing"]],
  ["no frontmatter", "# Title\n", ["1:1 error skill_frontmatter_missing"]],
  ["a blank line before the frontmatter", `\n---\nname: pdf\ndescription: x${BODY}`, [
    "1:1 error skill_frontmatter_missing",
  ]],
  ["a frontmatter that is not closed", "---\nname: pdf\n", ["1:1 error skill_frontmatter_unclosed"]],
  ["a list", `---\n- name${BODY}`, ["2:1 error skill_frontmatter_invalid"]],
  ["an empty frontmatter", `---${BODY}`, [
    "1:1 error skill_name_missing",
    "1:1 error skill_description_missing",
  ]],
  ["broken YAML", `---\nname: pdf\ndescription: x\nmetadata: {a: 1${BODY}`, [
    "4:16 error skill_frontmatter_invalid",
  ]],
  ["a repeated key", `---\nname: pdf\nname: pdf\ndescription: x${BODY}`, [
    "3:1 error skill_frontmatter_invalid",
  ]],
  ["no name", `---\ndescription: x${BODY}`, ["1:1 error skill_name_missing"]],
  ["a name without a value", `---\nname:\ndescription: x${BODY}`, ["2:1 error skill_name_missing"]],
  ["a name that is a number", `---\nname: 7\ndescription: x${BODY}`, ["2:7 error skill_name_invalid"]],
  ["an empty name", `---\nname: ""\ndescription: x${BODY}`, ["2:7 error skill_name_invalid"]],
  ["capital letters", `---\nname: PDF\ndescription: x${BODY}`, ["2:7 error skill_name_invalid"]],
  ["an underscore", `---\nname: p_df\ndescription: x${BODY}`, ["2:7 error skill_name_invalid"]],
  ["a slash", `---\nname: ../pdf\ndescription: x${BODY}`, ["2:7 error skill_name_invalid"]],
  ["a hyphen at the beginning", `---\nname: -pdf\ndescription: x${BODY}`, ["2:7 error skill_name_invalid"]],
  ["a hyphen at the end", `---\nname: pdf-\ndescription: x${BODY}`, ["2:7 error skill_name_invalid"]],
  ["two hyphens", `---\nname: p--df\ndescription: x${BODY}`, ["2:7 error skill_name_invalid"]],
  ["a name of 65 characters", `---\nname: ${LONG}\ndescription: x${BODY}`, [
    "2:7 error skill_name_invalid",
  ]],
  ["a name that is not the folder's", `---\nname: doc\ndescription: x${BODY}`, [
    "2:7 warning skill_name_not_folder",
  ]],
  ["letters beyond ASCII", `---\nname: größe\ndescription: x${BODY}`, [
    "2:7 warning skill_name_beyond_ascii",
    "2:7 warning skill_name_not_folder",
  ]],
  ["no description", `---\nname: pdf${BODY}`, ["1:1 error skill_description_missing"]],
  ["a description that is a list", `---\nname: pdf\ndescription: [a]${BODY}`, [
    "3:14 error skill_description_invalid",
  ]],
  ["a blank description", `---\nname: pdf\ndescription: " "${BODY}`, [
    "3:14 error skill_description_invalid",
  ]],
  ["a description of 1025 characters", `---\nname: pdf\ndescription: ${"x".repeat(1025)}${BODY}`, [
    "3:14 error skill_description_invalid",
  ]],
  ["a description with a colon", `---\nname: pdf\ndescription: Use when: asked${BODY}`, [
    "3:14 warning skill_text_unquoted",
  ]],
  ["a description that begins like a list", `---\nname: pdf\ndescription: [beta] Reads${BODY}`, [
    "3:21 warning skill_text_unquoted",
  ]],
  ["a description that ends in a comment", `---\nname: pdf\ndescription: Posts to #news${BODY}`, [
    "3:23 warning skill_text_cut",
  ]],
  ["an unknown key", `---\nname: pdf\ndescription: x\nmodel: y${BODY}`, ["4:1 warning skill_key_unknown"]],
  ["a number for a license", `---\nname: pdf\ndescription: x\nlicense: 2${BODY}`, [
    "4:10 warning skill_value_invalid",
  ]],
  [
    "a compatibility text of 501 characters",
    `---\nname: pdf\ndescription: x\ncompatibility: ${"x".repeat(501)}${BODY}`,
    ["4:16 warning skill_value_invalid"],
  ],
  ["a compatibility that is not a string", `---\nname: pdf\ndescription: x\ncompatibility: [a]${BODY}`, [
    "4:16 warning skill_value_invalid",
  ]],
  [
    "metadata that is not a map of strings",
    `---\nname: pdf\ndescription: x\nmetadata: { version: 1.0 }${BODY}`,
    [
      "4:11 warning skill_value_invalid",
    ],
  ],
  ["allowed-tools that are not names", `---\nname: pdf\ndescription: x\nallowed-tools: [1]${BODY}`, [
    "4:16 warning skill_value_invalid",
  ]],
  [
    "a switch that is neither true nor false",
    `---\nname: pdf\ndescription: x\ndisable-model-invocation: maybe${BODY}`,
    [
      "4:27 warning skill_value_invalid",
    ],
  ],
  ["no instructions", "---\nname: pdf\ndescription: x\n---\n\n", ["5:1 warning skill_body_empty"]],
] as const;
for (const [what, text, expected] of rows) {
  Deno.test(`a skill file with ${what} is reported as ${expected.join(", ")}`, async () => {
    assert.deepEqual(await findings(text), expected);
    const broken = expected.some((each) => each.includes(" error "));
    assert.equal((await readSkill(text, "pdf")).skill === null, broken);
  });
}

Deno.test("the longest name and description are accepted, and every key of the format is known", async () => {
  const name = "x".repeat(64);
  const text = `---\nname: ${name}\ndescription: ${"ä".repeat(1024)}\nlicense: MIT\ncompatibility: ${
    "x".repeat(500)
  }\nmetadata: { a: "1" }\nallowed-tools: Bash(git:*) Read\ndisable-model-invocation: false${BODY}`;
  assert.deepEqual(await findings(text, name), []);
});

Deno.test("a description with a colon is read completely, including later lines", async () => {
  const text =
    "---\nname: pdf\ndescription: Use when: asked\n  for: a form\nlicense: MIT: yes\n---\nDo it.\n";
  const { skill, findings } = await readSkill(text, "pdf");
  assert.equal(skill?.description, "Use when: asked for: a form");
  assert.equal(findings[0]?.code, "skill_text_unquoted");
});

Deno.test("for an unknown key, the nearest known key is suggested; for an invalid name, a valid name is suggested", async () => {
  const { findings } = await readSkill(`---\nname: My Skill!\ndesciption: x${BODY}`, "pdf");
  const words = findings.map(({ message }) => message).join("\n");
  assert.match(words, /did you mean description\?/);
  assert.match(words, /for example my-skill/);
});
