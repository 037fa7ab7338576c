// JSON that is safe to print at a terminal: characters that a terminal could act on are escaped.

/** Returns compact JSON, or JSON indented by `indent`, with control, format and invisible characters escaped. */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu,
    (found) => found === "\n" && indent !== undefined ? found : escaped(found),
  );
}

function escaped(text: string): string {
  return Array.from({ length: text.length }, (_, at) => {
    return `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }).join("");
}
