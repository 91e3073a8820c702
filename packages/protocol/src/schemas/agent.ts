import * as z from 'zod';
import { strictObject } from './object.ts';
import { type Accepted, type Given, resource } from './resource.ts';
import { identifier, line, metadata, text, timestamp } from './scalar.ts';

const name = {
  /** What people call it; 200 characters at most. Names need not differ. */
  name: line(200),
} as const;

const description = {
  /** What it is for, over several lines if need be; null for nothing. 2,000 characters at most. */
  description: text(2000).nullable(),
  /** The AI framework it runs on, such as `langchain`; null for none. 100 characters at most. */
  framework: line(100).nullable(),
  /** Version of the agent itself, such as `1.4.2`; null for none. 100 characters at most. */
  version: line(100).nullable(),
  /** Who answers for it: a team or an address; null for nobody. 200 characters at most. */
  owner: line(200).nullable(),
} as const;

const status = z.enum(['active', 'revoked']);

/** An agent, registered or only seen. */
export const agent = resource(
  'Agent',
  {
    /** Identifies it for good: the `agentId` of its events. */
    id: z.string(),
  },
  {
    /** What people call it; null until it is registered. */
    name: z.string().nullable(),
    /** What it is for; null where nobody said. */
    description: z.string().nullable(),
    /** The AI framework it runs on; null where nobody said. */
    framework: z.string().nullable(),
    /** Version of the agent itself; null where nobody said. */
    version: z.string().nullable(),
    /** Who answers for it: a team or an address; null where nobody said. */
    owner: z.string().nullable(),
    /** Free data of the caller; empty where nothing was given. */
    metadata,
    /** `revoked` denies every action of it that is checked; its events are kept, each with the warning `AGENT_REVOKED`. */
    status,
    /** False for an agent that sent events before anyone registered it. */
    registered: z.boolean(),
    /** When it was registered, or first seen if that was earlier. */
    createdAt: timestamp,
    /** When its fields last changed; its events do not count. */
    updatedAt: timestamp,
    /** When the service last received an event of it, to the second; null before the first. */
    lastSeenAt: timestamp.nullable(),
  },
);

/** Body of `POST /v1/agents`. */
export const agentCreate = strictObject(name, {
  /** Chosen by the caller, so that code can name its agent before it is registered; left out: one is made. */
  id: identifier,
  ...description,
  /** Free data, kept as it came: 256 KiB of JSON at most. Left out: empty. */
  metadata,
}).meta({ id: 'AgentCreate' });

/** Body of `PATCH /v1/agents/:id`: JSON Merge Patch (RFC 7396). */
export const agentUpdate = strictObject(
  {},
  {
    ...name,
    ...description,
    /** Merged member by member: null removes a member, and null instead of an object all of them. 256 KiB at most. */
    metadata: metadata.nullable(),
    /** `revoked` denies every action of it that is checked; `active` takes that back. */
    status,
  },
)
  .refine((patch) => Object.keys(patch).length > 0, 'must name at least one field to change')
  .meta({ id: 'AgentUpdate', minProperties: 1 });

/** An agent, registered or only seen. */
export type Agent = Accepted<typeof agent>;
/** Body of `POST /v1/agents`. */
export type AgentCreate = Given<typeof agentCreate>;
/** Body of `PATCH /v1/agents/:id`. */
export type AgentUpdate = Given<typeof agentUpdate>;
