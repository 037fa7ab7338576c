// Converts a TypeScript type to a JSON Schema for the `JSON.stringify` output of its values.

import ts from "typescript";

/** A JSON Schema as plain values. */
export type Schema = Record<string, unknown>;

/** Schemas of the types of one program. Named types are in `definitions`, and other schemas refer to them. */
export class TypeSchemas {
  readonly definitions: Record<string, Schema> = {};
  readonly #checker: ts.TypeChecker;
  /** Names that were assigned, by type. */
  readonly #names = new Map<ts.Type, string>();

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  /** @throws if values of the type are not JSON, or JSON loses their content */
  of(type: ts.Type): Schema {
    const { flags } = type;
    if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {};
    if (flags & ts.TypeFlags.Null) return { type: "null" };
    if (type.isStringLiteral() || type.isNumberLiteral()) return { const: type.value };
    if (flags & ts.TypeFlags.BooleanLiteral) return { const: this.#checker.typeToString(type) === "true" };
    if (flags & ts.TypeFlags.Boolean) return { type: "boolean" };
    if (flags & (ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral)) return { type: "string" };
    if (flags & ts.TypeFlags.Number) return { type: "number" };
    if (type.symbol?.name === "Date") return { type: "string", format: "date-time" };
    if (type.isUnion()) return this.#named(type, () => this.#union(type));
    if (type.isTypeParameter()) return this.of(this.#checker.getBaseConstraintOfType(type) ?? type);
    const item = this.#itemOf(type);
    if (item !== null) return { type: "array", items: item };
    if (flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) {
      return this.#named(type, () => this.#object(type));
    }
    throw new Error(`${this.#checker.typeToString(type)} is no type of JSON`);
  }

  #union(type: ts.UnionType): Schema {
    const parts = type.types.filter((part) => !(part.flags & ts.TypeFlags.Undefined));
    const words = parts.filter((part) => part.isStringLiteral()).map((part) => part.value);
    const isBoolean = parts.filter((part) => part.flags & ts.TypeFlags.BooleanLiteral).length === 2;
    const rest = parts.filter((part) =>
      !part.isStringLiteral() && !(isBoolean && part.flags & ts.TypeFlags.BooleanLiteral)
    );
    const schemas = [
      ...(words.length === 0 ? [] : words.length === 1 ? [{ const: words[0] }] : [{ enum: words.sort() }]),
      ...(isBoolean ? [{ type: "boolean" }] : []),
      ...rest.map((part) => this.of(part)),
    ];
    return schemas.length === 1 ? schemas[0]! : { anyOf: schemas };
  }

  /** Returns a reference to a type by name, if it has one. */
  #named(type: ts.Type, make: () => Schema): Schema {
    const name = type.aliasSymbol?.name ?? (type.isClassOrInterface() ? type.symbol.name : undefined);
    if (name === undefined || type.aliasTypeArguments !== undefined) return make();
    const known = this.#names.get(type);
    if (known !== undefined) return { $ref: `#/$defs/${known}` };
    let free = name;
    for (let number = 2; Object.hasOwn(this.definitions, free); number++) free = `${name}${number}`;
    this.#names.set(type, free);
    this.definitions[free] = {};
    this.definitions[free] = { ...described(type.aliasSymbol ?? type.symbol, this.#checker), ...make() };
    return { $ref: `#/$defs/${free}` };
  }

  /** Returns the item schema of an array; null for any other type. */
  #itemOf(type: ts.Type): Schema | null {
    if (!this.#checker.isArrayType(type) && !this.#checker.isTupleType(type)) return null;
    const items = this.#checker.getTypeArguments(type as ts.TypeReference).map((item) => this.of(item));
    return items.length === 1 ? items[0]! : items.length === 0 ? {} : { anyOf: items };
  }

  #object(type: ts.Type): Schema {
    if (type.getCallSignatures().length > 0 || ["Map", "Set", "Uint8Array"].includes(type.symbol?.name)) {
      throw new Error(`${this.#checker.typeToString(type)} is lost in JSON`);
    }
    const properties: Record<string, Schema> = {};
    const required: string[] = [];
    for (const member of this.#checker.getPropertiesOfType(type)) {
      const inner = this.#checker.getTypeOfSymbol(member);
      properties[member.name] = { ...described(member, this.#checker), ...this.of(inner) };
      const mayBeAbsent = member.flags & ts.SymbolFlags.Optional || inner.flags & ts.TypeFlags.Undefined ||
        (inner.isUnion() && inner.types.some((part) => part.flags & ts.TypeFlags.Undefined));
      if (!mayBeAbsent) required.push(member.name);
    }
    const others = this.#checker.getIndexTypeOfType(type, ts.IndexKind.String);
    return {
      type: "object",
      ...(Object.keys(properties).length === 0 ? {} : { properties }),
      ...(required.length === 0 ? {} : { required }),
      ...(others === undefined ? {} : { additionalProperties: this.of(others) }),
    };
  }
}

/** Returns the text of a symbol's documentation comment. */
function described(symbol: ts.Symbol, checker: ts.TypeChecker): Schema {
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker)).replace(/\s*\n\s*/g, " ")
    .trim();
  return text === "" ? {} : { description: text };
}
