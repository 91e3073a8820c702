import type { Rule } from '../rule.ts';
import { counted, matched } from '../rule-match.ts';
import { OUTCOME_MARKS } from '../session/mark.ts';
import { tallyOf } from '../session-view.ts';

const UNAUTHORIZED = OUTCOME_MARKS.indexOf('unauthorized');
const MANY = 3;

/** Call after call refused for want of rights. */
export const privilegeProbing: Rule = {
  id: 'privilege.probing',
  title: 'Call after call refused for want of rights',
  dimension: 'ASI03',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'Three or more calls are answered with 401 or 403: the agent tries what it may not do.',
  weight: 0.4,
  falsePositives: 'A key that ran out, which refuses everything.',
  recommendation: {
    title: 'Stop the probing',
    text: 'Renew the key if it ran out. Otherwise deny the tools that were probed for this agent by a policy.',
  },
  detect(view) {
    const refused = tallyOf(view, 'unauthorized').count - view.withheld;
    if (refused < MANY) return undefined;
    const found = view.steps.filter((step) => step.outcome === UNAUTHORIZED);
    return matched(
      found.length > 0 ? found : view.steps.slice(-1),
      Math.min(1, refused / 6),
      `${counted(refused, 'call')} were refused for want of rights.`,
      refused,
    );
  },
  fires: [{ name: 'four refusals', steps: [{ tool: 'get_record', status: 403, times: 4 }] }],
  quiet: [
    { name: 'two refusals', steps: [{ tool: 'get_record', status: 403, times: 2 }, 'get_record'] },
    {
      name: 'four that a policy denied',
      steps: ['a', 'b', 'c', 'd'].flatMap((given) => [
        { tool: 'pay', given, category: 'guardian_decision', payload: { decision: 'deny' } },
        { tool: 'pay', given, status: 403 },
      ]),
    },
    {
      name: 'a long session in which a policy denied thirty',
      steps: Array.from({ length: 30 }, (_, at) => [
        { tool: 'pay', given: `${at}`, category: 'guardian_decision', payload: { decision: 'deny' } },
        { tool: 'pay', given: `${at}`, status: 403 },
      ])
        .flat()
        .concat([{ tool: 'get_record', given: 'a', status: 200 }]),
    },
    { name: 'four that were not found', steps: [{ tool: 'get_record', status: 404, times: 4 }] },
  ],
};
