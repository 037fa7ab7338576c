// The formula for Homebrew. It installs the archive, and Homebrew's own Deno runs it.

import { COMPLETIONS } from "./contents.ts";
import { START_CHECKS } from "./start_checks.ts";

export interface FormulaOptions {
  readonly version: string;
  /** URL of the archive. */
  readonly address: string;
  /** The archive's SHA-256, in hexadecimal. */
  readonly checksum: string;
  /** The project's homepage URL. */
  readonly homepage: string;
}

/** @throws if a URL or the checksum is invalid: it could change the meaning of the generated program */
export function formula({ version, address, checksum, homepage }: FormulaOptions): string {
  for (const one of [address, homepage]) {
    if (!isAddress(one)) {
      throw new Error(`"${one}" is not an address of a file or page: it must begin with https://`);
    }
  }
  if (!/^[0-9a-f]{64}$/.test(checksum)) {
    throw new Error(`"${checksum}" is not a SHA-256, which has 64 hexadecimal digits`);
  }
  return `class Flemma < Formula
  desc "Agent loop on plain .chat files, for any editor"
  homepage "${homepage}"
  url "${address}"
  version "${version}"
  sha256 "${checksum}"
  license "MIT"

  depends_on "deno"

  on_linux do
    depends_on "bubblewrap"
  end

  def install
    libexec.install "flemma.js", Dir["flemma-*"]
    (bin/"flemma").write <<~SH
      #!/bin/sh
${START_CHECKS.replace(/^(?=.)/gm, "      ")}      export DENO_NO_UPDATE_CHECK=1
      exec "#{Formula["deno"].opt_bin}/deno" run --no-config --no-lock --cached-only --quiet -A "#{libexec}/flemma.js" "$@"
    SH
    man1.install "flemma.1"
    bash_completion.install "completions/${COMPLETIONS.bash}" => "flemma"
    zsh_completion.install "completions/${COMPLETIONS.zsh}"
    fish_completion.install "completions/${COMPLETIONS.fish}"
    pkgshare.install "schemas"
    prefix.install "NOTICES.md"
  end

  test do
    assert_equal "flemma #{version}", shell_output("#{bin}/flemma --version").strip
    (testpath/"a.chat").write "@You:\\nHello\\n"
    system bin/"flemma", "check", "a.chat"
  end
end
`;
}

/** True if a text is a URL without anything that could end a Ruby string or run code in it. */
export function isAddress(text: string): boolean {
  return /^https?:\/\/[^\s"\\#'\`]+$/.test(text) && URL.canParse(text);
}
