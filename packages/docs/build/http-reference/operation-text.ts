import type { Operation, Parameter } from './document.ts';
import { cell, fieldTable, typeText } from './field-table.ts';

/** Languages of the code samples, as the highlighter names them. */
const fences: Readonly<Record<string, string>> = { TypeScript: 'ts', Shell: 'sh' };

/** Returns the section of one endpoint in Markdown. */
export function operationText(method: string, path: string, operation: Operation): string {
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
export function messageText(type: string, operation: Operation): string {
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
