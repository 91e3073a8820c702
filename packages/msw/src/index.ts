/**
 * Mock Service Worker handlers for the actlog service: test agents without a server. Runs in Node and in browsers; the
 * additional parts for Node are in `@actlog/msw/node`.
 *
 * @packageDocumentation
 */

import { type BodyOf, type Decide, type EndpointName, endpointNames, endpoints } from '@actlog/protocol';
import { contract } from '@actlog/protocol/schemas';
import { type HttpHandler, http } from 'msw';
import { type Faults, faultsOf } from './faults/faults.ts';
import { decideAction, expireActions } from './policy/pending.ts';
import { routes } from './routes/routes.ts';
import { type Call, validated } from './service/call.ts';
import { KeyRing, type MockKey } from './service/key-ring.ts';
import { endpointOf, MockService, pathBelow } from './service/mock-service.ts';
import type {
  AgentRecord,
  ChannelRecord,
  EventRecord,
  PendingActionRecord,
  PolicyRecord,
  SessionRecord,
} from './tenant/records.ts';
import type { Tenant } from './tenant/tenant.ts';

export type {
  DownOptions,
  FailingOptions,
  FaultOptions,
  Faults,
  RateLimitedOptions,
  SlowOptions,
} from './faults/faults.ts';
export type { MockKey } from './service/key-ring.ts';
export type * from './tenant/records.ts';

/** A request that the mock or one of its faults has responded to. */
export interface HandledRequest {
  /** The endpoint; undefined for an unknown path. */
  readonly endpoint: EndpointName | undefined;
  readonly method: string;
  /** Path below the base URL. */
  readonly path: string;
  /** Status of the response; 0 if the connection was broken. */
  readonly status: number;
}

/** The actlog service as handlers for Mock Service Worker. */
export interface ActlogMock extends Faults {
  /** One handler for each endpoint, and one for everything else below the URL: no request passes through. */
  readonly handlers: readonly HttpHandler[];
  /** Base URL that the handlers serve. */
  readonly baseURL: string;
  /** Base URL and key as options of a client or a recorder. */
  readonly options: { readonly baseURL: string; readonly apiKey: string };
  /** Base URL and key as environment variables that clients and recorders read. */
  readonly env: { readonly ACTLOG_BASE_URL: string; readonly ACTLOG_API_KEY: string };
  /** Current state of the mock, copied on each access. */
  readonly state: MockState;
  /** Returns the received events in order, optionally only those that match every field of `filter`. */
  events(filter?: Partial<Pick<EventRecord, 'agentId' | 'sessionId' | 'category'>>): readonly EventRecord[];
  /** Returns the handled requests in order. No body, header or key is kept. */
  requests(endpoint?: EndpointName): readonly HandledRequest[];
  /**
   * Decides a pending action in place of an approver.
   *
   * @throws Error if there is no such action, or if it was decided differently or has expired.
   */
  decide(pendingActionId: string, decision: Decide['decision'], comment?: string): PendingActionRecord;
  /** Adds a policy. @throws TypeError if the service would reject it. */
  addPolicy(policy: BodyOf<'policies.create'>): void;
  /** Resets the mock to the state given by its options. Faults end with `server.resetHandlers()`. */
  reset(): void;
}

/**
 * Creates a mock of the actlog service: stateful handlers for all endpoints. Posted data can be listed, paginated,
 * scored, exported and approved.
 *
 * @throws TypeError if an option is invalid.
 */
export function actlogMock(options: ActlogMockOptions = {}): ActlogMock {
  const baseURL = resolveBaseURL(options.baseURL);
  const { apiKey = 'al_test_mock', otherKeys = [], agents = [], policies = [] } = options;
  const keys = new KeyRing([{ apiKey }, ...otherKeys]);
  const service = new MockService(baseURL, keys);
  let handled: HandledRequest[] = [];
  const note = ({ method, url }: Request, endpoint: EndpointName | undefined, status: number) => {
    handled.push({ endpoint, method, path: pathBelow(baseURL, url) ?? '', status });
  };
  const resolver = async ({ request }: { readonly request: Request }) => {
    const begunWith = handled;
    const response = await service.handle(request);
    // A request that was waiting when the mock was reset belongs to the time before.
    if (begunWith === handled) note(request, endpointOf(baseURL, request), response.status);
    return response;
  };
  const { main } = keys;
  seed(main, { agents, policies });
  return {
    ...faultsOf(baseURL, service, note),
    handlers: [
      ...endpointNames.map((name) => {
        const { method, path } = endpoints[name];
        return http[methods[method]](baseURL + path, resolver);
      }),
      http.all(({ request }) => pathBelow(baseURL, request.url) !== undefined, resolver),
    ],
    baseURL,
    options: { baseURL, apiKey },
    env: { ACTLOG_BASE_URL: baseURL, ACTLOG_API_KEY: apiKey },
    get state() {
      expireActions(main, Date.now());
      return stateOf(main);
    },
    events: (filter = {}) => stateOf(main).events.filter((event) => hasFields(event, filter)),
    requests: (endpoint) => handled.filter((one) => endpoint === undefined || one.endpoint === endpoint),
    decide: (id, decision, comment) =>
      decideAction(main, id, { decision, comment }, mockApprover, Date.now()),
    addPolicy: (policy) => seed(main, { policies: [policy] }),
    reset() {
      handled = [];
      for (const tenant of keys.tenants) tenant.clear();
      seed(main, { agents, policies });
    },
  };
}

/** Approver of {@link ActlogMock.decide}. */
const mockApprover = { key: 'mock', principal: null };

const methods = { GET: 'get', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const;

function hasFields(event: EventRecord, filter: object): boolean {
  return Object.entries(filter).every(([name, value]) => event[name as keyof EventRecord] === value);
}

/** Initial data of a tenant. */
interface Seed {
  readonly agents?: readonly BodyOf<'agents.create'>[];
  readonly policies?: readonly BodyOf<'policies.create'>[];
}

/**
 * Creates the initial data of a tenant.
 *
 * @throws TypeError that names the entry if the service would reject it.
 */
function seed(tenant: Tenant, { agents = [], policies = [] }: Seed): void {
  for (const [index, body] of agents.entries()) {
    refusing(`agents[${index}]`, () => routes['agents.create'](callWith('agents.create', tenant, body)));
  }
  for (const [index, body] of policies.entries()) {
    refusing(`policies[${index}]`, () =>
      routes['policies.create'](callWith('policies.create', tenant, body)),
    );
  }
}

function callWith<Name extends EndpointName & `${string}.create`>(
  name: Name,
  tenant: Tenant,
  body: BodyOf<Name>,
) {
  const call = { tenant, body: validated('body', contract[name].body, body), nowMs: Date.now() };
  // Creating a record uses no other field of a call.
  return call as unknown as Call<Name>;
}

function refusing(entry: string, make: () => unknown): void {
  try {
    make();
  } catch (error) {
    throw new TypeError(`${entry} is invalid: ${(error as Error).message}`, { cause: error });
  }
}

/** Data of the tenant of the mock's first key, in order of creation, as returned by the API. */
export interface MockState {
  readonly agents: readonly AgentRecord[];
  readonly events: readonly EventRecord[];
  readonly sessions: readonly SessionRecord[];
  readonly policies: readonly PolicyRecord[];
  readonly pendingActions: readonly PendingActionRecord[];
  readonly notificationChannels: readonly ChannelRecord[];
}

/** Returns a copy of a tenant's data. */
function stateOf(tenant: Tenant): MockState {
  return structuredClone({
    agents: [...tenant.agents.values()],
    events: [...tenant.events.values()],
    sessions: [...tenant.sessions.values()].map(({ record }) => record),
    policies: [...tenant.policies.values()],
    pendingActions: [...tenant.pendingActions.values()],
    notificationChannels: [...tenant.channels.values()],
  });
}

/** Options of a mock. All are optional. */
export interface ActlogMockOptions {
  /** Base URL of the mock, without `/v1`. Default: `https://actlog.test`, which does not exist. */
  readonly baseURL?: string | URL | undefined;
  /** API key that the mock accepts. Default: `al_test_mock`. */
  readonly apiKey?: string | undefined;
  /** Additional keys with fewer scopes or of other tenants. */
  readonly otherKeys?: readonly MockKey[] | undefined;
  /** Agents that are registered initially and after each `reset()`. */
  readonly agents?: readonly BodyOf<'agents.create'>[] | undefined;
  /** Policies that exist initially and after each `reset()`. */
  readonly policies?: readonly BodyOf<'policies.create'>[] | undefined;
}

/**
 * Returns the base URL without a trailing slash.
 *
 * @throws TypeError if it is not an http or https URL, ends in `/v1`, or contains a query or credentials.
 */
function resolveBaseURL(option: string | URL = 'https://actlog.test'): string {
  const url = URL.canParse(String(option)) ? new URL(option) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new TypeError('baseURL must be an http or https URL such as https://actlog.test.');
  }
  const path = url.pathname.replace(/\/+$/, '');
  if (url.username || url.password || url.search || url.hash || path.endsWith('/v1')) {
    throw new TypeError('baseURL must not contain a user name, a query or a fragment, or end in /v1.');
  }
  return url.origin + path;
}
