import type { Rule } from '../rule.ts';
import { counted, matched } from '../rule-match.ts';
import { firstOf, lastOf, tallyOf } from '../session/session-view.ts';

const manyRefusals = 3;

/** Detects repeated calls that are refused for missing permissions. */
export const privilegeProbing: Rule = {
  id: 'privilege.probing',
  title: 'Repeated calls refused for missing permissions',
  dimension: 'ASI03',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'Three or more calls return 401 or 403: the agent tries actions that it is not permitted to do.',
  weight: 0.4,
  acts: ['unauthorized'],
  falsePositives: 'An expired key.',
  recommendation: {
    title: 'Stop the probing',
    text: 'Renew the key if it expired. Otherwise deny the probed tools for this agent with a policy.',
  },
  detect(view) {
    const unauthorized = tallyOf(view, 'unauthorized');
    const refused = unauthorized.count - view.withheld;
    if (refused < manyRefusals) return undefined;
    return matched(
      [firstOf(unauthorized), lastOf(unauthorized)],
      Math.min(1, refused / 6),
      `${counted(refused, 'call')} were refused for missing permissions.`,
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
