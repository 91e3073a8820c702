import { type Check, found, type Outcome } from './check.ts';
import { checks } from './checks.ts';
import type { Facts } from './facts.ts';

/** One line of the result. */
export interface Diagnosis extends Outcome {
  /** Id of the check. */
  readonly check: string;
  readonly title: string;
}

/** Runs all checks and yields their results. Reads only: nothing is changed, here or on the service. */
export async function* diagnose(facts: Facts): AsyncGenerator<Diagnosis> {
  /** Titles of the checks without which others make no sense, by the id of each check that did not pass. */
  const causes = new Map<string, string>();
  for (const check of checks) {
    const [cause] = (check.requires ?? []).flatMap((id) => causes.get(id) ?? []);
    const outcomes = cause === undefined ? await runCheck(check, facts) : [notChecked(cause)];
    const isPassed = outcomes.every(({ status }) => status === 'ok' || status === 'warning');
    if (!isPassed) causes.set(check.id, cause ?? check.title);
    for (const outcome of outcomes) yield { check: check.id, title: check.title, ...outcome };
  }
}

async function runCheck({ run }: Check, facts: Facts): Promise<readonly Outcome[]> {
  try {
    return [await run(facts)].flat();
  } catch (error) {
    // A defect of a check must not hide the results of the others.
    return [found('check-broken', { problem: (error as Error).message })];
  }
}

function notChecked(cause: string): Outcome {
  return { status: 'skipped', detail: `not checked, because "${cause}" did not pass` };
}
