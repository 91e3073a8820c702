import type { Capability, Level } from './requirement.ts';

/**
 * Status of a check: `passed`; `failed`; `skipped`, if it could not run; `noted`, if it only reports an observation
 * because the specification leaves the matter open.
 */
export type CheckStatus = 'passed' | 'failed' | 'skipped' | 'noted';

/** Result of one check. */
export interface CheckReport {
  readonly name: string;
  readonly status: CheckStatus;
  /** Expected and actual behavior, reason for skipping, or observation. */
  readonly detail?: string;
}

/**
 * Status of a requirement, from those of its checks: `failed` if any failed; `partial` if some ran and some were
 * skipped, so that it is partly checked; otherwise that of all of them, or `passed` beside `noted`.
 */
export type RequirementStatus = CheckStatus | 'partial';

/** Result of one requirement. */
export interface RequirementResult {
  readonly id: string;
  readonly level: Level;
  readonly section: string;
  readonly text: string;
  readonly status: RequirementStatus;
  readonly checks: readonly CheckReport[];
}

/** Result of a run. It contains no key and no secret. */
export interface ContractReport {
  /** Name and version of this suite. */
  readonly suite: string;
  readonly baseURL: string;
  readonly capabilities: readonly Capability[];
  readonly readOnly: boolean;
  /** Name prefix of everything that the run created. */
  readonly prefix: string;
  /** ISO 8601 in UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** Number of requests that received a response. */
  readonly requests: number;
  /** `true` if the key was said not to have every endpoint. */
  readonly limitedKey: boolean;
  /**
   * Endpoints, such as `POST /v1/agents`, of which nothing could be checked. They fail the run, unless it is read-only or
   * its key is limited.
   */
  readonly uncheckedEndpoints: readonly string[];
  /** `true` if a MUST that was skipped, or partly checked, fails the run. */
  readonly strict: boolean;
  /**
   * `true` if no requirement of level MUST failed, no endpoint went unchecked, and the run was not stopped early; in a
   * strict run, only if every MUST was wholly checked, too.
   */
  readonly ok: boolean;
  /** `true` if the run was completed. */
  readonly complete: boolean;
  /**
   * Number of requirements by status; `mustFailed` and `shouldFailed` split the failed ones, and `mustUnchecked` counts
   * each MUST that is skipped or partly checked.
   */
  readonly counts: Readonly<
    Record<RequirementStatus | 'mustFailed' | 'shouldFailed' | 'mustUnchecked', number>
  >;
  readonly requirements: readonly RequirementResult[];
  /** Records that remain in the deployment because they cannot be deleted. */
  readonly leftBehind: readonly string[];
}
