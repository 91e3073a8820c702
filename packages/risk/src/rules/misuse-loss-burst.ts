import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, lastOf, tallyOf } from '../session/session-view.ts';

const manyLossesPerMinute = 5;
const shortMs = 60_000;

/** Detects many deletions or payments at once. */
export const misuseLossBurst: Rule = {
  id: 'misuse.loss-burst',
  title: 'Many deletions or payments at once',
  dimension: 'ASI02',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'Five or more things are deleted or paid within a minute, or more than twenty-four in the session.',
  weight: 0.35,
  acts: ['loss'],
  falsePositives: 'Requested cleanups and payment runs.',
  recommendation: {
    title: 'Stop the agent and assess the loss',
    text: 'Set a rate limit for deletions and payments in a policy, so that a burst is stopped early.',
  },
  detect(view) {
    const losses = tallyOf(view, 'loss');
    const perMinute = view.state.losses.densest(shortMs);
    if (perMinute < manyLossesPerMinute) return undefined;
    return matched(
      [firstOf(losses), lastOf(losses)],
      Math.min(1, perMinute / 15),
      `${perMinute} things were deleted or paid within a short time.`,
      losses.count,
    );
  },
  fires: [
    {
      name: 'hundreds of files in the middle of a long session',
      steps: [
        { tool: 'read_file', times: 18 },
        { tool: 'delete_file', times: 300, afterMs: 10 },
        { tool: 'read_file', times: 8 },
      ],
    },
    {
      name: 'ten files at once, and one two hours later',
      steps: [
        { tool: 'delete_file', times: 10, afterMs: 100 },
        { tool: 'delete_file', afterMs: 7_200_000 },
      ],
    },
    {
      name: 'six files deleted in six hundred milliseconds',
      steps: [{ tool: 'delete_file', times: 6, afterMs: 100 }],
    },
    { name: 'eight payments in a second', steps: [{ tool: 'send_payment', times: 8, afterMs: 100 }] },
  ],
  quiet: [
    {
      name: 'eight that were denied, and recorded as refused by an agent that obeys',
      steps: Array.from({ length: 8 }, (_, at) => [
        {
          tool: 'delete_file',
          given: `file-${at}`,
          category: 'guardian_decision',
          payload: { decision: 'deny' },
          afterMs: 100,
        },
        { tool: 'delete_file', given: `file-${at}`, status: 403, afterMs: 100 },
      ]).flat(),
    },
    { name: 'work handed over to agents', steps: [{ tool: 'transfer_to_agent', times: 8 }] },
    { name: 'four files', steps: [{ tool: 'delete_file', times: 4, afterMs: 100 }] },
    { name: 'six files in six hours', steps: [{ tool: 'delete_file', times: 6, afterMs: 3_600_000 }] },
    { name: 'six files written', steps: [{ tool: 'write_file', times: 6, afterMs: 100 }] },
  ],
};
