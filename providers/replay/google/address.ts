// URL paths of Gemini's streaming method in the Gemini API and Vertex AI.

const METHOD = /\/models\/([^/:]+):streamGenerateContent$/;

export function servesGoogle(path: string): boolean {
  return METHOD.test(path) && /^\/v1(?:beta1?)?\//.test(path);
}

export function modelOf(path: string): string {
  return decodeURIComponent(METHOD.exec(path)?.[1] ?? "");
}

export function isVertex(path: string): boolean {
  return path.includes("/publishers/google/");
}
