import * as z from 'zod';
import { proposedAction } from './check.ts';
import { type Accepted, type Given, resource } from './resource.ts';
import { text, timestamp } from './scalar.ts';

/** An action that waits for a person. */
export const pendingAction = resource(
  'PendingAction',
  { id: z.string() },
  {
    status: z.enum(['pending', 'approved', 'denied', 'expired']),
    agentId: z.string(),
    sessionId: z.string().nullable(),
    policyId: z.string(),
    action: z.looseObject(proposedAction.shape),
    /** Why it is held. */
    reason: z.string(),
    createdAt: timestamp,
    expiresAt: timestamp,
    onTimeout: z.enum(['deny', 'allow']),
    decision: z
      .looseObject({
        decision: z.enum(['approve', 'deny']),
        comment: z.string().nullable(),
        decidedBy: z.string(),
        decidedAt: timestamp,
      })
      .nullable(),
  },
);

/** Body of `POST /v1/guardian/pending-actions/:id/decide`. */
export const decide = z.strictObject({
  decision: z.enum(['approve', 'deny']),
  comment: text(2000).optional(),
});

/** An action that waits for a person. */
export type PendingAction = Accepted<typeof pendingAction>;
/** Body of a decision. */
export type Decide = Given<typeof decide>;
