import type { Run } from './run.ts';

/** A test of one requirement against a deployment. */
export interface Check {
  /** Id of the requirement. */
  readonly requirement: string;
  /** Name of the check; unique within the requirement. */
  readonly name: string;
  /** `true` if it only sends requests that change nothing. */
  readonly safe: boolean;
  /** `true` if it evaluates the responses of the other checks and so runs last. */
  readonly last: boolean;
  /** Runs the check and returns a note, if any; throws Failure or Skip. */
  readonly run: (run: Run) => Promise<string | undefined>;
}

/** Function of a check; a returned string becomes its note. */
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

/** Creates a check that writes to the deployment. */
export function check(requirement: string, name: string, body: CheckBody): Check {
  return made(requirement, name, body, false, false);
}

/** Creates a check that only reads. */
export function safeCheck(requirement: string, name: string, body: CheckBody): Check {
  return made(requirement, name, body, true, false);
}

/** Creates a check that evaluates all responses of the run. */
export function lastCheck(requirement: string, name: string, body: CheckBody): Check {
  return made(requirement, name, body, true, true);
}

/** Creates a check that evaluates all responses of the run, and needs some to requests that write. */
export function lastWritingCheck(requirement: string, name: string, body: CheckBody): Check {
  return made(requirement, name, body, false, true);
}
