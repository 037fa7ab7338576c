// What kind of content a file holds: by its extension, else by its first bytes (chat-format 9.2).

const BY_TYPE: Readonly<Record<string, string>> = {
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
  "application/pdf": "pdf",
};

const BY_EXTENSION = new Map(
  Object.entries(BY_TYPE).flatMap(([type, extensions]) =>
    extensions.split(" ").map((extension) => [extension, type] as const)
  ),
);

/** The type that a file's extension stands for, or null. */
export function mimeOfName(path: string): string | null {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot < 0 ? null : BY_EXTENSION.get(name.slice(dot + 1).toLowerCase()) ?? null;
}

const SIGNATURES: readonly (readonly [string, readonly number[]])[] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
  ["application/pdf", [0x25, 0x50, 0x44, 0x46]],
];

/**
 * The type of content whose name says nothing. Told from the bytes alone, so that the same document gives
 * the same request on every machine: a known signature, else text when it is UTF-8 without NUL.
 */
export function mimeOfContent(bytes: Uint8Array): string {
  for (const [type, signature] of SIGNATURES) {
    if (signature.every((byte, index) => bytes[index] === byte)) return type;
  }
  return isText(bytes) ? "text/plain" : "application/octet-stream";
}

function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
