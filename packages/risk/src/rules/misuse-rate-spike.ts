import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';

const MANY = 30;
const TIMES_USUAL = 8;

/** Detects a sudden burst of calls. */
export const misuseRateSpike: Rule = {
  id: 'misuse.rate-spike',
  title: 'Sudden burst of calls',
  dimension: 'ASI02',
  llm: ['LLM10:2025 Unbounded Consumption'],
  signal:
    'In one time bucket the session makes eight times as many calls as in its other buckets, and at least thirty.',
  weight: 0.2,
  falsePositives: 'Batches that start after a long wait.',
  recommendation: {
    title: 'Limit the rate',
    text: 'Set a rate limit for the agent in a policy, and find out what caused the burst.',
  },
  detect(view) {
    const { calls } = view.state;
    const stretches = calls.counts.length;
    if (stretches < 4) return undefined;
    const peak = calls.peak;
    const usual = (calls.counts.reduce((sum, count) => sum + count, 0) - peak) / (stretches - 1);
    if (peak < MANY || peak < usual * TIMES_USUAL) return undefined;
    const from = (calls.first + calls.counts.indexOf(peak)) * calls.widthMs;
    const inside = view.steps.filter(
      (step) => step.timestampMs >= from && step.timestampMs < from + calls.widthMs,
    );
    return matched(
      inside.length > 0 ? inside : view.steps.slice(-1),
      Math.min(1, peak / 100),
      `${peak} calls in ${Math.max(1, Math.round(calls.widthMs / 1000))} seconds, where the session usually makes about ${Math.round(usual)}.`,
      peak,
    );
  },
  fires: [
    {
      name: 'a call an hour, then sixty in a minute',
      steps: [
        { tool: 'read_file', times: 10, afterMs: 3_600_000 },
        { tool: 'read_page', times: 60, afterMs: 1000 },
      ],
    },
  ],
  quiet: [
    { name: 'an even pace', steps: [{ tool: 'read_file', times: 70 }] },
    {
      name: 'a small batch after a wait',
      steps: [
        { tool: 'read_file', times: 10, afterMs: 3_600_000 },
        { tool: 'read_page', times: 8, afterMs: 1000 },
      ],
    },
  ],
};
