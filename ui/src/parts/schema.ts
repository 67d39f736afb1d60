// The part of JSON Schema that a form can be made of. Schemas come from agents and are not to be
// trusted: nothing here recurses without end, and no pattern of theirs is ever run.

export type Schema = Readonly<Record<string, unknown>>;

/** What a field for a schema looks like. `json` is everything that no field can be made of. */
export type Shape =
  | { kind: "object"; members: { name: string; schema: Schema; required: boolean }[] }
  | { kind: "list"; items: Schema }
  | { kind: "text"; long: boolean }
  | { kind: "number"; whole: boolean }
  | { kind: "switch" }
  | { kind: "choice"; options: { name: string; raw: string }[] }
  | { kind: "constant"; raw: string }
  | { kind: "json" };

const MOST_MEMBERS = 200;
const MOST_OPTIONS = 200;
const MOST_HOPS = 16;

export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a schema says anything at all. */
export function saysSomething(schema: unknown): schema is Schema {
  return (
    isSchema(schema) && Object.keys(schema).some((key) => !key.startsWith("$") && key !== "title")
  );
}

/**
 * The schema behind references into the same document, and without `null` where that is only one of two
 * ways: whoever leaves a field empty means that.
 */
export function resolve(schema: unknown, root: Schema): Schema {
  let found: unknown = schema;
  for (let hop = 0; hop < MOST_HOPS; hop++) {
    if (!isSchema(found)) return {};
    const { $ref: to, ...beside } = found;
    if (typeof to === "string") {
      const target = pointed(root, to);
      found = isSchema(target) ? { ...target, ...beside } : beside;
      continue;
    }
    const ways = found.anyOf ?? found.oneOf;
    const real = Array.isArray(ways) ? ways.filter((way) => !isNull(way)) : [];
    if (!Array.isArray(ways) || real.length !== 1) return found;
    const { anyOf: _, oneOf: __, ...rest } = found;
    found = { ...(isSchema(real[0]) ? real[0] : {}), ...rest };
  }
  return {};
}

function isNull(schema: unknown): boolean {
  return isSchema(schema) && (schema.type === "null" || schema.const === null);
}

function pointed(root: Schema, pointer: string): unknown {
  if (!pointer.startsWith("#")) return undefined;
  const steps = pointer.slice(1).split("/").slice(1);
  return steps.reduce<unknown>((at, step) => {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(at)) return at[Number(name)] as unknown;
    return isSchema(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }, root);
}

/** The kinds of value a resolved schema allows; none says anything. */
export function types(schema: Schema): string[] {
  const { type } = schema;
  const all = Array.isArray(type) ? type : type === undefined ? [] : [type];
  return all.filter((each): each is string => typeof each === "string");
}

/** What field a resolved schema wants. */
export function shape(schema: Schema): Shape {
  if (Object.hasOwn(schema, "const")) return { kind: "constant", raw: write(schema.const) };
  const options = choices(schema);
  if (options !== null) return { kind: "choice", options };
  if (["allOf", "anyOf", "oneOf", "not", "if"].some((key) => Object.hasOwn(schema, key)))
    return { kind: "json" };
  const named = types(schema).filter((type) => type !== "null");
  const type = named.length === 1 ? named[0] : named.length === 0 ? guess(schema) : undefined;
  switch (type) {
    case "object":
      return objectShape(schema);
    case "array":
      return isSchema(schema.items) && schema.prefixItems === undefined
        ? { kind: "list", items: schema.items }
        : { kind: "json" };
    case "string":
      return { kind: "text", long: (limit(schema, "maxLength") ?? 0) > 200 };
    case "number":
    case "integer":
      return { kind: "number", whole: type === "integer" };
    case "boolean":
      return { kind: "switch" };
    default:
      return { kind: "json" };
  }
}

function guess(schema: Schema): string | undefined {
  return isSchema(schema.properties) ? "object" : undefined;
}

function objectShape(schema: Schema): Shape {
  const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : [];
  if (properties.length === 0 || properties.length > MOST_MEMBERS) return { kind: "json" };
  const required = requiredOf(schema);
  return {
    kind: "object",
    members: properties.map(([name, member]) => ({
      name,
      schema: isSchema(member) ? member : {},
      required: required.has(name),
    })),
  };
}

/** What must be there comes first; else the order is that of the schema. */
export function requiredFirst<Member extends { required: boolean }>(
  members: readonly Member[],
): Member[] {
  return [
    ...members.filter(({ required }) => required),
    ...members.filter(({ required }) => !required),
  ];
}

export function requiredOf(schema: Schema): Set<string> {
  const { required } = schema;
  return new Set(
    Array.isArray(required) ? required.filter((each) => typeof each === "string") : [],
  );
}

/** What can be chosen: the values of `enum`, or of ways that are constants with titles. */
function choices(schema: Schema): { name: string; raw: string }[] | null {
  if (Array.isArray(schema.enum) && schema.enum.length <= MOST_OPTIONS)
    return schema.enum.map((value) => ({ name: named(value), raw: write(value) }));
  const ways = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(ways) || ways.length > MOST_OPTIONS) return null;
  if (!ways.every((way) => isSchema(way) && Object.hasOwn(way, "const"))) return null;
  return (ways as Schema[]).map((way) => ({
    name: text(way, "title") ?? named(way.const),
    raw: write(way.const),
  }));
}

function named(value: unknown): string {
  return typeof value === "string" ? value : write(value);
}

function write(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}

/** A word of the schema for people: its title or description. */
export function text(schema: Schema, key: string): string | null {
  const value = schema[key];
  return typeof value === "string" && value !== "" ? value : null;
}

/** A number that the schema sets as a limit. */
export function limit(schema: Schema, key: string): number | null {
  const value = schema[key];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

const formats: Record<string, string> = {
  date: "a date like 2026-11-16",
  "date-time": "a time like 2026-11-16T12:04:12Z",
  time: "a time of day like 12:04:12",
  email: "an e-mail address",
  uri: "an address like https://example.org",
  url: "an address like https://example.org",
  uuid: "a UUID",
  ipv4: "an IPv4 address",
  ipv6: "an IPv6 address",
  hostname: "a host name",
};

/** What a value must be like, in few words: “1 to 10”, “at most 20 letters”. */
export function hints(schema: Schema): string[] {
  const said: string[] = [];
  const format = text(schema, "format");
  if (format !== null) said.push(formats[format] ?? format);
  const span = (least: number | null, most: number | null, what: string) => {
    if (least !== null && most !== null) said.push(`${String(least)} to ${String(most)}${what}`);
    else if (least !== null) said.push(`at least ${String(least)}${what}`);
    else if (most !== null) said.push(`at most ${String(most)}${what}`);
  };
  span(limit(schema, "minimum"), limit(schema, "maximum"), "");
  const [above, below] = [limit(schema, "exclusiveMinimum"), limit(schema, "exclusiveMaximum")];
  if (above !== null) said.push(`more than ${String(above)}`);
  if (below !== null) said.push(`less than ${String(below)}`);
  span(limit(schema, "minLength"), limit(schema, "maxLength"), " letters");
  span(limit(schema, "minItems"), limit(schema, "maxItems"), " items");
  const pattern = text(schema, "pattern");
  if (pattern !== null) said.push(`like ${pattern}`);
  return said;
}

/** A value to begin with, as JSON text: what the schema offers, and what it requires. */
export function skeleton(given: unknown, root: Schema, room = { left: 500 }): string {
  if (room.left-- <= 0) return "null";
  const schema = resolve(given, root);
  if (Object.hasOwn(schema, "default")) return write(schema.default);
  const is = shape(schema);
  switch (is.kind) {
    case "constant":
      return is.raw;
    case "choice":
      return is.options[0]?.raw ?? "null";
    case "text":
      return '""';
    case "number":
      return String(limit(schema, "minimum") ?? 0);
    case "switch":
      return "false";
    case "list":
      return "[]";
    case "object": {
      const begun = is.members
        .filter(
          ({ required, schema: member }) =>
            required || Object.hasOwn(resolve(member, root), "default"),
        )
        .map(
          ({ name, schema: member }) => `${JSON.stringify(name)}:${skeleton(member, root, room)}`,
        );
      return `{${begun.join(",")}}`;
    }
    case "json":
      return types(schema).includes("array")
        ? "[]"
        : types(schema).includes("object")
          ? "{}"
          : "null";
  }
}
