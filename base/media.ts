// Determines the media type of a file from its name and its first bytes.

/** File extensions by media type; compared in lower case. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  "text/plain": "txt",
  "text/markdown": "md markdown",
  "text/x-rst": "rst",
  "text/org": "org",
  "application/json": "json",
  "application/yaml": "yaml yml",
  "application/toml": "toml",
  "application/xml": "xml",
  "application/sql": "sql",
  "text/csv": "csv",
  "text/html": "html htm",
  "text/css": "css",
  "text/x-scss": "scss",
  "text/x-sass": "sass",
  "text/jsx": "jsx",
  "text/tsx": "tsx",
  "text/x-vue": "vue",
  "text/x-svelte": "svelte",
  "application/javascript": "js mjs cjs",
  "application/typescript": "ts",
  "text/x-python": "py",
  "text/x-ruby": "rb",
  "text/x-go": "go",
  "text/x-rust": "rs",
  "text/x-c": "c h",
  "text/x-c++": "cpp cc cxx hpp",
  "text/x-java": "java",
  "text/x-kotlin": "kt",
  "text/x-swift": "swift",
  "text/x-php": "php",
  "text/x-shellscript": "sh bash zsh fish",
  "text/x-lua": "lua",
  "text/x-vim": "vim",
  "text/x-emacs-lisp": "el",
  "text/x-clojure": "clj",
  "image/png": "png",
  "image/jpeg": "jpg jpeg",
  "image/gif": "gif",
  "image/svg+xml": "svg",
  "image/webp": "webp",
  "image/bmp": "bmp",
  "image/tiff": "tif tiff",
  "image/x-icon": "ico",
  "image/heic": "heic",
  "image/avif": "avif",
  "application/zip": "zip",
  "application/gzip": "gz tgz",
  "application/x-xz": "xz",
  "application/zstd": "zst",
  "application/x-7z-compressed": "7z",
  "application/x-tar": "tar",
  "application/pdf": "pdf",
};

const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries(EXTENSIONS).flatMap(([type, names]) =>
    names.split(" ").map((name) => [name, type] as const)
  ),
);

/** First bytes of the types that a provider accepts, as Latin-1 text at an offset. */
const SIGNATURES: readonly (readonly [type: string, offset: number, bytes: string])[] = [
  ["image/png", 0, "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", 0, "\xff\xd8\xff"],
  ["image/gif", 0, "GIF87a"],
  ["image/gif", 0, "GIF89a"],
  ["image/webp", 8, "WEBPVP8"],
  ["application/pdf", 0, "%PDF-"],
];

const TEXTUAL = new Set([
  "application/json",
  "application/javascript",
  "application/typescript",
  "application/xml",
  "application/yaml",
  "application/toml",
  "application/sql",
  "application/graphql",
  "application/x-sh",
]);

/** Image types that every provider with image input accepts. */
const IMAGES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** Returns the media type of a file's extension, or null. */
export function typeOfName(path: string): string | null {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return (dot > 0 ? TYPES.get(name.slice(dot + 1).toLowerCase()) : undefined) ?? null;
}

/** Returns the media type whose signature the content begins with, or null. */
export function typeOfSignature(beginning: Uint8Array): string | null {
  return SIGNATURES.find(([, offset, bytes]) => startsAt(beginning, offset, bytes))?.[0] ?? null;
}

/**
 * Returns the media type of content whose file name does not give one. Uses only the bytes, so that a document gives
 * the same request on every machine: the type of a known signature, else text if the bytes are UTF-8 without NUL.
 */
export function typeOfContent(bytes: Uint8Array): string {
  return typeOfSignature(bytes) ?? (isPlainText(bytes) ? "text/plain" : "application/octet-stream");
}

export function isTextual(type: string): boolean {
  return type.startsWith("text/") || TEXTUAL.has(type) || /\+(?:json|xml)$/.test(type);
}

/** True if some provider accepts a file of this type unchanged. */
export function isAttachable(type: string): boolean {
  return isImage(type) || type === "application/pdf";
}

/** True if providers accept an image of this type. */
export function isImage(type: string): boolean {
  return IMAGES.has(type);
}

function startsAt(bytes: Uint8Array, offset: number, expected: string): boolean {
  for (let at = 0; at < expected.length; at++) {
    if (bytes[offset + at] !== expected.charCodeAt(at)) return false;
  }
  return true;
}

function isPlainText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    // The decoder throws for bytes that are not UTF-8.
    return false;
  }
}
