// Frontmatter meant to keep bash from running without asking, in the ways people write settings: none may be ignored.

/** Blocks that restrict; what they say holds. */
export const WORKS: readonly (readonly [string, string])[] = [
  ["Lua", "```lua\nflemma.opt.tools.auto_approve = {}\n```\n"],
  ["JSON", '```json\n{"flemma": {"tools": {"auto_approve": []}}}\n```\n'],
  ["YAML", "```yaml\nflemma:\n  tools:\n    auto_approve: []\n```\n"],
  ["YAML with dotted names and an alias", "```yml\nflemma: { tools.approve: [] }\n```\n"],
];

/** Blocks that would set nothing. */
export const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  [
    "YAML without flemma",
    "```yaml\ntools: { auto_approve: [] }\n```\n",
    /:2:1: .*write it below "flemma:" as tools/,
  ],
  ["YAML with a setting at the top", "```yaml\nauto_approve: []\n```\n", /:2:1: .*as tools\.auto_approve/],
  ["a list of rules", "```yaml\nrules: [{ deny: bash }]\n```\n", /:2:1: .*as tools\.rules/],
  [
    "a table of rules in Lua",
    '```lua\nmine = { { ask = "bash" } }\n```\n',
    /write flemma\.opt\.tools\.rules/,
  ],
  ["YAML with nothing after the name", "```yaml\ntools:\n```\n", /:2:1: .*write it below "flemma:"/],
  [
    "JSON without flemma",
    '```json\n{\n  "tools": { "auto_approve": [] }\n}\n```\n',
    /:3:1: .*below "flemma:"/,
  ],
  ["a list of settings", '```json\n[{"tools": []}]\n```\n', /below the member flemma/],
  ["Lua in YAML", "```yaml\nflemma.opt.tools.auto_approve = {}\n```\n", /below the member flemma/],
  [
    "a field of flemma",
    "```lua\nflemma.tools = { auto_approve = {} }\n```\n",
    /:2:1: .*write flemma\.opt\.tools/,
  ],
  [
    "a field of a field of flemma",
    "```lua\nflemma.tools.auto_approve = {}\n```\n",
    /write flemma\.opt\.tools/,
  ],
  ["a variable", "```lua\nx = 1\ntools = { auto_approve = {} }\n```\n", /:3:1: .*write flemma\.opt\.tools/],
  ["a variable that contains everything", "```lua\nsettings = { tools = {} }\n```\n", /write flemma\.opt/],
  ["another opt", "```lua\nflemma.opt = { tools = { auto_approve = {} } }\n```\n", /cannot be replaced/],
  ["another flemma", "```lua\nflemma = { tools = { auto_approve = {} } }\n```\n", /was replaced/],
  [
    "a returned table",
    "```lua\nreturn { tools = { auto_approve = {} } }\n```\n",
    /returned values change no setting/,
  ],
  ["front matter", "---\ntools: { auto_approve: [] }\n---\n", /:1:1: .*not fenced by ---/],
  ["TOML front matter", "+++\n[tools]\nauto_approve = []\n+++\n", /not fenced by \+\+\+/],
  [
    "an empty line above",
    "\n```yaml\nflemma: { tools: { auto_approve: [] } }\n```\n",
    /:2:1: .*must begin in line 1/,
  ],
  [
    "a heading above",
    "# Plan\n```yaml\nflemma: { tools: { auto_approve: [] } }\n```\n",
    /must begin in line 1/,
  ],
  [
    "a space before the language",
    "``` yaml\nflemma: { tools: { auto_approve: [] } }\n```\n",
    /a space before the language/,
  ],
  [
    "an info string",
    '```yaml title="x"\nflemma: { tools: { auto_approve: [] } }\n```\n',
    /text after the language/,
  ],
  ["four backticks", "````yaml\nflemma: { tools: { auto_approve: [] } }\n````\n", /three backticks/],
  ["tildes", "~~~yaml\nflemma: { tools: { auto_approve: [] } }\n~~~\n", /three backticks/],
  ["an indented fence", "  ```yaml\nflemma: { tools: { auto_approve: [] } }\n  ```\n", /is indented/],
  ["no language", "```\nflemma: { tools: { auto_approve: [] } }\n```\n", /names no language/],
  ["another language", "```toml\n[tools]\nauto_approve = []\n```\n", /use lua, json or yaml/],
  ["no fence", "flemma:\n  tools: { auto_approve: [] }\n", /:1:1: .*outside the frontmatter/],
  ["a misspelled name", "```yaml\nflema: { tools: { auto_approve: [] } }\n```\n", /below "flemma:"/],
  ["another spelling of a name", "```yaml\nautoApprove: []\n```\n", /as tools\.auto_approve/],
  ["another agent's permissions", "```yaml\npermissions: { deny: [Bash] }\n```\n", /below "flemma:"/],
  ["another agent's approval policy", "```yaml\napproval_policy: untrusted\n```\n", /below "flemma:"/],
  [
    "no value",
    "```yaml\nflemma:\n  tools:\n    auto_approve:\n```\n",
    /:4:1: .*write \[\] for an empty list/,
  ],
  [
    "a tool that does not exist",
    "```yaml\nflemma: { tools: { auto_approve: { $remove: bsh } } }\n```\n",
    /did you mean "bash"/,
  ],
];
