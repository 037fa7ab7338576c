// JSON for a terminal as well as for programs: the same value, with nothing in it that a terminal would act on.

/** Compact JSON in which control, formatting and invisible characters are escapes. */
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
