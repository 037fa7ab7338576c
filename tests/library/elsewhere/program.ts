// A program that uses the library without a system: the text of a library function, and its answer.

/** Reads a document, changes it, looks at its prose, evaluates it, and asks for what only a system has. */
export const PROGRAM = String.raw`async (flemma) => {
  const bytes = new TextEncoder().encode("@You:\nHello *you* {{ name }} @./a.txt\n");
  const chat = flemma.update(flemma.parse(bytes), [{ from: 11, to: 11, insert: "," }]);
  const { history } = await flemma.conversationOf(chat);
  const [prose] = await flemma.proseOf(chat.turns[0]);
  const opened = await flemma.openChat("missing.chat");
  let thrown = null;
  try { flemma.sandbox.isPathWritable("/x", null); } catch (error) { thrown = error.message; }
  return [
    flemma.parse(bytes).turns[0].role, history[0].parts[0].text, prose.tree.toString(), opened.problem.code, thrown,
  ];
}`;

const READ = [
  "You",
  "Hello, *you* {{ name }} @./a.txt",
  "Document(Paragraph(Emphasis(EmphasisMark,EmphasisMark)))",
];

/** What the program answers in runtimes without files, such as browsers. */
export const ANSWER = [
  ...READ,
  "runtime-unsupported",
  "This needs Deno or Node 22 for files, commands and requests.",
];

/** What the program answers in runtimes with the system modules of Node. */
export const ANSWER_WITH_FILES = [...READ, "document-missing", null];
