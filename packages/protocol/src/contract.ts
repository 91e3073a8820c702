import type * as z from 'zod';
import type { EndpointName, Endpoints, ListEndpointName } from './endpoints.ts';
import { agent, agentCreate, agentUpdate } from './schemas/agent.ts';
import { checkResult, policyCheck } from './schemas/check.ts';
import { event, eventAck } from './schemas/event.ts';
import {
  notificationChannel,
  notificationChannelCreate,
  notificationChannelCreated,
} from './schemas/notification-channel.ts';
import { decide, pendingAction } from './schemas/pending-action.ts';
import { policy, policyCreate, policyUpdate } from './schemas/policy.ts';
import {
  agentSessionsQuery,
  agentsQuery,
  noQuery,
  pageQuery,
  pendingActionsQuery,
  policiesQuery,
  sessionsQuery,
} from './schemas/query.ts';
import type { Given } from './schemas/resource.ts';
import { risk } from './schemas/risk.ts';
import { fixedPage, identifier, sentPage, strictObject } from './schemas/scalar.ts';
import { session, sessionDetail, sessionExport } from './schemas/session.ts';

/** Path parameters of endpoints without any. */
const noParams = strictObject({});

/** Path parameters of a session endpoint. */
const sessionPath = strictObject({
  /** Id of the session: the `sessionId` of its events. */
  id: identifier,
});

/** Path parameters of an agent endpoint. */
const agentPath = strictObject({
  /** Id of the agent: the `agentId` of its events, registered or not. */
  id: identifier,
});

/** Path parameters of a policy endpoint. */
const policyPath = strictObject({
  /** Id of the policy, archived or not. */
  id: identifier,
});

/** Path parameters of a pending action endpoint. */
const pendingActionPath = strictObject({
  /** Id of the pending action, from the list or from the check that held it. */
  id: identifier,
});

/** Schemas of one endpoint. */
export interface EndpointSchemas {
  /** Path parameters. */
  readonly params: z.ZodObject;
  /** Query parameters: strings as input, typed values as output. */
  readonly query: z.ZodObject;
  /** Request body; null if the endpoint takes none. */
  readonly body: z.ZodType | null;
  /**
   * Response: the fields that the specification fixes, those a client accepts, and those the reference server
   * sends.
   */
  readonly response: { readonly fixed: z.ZodType; readonly accepted: z.ZodType; readonly sent: z.ZodType };
  /** One item of a page; only for list endpoints. */
  readonly item?: { readonly accepted: z.ZodType; readonly sent: z.ZodType };
}

interface Schemas<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType | null,
  Response extends EndpointSchemas['response'],
> extends EndpointSchemas {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly response: Response;
}

type Item = NonNullable<EndpointSchemas['item']>;

/** Response schemas of a list, independent of the item type. */
interface PageSchemas<Sent extends z.ZodType> {
  readonly fixed: typeof fixedPage;
  readonly accepted: typeof fixedPage;
  readonly sent: ReturnType<typeof sentPage<Sent>>;
}

interface ListSchemas<Params extends z.ZodObject, Query extends z.ZodObject, Of extends Item>
  extends Schemas<Params, Query, null, PageSchemas<Of['sent']>> {
  readonly item: Of;
}

/** Types of the schemas, by name. Inferring them would repeat every schema without its comments. */
export interface Contract extends Record<EndpointName, EndpointSchemas> {
  readonly 'events.create': Schemas<typeof noParams, typeof noQuery, typeof event, typeof eventAck>;
  readonly 'sessions.list': ListSchemas<typeof noParams, typeof sessionsQuery, typeof session>;
  readonly 'sessions.get': Schemas<typeof sessionPath, typeof pageQuery, null, typeof sessionDetail>;
  readonly 'sessions.risk': Schemas<typeof sessionPath, typeof noQuery, null, typeof risk>;
  readonly 'sessions.export': Schemas<typeof sessionPath, typeof noQuery, null, typeof sessionExport>;
  readonly 'agents.create': Schemas<typeof noParams, typeof noQuery, typeof agentCreate, typeof agent>;
  readonly 'agents.list': ListSchemas<typeof noParams, typeof agentsQuery, typeof agent>;
  readonly 'agents.get': Schemas<typeof agentPath, typeof noQuery, null, typeof agent>;
  readonly 'agents.update': Schemas<typeof agentPath, typeof noQuery, typeof agentUpdate, typeof agent>;
  readonly 'agents.sessions': ListSchemas<typeof agentPath, typeof agentSessionsQuery, typeof session>;
  readonly 'policies.create': Schemas<typeof noParams, typeof noQuery, typeof policyCreate, typeof policy>;
  readonly 'policies.list': ListSchemas<typeof noParams, typeof policiesQuery, typeof policy>;
  readonly 'policies.get': Schemas<typeof policyPath, typeof noQuery, null, typeof policy>;
  readonly 'policies.update': Schemas<typeof policyPath, typeof noQuery, typeof policyUpdate, typeof policy>;
  readonly 'policies.archive': Schemas<typeof policyPath, typeof noQuery, null, typeof policy>;
  readonly 'policies.check': Schemas<typeof noParams, typeof noQuery, typeof policyCheck, typeof checkResult>;
  readonly 'guardian.pendingActions.list': ListSchemas<
    typeof noParams,
    typeof pendingActionsQuery,
    typeof pendingAction
  >;
  readonly 'guardian.pendingActions.decide': Schemas<
    typeof pendingActionPath,
    typeof noQuery,
    typeof decide,
    typeof pendingAction
  >;
  readonly 'notificationChannels.create': Schemas<
    typeof noParams,
    typeof noQuery,
    typeof notificationChannelCreate,
    typeof notificationChannelCreated
  >;
  readonly 'notificationChannels.list': ListSchemas<
    typeof noParams,
    typeof pageQuery,
    typeof notificationChannel
  >;
}

function page<Of extends Item>(item: Of): { response: PageSchemas<Of['sent']>; item: Of } {
  return { response: { fixed: fixedPage, accepted: fixedPage, sent: sentPage<Of['sent']>(item.sent) }, item };
}

const sessions = page(session);

/** Schemas of every endpoint, keyed by the names of the endpoint table. */
export const contract: Contract = {
  'events.create': { params: noParams, query: noQuery, body: event, response: eventAck },
  'sessions.list': { params: noParams, query: sessionsQuery, body: null, ...sessions },
  'sessions.get': { params: sessionPath, query: pageQuery, body: null, response: sessionDetail },
  'sessions.risk': { params: sessionPath, query: noQuery, body: null, response: risk },
  'sessions.export': { params: sessionPath, query: noQuery, body: null, response: sessionExport },
  'agents.create': { params: noParams, query: noQuery, body: agentCreate, response: agent },
  'agents.list': { params: noParams, query: agentsQuery, body: null, ...page(agent) },
  'agents.get': { params: agentPath, query: noQuery, body: null, response: agent },
  'agents.update': { params: agentPath, query: noQuery, body: agentUpdate, response: agent },
  'agents.sessions': { params: agentPath, query: agentSessionsQuery, body: null, ...sessions },
  'policies.create': { params: noParams, query: noQuery, body: policyCreate, response: policy },
  'policies.list': { params: noParams, query: policiesQuery, body: null, ...page(policy) },
  'policies.get': { params: policyPath, query: noQuery, body: null, response: policy },
  'policies.update': { params: policyPath, query: noQuery, body: policyUpdate, response: policy },
  'policies.archive': { params: policyPath, query: noQuery, body: null, response: policy },
  'policies.check': { params: noParams, query: noQuery, body: policyCheck, response: checkResult },
  'guardian.pendingActions.list': {
    params: noParams,
    query: pendingActionsQuery,
    body: null,
    ...page(pendingAction),
  },
  'guardian.pendingActions.decide': {
    params: pendingActionPath,
    query: noQuery,
    body: decide,
    response: pendingAction,
  },
  'notificationChannels.create': {
    params: noParams,
    query: noQuery,
    body: notificationChannelCreate,
    response: notificationChannelCreated,
  },
  'notificationChannels.list': {
    params: noParams,
    query: pageQuery,
    body: null,
    ...page(notificationChannel),
  },
};

/** Query parameters that a caller may pass to an endpoint. */
export type QueryOf<Name extends EndpointName> = {
  [Field in keyof z.output<Contract[Name]['query']>]?:
    | Exclude<z.output<Contract[Name]['query']>[Field], undefined>
    | undefined;
};

/** Request body that a caller passes to an endpoint. */
export type BodyOf<Name extends EndpointName> = Contract[Name]['body'] extends z.ZodType
  ? Given<Contract[Name]['body']>
  : undefined;

/** Response of an endpoint as a client reads it. */
export type ResponseOf<Name extends EndpointName> = z.output<Contract[Name]['response']['accepted']>;

/** Response of an endpoint as the reference server sends it. */
export type SentOf<Name extends EndpointName> = z.input<Contract[Name]['response']['sent']>;

/** One item of a list as a client reads it. */
export type ItemOf<Name extends ListEndpointName> = Contract[Name] extends {
  item: { accepted: infer Item extends z.ZodType };
}
  ? z.output<Item>
  : never;

/** Path parameters of an endpoint: `id` if its path has one. */
export type PathParametersOf<Name extends EndpointName> =
  Endpoints[Name]['path'] extends `${string}:id${string}` ? { id: string } : Record<never, never>;
