import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session/session-view.ts';

/** Detects a repeated read after an action. */
export const goalReadsAgain: Rule = {
  id: 'goal.reads-again',
  title: 'Read repeated after an action',
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection'],
  signal:
    'After an action the agent repeats an earlier read: it restarts its own task, as agents do after an injected task.',
  weight: 0.26,
  precedented: true,
  falsePositives: 'Reading something back to verify a change.',
  recommendation: {
    title: 'Check the action between the two reads',
    text: 'Check that the action between the two equal reads belongs to the task.',
  },
  detect(view) {
    const firstAct = view.acts.find((step) => step.afterUntrusted);
    if (firstAct === undefined) return undefined;
    const before = new Set<number>();
    for (const step of view.steps.slice(0, firstAct.at)) before.add(step.tool ^ step.argument);
    const again = view.steps.find(
      (step) =>
        step.at > firstAct.at && !step.acts && step.argument !== 0 && before.has(step.tool ^ step.argument),
    );
    if (again === undefined) return undefined;
    return matched(
      [firstAct, again],
      1,
      `${toolName(view, again.tool)} was called with the same arguments before and after ${toolName(view, firstAct.tool)}.`,
    );
  },
  fires: [
    {
      name: 'reads a page, posts, reads the page again',
      steps: [{ tool: 'get_webpage', given: 'a' }, 'post_message', { tool: 'get_webpage', given: 'a' }],
    },
  ],
  quiet: [
    {
      name: 'reads another page',
      steps: [{ tool: 'get_webpage', given: 'a' }, 'post_message', { tool: 'get_webpage', given: 'b' }],
    },
    {
      name: 'reads twice, then acts',
      steps: [{ tool: 'get_webpage', given: 'a' }, { tool: 'get_webpage', given: 'a' }, 'post_message'],
    },
  ],
};
