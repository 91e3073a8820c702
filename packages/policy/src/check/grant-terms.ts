import type { GivenApproval } from '@actlog/protocol';

/** Time for which a grant is valid unless the approver chooses another one, in seconds. */
export const defaultGrantSeconds = 3600;

/** Maximum number of valid grants of one session. */
export const maxSessionGrants = 20;

/** Maximum number of valid grants of one tenant. */
export const maxTenantGrants = 1000;

/** Terms of a grant for later actions. */
export interface GrantTerms {
  /** `action` for the same action, `tool` for any call of the same tool that the same policies hold. */
  readonly for: 'action' | 'tool';
  readonly durationMs: number;
  /** Number of actions that it lets run; null if not limited. */
  readonly maxUses: number | null;
}

/** Returns the narrowest terms that all approvers chose; undefined if one of them approved only this action. */
export function grantTerms(given: readonly GivenApproval[]): GrantTerms | undefined {
  const choices = given.flatMap(({ grant }) => (grant ? [grant] : []));
  if (choices.length === 0 || choices.length < given.length) return undefined;
  const maxUses = Math.min(...choices.map((choice) => choice.maxUses ?? Number.POSITIVE_INFINITY));
  const seconds = Math.min(...choices.map((choice) => choice.durationSeconds ?? defaultGrantSeconds));
  return {
    for: choices.some((choice) => choice.for === 'action') ? 'action' : 'tool',
    durationMs: seconds * 1000,
    maxUses: Number.isFinite(maxUses) ? maxUses : null,
  };
}
