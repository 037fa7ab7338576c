// Exit codes, environment variables and examples for the help pages.

/** What a person does first, in the order of a first conversation, with the command for each step. */
export const EXAMPLES: readonly (readonly [meaning: string, command: string])[] = [
  [
    "Create a document with a question, and send it:",
    'flemma new notes.chat -m "What is in this folder?" --go',
  ],
  ["See which calls wait for you:", "flemma status notes.chat"],
  ["Show these calls one by one, and approve or reject each:", "flemma review notes.chat"],
  ["Run the approved calls and ask the model again:", "flemma advance notes.chat"],
  ["Ask one question without a document of your own:", 'git diff | flemma ask "Review this change"'],
  [
    "After you have written another question below the last @You:, print the request without sending it:",
    "flemma advance notes.chat --no-tools --dry-run",
  ],
  ["Restore the files that the model changed:", "flemma undo notes.chat"],
  ["Install the files for an editor:", "flemma editor vim --install"],
];

export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [0, "success; as a filter also if the run stopped because it needs you"],
  [1, "failure of the provider or a tool, or of reading or writing"],
  [2, "wrong command line or settings file"],
  [
    3,
    "the run needs you; standard error says why. As a filter only with --exit-code, or if the model's turn is last",
  ],
  [4, "an error in the document blocks the request"],
  [5, "another run uses the document, or another program changed it"],
  [130, "interrupted"],
];

/** Environment variables that the program reads, with their purpose. */
export const VARIABLES: readonly (readonly [name: string, meaning: string])[] = [
  ["ANTHROPIC_API_KEY", "a provider's key; flemma doctor lists the names"],
  ["FLEMMA_CONFIG", "the settings file to use; empty for none"],
  ["FLEMMA_ANTHROPIC_BASE_URL", "a provider's address; likewise for each provider"],
  ["XDG_CONFIG_HOME", "contains flemma/config.yaml (default ~/.config)"],
  ["XDG_STATE_HOME", "contains approvals, trust and saved texts (default ~/.local/state)"],
  ["XDG_RUNTIME_DIR", "contains this session's settings, until you log out"],
  ["NO_COLOR, TERM=dumb", "plain output, without colors or animation"],
];
