import type { Facts } from './facts.ts';
import { type FindingCode, type FindingValues, findings } from './findings/findings.ts';

/** Status of a check: `skipped` if a check that it depends on failed, or if it does not apply. */
export type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped';

/** Result of a check. */
export interface Outcome {
  readonly status: CheckStatus;
  /** Code of the problem. */
  readonly code?: FindingCode;
  /** State that was found, or the problem, as a sentence. */
  readonly detail: string;
  /** Action that solves the problem. */
  readonly fix?: string;
}

/** One line of `actlog doctor`. */
export interface Check {
  readonly id: string;
  /** Name of what is checked. */
  readonly title: string;
  /** Ids of checks without which this one makes no sense. */
  readonly requires?: readonly string[];
  /** Checks, and adds what it learned to the facts. May return several problems. */
  run(facts: Facts): Outcome | readonly Outcome[] | Promise<Outcome | readonly Outcome[]>;
}

/** Returns the outcome of a check that found no problem. */
export function ok(detail: string): Outcome {
  return { status: 'ok', detail };
}

/** Returns the outcome of a check that does not apply. */
export function skipped(detail: string): Outcome {
  return { status: 'skipped', detail };
}

/** Returns the outcome of a check that found a problem. */
export function found<Code extends FindingCode>(code: Code, values: FindingValues<Code>): Outcome {
  const { status, problem, fix } = findings[code];
  const fill = (text: string) =>
    text.replace(/\{(\w+)\}/g, (_, name: string) => String((values as Record<string, unknown>)[name]));
  return { status, code, detail: fill(problem), fix: fill(fix) };
}
