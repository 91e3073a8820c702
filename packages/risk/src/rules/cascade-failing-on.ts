import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { OUTCOME_MARKS } from '../session/mark.ts';
import { tallyOf } from '../session/session-view.ts';

const ANSWERED = OUTCOME_MARKS.indexOf('answered');
const UNANSWERED = OUTCOME_MARKS.indexOf('unanswered');
const MANY = 6;

/** Detects a session that continues although most calls fail. */
export const cascadeFailingOn: Rule = {
  id: 'cascade.failing-on',
  title: 'Continuing although most calls fail',
  dimension: 'ASI08',
  llm: ['LLM10:2025 Unbounded Consumption'],
  signal: 'At least six calls fail, more than half of all calls: the agent does not stop on errors.',
  weight: 0.22,
  falsePositives: 'Outages during which an agent retries correctly.',
  recommendation: {
    title: 'Stop the agent on repeated failures',
    text: 'Set a limit of failures after which it asks a person.',
  },
  detect(view) {
    const calls = tallyOf(view, 'call').count - view.withheld;
    const failures = calls - tallyOf(view, 'answered').count - tallyOf(view, 'unanswered').count;
    if (failures < MANY || failures <= calls / 2) return undefined;
    const found = view.steps.filter((step) => step.outcome !== ANSWERED && step.outcome !== UNANSWERED);
    return matched(
      found.length > 0 ? found : view.steps.slice(-1),
      Math.min(1, failures / 12),
      `${failures} of ${calls} calls failed, and the agent continued.`,
      failures,
    );
  },
  fires: [{ name: 'eight of nine fail', steps: ['read_file', { tool: 'read_page', status: 500, times: 8 }] }],
  quiet: [
    {
      name: 'thirty that a policy denied',
      steps: Array.from({ length: 30 }, (_, at) => [
        { tool: 'pay', given: `${at}`, category: 'guardian_decision', payload: { decision: 'deny' } },
        { tool: 'pay', given: `${at}`, status: 403 },
      ])
        .flat()
        .concat([{ tool: 'get_record', given: 'a', status: 200 }]),
    },
    { name: 'three fail', steps: [{ tool: 'read_page', status: 500, times: 3 }] },
    {
      name: 'eight of thirty fail',
      steps: [
        { tool: 'read_file', times: 22 },
        { tool: 'read_page', status: 500, times: 8 },
      ],
    },
  ],
};
