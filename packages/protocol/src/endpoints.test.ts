import { expect, test } from 'vitest';
import { contract } from './contract.ts';
import { type Endpoint, endpointNames, endpoints } from './endpoints.ts';

/** The endpoint list, copied from the specification. */
const specification = `
POST /v1/events
GET /v1/sessions
GET /v1/sessions/:id
GET /v1/sessions/:id/risk
GET /v1/sessions/:id/export.json
POST /v1/agents
GET /v1/agents
GET /v1/agents/:id
PATCH /v1/agents/:id
GET /v1/agents/:id/sessions
POST /v1/policies
GET /v1/policies
GET /v1/policies/:id
PATCH /v1/policies/:id
DELETE /v1/policies/:id
POST /v1/policies/check
GET /v1/guardian/pending-actions
POST /v1/guardian/pending-actions/:id/decide
POST /v1/notification-channels
GET /v1/notification-channels`;

const rows: [string, Endpoint][] = endpointNames.map((name) => [name, endpoints[name]]);

test('lists the 20 endpoints of the specification, in its order', () => {
  expect(rows.map(([, row]) => `${row.method} ${row.path}`)).toEqual(specification.trim().split('\n'));
});

test('has schemas for every row and for nothing else', () => {
  expect(Object.keys(contract)).toEqual(endpointNames);
});

test.each(rows)('%s: the row matches its schemas', (name, row) => {
  const schemas = contract[name as keyof typeof contract];
  expect(Object.keys(schemas.params.shape)).toEqual(row.path.includes(':id') ? ['id'] : []);
  expect(schemas.body !== null).toBe(row.body);
  expect('item' in schemas).toBe(row.list);
  if (row.list) expect(Object.keys(schemas.query.shape)).toEqual(expect.arrayContaining(['limit', 'cursor']));
  if (row.method === 'GET') expect(row).toMatchObject({ body: false, repeatable: true, scope: 'read' });
});
