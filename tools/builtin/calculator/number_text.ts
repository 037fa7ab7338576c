// Formats a number like C's `%.14g`.

const DIGITS = 14;

/** Formats a number with at most 14 digits, without trailing zeros. */
export function numberText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [digits = "", power = "0"] = value.toExponential(DIGITS - 1).split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < DIGITS) return withoutZeros(value.toFixed(DIGITS - 1 - exponent));
  return `${withoutZeros(digits)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

function withoutZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
