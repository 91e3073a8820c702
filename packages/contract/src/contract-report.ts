import type { Capability, Level } from './requirement.ts';

/**
 * What came of a check: `passed`; `failed`; `skipped`, when it could not be made; `noted`, when it only says what was
 * seen, because the specification leaves it open.
 */
export type CheckStatus = 'passed' | 'failed' | 'skipped' | 'noted';

/** What came of one check. */
export interface CheckResult {
  readonly name: string;
  readonly status: CheckStatus;
  /** What was expected and seen, why it was skipped, or what was noticed. */
  readonly detail?: string;
}

/** What came of one requirement. It is `failed` when any of its checks is, and `passed` when none is and one passed. */
export interface RequirementResult {
  readonly id: string;
  readonly level: Level;
  readonly section: string;
  readonly text: string;
  readonly status: CheckStatus;
  readonly checks: readonly CheckResult[];
}

/** What came of a run. It holds no key and no secret. */
export interface ContractReport {
  /** Name and version of this suite. */
  readonly suite: string;
  readonly baseURL: string;
  readonly capabilities: readonly Capability[];
  readonly readOnly: boolean;
  /** Begins the name of everything that the run made. */
  readonly prefix: string;
  /** ISO 8601 in UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** How many requests were answered. */
  readonly requests: number;
  /** Whether no requirement of level MUST failed, and the run was not ended before its time. */
  readonly ok: boolean;
  /** Whether the run came to its end. */
  readonly complete: boolean;
  /** Requirements by what came of them; `mustFailed` and `shouldFailed` share out the failed ones. */
  readonly counts: Readonly<Record<CheckStatus | 'mustFailed' | 'shouldFailed', number>>;
  readonly requirements: readonly RequirementResult[];
  /** What stays in the deployment, because the interface has no way to take it away, or refused to. */
  readonly leftBehind: readonly string[];
}
