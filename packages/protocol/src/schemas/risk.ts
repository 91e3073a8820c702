import * as z from 'zod';
import { looseObject } from './object.ts';
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

/** The events that show a factor. */
const riskEvidence = looseObject({
  /** At most five events that show it, oldest first. */
  eventIds: z.array(z.string()),
  /** How many events show it. */
  count: z.int(),
}).meta({ id: 'RiskEvidence' });

/** One reason for a score, with its evidence. */
export const riskFactor = looseObject({
  /** The rule that matched. */
  ruleId: z.string(),
  /** The rule in a few words. */
  title: z.string(),
  /** What was seen, in plain words, with no argument and no hash in it. */
  explanation: z.string(),
  /** Strength of the rule, 0 to 1. */
  weight: z.number(),
  /** The score less the score without this factor; 0 where a stronger rule counted the same evidence. */
  delta: z.number(),
  /** The events that show it. */
  evidence: riskEvidence,
  /** What to do about it. */
  recommendation: z.string(),
}).meta({ id: 'RiskFactor' });

/** One of the ten dimensions. */
export const riskDimension = looseObject({
  /** Its number in the OWASP Top 10 for Agentic Applications 2026. */
  id: z.enum(riskDimensionIds),
  /** Its name there, such as `Agent Goal Hijack`. */
  name: z.string(),
  /** Score of this dimension alone, 0 to 100. */
  score,
  /** How much attention it asks for. */
  level: riskLevel,
  /** False where the data cannot show this dimension: then the score is no all-clear. */
  observable: z.boolean(),
  /** What its score rests on, strongest first. */
  factors: z.array(riskFactor),
}).meta({ id: 'RiskDimension' });

/** What to do about a score. */
export const riskRecommendation = looseObject({
  /** The rule that it belongs to. */
  id: z.string(),
  /** What to do, in a few words. */
  title: z.string(),
  /** What to do. */
  text: z.string(),
  /** The dimension that it is about, such as `ASI02`. */
  dimension: z.string(),
}).meta({ id: 'RiskRecommendation' });

const scored = {
  /** The session that was scored. */
  sessionId: z.string(),
  /** How unusual and how dangerous the session is, 0 to 100; no probability. */
  score,
  /** How much attention the score asks for. */
  level: riskLevel,
  /** Version of the engine; compare scores only where it and `rulesetHash` are the same. */
  engineVersion: z.string(),
  /** SHA-256 in hex over the rules with their weights and limits. */
  rulesetHash: z.string(),
  /** When this answer was computed. */
  computedAt: timestamp,
  /** Events that were scored. */
  eventCount: z.int(),
  /** All ten, in order. */
  dimensions: z.array(riskDimension),
  /** The five strongest factors of all dimensions; empty where no rule matched. */
  factors: z.array(riskFactor),
  /** What to do, in the order of `factors`. */
  recommendations: z.array(riskRecommendation),
} as const;

/** The fields of {@link risk}. */
export type RiskShape = { readonly [Field in keyof typeof scored]: (typeof scored)[Field] };

/** Answer of `GET /v1/sessions/:id/risk`. */
export const risk = resource<Record<never, never>, RiskShape>('Risk', {}, scored);

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
