import { maxWaitSeconds } from './limits.ts';

const wait = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,5})"?\s*(?=$|[,;])/i;
const dryRun = /(?:^|[,;])\s*dry-run\s*(?=$|[,;])/i;

/** What the caller of a check prefers. */
export interface CheckPreference {
  /** Seconds to wait for a decision, within the bound; 0 for none. */
  readonly waitSeconds: number;
  /** Whether the check is to leave nothing behind; it then waits for nobody. */
  readonly isDryRun: boolean;
}

/**
 * Reads the header `Prefer` of a check (RFC 7240; `wait` is of section 4.3). What it does not know it passes over.
 *
 * @param prefer - the header's value; undefined where there is none
 */
export function checkPreference(prefer = ''): CheckPreference {
  return {
    waitSeconds: Math.min(maxWaitSeconds, Number(wait.exec(prefer)?.[1] ?? 0)),
    isDryRun: dryRun.test(prefer),
  };
}
