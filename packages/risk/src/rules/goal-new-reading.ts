import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session/session-view.ts';

/** Detects reads that this workflow never did. */
export const goalNewReading: Rule = {
  id: 'goal.new-reading',
  title: 'Read that is new to this workflow',
  dimension: 'ASI01',
  llm: ['LLM02:2025 Sensitive Information Disclosure', 'LLM01:2025 Prompt Injection'],
  signal:
    'The agent reads with a tool that no similar past session used, and acts. An injected task often has to look things up first.',
  weight: 0.14,
  habitual: false,
  falsePositives: 'Another model or a rare case uses another tool for lookups.',
  recommendation: {
    title: 'Check why this was read',
    text: 'Check the purpose of the read and which action used its result.',
  },
  detect(view) {
    const expected = view.expected;
    if (expected === undefined || view.acts.length === 0) return undefined;
    const found = view.steps.filter(
      (step) => !step.acts && step.bits !== 0 && !expected.near.some((past) => past.tools.has(step.tool)),
    );
    const first = found[0];
    if (first === undefined) return undefined;
    return matched(
      found,
      expected.confidence,
      `${toolName(view, first.tool)} read something that similar past sessions never read.`,
    );
  },
  fires: [
    {
      name: 'looks into the contacts before it sends',
      steps: ['read_document', 'search_contacts', 'send_email'],
      history: [['read_document', 'send_email'], ['read_document']],
    },
  ],
  quiet: [
    {
      name: 'asks for the date',
      steps: ['read_document', 'get_current_date', 'send_email'],
      history: [['read_document', 'send_email']],
    },
    {
      name: 'reads more, acts on nothing',
      steps: ['read_document', 'search_contacts'],
      history: [['read_document', 'send_email']],
    },
    {
      name: 'reads what it always reads',
      steps: ['read_document', 'send_email'],
      history: [['read_document']],
    },
  ],
};
