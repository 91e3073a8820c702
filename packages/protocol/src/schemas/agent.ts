import * as z from 'zod';
import { type Accepted, type Given, resource } from './resource.ts';
import { identifier, line, metadata, text, timestamp } from './scalar.ts';

const writable = {
  name: line(200),
  description: text(2000).nullable(),
  /** The AI framework it runs on. */
  framework: line(100).nullable(),
  version: line(100).nullable(),
  /** Who answers for it: a team or an address. */
  owner: line(200).nullable(),
  metadata,
};

const status = z.enum(['active', 'revoked']);

/** An agent, registered or only seen. */
export const agent = resource(
  'Agent',
  { id: z.string() },
  {
    name: z.string().nullable(),
    description: z.string().nullable(),
    framework: z.string().nullable(),
    version: z.string().nullable(),
    owner: z.string().nullable(),
    metadata,
    status,
    /** False for an agent that sent events before anyone registered it. */
    registered: z.boolean(),
    createdAt: timestamp,
    updatedAt: timestamp,
    lastSeenAt: timestamp.nullable(),
  },
);

/** Body of `POST /v1/agents`. */
export const agentCreate = z.strictObject({
  /** Chosen by the caller, so that code can name its agent before it is registered; else it is made. */
  id: identifier.optional(),
  name: writable.name,
  description: writable.description.optional(),
  framework: writable.framework.optional(),
  version: writable.version.optional(),
  owner: writable.owner.optional(),
  metadata: writable.metadata.optional(),
});

/** Body of `PATCH /v1/agents/:id`: JSON Merge Patch (RFC 7396). */
export const agentUpdate = z
  .strictObject({ ...writable, metadata: metadata.nullable(), status })
  .partial()
  .refine((patch) => Object.keys(patch).length > 0, 'must name at least one field to change')
  .meta({ minProperties: 1 });

/** An agent, registered or only seen. */
export type Agent = Accepted<typeof agent>;
/** Body of `POST /v1/agents`. */
export type AgentCreate = Given<typeof agentCreate>;
/** Body of `PATCH /v1/agents/:id`. */
export type AgentUpdate = Given<typeof agentUpdate>;
