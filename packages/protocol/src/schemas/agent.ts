import * as z from 'zod';
import { type Accepted, type Given, resource } from './resource.ts';
import { line, metadata, resourceId, strictObject, text, timestamp } from './scalar.ts';

const name = {
  /** Display name, at most 200 characters; it need not be unique. */
  name: line(200),
} as const;

const description = {
  /** Purpose of the agent, at most 2,000 characters, may span several lines; null for none. */
  description: text(2000).nullable(),
  /** AI framework of the agent, such as `langchain`, at most 100 characters; null for none. */
  framework: line(100).nullable(),
  /** Version of the agent itself, such as `1.4.2`, at most 100 characters; null for none. */
  version: line(100).nullable(),
  /** Team or address that is responsible for the agent, at most 200 characters; null for none. */
  owner: line(200).nullable(),
} as const;

const status = z.enum(['active', 'revoked']);

/** An agent, registered or known only from its events. */
export const agent = resource(
  'Agent',
  {
    /** Permanent identifier: the `agentId` of its events. */
    id: z.string(),
  },
  {
    /** Display name; null until the agent is registered. */
    name: z.string().nullable(),
    /** Purpose of the agent; null if not given. */
    description: z.string().nullable(),
    /** AI framework of the agent; null if not given. */
    framework: z.string().nullable(),
    /** Version of the agent itself; null if not given. */
    version: z.string().nullable(),
    /** Team or address that is responsible for the agent; null if not given. */
    owner: z.string().nullable(),
    /** Custom data of the caller; empty if not given. */
    metadata,
    /** If `revoked`, every check of its actions is denied; its events are still stored, each with the warning `AGENT_REVOKED`. */
    status,
    /** False for an agent that has sent events but was never registered. */
    registered: z.boolean(),
    /** Time at which the agent was registered, or first seen if that was earlier. */
    createdAt: timestamp,
    /** Time of the last change to its fields; events do not count. */
    updatedAt: timestamp,
    /** Time at which the service last received one of its events, rounded to the second; null before the first. */
    lastSeenAt: timestamp.nullable(),
  },
);

/** Body of `POST /v1/agents`. */
export const agentCreate = strictObject(name, {
  /** Identifier chosen by the caller, so that code can use it before the agent is registered; generated if omitted. */
  id: resourceId,
  ...description,
  /** Custom data, stored unchanged, at most 256 KiB of JSON; empty if omitted. */
  metadata,
}).meta({ id: 'AgentCreate' });

/** Body of `PATCH /v1/agents/:id`: JSON Merge Patch (RFC 7396). */
export const agentUpdate = strictObject(
  {},
  {
    ...name,
    ...description,
    /** Merged member by member: null removes a member, and null instead of an object removes all. At most 256 KiB. */
    metadata: metadata.nullable(),
    /** `revoked` denies every check of its actions; `active` reverts that. */
    status,
  },
)
  .refine((patch) => Object.keys(patch).length > 0, 'must name at least one field to change')
  .meta({ id: 'AgentUpdate', minProperties: 1 });

/** An agent, registered or known only from its events. */
export interface Agent extends Accepted<typeof agent> {}
/** Body of `POST /v1/agents`. */
export type AgentCreate = Given<typeof agentCreate>;
/** Body of `PATCH /v1/agents/:id`. */
export type AgentUpdate = Given<typeof agentUpdate>;
