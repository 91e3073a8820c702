/** Identifier of one of the ten entries of the OWASP Top 10 for Agentic Applications 2026. */
export type DimensionId =
  | 'ASI01'
  | 'ASI02'
  | 'ASI03'
  | 'ASI04'
  | 'ASI05'
  | 'ASI06'
  | 'ASI07'
  | 'ASI08'
  | 'ASI09'
  | 'ASI10';

/** Level of a score. See `levels.ts` for the limits. */
export type RiskLevel = 'low' | 'medium' | 'high' | 'critical';

/** Reason for a score: one rule that matched. */
export interface RiskFactor {
  readonly ruleId: string;
  readonly title: string;
  /** Description of the finding in plain words, without arguments or their hashes. */
  readonly explanation: string;
  /** Weight of the rule, 0 to 1: its score alone at full strength, before rounding. */
  readonly weight: number;
  /** Score minus the score without this factor, 0 to 100. */
  readonly delta: number;
  readonly evidence: {
    /** At most five events, oldest first. */
    readonly eventIds: readonly string[];
    /** Number of events that the rule matched. */
    readonly count: number;
  };
  readonly recommendation: string;
}

/** One of the ten dimensions of a score. */
export interface RiskDimension {
  readonly id: DimensionId;
  readonly name: string;
  /** 0 to 100. */
  readonly score: number;
  readonly level: RiskLevel;
  /** False if the records could not have shown this dimension: then 0 is not an all-clear. */
  readonly observable: boolean;
  /** Strongest first. */
  readonly factors: readonly RiskFactor[];
}

/** Recommended response to a score. */
export interface RiskRecommendation {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly dimension: DimensionId;
}

/**
 * A session's risk: the reference profile's Risk without `sessionId` and `computedAt`, which the server adds.
 */
export interface RiskScore {
  /** 0 to 100. */
  readonly score: number;
  readonly level: RiskLevel;
  readonly engineVersion: string;
  /** SHA-256 of the rules' ids, weights and limits, in hexadecimal. */
  readonly rulesetHash: string;
  readonly eventCount: number;
  /** All ten dimensions, in order. */
  readonly dimensions: readonly RiskDimension[];
  /** The five strongest factors of all dimensions. */
  readonly factors: readonly RiskFactor[];
  readonly recommendations: readonly RiskRecommendation[];
}
