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
  /** What it does, in a few words. */
  readonly summary: string;
  /** The resource it belongs to, which is also its group in the documentation. */
  readonly resource: Resource;
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

/** The resources of the specification, as the documentation groups them. */
export type Resource = 'events' | 'sessions' | 'agents' | 'policies' | 'guardian' | 'notificationChannels';

const read = { success: 200, scope: 'read', body: false, list: false, repeatable: true } as const;
const list = { ...read, list: true } as const;
const create = { success: 201, scope: 'manage', body: true, list: false, repeatable: false } as const;
const update = { ...create, success: 200, repeatable: true } as const;
const withKey = { idempotencyKey: true } as const;
const noKey = { idempotencyKey: false } as const;

/** All endpoints by name; the name is also the path of the client's method, as in `client.sessions.risk`. */
export const endpoints = {
  'events.create': {
    ...noKey,
    method: 'POST',
    path: '/v1/events',
    summary: 'Ingest an event',
    resource: 'events',
    success: 202,
    scope: 'ingest',
    body: true,
    list: false,
    repeatable: true, // the event carries its own id
  },
  'sessions.list': {
    ...list,
    ...noKey,
    method: 'GET',
    path: '/v1/sessions',
    summary: 'List sessions',
    resource: 'sessions',
  },
  'sessions.get': {
    ...read,
    ...noKey,
    method: 'GET',
    path: '/v1/sessions/:id',
    summary: 'Get session detail, including its events',
    resource: 'sessions',
  },
  'sessions.risk': {
    ...read,
    ...noKey,
    method: 'GET',
    path: '/v1/sessions/:id/risk',
    summary: 'Compute the risk score of the session',
    resource: 'sessions',
  },
  'sessions.export': {
    ...read,
    ...noKey,
    method: 'GET',
    path: '/v1/sessions/:id/export.json',
    summary: 'Export the session as JSON',
    resource: 'sessions',
  },
  'agents.create': {
    ...create,
    ...withKey,
    method: 'POST',
    path: '/v1/agents',
    summary: 'Register an agent',
    resource: 'agents',
  },
  'agents.list': {
    ...list,
    ...noKey,
    method: 'GET',
    path: '/v1/agents',
    summary: 'List agents',
    resource: 'agents',
  },
  'agents.get': {
    ...read,
    ...noKey,
    method: 'GET',
    path: '/v1/agents/:id',
    summary: 'Get an agent',
    resource: 'agents',
  },
  'agents.update': {
    ...update,
    ...noKey,
    method: 'PATCH',
    path: '/v1/agents/:id',
    summary: 'Update an agent',
    resource: 'agents',
  },
  'agents.sessions': {
    ...list,
    ...noKey,
    method: 'GET',
    path: '/v1/agents/:id/sessions',
    summary: 'List sessions of an agent',
    resource: 'agents',
  },
  'policies.create': {
    ...create,
    ...withKey,
    method: 'POST',
    path: '/v1/policies',
    summary: 'Create a policy',
    resource: 'policies',
  },
  'policies.list': {
    ...list,
    ...noKey,
    method: 'GET',
    path: '/v1/policies',
    summary: 'List policies',
    resource: 'policies',
  },
  'policies.get': {
    ...read,
    ...noKey,
    method: 'GET',
    path: '/v1/policies/:id',
    summary: 'Get a policy',
    resource: 'policies',
  },
  'policies.update': {
    ...update,
    ...noKey,
    method: 'PATCH',
    path: '/v1/policies/:id',
    summary: 'Update a policy',
    resource: 'policies',
  },
  'policies.archive': {
    ...read,
    ...noKey,
    method: 'DELETE',
    path: '/v1/policies/:id',
    summary: 'Archive a policy',
    resource: 'policies',
    scope: 'manage',
  },
  'policies.check': {
    ...noKey,
    method: 'POST',
    path: '/v1/policies/check',
    summary: 'Check an action against policies',
    resource: 'policies',
    success: 200,
    scope: 'ingest',
    body: true,
    list: false,
    repeatable: true, // the same actionId answers what holds now
  },
  'guardian.pendingActions.list': {
    ...list,
    ...noKey,
    method: 'GET',
    path: '/v1/guardian/pending-actions',
    summary: 'List pending actions',
    resource: 'guardian',
  },
  'guardian.pendingActions.decide': {
    ...create,
    ...withKey,
    method: 'POST',
    path: '/v1/guardian/pending-actions/:id/decide',
    summary: 'Decide a pending action',
    resource: 'guardian',
    success: 200,
    scope: 'decide',
    repeatable: true, // the same decision again is answered as the first was
  },
  'notificationChannels.create': {
    ...create,
    ...withKey,
    method: 'POST',
    path: '/v1/notification-channels',
    summary: 'Create a webhook',
    resource: 'notificationChannels',
  },
  'notificationChannels.list': {
    ...list,
    ...noKey,
    method: 'GET',
    path: '/v1/notification-channels',
    summary: 'List webhooks',
    resource: 'notificationChannels',
  },
} as const satisfies Record<string, Endpoint>;

/** The table's type, for code that derives types from it. */
export type Endpoints = typeof endpoints;

/** The name of an endpoint, such as `sessions.list`. */
export type EndpointName = keyof Endpoints;

/** The endpoints whose answer is a page of results. */
export type ListEndpointName = {
  [Name in EndpointName]: Endpoints[Name]['list'] extends true ? Name : never;
}[EndpointName];

/** All endpoint names in the order of the specification. */
export const endpointNames = Object.keys(endpoints) as EndpointName[];
