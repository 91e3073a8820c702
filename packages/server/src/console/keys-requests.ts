import * as z from 'zod';
import { keyAgents, keyKind, keyScopes } from '../keys/key-options.ts';
import { maxOverlapDays } from '../keys/lifetime.ts';
import { singleLineName } from '../keys/single-line-name.ts';
import { maxDays } from '../storage/retention/max-days.ts';

/** Days until a key expires, may be fractional. Default: never. */
const expiresInDays = z.number().gt(0).max(maxDays).optional();

/** Body of `POST /console/api/keys`. */
export const createKeyBody = z.strictObject({
  /** Name for people; the id identifies the key. */
  name: singleLineName,
  /** Kind of the key. Default: `live`. */
  kind: keyKind.optional(),
  /** Scopes of the key. Default: all. */
  scopes: keyScopes.optional(),
  /** Patterns of the agents that it may act as, with `*` for any characters; `null` for any agent. Default: any. */
  agents: keyAgents.nullish(),
  /** `true` if several agents share it, so that revoking one does not stop the others. Default: `false`. */
  shared: z.boolean().optional(),
  expiresInDays,
});

/** Body of `POST /console/api/keys/:id/rotate`; a missing body equals an empty one. */
export const rotateKeyBody = z
  .strictObject({
    /** Days that the old key remains valid, may be fractional. */
    overlapDays: z.number().min(0).max(maxOverlapDays).default(1),
    /** Expiry of the new key. */
    expiresInDays,
  })
  .prefault({});

/** Body of `POST /console/api/keys/:id/revoke`: missing or empty. */
export const revokeKeyBody = z.strictObject({}).optional();
