import type { Endpoint, EndpointName } from './endpoints.ts';
import { examples } from './openapi-examples.ts';

/** A program that calls an operation, for the extension `x-codeSamples`. */
export interface CodeSample {
  /** Language, as documentation tools name it. */
  readonly lang: string;
  /** Name of the library or program. */
  readonly label: string;
  readonly source: string;
}

/** Returns programs that call an endpoint with its example: with actlog's client, and with curl. */
export function codeSamples(name: EndpointName, endpoint: Endpoint): CodeSample[] {
  return [
    { lang: 'TypeScript', label: '@actlog/client', source: clientSource(name, endpoint) },
    { lang: 'Shell', label: 'curl', source: curlSource(name, endpoint) },
  ];
}

/** Name of one item of each list. */
const itemNames: { readonly [Name in EndpointName]?: string } = {
  'sessions.list': 'session',
  'agents.list': 'agent',
  'agents.sessions': 'session',
  'policies.list': 'policy',
  'guardian.pendingActions.list': 'action',
  'notificationChannels.list': 'channel',
};

/** Returns the id in an endpoint's example, for paths that have one. */
function exampleId(name: EndpointName, { path }: Endpoint): string | undefined {
  if (!path.includes(':id')) return undefined;
  if (name === 'agents.sessions') return examples['agents.get'].response.id;
  if (name.startsWith('sessions.')) return examples['sessions.get'].response.id;
  return (examples[name].response as { readonly id: string }).id;
}

function clientSource(name: EndpointName, endpoint: Endpoint): string {
  const id = exampleId(name, endpoint);
  const { body } = examples[name];
  const args = [...(id === undefined ? [] : [literal(id)]), ...(body === undefined ? [] : [literal(body)])];
  const call = `client.${name}(${args.join(', ')})`;
  const item = itemNames[name];
  return [
    "import { Actlog } from '@actlog/client';",
    '',
    'const client = new Actlog(); // reads ACTLOG_BASE_URL and ACTLOG_API_KEY',
    ...(item
      ? [`for await (const ${item} of ${call}) {`, `  console.log(${item}.id);`, '}']
      : [`console.log(await ${call});`]),
    '',
  ].join('\n');
}

function curlSource(name: EndpointName, endpoint: Endpoint): string {
  const path = endpoint.path.replace(':id', encodeURIComponent(exampleId(name, endpoint) ?? ''));
  const { body } = examples[name];
  const json = body && JSON.stringify(body).replaceAll("'", "'\\''");
  return [
    `curl${endpoint.method === 'GET' ? '' : ` -X ${endpoint.method}`} "$ACTLOG_BASE_URL${path}"`,
    '-H "Authorization: Bearer $ACTLOG_API_KEY"',
    ...(json ? ["-H 'Content-Type: application/json'", `-d '${json}'`] : []),
  ].join(' \\\n  ');
}

/** Returns a JSON value as an expression of JavaScript. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => literal(item, indent)).join(', ')}]`;
  const inner = `${indent}  `;
  const lines = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .map(([key, field]) => `${inner}${/^\w+$/.test(key) ? key : literal(key)}: ${literal(field, inner)},\n`);
  return lines.length === 0 ? '{}' : `{\n${lines.join('')}${indent}}`;
}
