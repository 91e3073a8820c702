import { mostOf } from '../baseline/expectation.ts';
import type { Rule } from '../rule.ts';
import { counted, matched } from '../rule-match.ts';
import { lastOf, tallyOf } from '../session/session-view.ts';

/** Detects a session with more calls than any past session of the workflow. */
export const misuseLongerThanUsual: Rule = {
  id: 'misuse.longer-than-usual',
  title: 'More calls than in any past session of this workflow',
  dimension: 'ASI02',
  llm: ['LLM06:2025 Excessive Agency', 'LLM10:2025 Unbounded Consumption'],
  signal:
    'The session acts and makes more calls than any similar past session. An injected task adds its own reads and actions to the agent’s task.',
  weight: 0.31,
  habitual: false,
  falsePositives: 'A larger job than before, retried calls, or another model.',
  recommendation: {
    title: 'Account for the extra calls',
    text: 'Compare the session with an earlier one of the workflow and find out where they diverge.',
  },
  detect(view) {
    const { expected } = view;
    if (expected === undefined || tallyOf(view, 'act').count === 0) return undefined;
    // Looking up the time or a help text belongs to no task.
    const idle = view.tools.reduce((sum, [, tool]) => sum + (tool.bits === 0 ? tool.count : 0), 0);
    const calls = tallyOf(view, 'act').count + tallyOf(view, 'look').count - idle;
    const usual = mostOf(expected, (past) => past.acts + past.looks);
    if (calls <= usual) return undefined;
    const extra = calls - usual;
    return matched(
      [lastOf(tallyOf(view, 'call'))],
      expected.confidence,
      `The session made ${counted(calls, 'call')}, compared to at most ${usual} in similar past sessions.`,
      extra,
    );
  },
  fires: [
    {
      name: 'reads more and acts where it used to be done sooner',
      steps: ['read_inbox', 'search_files', 'read_file', 'send_message'],
      history: [
        ['read_inbox', 'send_message'],
        ['read_inbox', 'read_file', 'send_message'],
      ],
    },
  ],
  quiet: [
    {
      name: 'as long as before',
      steps: ['read_inbox', 'read_file', 'send_message'],
      history: [['read_inbox', 'read_file', 'send_message']],
    },
    {
      name: 'reads more, acts on nothing',
      steps: ['read_inbox', 'read_file', 'read_file'],
      history: [['read_inbox', 'send_message']],
    },
    {
      name: 'asks for the time',
      steps: ['get_current_time', 'read_inbox', 'send_message'],
      history: [['read_inbox', 'send_message']],
    },
    { name: 'no past is known', steps: ['read_inbox', 'read_file', 'send_message'] },
  ],
};
