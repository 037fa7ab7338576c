// The JSON Schema of a type describes its values as JSON.

import assert from "node:assert/strict";
import ts from "typescript";
import { TypeSchemas } from "../../scripts/generate/schemas/of_type.ts";

/** The schema of what a text declares, and the types it refers to. */
function schemaOf(text: string) {
  const file = ts.createSourceFile("/t.ts", text, ts.ScriptTarget.ESNext);
  // The few names that the types here need; the library of the language takes a second to read.
  const known =
    "interface Array<T> { [n: number]: T } interface ReadonlyArray<T> { [n: number]: T } interface Date {} " +
    "interface Map<K, V> {} interface Function {} interface Object {} interface String {} interface Number {} " +
    "interface Boolean {} interface RegExp {} interface IArguments {} interface CallableFunction {} interface NewableFunction {} " +
    "type Partial<T> = { [P in keyof T]?: T[P] }; type Record<K extends string, T> = { [P in K]: T };";
  const library = ts.createSourceFile("/lib.d.ts", known, ts.ScriptTarget.ESNext);
  const host: ts.CompilerHost = {
    getSourceFile: (name) => name === "/t.ts" ? file : name === "/lib.d.ts" ? library : undefined,
    getDefaultLibFileName: () => "/lib.d.ts",
    writeFile: () => {},
    getCurrentDirectory: () => "/",
    getCanonicalFileName: (name) => name,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => "\n",
    fileExists: (name) => name === "/t.ts",
    readFile: () => undefined,
  };
  const checker = ts.createProgram(["/t.ts"], { strict: true }, host).getTypeChecker();
  // A type that is the alias itself would be written under its name.
  const value = file.statements.find(ts.isVariableStatement)!.declarationList.declarations[0]!;
  const schemas = new TypeSchemas(checker);
  const schema = schemas.of(checker.getTypeAtLocation(value));
  return { schema, definitions: schemas.definitions };
}

const ROWS: readonly (readonly [string, unknown])[] = [
  ["string", { type: "string" }],
  ["number", { type: "number" }],
  ["boolean", { type: "boolean" }],
  ["unknown", {}],
  ["null", { type: "null" }],
  ['"a"', { const: "a" }],
  ["3", { const: 3 }],
  ["true", { const: true }],
  ["readonly string[]", { type: "array", items: { type: "string" } }],
  ["Date", { type: "string", format: "date-time" }],
  ["Record<string, number>", { type: "object", additionalProperties: { type: "number" } }],
];

for (const [type, schema] of ROWS) {
  Deno.test(`the schema of ${type} is ${JSON.stringify(schema)}`, () => {
    assert.deepEqual(schemaOf(`declare const value: ${type};`).schema, schema);
  });
}

Deno.test("a union of strings becomes an enumeration, and a property that may be undefined becomes optional", () => {
  const { schema } = schemaOf(
    'declare const value: { a: "y" | "x"; b?: number; c: string | undefined; d: boolean | null };',
  );
  assert.deepEqual(schema, {
    type: "object",
    properties: {
      a: { enum: ["x", "y"] },
      b: { type: "number" },
      c: { type: "string" },
      d: { anyOf: [{ type: "boolean" }, { type: "null" }] },
    },
    required: ["a", "d"],
  });
});

Deno.test("a named type is written once, with its comment as description, and may contain itself", () => {
  const { schema, definitions } = schemaOf(
    "/** A node. */ interface Node {\n/** Below\n * it. */ readonly inner: readonly Node[]; }\ndeclare const value: { a: Node; b: Node };",
  );
  assert.deepEqual((schema.properties as Record<string, unknown>).b, { $ref: "#/$defs/Node" });
  assert.deepEqual(definitions, {
    Node: {
      description: "A node.",
      type: "object",
      properties: { inner: { description: "Below it.", type: "array", items: { $ref: "#/$defs/Node" } } },
      required: ["inner"],
    },
  });
});

Deno.test("the intersection of several types becomes one object", () => {
  const { schema } = schemaOf("declare const value: { a: string } & Partial<{ b: number }>;");
  assert.deepEqual(schema, {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "number" } },
    required: ["a"],
  });
});

Deno.test("a type whose values JSON would lose is refused", () => {
  for (const type of ["Map<string, string>", "{ a: () => void }", "bigint", "symbol"]) {
    assert.throws(() => schemaOf(`declare const value: ${type};`), /lost in JSON|no type of JSON/, type);
  }
});
