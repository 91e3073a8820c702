import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, lastOf, toolName } from '../session/session-view.ts';
import { actionBits } from '../taxonomy/tag.ts';

const manyRepeats = 4;

/** Detects a call that is repeated many times. */
export const misuseSameCallAgain: Rule = {
  id: 'misuse.same-call-again',
  title: 'Same call repeated',
  dimension: 'ASI02',
  llm: ['LLM10:2025 Unbounded Consumption', 'LLM06:2025 Excessive Agency'],
  signal: 'One acting tool is called with the same arguments four times or more, which suggests a loop.',
  weight: 0.3,
  cluster: 'loop',
  falsePositives: 'Polling for a result, which a rate in a policy can limit.',
  recommendation: {
    title: 'Limit the calls',
    text: 'Set a rate limit for the tool in a policy and a turn limit in the agent.',
  },
  detect(view) {
    let most: (typeof view.actions)[number] | undefined;
    for (const action of view.actions) {
      if ((action.bits & actionBits) === 0) continue;
      if (action.done.count > (most?.done.count ?? manyRepeats - 1)) most = action;
    }
    if (most === undefined) return undefined;
    const { done } = most;
    return matched(
      [firstOf(done), lastOf(done)],
      Math.min(1, done.count / 10),
      `${toolName(view, most.tool)} was called ${done.count} times with the same arguments.`,
      done.count,
    );
  },
  fires: [
    { name: 'five equal calls', steps: [{ tool: 'restart_service', given: 'a', times: 5 }] },
    {
      name: 'two hundred equal calls among others',
      steps: [
        { tool: 'a', times: 30 },
        { tool: 'pay', given: 'x', times: 200 },
      ],
    },
  ],
  quiet: [
    { name: 'five different calls', steps: [{ tool: 'read_page', times: 5 }] },
    { name: 'three equal calls', steps: [{ tool: 'read_page', given: 'a', times: 3 }] },
    { name: 'three hundred different calls', steps: [{ tool: 'read_page', times: 300 }] },
  ],
};
