// Writes the descriptions of all fields into packages/protocol/src/field-descriptions.ts, for the OpenAPI document. They
// are the comments of the fields' declarations, which an editor also shows on hover, read from the built declarations.
// Without `--write`, fails if the file is out of date, if a field has no comment, or if the types of `@actlog/client` do
// not show the comment.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { openApiDocument } from '../packages/protocol/src/openapi.ts';
import { root } from './workspace.ts';

/** Keywords of a JSON schema that contain fields. */
interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
}

type Body = { readonly content: { readonly 'application/json': { readonly schema: Schema } } };

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

const document = openApiDocument() as {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Paths;
  readonly webhooks: Paths;
};

/** Types of requests and responses, by the name of the operation. */
const entry = join(root, 'scripts', 'wire-types.ts');
const entryText = `
  import type { BodyOf, Contract, EndpointName, ErrorEnvelope, QueryOf, SentOf, WebhookEvent, WebhookEventType }
    from '../packages/protocol/dist/index.js';
  export type Parameters = {
    [Name in EndpointName]: QueryOf<Name> & Contract[Name]['params']['_zod']['output'];
  };
  export type Bodies = { [Name in EndpointName]: BodyOf<Name> };
  export type Responses = { [Name in EndpointName]: SentOf<Name> };
  export type Deliveries = {
    [Type in WebhookEventType as \`webhooks.\${Type}\`]: Extract<WebhookEvent, { type: Type }>;
  };
  export type { ErrorEnvelope };
`;
const client = join(root, 'packages', 'client', 'dist', 'index.d.ts');

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  types: [],
};
const host = ts.createCompilerHost(options);
const { fileExists, getSourceFile } = host;
host.fileExists = (name) => name === entry || fileExists(name);
host.getSourceFile = (name, version) =>
  name === entry ? ts.createSourceFile(name, entryText, version) : getSourceFile(name, version);
const program = ts.createProgram([entry, client], options, host);
const diagnostics = ts.getPreEmitDiagnostics(program);
if (diagnostics.length > 0) throw new Error(ts.formatDiagnostics(diagnostics, host));
const checker = program.getTypeChecker();

/** Returns the types that a file exports, by name. */
function typesOf(file: string): Map<string, ts.Type> {
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  const symbols = module ? checker.getExportsOfModule(module) : [];
  return new Map(
    symbols.map((symbol) => {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      return [symbol.name, checker.getDeclaredTypeOfSymbol(target)];
    }),
  );
}

/** Returns the members of a type, without null and undefined. */
function variantsOf(type: ts.Type): readonly ts.Type[] {
  const some = checker.getNonNullableType(type);
  return some.isUnion() ? some.types : [some];
}

function fieldOf(type: ts.Type | undefined, name: string): ts.Symbol | undefined {
  return type && variantsOf(type).flatMap((variant) => variant.getProperty(name) ?? [])[0];
}

function typeOfField(type: ts.Type | undefined, name: string): ts.Type | undefined {
  const field = fieldOf(type, name);
  return field && checker.getTypeOfSymbol(field);
}

function itemOf(type: ts.Type | undefined): ts.Type | undefined {
  return type && variantsOf(type).flatMap((variant) => variant.getNumberIndexType() ?? [])[0];
}

function valueTypeOf(type: ts.Type | undefined): ts.Type | undefined {
  return type && variantsOf(type).flatMap((variant) => variant.getStringIndexType() ?? [])[0];
}

/** Returns the comment of a field as one line. */
function commentOn(type: ts.Type | undefined, name: string): string {
  const comment = fieldOf(type, name)?.getDocumentationComment(checker);
  return ts.displayPartsToString(comment).replaceAll(/\s+/g, ' ').trim();
}

const faults: string[] = [];
const descriptions: Record<string, Record<string, string>> = {};

function record(place: string, name: string, type: ts.Type | undefined): void {
  const comment = commentOn(type, name);
  if (comment === '') faults.push(`${place}.${name} has no comment: write one where the field is declared.`);
  descriptions[place] ??= {};
  descriptions[place][name] = comment;
}

/** Walks the fields of a schema together with its type. */
function walk(schema: Schema, type: ts.Type | undefined): void {
  for (const option of schema.anyOf ?? []) walk(option, type);
  if (schema.items) walk(schema.items, itemOf(type));
  if (typeof schema.additionalProperties === 'object') walk(schema.additionalProperties, valueTypeOf(type));
  if (schema.properties) {
    faults.push(`An object with ${Object.keys(schema.properties)} has no name: give its schema an id.`);
  }
  const name = schema.$ref?.slice('#/components/schemas/'.length);
  if (name === undefined || descriptions[name]) return;
  for (const [field, property] of Object.entries(document.components.schemas[name]?.properties ?? {})) {
    record(name, field, type);
    walk(property, typeOfField(type, field));
  }
}

function walkBody(body: Body | undefined, type: ts.Type | undefined): void {
  if (body) walk(body.content['application/json'].schema, type);
}

const wire = typesOf(entry);
for (const { operationId, parameters, requestBody, responses } of Object.values(document.paths).flatMap(
  (path) => Object.values(path),
)) {
  for (const parameter of parameters ?? []) {
    // Descriptions of request headers are written by hand.
    if (parameter.in === 'header') continue;
    record(operationId, parameter.name, typeOfField(wire.get('Parameters'), operationId));
  }
  walkBody(requestBody, typeOfField(wire.get('Bodies'), operationId));
  for (const [status, response] of Object.entries(responses)) {
    const isError = Number(status) >= 400;
    walkBody(response, isError ? wire.get('ErrorEnvelope') : typeOfField(wire.get('Responses'), operationId));
  }
}
for (const { operationId, requestBody } of Object.values(document.webhooks).flatMap((path) =>
  Object.values(path),
)) {
  walkBody(requestBody, typeOfField(wire.get('Deliveries'), operationId));
}

// The types of the client must show the same descriptions.
for (const [name, type] of typesOf(client)) {
  for (const [field, description] of Object.entries(descriptions[name] ?? {})) {
    const shown = commentOn(type, field);
    if (shown !== description) faults.push(`${name}.${field} of @actlog/client shows "${shown}" on hover.`);
  }
}

const file = join(root, 'packages', 'protocol', 'src', 'field-descriptions.ts');
const made = execFileSync('biome', ['format', `--stdin-file-path=${file}`], {
  cwd: root,
  encoding: 'utf8',
  input: `// Made by scripts/field-descriptions.ts from the comments in schemas/: edit those.

/** Descriptions of fields, by the name of their schema in the OpenAPI document, and of parameters, by operation. */
export const fieldDescriptions: Readonly<Record<string, Readonly<Record<string, string>>>> = ${JSON.stringify(descriptions)};
`,
});
if (faults.length === 0 && process.argv.includes('--write')) writeFileSync(file, made);
else if (faults.length === 0 && readFileSync(file, 'utf8') !== made) {
  faults.push('packages/protocol/src/field-descriptions.ts differs from the comments: run with --write.');
}
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else console.log(`Field descriptions: ${Object.values(descriptions).flatMap(Object.keys).length} fields.`);
