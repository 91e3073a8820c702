import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session/session-view.ts';

const MANY = 4;

/** Detects a call that is repeated many times. */
export const misuseSameCallAgain: Rule = {
  id: 'misuse.same-call-again',
  title: 'Same call repeated',
  dimension: 'ASI02',
  llm: ['LLM10:2025 Unbounded Consumption', 'LLM06:2025 Excessive Agency'],
  signal: 'One tool is called with the same arguments four times or more, which suggests a loop.',
  weight: 0.3,
  cluster: 'loop',
  falsePositives: 'Polling for a result, which a rate in a policy can limit.',
  recommendation: {
    title: 'Limit the calls',
    text: 'Set a rate limit for the tool in a policy and a turn limit in the agent.',
  },
  detect(view) {
    if (!view.state.repeats.mayHold(MANY)) return undefined;
    let most = 0;
    let key = 0;
    for (const step of view.steps) {
      if (step.argument === 0) continue;
      const times = view.state.repeats.estimate(step.tool ^ step.argument);
      if (times > most) {
        most = times;
        key = step.tool ^ step.argument;
      }
    }
    const found = view.steps.filter((step) => (step.tool ^ step.argument) === key);
    const first = found[0];
    if (first === undefined || most < MANY || (view.state.log.complete && found.length < MANY))
      return undefined;
    const times = view.state.log.complete ? found.length : most;
    return matched(
      found,
      Math.min(1, times / 10),
      `${toolName(view, first.tool)} was called about ${times} times with the same arguments.`,
      times,
    );
  },
  fires: [
    { name: 'five equal calls', steps: [{ tool: 'read_page', given: 'a', times: 5 }] },
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
