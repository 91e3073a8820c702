/**
 * The endpoint table of actlog: one row for each of the 20 endpoints of the specification ("Endpoints").
 *
 * The client's methods, the server's routes, the OpenAPI document, the mock handlers and the conformance
 * suite are derived from this table. The schemas of each row are in `contract.ts` under the same name. They
 * are separate so that a caller who only sends events never loads them.
 */

/** Permission of an API key (reference profile, "Limits, keys, versions"). */
export type Scope = 'ingest' | 'read' | 'manage' | 'decide';

/** One row of the endpoint table. */
export interface Endpoint {
  /** HTTP method. */
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path below the base URL; parameters are written `:id`. */
  readonly path: `/v1/${string}`;
  /** Success status. The specification fixes 202 for events; the reference profile defines the others. */
  readonly success: 200 | 201 | 202;
  /** Scope that the API key needs. */
  readonly scope: Scope;
  /** `true` if the request has a JSON body. */
  readonly body: boolean;
  /** `true` if the response is a page of results with a `nextCursor`. */
  readonly list: boolean;
  /**
   * `true` if sending the same request twice has the same effect as sending it once. Such a request can be
   * retried after a connection failure, when it is unknown if the first attempt arrived.
   */
  readonly repeatable: boolean;
  /** `true` if the endpoint supports `Idempotency-Key` (reference profile). */
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

/** All endpoints by name. The name is also the path of the client's method, as in `client.sessions.risk`. */
export const endpoints = {
  // repeatable because the event has an id
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
  // repeatable because the same actionId returns the current decision
  'policies.check': { ...write, method: 'POST', path: '/v1/policies/check', scope: 'ingest' },
  'guardian.pendingActions.list': { ...list, method: 'GET', path: '/v1/guardian/pending-actions' },
  // repeatable because the same decision returns the first response again
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

/** Type of the table, for deriving other types. */
export type Endpoints = typeof endpoints;

/** Name of an endpoint, such as `sessions.list`. */
export type EndpointName = keyof Endpoints;

/** Resources of the specification: the first segment of each endpoint name. */
export type Resource = EndpointName extends `${infer First}.${string}` ? First : never;

/** Endpoints whose response is a page of results. */
export type ListEndpointName = {
  [Name in EndpointName]: Endpoints[Name]['list'] extends true ? Name : never;
}[EndpointName];

/** All endpoint names in the order of the specification. */
export const endpointNames = /* @__PURE__ */ Object.keys(endpoints) as EndpointName[];
