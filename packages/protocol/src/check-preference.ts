import { maxWaitSeconds } from './limits.ts';

const wait = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,5})"?\s*(?=$|[,;])/i;
const dryRun = /(?:^|[,;])\s*dry-run\s*(?=$|[,;])/i;

/** Preferences of a policy check, parsed from the `Prefer` header. */
export interface CheckPreference {
  /** Maximum time to wait for a decision, in seconds, capped at `maxWaitSeconds`; 0 means no wait. */
  readonly waitSeconds: number;
  /** `true` if the check must leave nothing behind. A dry run never waits for a decision. */
  readonly isDryRun: boolean;
}

/**
 * Parses the `Prefer` header of a policy check (RFC 7240; `wait` is defined in section 4.3).
 * Unknown preferences are ignored.
 *
 * @param prefer - value of the header; undefined if the request has none
 */
export function checkPreference(prefer = ''): CheckPreference {
  return {
    waitSeconds: Math.min(maxWaitSeconds, Number(wait.exec(prefer)?.[1] ?? 0)),
    isDryRun: dryRun.test(prefer),
  };
}
