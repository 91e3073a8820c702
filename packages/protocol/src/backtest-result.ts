import type { PolicyEffect } from './schemas/policy.ts';

/** Decisions of one agent's calls of one tool that would be different. */
export interface BacktestChange {
  readonly agentId: string;
  readonly toolName: string;
  /** Decision of the policies then. */
  readonly from: PolicyEffect;
  /** Decision of the draft. */
  readonly to: PolicyEffect;
  /** Id of the policy that decides; null if none does. The server calls the policies of a draft `draft_0`, `draft_1`, … */
  readonly policyId: string | null;
  readonly count: number;
  /** Ids of the first decisions, at most three. */
  readonly examples: readonly string[];
}

/** Result of a backtest: policies tried on decisions of the past. */
export interface BacktestResult {
  /** Number of decisions that were compared. */
  readonly decisions: number;
  /** Number of decisions that would be the same. */
  readonly unchanged: number;
  /** Number of decisions that would be different. */
  readonly changed: number;
  /** Number of decisions for which a condition of the draft reads what was not shown or not kept. */
  readonly cannotTell: number;
  /** Changes by agent, tool and decision, most frequent first. */
  readonly changes: readonly BacktestChange[];
}
