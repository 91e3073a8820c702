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

/** Name of each dimension: OWASP Top 10 for Agentic Applications 2026 (OWASP GenAI Security Project, CC BY-SA 4.0). */
export const dimensionNames: Readonly<Record<DimensionId, string>> = {
  ASI01: 'Agent Goal Hijack',
  ASI02: 'Tool Misuse and Exploitation',
  ASI03: 'Identity and Privilege Abuse',
  ASI04: 'Agentic Supply Chain Vulnerabilities',
  ASI05: 'Unexpected Code Execution (RCE)',
  ASI06: 'Memory & Context Poisoning',
  ASI07: 'Insecure Inter-Agent Communication',
  ASI08: 'Cascading Failures',
  ASI09: 'Human-Agent Trust Exploitation',
  ASI10: 'Rogue Agents',
};

/** The ten dimensions in order. */
export const dimensionIds = Object.keys(dimensionNames) as readonly DimensionId[];

/** Entries of the OWASP Top 10 for LLM Applications 2025 that a rule can relate to. */
export type LlmRiskId =
  | 'LLM01:2025 Prompt Injection'
  | 'LLM02:2025 Sensitive Information Disclosure'
  | 'LLM03:2025 Supply Chain'
  | 'LLM04:2025 Data and Model Poisoning'
  | 'LLM05:2025 Improper Output Handling'
  | 'LLM06:2025 Excessive Agency'
  | 'LLM07:2025 System Prompt Leakage'
  | 'LLM08:2025 Vector and Embedding Weaknesses'
  | 'LLM09:2025 Misinformation'
  | 'LLM10:2025 Unbounded Consumption';
