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

/** How much attention a score asks for. See `levels.ts` for what the limits mean. */
export type RiskLevel = 'low' | 'medium' | 'high' | 'critical';

/** Why a score is what it is: one rule that matched. */
export interface RiskFactor {
  readonly ruleId: string;
  readonly title: string;
  /** What was seen, in plain words, without any argument or hash of one. */
  readonly explanation: string;
  /** The rule's weight, 0 to 1: what it would score alone at full strength, before rounding. */
  readonly weight: number;
  /** The session's score less what it would be without this factor, 0 to 100. */
  readonly delta: number;
  readonly evidence: {
    /** At most five events, oldest first. */
    readonly eventIds: readonly string[];
    /** How many events the rule rests on. */
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
  /** False where nothing that was recorded could have shown this dimension: then 0 is no all-clear. */
  readonly observable: boolean;
  /** Strongest first. */
  readonly factors: readonly RiskFactor[];
}

/** What to do about a score. */
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
  /** SHA-256 over the rules' ids, weights and limits, in hexadecimal. */
  readonly rulesetHash: string;
  readonly eventCount: number;
  /** All ten, in order. */
  readonly dimensions: readonly RiskDimension[];
  /** The five strongest factors of all dimensions. */
  readonly factors: readonly RiskFactor[];
  readonly recommendations: readonly RiskRecommendation[];
}
