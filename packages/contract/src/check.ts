import type { Run } from './run.ts';

/** One look at a deployment, for one requirement. */
export interface Check {
  /** Id of the requirement. */
  readonly requirement: string;
  /** What is looked at; unique within the requirement. */
  readonly name: string;
  /** Whether it only sends requests that change nothing. */
  readonly safe: boolean;
  /** Whether it judges what the other checks were answered, and so comes last. */
  readonly last: boolean;
  /** Returns what was noticed, if anything; throws Failure or Skip. */
  readonly run: (run: Run) => Promise<string | undefined>;
}

/** How a check is written: a text that it returns is what it noticed. */
export type CheckBody = (run: Run) => Promise<unknown>;

function made(requirement: string, name: string, body: CheckBody, safe: boolean, last: boolean): Check {
  return {
    requirement,
    name,
    safe,
    last,
    run: async (run) => {
      const noticed = await body(run);
      return typeof noticed === 'string' && noticed !== '' ? noticed : undefined;
    },
  };
}

/** A check that writes to the deployment. */
export function check(requirement: string, name: string, body: CheckBody): Check {
  return made(requirement, name, body, false, false);
}

/** A check that only reads. */
export function safeCheck(requirement: string, name: string, body: CheckBody): Check {
  return made(requirement, name, body, true, false);
}

/** A check that judges all answers of the run. */
export function lastCheck(requirement: string, name: string, body: CheckBody): Check {
  return made(requirement, name, body, true, true);
}
