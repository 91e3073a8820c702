import { createHash } from 'node:crypto';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { contract } from './contract.ts';
import { type EndpointName, endpointNames, endpoints } from './endpoints.ts';
import { webhookHeaders } from './limits.ts';
import { openApiDocument } from './openapi.ts';
import { examples } from './openapi-examples.ts';
import { webhookEvent, webhookEventTypes } from './schemas/webhook-event.ts';

interface Schema extends Record<string, unknown> {
  $ref?: string;
  properties?: Record<string, { description?: string }>;
}

interface Content {
  'application/json': { schema: Schema; example?: unknown };
}

interface Operation {
  operationId: string;
  description?: string;
  responses: Record<string, { description: string; headers?: Record<string, unknown>; content: Content }>;
  requestBody?: { content: Content };
  parameters?: { in: string; name: string; description?: string; schema: Schema }[];
}

const document = openApiDocument({ serverUrl: 'https://actlog.example.com', version: '1.2.3' }) as {
  info: { version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas: Record<string, Schema> };
};

const operations = [document.paths, document.webhooks]
  .flatMap((paths) => Object.values(paths))
  .flatMap((path): Operation[] => Object.values(path));

/** Returns the schema that a reference points to. */
function referenced({ $ref }: Schema = {}): Schema | undefined {
  return document.components.schemas[String($ref).slice('#/components/schemas/'.length)];
}

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const result = await validator.validate(structuredClone(document));
  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
  expect(validator.version).toBe('3.1');
});

test('the validator rejects an invalid document', async () => {
  const broken = structuredClone(document) as {
    paths: Record<string, Record<string, { responses?: unknown }>>;
  };
  const operation = broken.paths['/v1/events']?.post;
  if (operation) operation.responses = 'none';
  expect((await new Validator().validate(broken)).valid).toBe(false);
});

test('lists each endpoint once, with its success status and the shared errors', () => {
  const served = Object.values(document.paths).flatMap((path) => Object.values(path));
  expect(served.map((operation) => operation.operationId).sort()).toEqual([...endpointNames].sort());
  for (const operation of served) {
    const row = endpoints[operation.operationId as keyof typeof endpoints];
    expect(Object.keys(operation.responses)).toEqual(
      expect.arrayContaining([String(row.success), '400', '401', '403', '429', '503']),
    );
  }
});

test('marks fields that the service always sends as required, in an export too', () => {
  const schemas = document.components.schemas;
  const { properties = {} } = schemas.SessionExport ?? {};
  expect(properties.session).toMatchObject({ $ref: '#/components/schemas/Session' });
  expect(properties.risk).toMatchObject({ $ref: '#/components/schemas/Risk' });
  expect(properties.events).toMatchObject({
    type: 'array',
    items: { $ref: '#/components/schemas/StoredEvent' },
  });
});

test('requires at least one field in an update', () => {
  for (const path of ['/v1/agents/{id}', '/v1/policies/{id}']) {
    const body = document.paths[path]?.patch?.requestBody;
    expect(referenced(body?.content['application/json'].schema)).toMatchObject({
      type: 'object',
      minProperties: 1,
    });
  }
});

test('documents conflicts with their codes where they can occur', () => {
  const conflict = (path: string, method: string) => document.paths[path]?.[method]?.responses[409];
  expect(conflict('/v1/agents/{id}', 'patch')).toBeUndefined();
  expect(conflict('/v1/policies/{id}', 'patch')?.description).toContain(' `POLICY_ARCHIVED`.');
  expect(conflict('/v1/agents', 'post')?.description).toContain(
    '`ALREADY_EXISTS`, `IDEMPOTENCY_KEY_REUSED`.',
  );
});

test('documents the request id on every response and `INTERNAL` for every operation', () => {
  for (const { responses } of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    for (const { headers } of Object.values(responses)) expect(headers).toHaveProperty('x-request-id');
    expect(responses[500]?.description).toContain('`INTERNAL`');
  }
});

test('documents webhook deliveries with their signature headers', () => {
  expect(Object.keys(document.webhooks)).toEqual([...webhookEventTypes]);
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    expect(post.parameters?.map(({ name }) => name)).toEqual(Object.values(webhookHeaders));
    expect(referenced(post.requestBody?.content['application/json'].schema)).toMatchObject({
      properties: { type: { const: type } },
      required: ['type', 'timestamp', 'data'],
    });
  }
});

test('documents query parameters with their parsed types', () => {
  const parameters = document.paths['/v1/sessions']?.get?.parameters ?? [];
  const schemas = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.schema]));
  expect(schemas.limit).toMatchObject({ type: 'integer', minimum: 1, maximum: 200 });
  expect(schemas.minRiskScore).toMatchObject({ type: 'number', minimum: 0, maximum: 100 });
});

test('documents the headers that an endpoint reads', () => {
  const headersOf = (path: string) =>
    (document.paths[path]?.post?.parameters ?? []).filter((parameter) => parameter.in === 'header');
  expect(headersOf('/v1/policies/check').map(({ name }) => name)).toEqual(['prefer']);
  const [key] = headersOf('/v1/agents');
  expect(key?.name).toBe('idempotency-key');
  const pattern = new RegExp(String(key?.schema.pattern));
  expect(['a', '!~'.repeat(127), '', 'a b', 'a'.repeat(256)].map((value) => pattern.test(value))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('describes every field, parameter and operation', () => {
  const unexplained = [
    ...Object.entries(document.components.schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).flatMap(([field, { description }]) =>
        description ? [] : [`${name}.${field}`],
      ),
    ),
    ...operations.flatMap(({ operationId, description, parameters = [] }) => [
      ...(description ? [] : [operationId]),
      ...parameters.flatMap(({ name, description }) => (description ? [] : [`${operationId} ${name}`])),
    ]),
  ];
  expect(unexplained).toEqual([]);
});

test('gives every object schema a name', () => {
  const nameless = (value: unknown, path: string): string[] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.entries(value).flatMap(([key, inner]) =>
          key === 'properties' && !/^\/components\/schemas\/\w+$/.test(path)
            ? [path]
            : key === 'example'
              ? []
              : nameless(inner, `${path}/${key}`),
        );
  expect(nameless(document, '')).toEqual([]);
});

test('has a valid example for every request and success response', () => {
  for (const operation of operations) {
    const { operationId, requestBody, responses } = operation;
    const name = operationId as EndpointName;
    const schemas = contract[name];
    if (!schemas) {
      const message = webhookEvent.safeParse(requestBody?.content['application/json'].example);
      expect(message, operationId).toMatchObject({ success: true, data: { type: operationId.slice(9) } });
      continue;
    }
    const response = responses[endpoints[name].success]?.content['application/json'].example;
    expect(schemas.response.sent.safeParse(response), operationId).toMatchObject({ success: true });
    const body = requestBody?.content['application/json'].example;
    if (schemas.body) {
      expect(schemas.body.safeParse(body), operationId).toMatchObject({ success: true });
    } else {
      expect(requestBody, operationId).toBeUndefined();
    }
  }
});

test('the export example has a correct checksum', () => {
  const { events, contentSha256 } = examples['sessions.export'].response;
  expect(createHash('sha256').update(JSON.stringify(events)).digest('hex')).toBe(contentSha256);
});

test('uses the given version and server URL', () => {
  expect(document.info.version).toBe('1.2.3');
  expect(document.servers).toEqual([{ url: 'https://actlog.example.com' }]);
});
