// Takes what looks like a secret out of a text that is meant to be kept with a project.

/** Shapes of keys that their makers chose so that they can be found, and what assignments to telling names hold. */
const SHAPES: readonly RegExp[] = [
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/g,
  /\bglpat-[A-Za-z0-9_-]{16,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bnpm_[A-Za-z0-9]{30,}/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(?<=\/\/[^\s:/@]+:)[^\s@/]+(?=@)/g,
  /(?<=\bBearer )[A-Za-z0-9._~+/-]{12,}=*/gi,
  /(?<=\b[A-Za-z0-9_]*(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY)[A-Za-z0-9_]*["']?\s*[=:]\s*")[^"\\\n]{8,}/gi,
  /(?<=\b[A-Za-z0-9_]*(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY)[A-Za-z0-9_]*["']?\s*[=:]\s*["']?)[^\s"'\\,;]{8,}/gi,
];

/** What stands in place of a secret. */
export const MASK = "<secret>";

/** The text without secrets, and how many were taken out. */
export function withoutSecrets(text: string): { readonly text: string; readonly count: number } {
  let count = 0;
  let clean = text;
  for (const shape of SHAPES) {
    clean = clean.replace(shape, (found) => {
      if (found !== MASK) count++;
      return MASK;
    });
  }
  return { text: clean, count };
}
