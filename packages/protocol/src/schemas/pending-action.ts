import * as z from 'zod';
import { heldAction } from './check.ts';
import { looseObject, strictObject } from './object.ts';
import { type Accepted, type Given, resource } from './resource.ts';
import { text, timestamp } from './scalar.ts';

/** What a person decided about a held action. */
const decision = looseObject({
  /** Whether the action may run. */
  decision: z.enum(['approve', 'deny']),
  /** What the person said to it; null for nothing. */
  comment: z.string().nullable(),
  /** Id of the key of who decided. */
  decidedBy: z.string(),
  /** When it was decided. */
  decidedAt: timestamp,
}).meta({ id: 'Decision' });

const fixed = {
  /** Identifies it for good; a check answers it as `pendingActionId`. */
  id: z.string(),
} as const;

const profile = {
  /** `expired` when nobody decided in time; all but `pending` is final. */
  status: z.enum(['pending', 'approved', 'denied', 'expired']),
  /** The agent that waits. */
  agentId: z.string(),
  /** The session of the action; null where the check named none. */
  sessionId: z.string().nullable(),
  /** The policy that holds the action. */
  policyId: z.string(),
  /** What the agent is about to do. */
  action: heldAction,
  /** Why it is held: the message of the policy, else why the policy applies. */
  reason: z.string(),
  /** When the wait began. */
  createdAt: timestamp,
  /** When the wait ends without a decision. */
  expiresAt: timestamp,
  /** What the agent is told when nobody decides in time. */
  onTimeout: z.enum(['deny', 'allow']),
  /** What a person decided; null where nobody has. */
  decision: decision.nullable(),
} as const;

/** The fields of {@link pendingAction} that the specification fixes. */
export type FixedPendingActionShape = { readonly [Field in keyof typeof fixed]: (typeof fixed)[Field] };
/** The fields of {@link pendingAction} that the reference profile adds. */
export type PendingActionShape = { readonly [Field in keyof typeof profile]: (typeof profile)[Field] };

/** An action that waits for a person. */
export const pendingAction = resource<FixedPendingActionShape, PendingActionShape>(
  'PendingAction',
  fixed,
  profile,
);

/** Body of `POST /v1/guardian/pending-actions/:id/decide`. */
export const decide = strictObject({
  /** Whether the action may run; final. */
  decision: z.enum(['approve', 'deny']),
  /** Told to the agent, so write it for the model; left out: nothing. 2,000 characters at most. */
  comment: text(2000).optional(),
}).meta({ id: 'Decide' });

/** An action that waits for a person. */
export type PendingAction = Accepted<typeof pendingAction>;
/** Body of a decision. */
export type Decide = Given<typeof decide>;
