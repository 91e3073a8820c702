import * as z from 'zod';
import { type Accepted, resource } from './resource.ts';
import { looseObject, score, timestamp } from './scalar.ts';

/** The ten dimensions: OWASP Top 10 for Agentic Applications 2026. */
export const riskDimensionIds = [
  'ASI01',
  'ASI02',
  'ASI03',
  'ASI04',
  'ASI05',
  'ASI06',
  'ASI07',
  'ASI08',
  'ASI09',
  'ASI10',
] as const;

/** Level of a score. */
export const riskLevel = z.enum(['low', 'medium', 'high', 'critical']);

/** Events behind a factor. */
const riskEvidence = looseObject({
  /** Ids of at most five such events, oldest first. */
  eventIds: z.array(z.string()),
  /** Total number of such events. */
  count: z.int(),
}).meta({ id: 'RiskEvidence' });

/** One reason for a score, with its evidence. */
export const riskFactor = looseObject({
  /** Id of the rule that matched. */
  ruleId: z.string(),
  /** Short name of the rule. */
  title: z.string(),
  /** Description of the finding in plain words, without arguments or hashes. */
  explanation: z.string(),
  /** Strength of the rule, 0 to 1. */
  weight: z.number(),
  /** Score minus the score without this factor; 0 if a stronger rule counted the same evidence. */
  delta: z.number(),
  /** Events that the rule matched. */
  evidence: riskEvidence,
  /** Recommended response. */
  recommendation: z.string(),
}).meta({ id: 'RiskFactor' });

/** One of the ten dimensions. */
export const riskDimension = looseObject({
  /** Its number in the OWASP Top 10 for Agentic Applications 2026. */
  id: z.enum(riskDimensionIds),
  /** Name of the dimension there, such as `Agent Goal Hijack`. */
  name: z.string(),
  /** Score of this dimension alone, 0 to 100. */
  score,
  /** Level of the score: `medium` from 40, `high` from 70, `critical` from 90. */
  level: riskLevel,
  /** False if the data cannot show this dimension; then a low score is not an all-clear. */
  observable: z.boolean(),
  /** Reasons for the score, strongest first. */
  factors: z.array(riskFactor),
}).meta({ id: 'RiskDimension' });

/** Recommended response to a score. */
export const riskRecommendation = looseObject({
  /** Id of the rule that it belongs to. */
  id: z.string(),
  /** Recommendation in a few words. */
  title: z.string(),
  /** Recommendation in full. */
  text: z.string(),
  /** Dimension of the rule, such as `ASI02`. */
  dimension: z.string(),
}).meta({ id: 'RiskRecommendation' });

const scored = {
  /** The session that was scored. */
  sessionId: z.string(),
  /** Measure of how unusual and dangerous the session is, 0 to 100; not a probability. */
  score,
  /** Level of the score: `medium` from 40, `high` from 70, `critical` from 90. */
  level: riskLevel,
  /** Version of the engine. Only compare scores with the same `engineVersion` and `rulesetHash`. */
  engineVersion: z.string(),
  /** SHA-256 in hex of the rules with their weights and limits. */
  rulesetHash: z.string(),
  /** Time at which the score was computed. */
  computedAt: timestamp,
  /** Number of events that were scored. */
  eventCount: z.int(),
  /** All ten dimensions, in order. */
  dimensions: z.array(riskDimension),
  /** The five strongest factors of all dimensions; empty if no rule matched. */
  factors: z.array(riskFactor),
  /** Recommendations, in the order of `factors`. */
  recommendations: z.array(riskRecommendation),
} as const;

/** The fields of {@link risk}. */
export type RiskShape = { readonly [Field in keyof typeof scored]: (typeof scored)[Field] };

/** Response of `GET /v1/sessions/:id/risk`. */
export const risk = resource<Record<never, never>, RiskShape>('Risk', {}, scored);

/** Level of a score. */
export type RiskLevel = z.output<typeof riskLevel>;
/** One reason for a score, with its evidence. */
export type RiskFactor = z.output<typeof riskFactor>;
/** One of the ten dimensions. */
export type RiskDimension = z.output<typeof riskDimension>;
/** Recommended response to a score. */
export type RiskRecommendation = z.output<typeof riskRecommendation>;
/** Risk of a session over ten dimensions. */
export interface Risk extends Accepted<typeof risk> {}
