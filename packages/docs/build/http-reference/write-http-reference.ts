import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openApiDocument } from '@actlog/protocol/openapi';
import { pagesFolder } from '../repository.ts';

/** JSON schema, with the keywords that the document uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly additionalProperties?: boolean | Schema;
}

/** Parameter of an operation. */
interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Content {
  readonly content?: { readonly 'application/json': { readonly schema: Schema; readonly example?: unknown } };
}

/** One response of an operation. */
interface ResponseObject extends Content {
  readonly description: string;
}

/** One operation, or one webhook message. */
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly 'x-required-scope'?: string;
  readonly 'x-codeSamples'?: readonly {
    readonly lang: string;
    readonly label: string;
    readonly source: string;
  }[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

interface Document {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** OpenAPI document of the service. */
const document = openApiDocument() as Document;

/** Returns a schema, or the component that it refers to. */
function resolved(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.replace('#/components/schemas/', '');
  const component = document.components.schemas[name];
  if (component === undefined) throw new Error(`The OpenAPI document has no component ${name}.`);
  return { ...component, ...(schema.description === undefined ? {} : { description: schema.description }) };
}

/** Maximum depth of nested fields in one table. */
const maxDepth = 4;

/** One row: the path of a field, and its schema. */
interface Field {
  readonly path: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** Returns a table of the fields of a schema in Markdown, nested ones by their path. Empty for a schema without fields. */
function fieldTable(schema: Schema, requiredColumn: boolean): string {
  const fields = fieldsOf(schema, '', 1);
  if (fields.length === 0) return '';
  const header = requiredColumn
    ? ['| field | type | required | description |', '|---|---|---|---|']
    : ['| field | type | description |', '|---|---|---|'];
  const rows = fields.map(({ path, schema: field, isRequired }) => {
    const cells = [
      `\`${path}\``,
      typeText(field),
      ...(requiredColumn ? [isRequired ? 'yes' : 'no'] : []),
      descriptionOf(field),
    ];
    return `| ${cells.map(cell).join(' | ')} |`;
  });
  return [...header, ...rows].join('\n');
}

/** Escapes text for a cell of a table. */
function cell(text: string): string {
  return text.replaceAll('\n', ' ').replaceAll('|', '\\|');
}

function fieldsOf(given: Schema, prefix: string, depth: number): Field[] {
  const schema = resolved(given);
  if (schema.items !== undefined) return fieldsOf(schema.items, `${prefix.replace(/\.$/, '')}[].`, depth);
  const variants = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  const nested = variants.flatMap((variant) => fieldsOf(variant, prefix, depth));
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const field = resolved(property);
    const path = `${prefix}${name}`;
    const below = depth < maxDepth ? fieldsOf(field, `${path}.`, depth + 1) : [];
    return [{ path, schema: field, isRequired: schema.required?.includes(name) ?? false }, ...below];
  });
  const unique = new Map([...nested, ...own].map((field) => [field.path, field]));
  return [...unique.values()];
}

/** Returns the type of a value in words, such as `string or null`, with its bounds. */
function typeText(given: Schema): string {
  const schema = resolved(given);
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(', ');
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return [...new Set(variants.map(typeText))].join(' or ');
  if (schema.items !== undefined) return `array of ${typeText(schema.items).replace(/^object$/, 'objects')}`;
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? 'any'];
  return `${types.join(' or ')}${formatText(schema)}`;
}

function formatText({ format, minimum, maximum, maxLength, maxItems }: Schema): string {
  const details = [
    format,
    minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}` : undefined,
    minimum !== undefined && maximum === undefined ? `at least ${minimum}` : undefined,
    minimum === undefined && maximum !== undefined ? `at most ${maximum}` : undefined,
    maxLength === undefined ? undefined : `at most ${maxLength} characters`,
    maxItems === undefined ? undefined : `at most ${maxItems} items`,
  ].filter((detail) => detail !== undefined);
  return details.length === 0 ? '' : `, ${details.join(', ')}`;
}

function descriptionOf({ description = '', default: value }: Schema): string {
  return value === undefined ? description : `${description} Default: \`${JSON.stringify(value)}\`.`.trim();
}

/** Languages of the code samples, as the highlighter names them. */
const fences: Readonly<Record<string, string>> = { TypeScript: 'ts', Shell: 'sh' };

/** Returns the section of one endpoint in Markdown. */
function operationText(method: string, path: string, operation: Operation): string {
  const scope = operation['x-required-scope'];
  return joined([
    `## ${operation.summary}`,
    `\`${method.toUpperCase()} ${path}\``,
    operation.description,
    scope && `The key needs the scope \`${scope}\`.`,
    samplesText(operation),
    parametersText(operation.parameters ?? []),
    bodyText(operation),
    responsesText(operation),
  ]);
}

/** Returns the section of one webhook message in Markdown. */
function messageText(type: string, operation: Operation): string {
  const { schema, example } = operation.requestBody?.content?.['application/json'] ?? {};
  return joined([
    `## ${operation.summary}`,
    `\`${type}\``,
    operation.description,
    example === undefined ? undefined : json(example),
    schema && fieldTable(schema, false),
  ]);
}

function joined(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join('\n\n');
}

function json(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
}

function samplesText({ 'x-codeSamples': samples = [] }: Operation): string {
  const blocks = samples.map(({ lang, label, source }) => {
    const language = fences[lang];
    if (language === undefined)
      throw new Error(`The code samples of the API reference have no fence for ${lang}.`);
    return `\`\`\`${language} [${label}]\n${source.trimEnd()}\n\`\`\``;
  });
  return ['::: code-group', ...blocks, ':::'].join('\n\n');
}

function parametersText(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(({ in: place, name, required = false, description = '', schema }) => {
    const text = description || (schema.description ?? '');
    return `| ${[`\`${name}\``, place, typeText(schema), required ? 'yes' : 'no', text].map(cell).join(' | ')} |`;
  });
  return [
    '### Parameters',
    '',
    '| name | in | type | required | description |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function bodyText({ requestBody }: Operation): string {
  const schema = requestBody?.content?.['application/json'].schema;
  return schema === undefined ? '' : joined(['### Request body', fieldTable(schema, true)]);
}

function responsesText({ responses }: Operation): string {
  const isSuccess = (status: string) => status.startsWith('2');
  const successes = Object.entries(responses).filter(([status]) => isSuccess(status));
  const errors = Object.entries(responses).filter(([status]) => !isSuccess(status));
  return joined([
    ...successes.map(([status, { content }]) => {
      const { schema, example } = content?.['application/json'] ?? {};
      return joined([
        `### Response ${status}`,
        example === undefined ? undefined : json(example),
        schema && fieldTable(schema, false),
      ]);
    }),
    '### Errors',
    [
      '| status | meaning |',
      '|---|---|',
      ...errors.map(([status, { description }]) => `| ${status} | ${cell(description)} |`),
    ].join('\n'),
  ]);
}

/** Folder of the pages, from the root of the site. */
const folder = 'reference/http';

/** Titles of the pages by tag of the document. */
const titles: Readonly<Record<string, string>> = {
  events: 'Events',
  sessions: 'Sessions',
  agents: 'Agents',
  policies: 'Policies and checks',
  guardian: 'Held actions',
  notificationChannels: 'Webhooks',
};

/** A generated page. */
export interface GeneratedPage {
  /** Path from the root of the site. */
  readonly page: string;
  readonly title: string;
}

/** Pages of the HTTP reference: one for each tag of the document, and one for the messages to webhooks. */
export const httpPages: readonly GeneratedPage[] = [
  ...document.tags.map(({ name }) => {
    const title = titles[name];
    if (title === undefined) throw new Error(`write-http-reference.ts has no title for the tag ${name}.`);
    return { page: `${folder}/${slugOf(title)}.md`, title };
  }),
  { page: `${folder}/webhook-messages.md`, title: 'Webhook messages' },
];

function slugOf(title: string): string {
  return title.toLowerCase().replaceAll(' ', '-');
}

/** Writes the HTTP reference from the OpenAPI document: static pages that need no script of a renderer. */
export async function writeHttpReference(): Promise<void> {
  await mkdir(join(pagesFolder, folder), { recursive: true });
  for (const { name, description } of document.tags) {
    const title = titles[name] as string;
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { tags }]) => tags.includes(name))
        .map(([method, operation]) => operationText(method, path, operation)),
    );
    await write(title, [description, ...operations]);
  }
  const messages = Object.entries(document.webhooks).map(([type, { post }]) => messageText(type, post));
  await write('Webhook messages', [
    'Messages that the service sends to webhooks, signed as [Standard Webhooks](https://www.standardwebhooks.com) specifies.',
    ...messages,
  ]);
}

function write(title: string, parts: readonly string[]): Promise<void> {
  const text = ['---\noutline: 2\n---', `# ${title}`, ...parts].join('\n\n');
  return writeFile(join(pagesFolder, folder, `${slugOf(title)}.md`), `${text}\n`);
}
