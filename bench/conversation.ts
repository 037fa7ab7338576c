// Documents for measurements: the same bytes on every machine and in every run.

const PROSE = [
  "The first thing to look at is where the value comes from, and who may change it on the way.",
  "Nothing in the log says that the request was sent twice; the second line is the answer to the first.",
  "Größe, naïveté and 漢字 stand here so that the text is not all ASCII 🙂.",
  "A list helps:",
  "* one point with `code` in it",
  "* another one, somewhat longer than the first, with a [link](https://example.org/page) at its end",
  "",
  "So I would rather keep both, and remove the flag when nobody asks for it any more.",
];

/** A pseudorandom number generator with a fixed sequence per seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 0x1_0000_0000) * below);
  };
}

/** A conversation of about `bytes` bytes: questions, prose, thinking, code, calls and results of all lengths. */
export function conversation(bytes: number): Uint8Array {
  const next = numbers(7);
  const parts = ['```json\n{"model": "none"}\n```\n\n@System:\nYou are of help.\n\n'];
  let length = 0;
  for (let call = 1; length < bytes; call++) {
    const part = exchange(call, next);
    parts.push(part);
    length += part.length;
  }
  parts.push("@You:\nThank you.\n");
  return new TextEncoder().encode(parts.join(""));
}

function exchange(call: number, next: (below: number) => number): string {
  const rows = next(10) === 0 ? 60 + next(400) : 10 + next(60);
  const output = Array.from(
    { length: rows },
    (_, row) => `src/part${row}.ts:${next(900)}: value ${next(1e6)}\n`,
  );
  const json = `{"command": "grep -rn value src", "timeout": ${call}}`;
  return `@You:\n${prose(1 + next(5), next)}\n` +
    `@Assistant:\n<thinking>\n${prose(2 + next(8), next)}</thinking>\n\n${prose(2 + next(12), next)}\n` +
    `\`\`\`ts\nconst answer = ${call};\n\`\`\`\n\n` +
    `**Tool Use:** \`bash\` (\`call_${call}\`)\n\n\`\`\`json\n${json}\n\`\`\`\n\n` +
    `@You:\n**Tool Result:** \`call_${call}\`\n\n\`\`\`\n${output.join("")}\`\`\`\n\n` +
    `@Assistant:\n${prose(6 + next(18), next)}\n`;
}

function prose(lines: number, next: (below: number) => number): string {
  return Array.from({ length: lines }, () => `${PROSE[next(PROSE.length)]}\n`).join("");
}

/** One message of about `bytes` bytes of prose. */
export function onePage(bytes: number, role = "Assistant"): Uint8Array {
  const next = numbers(11);
  const parts = [`@${role}:\n`];
  for (let length = 0; length < bytes;) {
    const part = prose(8, next);
    parts.push(part);
    length += part.length;
  }
  return new TextEncoder().encode(parts.join(""));
}

/** One result whose body has about `bytes` bytes. */
export function oneFence(bytes: number): Uint8Array {
  const next = numbers(13);
  const parts = [
    "@Assistant:\n**Tool Use:** `read` (`a`)\n\n```json\n{}\n```\n\n@You:\n**Tool Result:** `a`\n\n```\n",
  ];
  for (let length = 0, row = 1; length < bytes; row++) {
    const part = `${row}: value ${next(1e9)} of the file that was read\n`;
    parts.push(part);
    length += part.length;
  }
  parts.push("```\n\n@You:\nThank you.\n");
  return new TextEncoder().encode(parts.join(""));
}
