// Generates the highlighting files of VS Code, micro and nano from the parser's roles and status words.

import { ROLE_NAMES } from "../../../parser/text/lines.ts";
import { STATUS_WORDS } from "../../../parser/text/status_words.ts";

/** Kinds of statuses that look different. */
type Look = "waits" | "passes" | "ends";

const LOOKS: Readonly<Record<string, Look>> = { pending: "waits", approved: "passes" };

/** Returns an alternative of a regular expression for the status words of one look. */
function words(look: Look): string {
  return [...STATUS_WORDS].filter(([, status]) => (LOOKS[status] ?? "ends") === look).map(([word]) => word)
    .join("|");
}

const ROLES = ROLE_NAMES.join("|");
const BLOCKS = "Tool Use|Tool Result|Job Result|Reply";
const NOTE = "Made by `deno task generate`. Do not edit.";

// deno-lint-ignore require-await
export async function generate(): Promise<{ path: string; text: string }[]> {
  return [
    { path: "editors/vscode/chat.tmLanguage.json", text: `${JSON.stringify(textMate(), null, 2)}\n` },
    { path: "editors/micro/chat.yaml", text: micro() },
    { path: "editors/nano/chat.nanorc", text: nano() },
  ];
}

/** A status, anywhere in a header's suffix or a fence's line. */
const STATUS_PATTERNS = [
  { match: `(?i)\\b(?:${words("waits")})\\b`, name: "markup.changed.pending.chat" },
  { match: `(?i)\\b(?:${words("passes")})\\b`, name: "markup.inserted.approved.chat" },
  { match: `(?i)\\b(?:${words("ends")})\\b`, name: "markup.deleted.refused.chat" },
];

/** Languages of fences and frontmatter, by the names of their grammars. */
const LANGUAGES: Readonly<Record<string, string>> = {
  json: "source.json",
  yaml: "source.yaml",
  toml: "source.toml",
  lua: "source.lua",
  diff: "source.diff",
};

/** The TextMate grammar, of which the first pattern that matches wins. */
function textMate() {
  const fence = (opener: string, more: Record<string, unknown>) => ({
    begin: `^(\`{3,})${opener}$`,
    end: "^\\1`*\\s*$",
    beginCaptures: {
      1: { name: "punctuation.definition.fenced.chat" },
      2: { name: "fenced_code.block.language" },
    },
    endCaptures: { 0: { name: "punctuation.definition.fenced.chat" } },
    ...more,
  });
  return {
    $schema: "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
    information_for_contributors: [NOTE],
    name: "Chat",
    scopeName: "text.chat",
    patterns: [
      { match: `^@(?:${ROLES}):\\s*$`, name: "markup.heading.role.chat entity.name.section.chat" },
      {
        match: `^(\\*\\*(?:${BLOCKS}):\\*\\*)\\s*(\`[^\`]*\`)(.*)$`,
        captures: {
          1: { name: "keyword.control.block.chat" },
          2: { name: "entity.name.function.chat" },
          3: { patterns: [{ match: "`[^`]*`", name: "constant.other.id.chat" }, ...STATUS_PATTERNS] },
        },
      },
      {
        begin: "^(`{3,})(flemma:tool)\\b(.*)$",
        end: "^\\1`*\\s*$",
        beginCaptures: {
          1: { name: "punctuation.definition.fenced.chat" },
          2: { name: "keyword.control.placeholder.chat" },
          3: { patterns: STATUS_PATTERNS },
        },
        endCaptures: { 0: { name: "punctuation.definition.fenced.chat" } },
        contentName: "markup.raw.block.chat",
      },
      ...Object.entries(LANGUAGES).map(([language, include]) =>
        fence(`(${language})\\b[^\`]*`, {
          contentName: `meta.embedded.block.${language}`,
          patterns: [{ include }],
        })
      ),
      fence("([^`]*)", { contentName: "markup.raw.block.chat" }),
      {
        begin: "^<thinking(?:\\s[^>]*[^>/])?>\\s*$",
        end: "^</thinking>\\s*$",
        name: "comment.block.thinking.chat",
      },
      { match: "^<thinking\\b.*/>\\s*$", name: "comment.block.thinking.chat" },
      {
        begin: '^<server_tool\\s+[A-Za-z0-9]+:(?:blocks|citations)="[^"]*"\\s*>\\s*$',
        end: "^</server_tool>\\s*$",
        name: "comment.block.server-tool.chat",
      },
      { match: "^<!-- flemma:aborted:.*-->\\s*$", name: "invalid.aborted.chat" },
      { match: "\\{\\{.*?\\}\\}|\\{%.*?%\\}", name: "meta.template.chat keyword.other.template.chat" },
      { match: "@(?:\\.{1,2}|~|/)/\\S+", name: "markup.underline.link.chat" },
      { include: "text.html.markdown#inline" },
    ],
  };
}

/** The rules of micro, of which later ones win; regions hide what is in them. */
function micro(): string {
  return `# ${NOTE}
filetype: chat

detect:
  filename: "\\\\.chat$"

rules:
  - special: "\\\\{\\\\{.*?\\\\}\\\\}|\\\\{%.*?%\\\\}"
  - underlined: "@(\\\\.{1,2}|~|/)/[^ ]+"
  - statement: "^\\\\*\\\\*(${BLOCKS}):\\\\*\\\\*"
  - todo: "^\\\\*\\\\*(${BLOCKS}):.*\\\\((${words("waits")})"
  - type: "^\\\\*\\\\*(${BLOCKS}):.*\\\\((${words("passes")})"
  - error: "^\\\\*\\\\*(${BLOCKS}):.*\\\\((${words("ends")})"
  - error: "^<!-- flemma:aborted:.*-->"
  - preproc: "^@(${ROLES}):"
  - todo: "^\`\`\`+flemma:tool.*status=(${words("waits")})"
  - type: "^\`\`\`+flemma:tool.*status=(${words("passes")})"
  - error: "^\`\`\`+flemma:tool.*status=(${words("ends")})"
  - comment:
      start: "^<thinking"
      end: "^</thinking>|/>$"
      rules: []
  - comment:
      start: "^<server_tool"
      end: "^</server_tool>"
      rules: []
  - constant:
      start: "^\`\`\`+[a-z]*$"
      end: "^\`\`\`+$"
      rules: []
`;
}

/** The rules of nano, of which later ones win. */
function nano(): string {
  return `# ${NOTE}
syntax chat "\\.chat$"
comment "#"
color brightmagenta "\\{\\{.*\\}\\}|\\{%.*%\\}"
color brightblue "@(\\.\\.?|~|/)/[^ ]+"
color brightcyan "^\\*\\*(${BLOCKS}):\\*\\*.*"
color brightyellow "\\((${words("waits")})[ )]"
color brightgreen "\\((${words("passes")})[ )]"
color brightred "\\((${words("ends")})[ )]"
color brightred "^<!-- flemma:aborted:.*-->"
color bold,brightwhite "^@(${ROLES}):[[:blank:]]*$"
color cyan start="^<thinking[^/]*>$" end="^</thinking>"
color cyan start="^<server_tool[^>]*>$" end="^</server_tool>"
color green start="^\`\`\`+" end="^\`\`\`+[[:blank:]]*$"
color brightyellow "^\`\`\`+flemma:tool.*status=(${words("waits")})"
color brightgreen "^\`\`\`+flemma:tool.*status=(${words("passes")})"
color brightred "^\`\`\`+flemma:tool.*status=(${words("ends")})"
`;
}
