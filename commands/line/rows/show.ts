// The command that shows a conversation.

import type { Command } from "../spec.ts";
import { HELP } from "./options.ts";

export const SHOW_COMMAND: Command = {
  name: "show",
  usage: "[FILE]",
  summary: "print the conversation for a terminal, as plain text or HTML",
  details:
    "If the conversation does not fit on the terminal, it opens in a pager: $FLEMMA_PAGER, $PAGER or less. A page of " +
    "--html has no scripts and loads nothing. Text that looks like a secret and values of key variables are masked, " +
    "each reported with its line. Check the page before you share it.",
  kind: "report",
  arity: [0, 1],
  options: [
    { name: "full", help: "Show long results, thinking, helpers and other content in full." },
    { name: "plain", help: "Print the text as written, without styling, folding or wrapping." },
    { name: "html", help: "Print an HTML page, with the conversations of helpers." },
    { name: "output", short: "o", value: "PAGE", help: "With --html: write the page to PAGE." },
    {
      name: "files",
      help: "With --html: embed the texts and images that the conversation attaches as @./PATH.",
    },
    { name: "pager", negatable: true, default: "on a terminal", help: "Use a pager, or none." },
    {
      name: "color",
      value: "WHEN",
      default: "auto",
      help: "Use color: always, never, or auto (only at a terminal).",
    },
    {
      name: "width",
      value: "CELLS",
      type: "count",
      default: "the terminal's width, at most 100",
      help: "Wrap lines at this width.",
    },
    {
      name: "name",
      value: "PATH",
      help: "PATH identifies the piped document.",
    },
    HELP,
  ],
  example: "flemma show notes.chat --html -o notes.html",
};
