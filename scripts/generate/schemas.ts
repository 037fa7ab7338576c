// Generates the JSON Schema of each command's `--json` output, and of each event, from the types of the values.

import ts from "typescript";
import { ROOT } from "../gate/root.ts";
import { TypeSchemas } from "./schemas/of_type.ts";
import { EVENTS, REPORTS } from "./schemas/reports.ts";

/** @throws if a command listed as printing JSON prints none, or a type has no schema */
export function outputSchema(): Record<string, unknown> {
  const modules = [...new Set([EVENTS.module, ...Object.values(REPORTS).map(({ module }) => module)])];
  const program = ts.createProgram(modules.map((module) => `${ROOT}/${module}`), {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ["lib.esnext.d.ts"],
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    resolveJsonModule: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  });
  const checker = program.getTypeChecker();
  const schemas = new TypeSchemas(checker);
  const source = (module: string) => program.getSourceFile(`${ROOT}/${module}`)!;
  const reports: Record<string, unknown> = {};
  for (const [command, { module, call = 0 }] of Object.entries(REPORTS)) {
    const printed = printedIn(source(module))[call];
    if (printed === undefined) throw new Error(`${module} prints no JSON for flemma ${command}`);
    try {
      reports[command] = schemas.of(checker.getTypeAtLocation(printed));
    } catch (thrown) {
      throw new Error(`flemma ${command} --json: ${(thrown as Error).message}`);
    }
  }
  reports.event = schemas.of(checker.getTypeAtLocation(typeIn(source(EVENTS.module), EVENTS.type)));
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "JSON output of flemma",
    description:
      "Under a command's name, the output of that command with --json; under `event`, one line of an event stream. " +
      "Later versions may add members.",
    $defs: { ...reports, ...schemas.definitions },
  };
}

/** Returns the arguments of the calls of `safeJson` in a module, from the top. */
function printedIn(source: ts.SourceFile): ts.Expression[] {
  const found: ts.Expression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText(source) === "safeJson") {
      found.push(node.arguments[0]!);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function typeIn(source: ts.SourceFile, name: string): ts.TypeAliasDeclaration {
  const found = source.statements.find((one) => ts.isTypeAliasDeclaration(one) && one.name.text === name);
  if (found === undefined) throw new Error(`${source.fileName} has no type ${name}`);
  return found as ts.TypeAliasDeclaration;
}
