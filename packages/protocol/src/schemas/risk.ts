import * as z from 'zod';
import { type Accepted, resource } from './resource.ts';
import { score, timestamp } from './scalar.ts';

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

/** How a score is to be read. */
export const riskLevel = z.enum(['low', 'medium', 'high', 'critical']);

/** One reason for a score, with its evidence. */
export const riskFactor = z.looseObject({
  ruleId: z.string(),
  title: z.string(),
  /** In plain words, with no argument and no hash in it. */
  explanation: z.string(),
  /** Strength of the rule, 0 to 1. */
  weight: z.number(),
  /** The score less the score without this factor. */
  delta: z.number(),
  evidence: z.looseObject({
    /** At most five events that show it. */
    eventIds: z.array(z.string()),
    /** How many events show it. */
    count: z.int(),
  }),
  recommendation: z.string(),
});

/** One of the ten dimensions. */
export const riskDimension = z.looseObject({
  id: z.enum(riskDimensionIds),
  name: z.string(),
  score,
  level: riskLevel,
  /** False where the data cannot show this dimension: then the score is no all-clear. */
  observable: z.boolean(),
  factors: z.array(riskFactor),
});

/** What to do about a score. */
export const riskRecommendation = z.looseObject({
  id: z.string(),
  title: z.string(),
  text: z.string(),
  dimension: z.string(),
});

/** Answer of `GET /v1/sessions/:id/risk`. */
export const risk = resource(
  'Risk',
  {},
  {
    sessionId: z.string(),
    score,
    level: riskLevel,
    engineVersion: z.string(),
    rulesetHash: z.string(),
    computedAt: timestamp,
    eventCount: z.int(),
    dimensions: z.array(riskDimension),
    /** The five strongest. */
    factors: z.array(riskFactor),
    recommendations: z.array(riskRecommendation),
  },
);

/** How a score is to be read. */
export type RiskLevel = z.output<typeof riskLevel>;
/** One reason for a score, with its evidence. */
export type RiskFactor = z.output<typeof riskFactor>;
/** One of the ten dimensions. */
export type RiskDimension = z.output<typeof riskDimension>;
/** What to do about a score. */
export type RiskRecommendation = z.output<typeof riskRecommendation>;
/** Risk of a session over ten dimensions. */
export type Risk = Accepted<typeof risk>;
