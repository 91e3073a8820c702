import type { TenantTurns, Turn } from '../tenant-turns.ts';
import { type Matches, UnfinishedMatchingError } from './matches.ts';

/**
 * Runs one round of a check in the tenant's turn. If evaluating the policies takes too long for a transaction, they are
 * evaluated outside, and the round is run again with the result.
 *
 * @param disconnected - returns a signal that aborts when the caller disconnects
 */
export function matchInTurns<Result>(
  tenantTurns: TenantTurns,
  tenantId: number,
  matches: Matches,
  disconnected: () => AbortSignal,
  round: () => Promise<Result>,
): Promise<Result> {
  const work = async (turn: Turn) => {
    matches.begin();
    try {
      return await round();
    } catch (error) {
      if (!(error instanceof UnfinishedMatchingError)) throw error;
    }
    await matches.finish(turn, disconnected());
    return round();
  };
  return tenantTurns.run(tenantId, work, disconnected);
}
