import * as z from 'zod';
import { keyKind, keyScopes } from '../keys/key-options.ts';
import { centuryDays, longestOverlapDays } from '../keys/lifetime.ts';
import { shownName } from '../keys/shown-name.ts';

/** Days until a key ends, in parts of days too; never by default. */
const expiresInDays = z.number().gt(0).max(centuryDays).optional();

/** What `POST /console/api/keys` takes. */
export const createKeyBody = z.strictObject({
  /** For people; a key is told apart by its id. */
  name: shownName,
  /** `live` by default. */
  kind: keyKind.optional(),
  /** All by default. */
  scopes: keyScopes.optional(),
  expiresInDays,
});

/** What `POST /console/api/keys/:id/rotate` takes; no body is as an empty one. */
export const rotateKeyBody = z
  .strictObject({
    /** Days that the old key is still taken, in parts of days too. */
    overlapDays: z.number().min(0).max(longestOverlapDays).default(1),
    /** Of the new key. */
    expiresInDays,
  })
  .prefault({});

/** What `POST /console/api/keys/:id/revoke` takes: no body, or an empty one. */
export const revokeKeyBody = z.strictObject({}).optional();
