// The command that shows a conversation.

import type { Command } from "../spec.ts";
import { HELP } from "./options.ts";

export const SHOW_COMMAND: Command = {
  name: "show",
  usage: "[FILE]",
  summary: "print the conversation for a terminal, as plain text or HTML",
  details:
    "On a terminal that is too small for it in your pager: $FLEMMA_PAGER, else $PAGER, else less. A page of --html stands " +
    "by itself: no script, nothing from the network. Secrets of known shapes and the values of your variables for keys are " +
    "masked in it, each told by its line. Look at it before you share it.",
  kind: "report",
  arity: [0, 1],
  options: [
    { name: "full", help: "Show long results, thinking and contents whole." },
    { name: "plain", help: "Print the texts as they were written: nothing drawn, folded or broken." },
    { name: "html", help: "Print a page for a browser." },
    { name: "output", short: "o", value: "PAGE", help: "With --html: write the page to PAGE." },
    {
      name: "files",
      help: "With --html: put texts and pictures into it that the conversation names by @./PATH.",
    },
    { name: "pager", negatable: true, default: "on a terminal", help: "Use a pager, or none." },
    {
      name: "color",
      value: "WHEN",
      default: "auto",
      help: "Colours: always, never, or auto, at a terminal only.",
    },
    {
      name: "width",
      value: "CELLS",
      type: "count",
      default: "that of the terminal, 100 at most",
      help: "Break lines at this width.",
    },
    {
      name: "name",
      value: "PATH",
      help: "The path that a piped document is known by.",
    },
    HELP,
  ],
  example: "flemma show notes.chat --html -o notes.html",
};
