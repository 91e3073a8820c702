import { type BodyOf, type Decide, type EndpointName, endpointNames, endpoints } from '@actlog/protocol';
import { type HttpHandler, http } from 'msw';
import { type Faults, faultsOf } from './faults/faults.ts';
import { type ActlogMockOptions, resolveBaseURL } from './mock-options.ts';
import { type MockState, stateOf } from './mock-state.ts';
import { decideAction, expireActions } from './policy/pending.ts';
import { KeyRing } from './service/key-ring.ts';
import { MockService } from './service/mock-service.ts';
import { endpointOf, pathBelow } from './service/router.ts';
import { seed } from './service/seed.ts';
import type { EventRecord, PendingActionRecord } from './tenant/records.ts';

/** A request that the mock has answered, by itself or by a fault. */
export interface AnsweredRequest {
  /** The endpoint; undefined for a path that is none's. */
  readonly endpoint: EndpointName | undefined;
  readonly method: string;
  /** Path below the base address. */
  readonly path: string;
  /** Status of the answer; 0 where the connection was broken. */
  readonly status: number;
}

/** The actlog service, as handlers for Mock Service Worker. */
export interface ActlogMock extends Faults {
  /** One handler for each endpoint, and one for everything else below the address: no request gets past them. */
  readonly handlers: readonly HttpHandler[];
  /** The address that the handlers answer for. */
  readonly baseURL: string;
  /** Address and key, as options of a client or a recorder. */
  readonly options: { readonly baseURL: string; readonly apiKey: string };
  /** Address and key, as environment variables that clients and recorders read. */
  readonly env: { readonly ACTLOG_BASE_URL: string; readonly ACTLOG_API_KEY: string };
  /** What the mock holds now: a copy, made at each look. */
  readonly state: MockState;
  /** The events that have arrived, in order; only those that have every field of `filter`. */
  events(filter?: Partial<Pick<EventRecord, 'agentId' | 'sessionId' | 'category'>>): readonly EventRecord[];
  /** The requests that were answered, in order. No body, header or key is kept. */
  requests(endpoint?: EndpointName): readonly AnsweredRequest[];
  /**
   * Decides a pending action, as a person would.
   *
   * @throws Error When there is no such action, or it was decided otherwise or has expired.
   */
  decide(pendingActionId: string, decision: Decide['decision'], comment?: string): PendingActionRecord;
  /** Adds a policy. @throws TypeError When the service would refuse it. */
  addPolicy(policy: BodyOf<'policies.create'>): void;
  /** Forgets all that has arrived; what the options name is there again. Faults end with `server.resetHandlers()`. */
  reset(): void;
}

/**
 * Makes a mock of the actlog service: handlers for all endpoints, with a memory. What is posted can be listed, paged,
 * scored, exported and approved.
 *
 * @throws TypeError When an option cannot be used.
 */
export function actlogMock(options: ActlogMockOptions = {}): ActlogMock {
  const baseURL = resolveBaseURL(options.baseURL);
  const { apiKey = 'al_test_mock', otherKeys = [], agents = [], policies = [] } = options;
  const keys = new KeyRing([{ apiKey }, ...otherKeys]);
  const service = new MockService(baseURL, keys);
  const answered: AnsweredRequest[] = [];
  const note = ({ method, url }: Request, endpoint: EndpointName | undefined, status: number) => {
    answered.push({ endpoint, method, path: pathBelow(baseURL, url) ?? '', status });
  };
  const resolver = async ({ request }: { readonly request: Request }) => {
    const response = await service.answer(request);
    note(request, endpointOf(baseURL, request), response.status);
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
    requests: (endpoint) => answered.filter((one) => endpoint === undefined || one.endpoint === endpoint),
    decide: (id, decision, comment) => decideAction(main, id, { decision, comment }, 'mock', Date.now()),
    addPolicy: (policy) => seed(main, { policies: [policy] }),
    reset() {
      answered.length = 0;
      for (const tenant of keys.tenants) tenant.clear();
      seed(main, { agents, policies });
    },
  };
}

const methods = { GET: 'get', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const;

function hasFields(event: EventRecord, filter: object): boolean {
  return Object.entries(filter).every(([name, value]) => event[name as keyof EventRecord] === value);
}
