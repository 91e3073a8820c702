import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { endpointNames, endpoints } from './endpoints.ts';
import { webhookHeaders } from './headers.ts';
import { openApiDocument } from './openapi.ts';
import { webhookEventTypes } from './schemas/webhook-event.ts';

interface Operation {
  operationId: string;
  responses: Record<string, { description: string; headers?: Record<string, unknown> }>;
  requestBody?: { content: { 'application/json': { schema: Record<string, unknown> } } };
  parameters?: { in: string; name: string; schema: Record<string, unknown> }[];
}

const document = openApiDocument({ serverUrl: 'https://actlog.example.com', version: '1.2.3' }) as {
  info: { version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas: Record<string, { properties?: Record<string, unknown> }> };
};

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const result = await validator.validate(structuredClone(document));
  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
  expect(validator.version).toBe('3.1');
});

test('the validator notices a broken document', async () => {
  const broken = structuredClone(document) as {
    paths: Record<string, Record<string, { responses?: unknown }>>;
  };
  const operation = broken.paths['/v1/events']?.post;
  if (operation) operation.responses = 'none';
  expect((await new Validator().validate(broken)).valid).toBe(false);
});

test('it holds each endpoint once, with its status of success and the errors that all share', () => {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  expect(operations.map((operation) => operation.operationId).sort()).toEqual([...endpointNames].sort());
  for (const operation of operations) {
    const row = endpoints[operation.operationId as keyof typeof endpoints];
    expect(Object.keys(operation.responses)).toEqual(
      expect.arrayContaining([String(row.success), '400', '401', '403', '429', '503']),
    );
  }
});

test('what the service always sends is required, in an export too', () => {
  const schemas = document.components.schemas;
  const { properties = {} } = schemas.SessionExport ?? {};
  expect(properties.session).toEqual({ $ref: '#/components/schemas/Session' });
  expect(properties.risk).toEqual({ $ref: '#/components/schemas/Risk' });
  expect(properties.events).toEqual({ type: 'array', items: { $ref: '#/components/schemas/StoredEvent' } });
});

test('a change names a field', () => {
  for (const path of ['/v1/agents/{id}', '/v1/policies/{id}']) {
    const body = document.paths[path]?.patch?.requestBody;
    expect(body?.content['application/json'].schema).toMatchObject({ type: 'object', minProperties: 1 });
  }
});

test('a conflict is documented where there can be one, by its codes', () => {
  const conflict = (path: string, method: string) => document.paths[path]?.[method]?.responses[409];
  expect(conflict('/v1/agents/{id}', 'patch')).toBeUndefined();
  expect(conflict('/v1/policies/{id}', 'patch')?.description).toContain(' `POLICY_ARCHIVED`.');
  expect(conflict('/v1/agents', 'post')?.description).toContain(
    '`ALREADY_EXISTS`, `IDEMPOTENCY_KEY_REUSED`.',
  );
});

test('every answer names its request, and every error can be the service breaking', () => {
  for (const { responses } of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    for (const { headers } of Object.values(responses)) expect(headers).toHaveProperty('x-request-id');
    expect(responses[500]?.description).toContain('`INTERNAL`');
  }
});

test('deliveries to webhooks are documented, signature and all', () => {
  expect(Object.keys(document.webhooks)).toEqual([...webhookEventTypes]);
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    expect(post.parameters?.map(({ name }) => name)).toEqual(Object.values(webhookHeaders));
    expect(post.requestBody?.content['application/json'].schema).toMatchObject({
      properties: { type: { const: type } },
      required: ['type', 'timestamp', 'data'],
    });
  }
});

test('query parameters are documented by what they mean, not by the text that carries them', () => {
  const parameters = document.paths['/v1/sessions']?.get?.parameters ?? [];
  const schemas = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.schema]));
  expect(schemas.limit).toMatchObject({ type: 'integer', minimum: 1, maximum: 200 });
  expect(schemas.minRiskScore).toMatchObject({ type: 'number', minimum: 0, maximum: 100 });
});

test('headers that an endpoint reads are documented', () => {
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

test('it speaks of the deployment it is asked to describe', () => {
  expect(document.info.version).toBe('1.2.3');
  expect(document.servers).toEqual([{ url: 'https://actlog.example.com' }]);
});
