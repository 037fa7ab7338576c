// Durations as people write them.

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Returns the seconds of a duration such as `90`, `30m` or `1h30m`; null if the text is not a duration. */
export function readDuration(text: string): number | null {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text);
  if (!/^(?:\d+(?:\.\d+)?[smhd])+$/.test(text)) return null;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)([smhd])/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * SECONDS[unit!]!, 0);
}
