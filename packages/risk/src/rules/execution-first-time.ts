import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { firstOf, tallyOf, toolName } from '../session/session-view.ts';
import { tagBits } from '../taxonomy/tag.ts';

const exec = tagBits('exec');

/** Detects the first time that an agent runs code. */
export const executionFirstTime: Rule = {
  id: 'execution.first-time',
  title: 'First run of code',
  dimension: 'ASI05',
  llm: ['LLM06:2025 Excessive Agency', 'LLM05:2025 Improper Output Handling'],
  signal: 'The agent runs code or a command, which no past session did.',
  weight: 0.4,
  acts: ['exec'],
  cluster: 'new-action',
  habitual: false,
  falsePositives: 'A tool that was added to the agent on purpose.',
  recommendation: {
    title: 'Remove the tool or confirm it',
    text: 'An agent that needs no code should have no tool that runs code. If it needs it now, let the next sessions be learned.',
  },
  detect(view) {
    const expected = view.expected;
    if (expected === undefined || expected.all.some((past) => (past.tags & exec) !== 0)) return undefined;
    const runs = tallyOf(view, 'exec');
    if (runs.count === 0) return undefined;
    const first = firstOf(runs);
    return matched(
      [first],
      expected.confidence,
      `${toolName(view, first.tool)} is the first call of this agent that runs code.`,
      runs.count,
    );
  },
  fires: [
    {
      name: 'a mail agent opens a shell',
      steps: ['search_emails', 'run_shell'],
      history: [['search_emails'], ['search_emails'], ['read_email']],
    },
  ],
  quiet: [
    { name: 'a coding agent', steps: ['run_shell'], history: [['read_file', 'run_shell']] },
    { name: 'no past is known', steps: ['run_shell'] },
  ],
};
