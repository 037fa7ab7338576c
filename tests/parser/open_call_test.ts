import assert from "node:assert/strict";
import { parse } from "../../parser/mod.ts";
import { waitsFor } from "../../parser/open_call.ts";

/** What the call of a document waits for; `block` is what stands below the header of its result. */
function sentence(block: string | null): string {
  const call = "@Assistant:\n**Tool Use:** `bash` (`c1`)\n\n```json\n{}\n```\n";
  const result = block === null ? "" : `\n@You:\n\n**Tool Result:** \`c1\`\n\n${block}\n`;
  const chat = parse(new TextEncoder().encode(call + result));
  return waitsFor(chat.call("c1")!, chat.result("c1"));
}

Deno.test("for each status, flemma says what the call waits for, whether or not its block contains text", () => {
  const rows: readonly (readonly [block: string | null, sentence: RegExp])[] = [
    [null, /^The call c1 of bash has no result yet; flemma sends nothing until it has one\.$/],
    [
      "```flemma:tool status=pending\n```",
      /^The call c1 of bash waits for you; flemma sends nothing until you decide\.$/,
    ],
    [
      "```flemma:tool status=pending\nmine\n```",
      /^The next advance uses the text in the block of c1 \(line 13\) as its result/,
    ],
    ["```flemma:tool status=approved\n```", /^The call c1 of bash is approved but has not run;/],
    [
      "```flemma:tool status=approved\nmine\n```",
      /^c1 is approved, but its block contains text \(line 13\)\. Delete/,
    ],
    [
      "```flemma:tool status=rejected\n```",
      /^The call c1 of bash is rejected; the next advance reports this/,
    ],
    ["```flemma:tool status=denied\n```", /^The call c1 of bash is denied; the next advance reports this/],
    ["```\nout\n```", /^The call c1 of bash is answered;/],
    ...([
      [
        "pending",
        /^The call c1 of bash waits for your answers \(line 13\)\. Then set it to approved to send them/,
      ],
      ["approved", /^The call c1 of bash has your answers \(line 13\); the next advance sends them\.$/],
      [
        "rejected",
        /^The call c1 of bash is rejected; the next advance reports this to the server or the model\.$/,
      ],
    ] as const).map(([status, expected]) =>
      [
        `\`\`\`\`flemma:tool status=${status}\n\`\`\`yaml flemma:questions\nx:\n\`\`\`\n\`\`\`\``,
        expected,
      ] as const
    ),
  ];
  for (const [block, expected] of rows) assert.match(sentence(block), expected, String(block));
});
