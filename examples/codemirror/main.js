// A page with a document in CodeMirror: colours, folds, and the languages inside of messages.

import { chatLanguage } from "flemma/lezer";
import { basicSetup, EditorView } from "codemirror";

const doc = `\`\`\`yaml
flemma:
  model: claude-haiku-4-5
\`\`\`
@You:
# Which files are here?

@Assistant:
I will *look*.

**Tool Use:** \`bash\` (\`call_1\`)

\`\`\`json
{ "command": "ls", "timeout": null }
\`\`\`

@You:

**Tool Result:** \`call_1\`

\`\`\`
README.md
\`\`\`
`;

new EditorView({ doc, extensions: [basicSetup, chatLanguage], parent: document.body });
