// All tests of library functions that need no system: documents, edits, prose, the Lezer parser, and evaluation
// without templates. Bundled, they run in other runtimes (bundle.ts).

import "../../parser/call_input_test.ts";
import "../../parser/cases_test.ts";
import "../../parser/document_test.ts";
import "../../parser/escape_test.ts";
import "../../parser/fences_test.ts";
import "../../parser/hostile_slow_test.ts";
import "../../parser/jobs_test.ts";
import "../../parser/line_change_test.ts";
import "../../parser/lines_test.ts";
import "../../parser/migrate_test.ts";
import "../../parser/open_call_test.ts";
import "../../parser/placement_test.ts";
import "../../parser/placeholder_test.ts";
import "../../parser/property_test.ts";
import "../../parser/prose_test.ts";
import "../../parser/result_block_test.ts";
import "../../parser/scan_test.ts";
import "../../parser/status_test.ts";
import "../../parser/tags_test.ts";
import "../../parser/template_test.ts";
import "../../parser/turn_test.ts";
import "../../parser/update_test.ts";
import "../../parser/utf16_test.ts";
import "../../parser/vectors_test.ts";
import "../../parser/lezer/chat_parser_test.ts";
import "../../prompt/conversation_test.ts";
import { leftOut, runTests } from "./runner.ts";

const report = await runTests(leftOut());
if ("document" in globalThis) await fetch("/report", { method: "POST", body: JSON.stringify(report) });
// deno-lint-ignore no-console
else console.log(JSON.stringify(report));
