import * as z from 'zod';
import { looseObject, strictObject } from './object.ts';
import { timestamp } from './scalar.ts';

const choice = {
  /**
   * `action` for the same action: the same tool, arguments hash and shown arguments; `tool` for any call of the same tool
   * that the same policies hold. Both only for the same agent in the same session.
   */
  for: z.enum(['action', 'tool']),
} as const;

const bounds = {
  /** Time for which the grant is valid, in seconds; at most one day, 3,600 by default. */
  durationSeconds: z.int().min(1).max(86_400),
  /** Number of actions that the grant lets run; not limited by default. */
  maxUses: z.int().min(1).max(1000),
} as const;

/** Choice of an approver to let later actions run as well. */
export const grantChoice = strictObject(choice, bounds).meta({ id: 'GrantChoice' });

/** Approval of one approver. */
export const givenApproval = looseObject({
  /** Id of the approver's API key. */
  approvedBy: z.string(),
  /** The approver, where the deployment knows the person; null otherwise. */
  principal: z.string().nullable(),
  /** Comment of the approver; null for none. */
  comment: z.string().nullable(),
  /** Time of the approval. */
  approvedAt: timestamp,
  /** Choice for later actions, which applies if every approver makes one; null for this action only. */
  grant: looseObject(choice, bounds).nullable(),
}).meta({ id: 'GivenApproval' });

/** Approval of one approver. */
export type GivenApproval = z.output<typeof givenApproval>;
/** Choice of an approver to let later actions run as well. */
export type GrantChoice = z.output<typeof grantChoice>;
