/**
 * The spine of actlog: one row for each of the 20 endpoints of the specification ("Endpoints").
 *
 * Everything else is derived from this table: the client's methods, the server's routes, the OpenAPI
 * document, the mock handlers and the conformance suite. The schemas of each row stand in `contract.ts`
 * under the same name, apart from the table so that a caller who only sends events never loads them.
 */

/** What a key may do (reference profile, "Limits, keys, versions"). */
export type Scope = 'ingest' | 'read' | 'manage' | 'decide';

/** One row of the endpoint table. */
export interface Endpoint {
  /** HTTP method. */
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path below the base address; a parameter is written `:id`. */
  readonly path: `/v1/${string}`;
  /** Status of success. The specification fixes 202 for events; the rest is the reference profile's. */
  readonly success: 200 | 201 | 202;
  /** Scope that a key needs. */
  readonly scope: Scope;
  /** Whether the request carries a JSON body. */
  readonly body: boolean;
  /** Whether the answer is a page of results with a `nextCursor`. */
  readonly list: boolean;
  /**
   * Whether sending the very same request twice is the same as sending it once, so that it may be sent again
   * when the connection breaks and nobody knows whether the first try arrived.
   */
  readonly repeatable: boolean;
  /** Whether it honours `Idempotency-Key` (reference profile). */
  readonly idempotencyKey: boolean;
}

const read = {
  success: 200,
  scope: 'read',
  body: false,
  list: false,
  repeatable: true,
  idempotencyKey: false,
} as const;
const list = { ...read, list: true } as const;
const create = {
  ...read,
  success: 201,
  scope: 'manage',
  body: true,
  repeatable: false,
  idempotencyKey: true,
} as const;
const write = { ...create, success: 200, repeatable: true, idempotencyKey: false } as const;

/** All endpoints by name; the name is also the path of the client's method, as in `client.sessions.risk`. */
export const endpoints = {
  // the event carries its own id, so it is repeatable
  'events.create': { ...write, method: 'POST', path: '/v1/events', success: 202, scope: 'ingest' },
  'sessions.list': { ...list, method: 'GET', path: '/v1/sessions' },
  'sessions.get': { ...read, method: 'GET', path: '/v1/sessions/:id' },
  'sessions.risk': { ...read, method: 'GET', path: '/v1/sessions/:id/risk' },
  'sessions.export': { ...read, method: 'GET', path: '/v1/sessions/:id/export.json' },
  'agents.create': { ...create, method: 'POST', path: '/v1/agents' },
  'agents.list': { ...list, method: 'GET', path: '/v1/agents' },
  'agents.get': { ...read, method: 'GET', path: '/v1/agents/:id' },
  'agents.update': { ...write, method: 'PATCH', path: '/v1/agents/:id' },
  'agents.sessions': { ...list, method: 'GET', path: '/v1/agents/:id/sessions' },
  'policies.create': { ...create, method: 'POST', path: '/v1/policies' },
  'policies.list': { ...list, method: 'GET', path: '/v1/policies' },
  'policies.get': { ...read, method: 'GET', path: '/v1/policies/:id' },
  'policies.update': { ...write, method: 'PATCH', path: '/v1/policies/:id' },
  'policies.archive': { ...read, method: 'DELETE', path: '/v1/policies/:id', scope: 'manage' },
  // the same actionId answers what holds now
  'policies.check': { ...write, method: 'POST', path: '/v1/policies/check', scope: 'ingest' },
  'guardian.pendingActions.list': { ...list, method: 'GET', path: '/v1/guardian/pending-actions' },
  // the same decision again is answered as the first was
  'guardian.pendingActions.decide': {
    ...write,
    method: 'POST',
    path: '/v1/guardian/pending-actions/:id/decide',
    scope: 'decide',
    idempotencyKey: true,
  },
  'notificationChannels.create': { ...create, method: 'POST', path: '/v1/notification-channels' },
  'notificationChannels.list': { ...list, method: 'GET', path: '/v1/notification-channels' },
} as const satisfies Record<string, Endpoint>;

/** The table's type, for code that derives types from it. */
export type Endpoints = typeof endpoints;

/** The name of an endpoint, such as `sessions.list`. */
export type EndpointName = keyof Endpoints;

/** The resources of the specification, each the first word of its endpoints' names. */
export type Resource = EndpointName extends `${infer First}.${string}` ? First : never;

/** The endpoints whose answer is a page of results. */
export type ListEndpointName = {
  [Name in EndpointName]: Endpoints[Name]['list'] extends true ? Name : never;
}[EndpointName];

/** All endpoint names in the order of the specification. */
export const endpointNames = /* @__PURE__ */ Object.keys(endpoints) as EndpointName[];
