import * as z from 'zod';
import type { EndpointName, Endpoints, ListEndpointName } from './endpoints.ts';
import { agent, agentCreate, agentUpdate } from './schemas/agent.ts';
import { checkResult, policyCheck } from './schemas/check.ts';
import { event, eventAck } from './schemas/event.ts';
import {
  notificationChannel,
  notificationChannelCreate,
  notificationChannelCreated,
} from './schemas/notification-channel.ts';
import { fixedPage, sentPage } from './schemas/page.ts';
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
import { identifier } from './schemas/scalar.ts';
import { session, sessionDetail, sessionExport } from './schemas/session.ts';

/** The schemas of one endpoint. */
export interface EndpointSchemas {
  /** Path parameters. */
  readonly params: z.ZodObject;
  /** Query parameters as strings in, typed values out. */
  readonly query: z.ZodObject;
  /** Request body, or null where there is none. */
  readonly body: z.ZodType | null;
  /** The answer: what the specification fixes, what a client accepts, what the reference server sends. */
  readonly response: { readonly fixed: z.ZodType; readonly accepted: z.ZodType; readonly sent: z.ZodType };
  /** One item of a page, for lists. */
  readonly item?: { readonly accepted: z.ZodType; readonly sent: z.ZodType };
}

const noParams = z.strictObject({});
const byId = z.strictObject({ id: identifier });

function page<Accepted extends z.ZodType, Sent extends z.ZodType>(item: { accepted: Accepted; sent: Sent }) {
  return { response: { fixed: fixedPage, accepted: fixedPage, sent: sentPage(item.sent) }, item };
}

/** The schemas of every endpoint, under the names of the endpoint table. */
export const contract = {
  'events.create': { params: noParams, query: noQuery, body: event, response: eventAck },
  'sessions.list': { params: noParams, query: sessionsQuery, body: null, ...page(session) },
  'sessions.get': { params: byId, query: pageQuery, body: null, response: sessionDetail },
  'sessions.risk': { params: byId, query: noQuery, body: null, response: risk },
  'sessions.export': { params: byId, query: noQuery, body: null, response: sessionExport },
  'agents.create': { params: noParams, query: noQuery, body: agentCreate, response: agent },
  'agents.list': { params: noParams, query: agentsQuery, body: null, ...page(agent) },
  'agents.get': { params: byId, query: noQuery, body: null, response: agent },
  'agents.update': { params: byId, query: noQuery, body: agentUpdate, response: agent },
  'agents.sessions': { params: byId, query: agentSessionsQuery, body: null, ...page(session) },
  'policies.create': { params: noParams, query: noQuery, body: policyCreate, response: policy },
  'policies.list': { params: noParams, query: policiesQuery, body: null, ...page(policy) },
  'policies.get': { params: byId, query: noQuery, body: null, response: policy },
  'policies.update': { params: byId, query: noQuery, body: policyUpdate, response: policy },
  'policies.archive': { params: byId, query: noQuery, body: null, response: policy },
  'policies.check': { params: noParams, query: noQuery, body: policyCheck, response: checkResult },
  'guardian.pendingActions.list': {
    params: noParams,
    query: pendingActionsQuery,
    body: null,
    ...page(pendingAction),
  },
  'guardian.pendingActions.decide': { params: byId, query: noQuery, body: decide, response: pendingAction },
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
} satisfies { [Name in EndpointName]: EndpointSchemas };

/** The schemas' type, for code that derives types from it. */
export type Contract = typeof contract;

/** Query parameters that a caller may give to an endpoint. */
export type QueryOf<Name extends EndpointName> = {
  [Field in keyof z.output<Contract[Name]['query']>]?:
    | Exclude<z.output<Contract[Name]['query']>[Field], undefined>
    | undefined;
};

/** Request body that a caller gives to an endpoint. */
export type BodyOf<Name extends EndpointName> = Contract[Name]['body'] extends z.ZodType
  ? Given<Contract[Name]['body']>
  : undefined;

/** Answer of an endpoint as a client reads it. */
export type ResponseOf<Name extends EndpointName> = z.output<Contract[Name]['response']['accepted']>;

/** Answer of an endpoint as the reference server sends it. */
export type SentOf<Name extends EndpointName> = z.input<Contract[Name]['response']['sent']>;

/** One item of a list, as a client reads it. */
export type ItemOf<Name extends ListEndpointName> = Contract[Name] extends {
  item: { accepted: infer Item extends z.ZodType };
}
  ? z.output<Item>
  : never;

/** Path parameters of an endpoint: `id` where its path has one. */
export type PathParametersOf<Name extends EndpointName> =
  Endpoints[Name]['path'] extends `${string}:id${string}` ? { id: string } : Record<never, never>;
