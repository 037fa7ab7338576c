// Exit codes and environment variables for the help pages.

export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [0, "the command did what it says; as a filter also when it stopped because you are needed"],
  [1, "failure: the provider, a tool that cannot be run, reading or writing"],
  [2, "the command line or a settings file is wrong"],
  [
    3,
    "you are needed (as a filter only with --exit-code, or where the last word is the model's); what for stands on standard error",
  ],
  [4, "something in the document has to be corrected before anything is sent"],
  [5, "the document is in use by another run, or somebody else changed it"],
  [130, "interrupted"],
];

/** Environment variables that the program reads, with their purpose. */
export const VARIABLES: readonly (readonly [name: string, meaning: string])[] = [
  ["ANTHROPIC_API_KEY", "the key of a provider; flemma doctor lists the names it looks for"],
  ["FLEMMA_CONFIG", "a settings file in place of the usual one; empty for none"],
  ["FLEMMA_ANTHROPIC_BASE_URL", "where a provider is reached; so for each provider"],
  ["XDG_CONFIG_HOME", "holds flemma/config.yaml (default ~/.config)"],
  ["XDG_STATE_HOME", "holds approvals, trust and kept texts (default ~/.local/state)"],
  ["XDG_RUNTIME_DIR", "holds what flemma session sets, until you log out"],
  ["NO_COLOR, TERM=dumb", "plain lines: no colours, nothing that moves"],
];
